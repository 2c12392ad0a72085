//! Signing keys and trusted authorities that the variables of the service name, for commands that run
//! flows and lists of operations.

use std::path::PathBuf;

use platen_engine::{Reach, Signatures};

use crate::report::Failure;

/// The keys of `SIGNATURE_KEYS_DIR`, who is trusted by `SIGNATURE_TRUST_FILE`, and the authority of
/// `TIMESTAMP_URL`. Whoever a certificate names may be asked: the keys are of who runs the command.
pub(super) fn signatures() -> Result<Signatures, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let refused = |name: &str, problem: String| {
        Failure::caller(
            format!("{name}: {problem}"),
            "docs/reference/pdf.md says what it names",
        )
    };
    let address = set("TIMESTAMP_URL").map(|it| it.to_string_lossy().into_owned());
    let mut signatures = Signatures::new(address, Reach::All);
    if let Some(folder) = set("SIGNATURE_KEYS_DIR").map(PathBuf::from) {
        let added = signatures.add_folder(&folder);
        added.map_err(|problem| refused("SIGNATURE_KEYS_DIR", problem))?;
    }
    if let Some(file) = set("SIGNATURE_TRUST_FILE").map(PathBuf::from) {
        let added = signatures.add_trust(&file);
        added.map_err(|problem| refused("SIGNATURE_TRUST_FILE", problem))?;
    }
    Ok(signatures)
}

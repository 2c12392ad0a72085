//! Files that other users of the machine may read.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
};

use platen_delivery::Bind;

use super::Findings;
use crate::config::Config;

/// What users other than the owner and its group may do.
const OTHERS: u32 = 0o007;

pub(super) fn find(config: &Config, findings: &mut Findings) {
    let key_of = |bind: &'_ Bind| match bind {
        Bind::Tls { key, .. } => Some(key.clone()),
        _ => None,
    };
    let keys = config.bind.iter().filter_map(key_of);
    let mut files = vec![("PLATEN_DATA_DIR", config.data_dir.clone(), "0700")];
    files.extend(keys.map(|key| ("PLATEN_BIND", key, "0600")));
    let secrets = config.flow.secrets_file.clone();
    files.extend(secrets.map(|file| ("FLOW_SECRETS_FILE", file, "0600")));
    for (subject, path, mode) in files {
        if is_open_to_others(&path) {
            let path = path.display();
            let advice =
                format!("every user of the machine may access {path}: give it mode {mode}");
            findings.add(subject, advice);
        }
    }
}

/// Whether other users may access a file or folder. One that does not exist yet is made private.
fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & OTHERS != 0)
}

/// Whether this process runs as root.
pub(super) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}

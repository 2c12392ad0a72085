//! The example with a key elsewhere signs.

#[path = "../../examples/remote_signer.rs"]
#[allow(dead_code, reason = "its `main` is for people")]
mod remote_signer;

use crate::{authority::authority, file::pdf, signing::judged};

#[test]
fn a_command_that_has_the_key_signs() {
    let authority = authority();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.pdf"), pdf(true)).expect("a file");
    let certificates = ["rsa.crt", "middle.crt"].map(|name| authority.text(name));
    std::fs::write(path("chain.pem"), certificates.concat()).expect("a file");
    let sign = |command: &[&str]| {
        let files = ["a.pdf", "b.pdf", "chain.pem"].map(|name| path(name).display().to_string());
        let command = command.iter().map(|&it| it.to_owned());
        let arguments: Vec<String> = files.into_iter().chain(command).collect();
        remote_signer::run(&arguments)
    };
    let key = authority.path("rsa.key").display().to_string();
    sign(&["openssl", "dgst", "-sha256", "-sign", &key]).expect("signed");
    let judgement = judged(&std::fs::read(path("b.pdf")).expect("a file"));
    assert!(judgement.valid, "{judgement:#?}");

    std::fs::remove_file(path("b.pdf")).expect("removed");
    let refusal = sign(&["false"]).expect_err("a refusal").to_string();
    assert!(refusal.contains("false ended with"), "{refusal}");
    assert!(sign(&[]).is_err() && !path("b.pdf").exists());
}

//! The example with a key elsewhere signs.

use std::{path::PathBuf, process::Command};

use crate::{authority::authority, file::pdf, signing::judged};

fn example() -> PathBuf {
    let test = std::env::current_exe().expect("a program");
    let profile = test.ancestors().nth(2).expect("a folder");
    profile.join("examples/remote_signer")
}

#[test]
fn a_command_that_has_the_key_signs() {
    let authority = authority();
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("a.pdf"), folder.path().join("b.pdf"));
    std::fs::write(&from, pdf(true)).expect("a file");
    let chain = folder.path().join("chain.pem");
    let certificates = ["rsa.crt", "middle.crt"].map(|name| authority.text(name));
    std::fs::write(&chain, certificates.concat()).expect("a file");
    let sign = |command: &[&str]| {
        Command::new(example())
            .args([&from, &to, &chain])
            .args(command)
            .output()
            .expect("the example runs")
    };
    let key = authority.path("rsa.key");
    let output = sign(&[
        "openssl",
        "dgst",
        "-sha256",
        "-sign",
        &key.display().to_string(),
    ]);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let judgement = judged(&std::fs::read(&to).expect("a file"));
    assert!(judgement.valid, "{judgement:#?}");

    std::fs::remove_file(&to).expect("removed");
    let output = sign(&["false"]);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("false ended with"), "{complaint}");
    assert!(!output.status.success() && !to.exists());
}

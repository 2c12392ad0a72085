//! The stage `sign`, with keys that forms bring; poppler verifies what is made.

use std::{fs, path::Path, process::Command};

use platen_pdf::read_signatures;
use serde_json::json;

use crate::{
    app::TestApp,
    documents::{Field, pdf, send},
    fixture::has_all,
    stages::{LIMITS, made, pipe, said},
};

fn openssl(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("openssl");
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.expect("openssl starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// What `pdfsig` says of a file.
fn verified(folder: &Path, file: &[u8]) -> String {
    let path = folder.join("signed.pdf");
    fs::write(&path, file).expect("it is written");
    let output = Command::new("pdfsig").args(["-nocert"]).arg(&path).output();
    String::from_utf8_lossy(&output.expect("pdfsig starts").stdout).into_owned()
}

#[test]
fn keys_of_the_form_sign() {
    if !has_all(&["openssl", "pdfsig"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Ada -keyout key.pem -out cert.pem";
    openssl(at, &new.split(' ').collect::<Vec<_>>());
    let pack = "pkcs12 -export -inkey key.pem -in cert.pem -out both.p12 -passout pass:secret";
    openssl(at, &pack.split(' ').collect::<Vec<_>>());
    let read = |name: &str| fs::read(at.join(name)).expect("it was made");
    let (certificate, key, both) = (read("cert.pem"), read("key.pem"), read("both.p12"));
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let file: Field<'_> = ("files", "report.pdf", &one);
    let pem: [Field<'_>; 6] = [
        file,
        ("files", "cert.pem", &certificate),
        ("files", "key.pem", &key),
        ("certificate", "", b"cert.pem"),
        ("key", "", b"key.pem"),
        ("reason", "", b"Approved"),
    ];
    let signed = made(send(&app, "pdf/sign", &pem)).bytes;
    assert!(signed.starts_with(&one), "the file stays as it is");
    let found = read_signatures(&signed, &LIMITS).expect("signatures");
    assert_eq!(found[0].reason.as_deref(), Some("Approved"));
    let report = verified(at, &signed);
    assert!(
        report.contains("Signature is Valid") && report.contains("Ada"),
        "{report}"
    );

    // In a list, behind a stage that changes the file.
    let files: [Field<'_>; 2] = [file, ("files", "both.p12", &both)];
    let signing = |password: &str| {
        json!([
            {"op": "rotate", "angle": 90},
            {"op": "sign", "certificate": "both.p12", "certificatePassword": password},
        ])
    };
    let signed = made(pipe(&app, &files, &signing("secret"))).bytes;
    let report = verified(at, &signed);
    assert!(report.contains("Signature is Valid"), "{report}");
    pipe(&app, &files, &signing("wrong")).problem(400, "invalid-option");

    // Without its key, by another authority, or with a name of its own, nothing is signed.
    assert!(said(&app, "pdf/sign", &pem[..2]).contains("'certificate' is required"));
    assert!(said(&app, "pdf/sign", &[pem[0], pem[1], pem[3]]).contains("no block PRIVATE KEY"));
    let late: Field<'_> = ("timestampUrl", "", b"http://time.example.com/");
    send(&app, "pdf/sign", &[&pem[..], &[late]].concat()).problem(403, "address-denied");
    let named: Field<'_> = ("name", "", b"Somebody");
    send(&app, "pdf/sign", &[&pem[..], &[named]].concat()).problem(400, "unsupported-option");
}

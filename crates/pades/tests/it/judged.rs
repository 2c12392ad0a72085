//! Others judge the signatures: `pdfsig` of poppler, pyHanko, which looks at chains, revocation and
//! changes, and DSS, which tells the levels of PAdES.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use platen_pades::{Level, Signing, add_timestamp};
use platen_pdf::{Appearance, Certification, Change, Limits, SignaturePlace};
use tempfile::TempDir;

use crate::{
    authority::authority,
    file::pdf,
    signing::{judged, signed, signing},
};

/// The program at `path`; if it is missing, a visible skip, or a failure with `REQUIRE_ALL=1`.
fn program(path: PathBuf) -> Option<PathBuf> {
    let found = Command::new(&path).arg("--version").output().is_ok();
    let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
    assert!(
        found || !required,
        "{} is needed (REQUIRE_ALL=1)",
        path.display()
    );
    if !found {
        eprintln!(
            "SKIP: {} is missing and judges no signatures",
            path.display()
        );
    }
    found.then_some(path)
}

/// Where `.ci/packages.sh` puts programs.
fn cache() -> PathBuf {
    let home = || std::env::var("HOME").unwrap_or_default();
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| format!("{}/.cache", home()));
    PathBuf::from(cache).join("platen")
}

fn pyhanko() -> Option<PathBuf> {
    program(cache().join("pyhanko/bin/pyhanko"))
}

fn said(program: &Path, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .output()
        .expect("the judge runs");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Files of all kinds, by what they are.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let seen = Signing {
        appearance: Some(Appearance {
            file: pdf(false),
            extent: platen_pdf::Extent::Page,
            place: Some(SignaturePlace {
                page: 1,
                area: [20.0, 20.0, 140.0, 80.0],
            }),
            is_needed: true,
        }),
        ..signing(Level::Basic)
    };
    let certified = Signing {
        certification: Some(Certification::Nothing),
        ..signing(Level::LongTerm)
    };
    let first = signed(&pdf(true), &signing(Level::Timestamp), "rsa");
    let second = signed(&first, &seen, "p256");
    let limits = Limits::default();
    let third = add_timestamp(&second, "http://time.test/", authority(), &limits);
    vec![
        ("rsa", signed(&pdf(false), &signing(Level::Basic), "rsa")),
        ("p256", signed(&pdf(true), &signing(Level::Basic), "p256")),
        ("p384", signed(&pdf(true), &seen, "p384")),
        ("stamped", first),
        ("twice", second),
        ("third", third.expect("a timestamp")),
        ("lasting", signed(&pdf(false), &certified, "p256")),
        (
            "archival",
            signed(&pdf(true), &signing(Level::Archival), "rsa"),
        ),
    ]
}

#[test]
fn poppler_finds_the_signatures_valid() {
    let Some(pdfsig) = program("pdfsig".into()) else {
        return;
    };
    let folder = TempDir::new().expect("a folder");
    for (name, file) in files() {
        let path = folder.path().join(name);
        std::fs::write(&path, file).expect("a file");
        let said = said(&pdfsig, &["-nocert"], &path);
        assert!(said.contains("Signature is Valid"), "{name}: {said}");
        assert!(!said.contains("Invalid"), "{name}: {said}");
    }
}

#[test]
fn pyhanko_finds_the_signatures_valid() {
    let Some(pyhanko) = pyhanko() else {
        return;
    };
    let folder = TempDir::new().expect("a folder");
    let root = authority().path("root.crt");
    let root = root.to_str().expect("a path");
    for (name, file) in files() {
        let path = folder.path().join(name);
        std::fs::write(&path, &file).expect("a file");
        let arguments = [
            "sign",
            "validate",
            "--no-revocation-check",
            "--pretty-print",
            "--trust",
            root,
        ];
        let said = said(&pyhanko, &arguments, &path);
        assert!(said.contains("judged VALID"), "{name}: {said}");
        assert!(!said.contains("INVALID"), "{name}: {said}");
    }
}

/// Validates each signature from what the file carries: nothing is fetched, and what says nothing of
/// revocation fails.
const LASTING: &str = "
import sys
from pyhanko.keys import load_cert_from_pemder
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import (
    DocumentSecurityStore, validate_pdf_signature, validate_pdf_timestamp)
root, path = sys.argv[1:]
reader = PdfFileReader(open(path, 'rb'))
store = DocumentSecurityStore.read_dss(reader)
options = {'trust_roots': [load_cert_from_pemder(root)], 'allow_fetching': False,
           'revocation_mode': 'hard-fail'}
for signature in reader.embedded_regular_signatures:
    status = validate_pdf_signature(
        signature, signer_validation_context=store.as_validation_context(options),
        ts_validation_context=store.as_validation_context(options))
    print('signature', status.bottom_line, status.timestamp_validity.valid)
for signature in reader.embedded_timestamp_signatures:
    status = validate_pdf_timestamp(signature, store.as_validation_context(options))
    print('timestamp', status.valid and status.trusted)
";

#[test]
fn pyhanko_proves_what_lasts_from_the_file_alone() {
    let Some(pyhanko) = pyhanko() else {
        return;
    };
    let python = pyhanko.with_file_name("python");
    let folder = TempDir::new().expect("a folder");
    let root = authority().path("root.crt");
    let root = root.to_str().expect("a path");
    for (level, expected) in [
        (Level::LongTerm, "signature True True\n"),
        (Level::Archival, "signature True True\ntimestamp True\n"),
    ] {
        let path = folder.path().join("lasting.pdf");
        std::fs::write(&path, signed(&pdf(true), &signing(level), "rsa")).expect("a file");
        assert_eq!(said(&python, &["-c", LASTING, root], &path), expected);
    }
}

#[test]
fn dss_finds_the_levels_that_are_asked_for() {
    let jars = cache().join("dss");
    let found = jars.is_dir() && Command::new("java").arg("--version").output().is_ok();
    let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
    assert!(found || !required, "DSS is needed (REQUIRE_ALL=1)");
    if !found {
        eprintln!("SKIP: DSS is missing and judges no signatures");
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new("java");
    command.args(["-cp", &format!("{}/*", jars.display())]);
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("a folder"));
    command.arg(manifest.join("../../tests/conformance/Signatures.java"));
    command.arg(authority().path("root.crt"));
    for (name, file) in files() {
        let path = folder.path().join(name);
        std::fs::write(&path, file).expect("a file");
        command.arg(path);
    }
    let output = command.output().expect("java");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{problem}");
    let of = |name: &str| -> Vec<String> {
        let path = format!("{} ", folder.path().join(name).display());
        let lines = said
            .lines()
            .filter_map(|line| line.strip_prefix(path.as_str()));
        lines.map(str::to_owned).collect()
    };
    // Where the file says nothing of revocation, DSS asks nobody and does not decide.
    for name in ["rsa", "p256", "p384"] {
        assert_eq!(of(name), ["PAdES-BASELINE-B INDETERMINATE"], "{said}");
    }
    assert_eq!(of("stamped"), ["PAdES-BASELINE-T INDETERMINATE"], "{said}");
    assert_eq!(of("twice").len(), 2, "{said}");
    assert_eq!(of("third").len(), 2, "{said}");
    assert_eq!(of("lasting"), ["PAdES-BASELINE-LT TOTAL_PASSED"], "{said}");
    assert_eq!(
        of("archival"),
        ["PAdES-BASELINE-LTA TOTAL_PASSED"],
        "{said}"
    );
}

#[test]
fn what_pyhanko_signs_is_judged() {
    let Some(pyhanko) = pyhanko() else {
        return;
    };
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let key = |name: &str| authority().path(name).display().to_string();
    std::fs::write(at("0"), pdf(true)).expect("a file");
    for (step, (signer, pades)) in [("rsa", true), ("p256", false)].into_iter().enumerate() {
        let field = format!("Field{step}");
        let mut command = Command::new(&pyhanko);
        command.args(["sign", "addsig", "--field", &field, "--reason", "Read"]);
        command.args(pades.then_some("--use-pades"));
        let (private, own) = (key(&format!("{signer}.key")), key(&format!("{signer}.crt")));
        command.args(["pemder", "--no-pass", "--key", &private, "--cert", &own]);
        command.args(["--chain", &key("middle.crt")]);
        command.args([at(&step.to_string()), at(&(step + 1).to_string())]);
        let output = command.output().expect("pyHanko");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }
    let judgement = judged(&std::fs::read(at("2")).expect("a file"));
    assert!(judgement.valid, "{judgement:#?}");
    let [first, second] = &judgement.signatures[..] else {
        panic!("{judgement:#?}");
    };
    assert_eq!(first.encoding, "ETSI.CAdES.detached");
    assert_eq!(second.encoding, "adbe.pkcs7.detached");
    let field = "Field1".to_owned();
    let changes = [Change::Signature { field }, Change::Properties];
    assert_eq!(first.changes, changes);
    // And our own on top of theirs.
    let file = std::fs::read(at("2")).expect("a file");
    assert!(judged(&signed(&file, &signing(Level::Basic), "p384")).valid);
}

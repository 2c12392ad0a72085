//! Files of ours in pdf.js, the reader of Firefox and of many pages, which `.ci/packages.sh` fetches.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use process::{fetched, is_missing};
use serde_json::Value as Json;

/// Permission to copy, as pdf.js numbers it (ISO 32000-2, table 22).
const COPY: u64 = 0x10;
/// Permission to print, in the same way.
const PRINT: u64 = 0x04;

fn root() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

/// Where pdf.js is; `None`, said aloud, if it is missing.
fn pdfjs() -> Option<PathBuf> {
    let folder = fetched("pdfjs");
    let node = Command::new("node").arg("--version").output().is_ok();
    let found = node && folder.join("node_modules/pdfjs-dist").is_dir();
    (!is_missing("pdf.js", found)).then_some(folder)
}

/// What pdf.js finds in a file.
fn read(pdfjs: &Path, file: &Path, password: Option<&str>) -> Json {
    let output = Command::new("node")
        .arg(root().join("tests/conformance/text.mjs"))
        .args([pdfjs, file])
        .args(password)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"))
}

/// The words of a page, in no order.
fn words(page: &Json) -> Vec<&str> {
    let mut words: Vec<&str> = page
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Json::as_str)
        .collect();
    words.sort_unstable();
    words
}

#[test]
fn pdfjs_reads_what_is_rendered_changed_and_encrypted() {
    let Some(pdfjs) = pdfjs() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let done = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
        let output = command.current_dir(&folder).args(arguments).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
    };
    let example = root().join("examples/bench-invoice");
    let [template, data] =
        ["template.json", "data.json"].map(|name| example.join(name).display().to_string());
    done(&["render", &template, &data, "-o", "a.pdf"]);
    let own = read(&pdfjs, &at("a.pdf"), None);
    let expected = words(&own["pages"][0]);
    assert!(expected.len() > 60, "{own}");
    assert!(own["permissions"].is_null());

    std::fs::write(at("password"), "päss").unwrap();
    let seal = [
        "pdf",
        "encrypt",
        "a.pdf",
        "-o",
        "b.pdf",
        "--user-password-file",
        "password",
        "--forbid",
        "copying",
    ];
    done(&seal);
    let sealed = read(&pdfjs, &at("b.pdf"), Some("päss"));
    assert_eq!(words(&sealed["pages"][0]), expected);
    let permissions: Vec<u64> = serde_json::from_value(sealed["permissions"].clone()).unwrap();
    assert!(permissions.contains(&PRINT) && !permissions.contains(&COPY));
    for wrong in [None, Some("other")] {
        let refused = read(&pdfjs, &at("b.pdf"), wrong);
        assert_eq!(refused["error"], "PasswordException", "{refused}");
    }

    done(&["pdf", "stamp", "a.pdf", "--text", "Bezahlt", "-o", "c.pdf"]);
    done(&["pdf", "merge", "c.pdf", "a.pdf", "-o", "d.pdf"]);
    done(&["pdf", "optimize", "d.pdf", "-o", "e.pdf"]);
    for file in ["d.pdf", "e.pdf"] {
        let merged = read(&pdfjs, &at(file), None);
        assert_eq!(words(&merged["pages"][1]), expected, "{file}");
        let stamped = words(&merged["pages"][0]);
        assert!(stamped.contains(&"Bezahlt"), "{file}: {stamped:?}");
        assert_eq!(stamped.len(), expected.len() + 1, "{file}");
    }
}

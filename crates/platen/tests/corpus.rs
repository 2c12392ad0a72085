//! Operations on the PDF files of pypdf, which have every kind of damage, with qpdf, poppler and veraPDF as
//! judges.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{path::PathBuf, process::Command};

use process::{fetched, is_missing, verapdf};

#[test]
fn files_of_others_are_changed_rightly_or_refused_in_words() {
    let files = fetched("corpus/pypdf-7.1.1");
    let tools = ["python3", "qpdf", "pdftotext", "openssl"];
    // What they answer does not matter: not all have the same flag for their version.
    let found = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
    if is_missing(
        "the files of pypdf",
        files.is_dir() && tools.iter().all(found),
    ) {
        return;
    }
    let Some(jars) = verapdf() else {
        return;
    };
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let output = Command::new("python3")
        .arg(manifest.join("../../tests/corpus/run.py"))
        .arg(env!("CARGO_BIN_EXE_platen"))
        .arg(files)
        // A third of the operations on each file, others on the next: all of them take minutes.
        .args(["--part", "0/3"])
        .arg("--verapdf")
        .arg(jars)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaint}");
    let rows: Vec<Vec<&str>> = said
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let never = |row: &&Vec<&str>| matches!(row[..], [_, "0", _, _]);
    let never: Vec<&str> = rows.iter().filter(never).map(|row| row[0]).collect();
    // No file is signed rightly or satisfies the standard; every other operation works on some.
    assert_eq!(never, ["verify", "validate"], "{said}");
    assert!(
        rows.iter().any(|row| row.first() == Some(&"redact")),
        "{said}"
    );
}

//! Gotenberg's own scenarios about PDF files, webhooks, health and metrics; those with Chromium and
//! LibreOffice take minutes, and are run by hand.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{path::PathBuf, process::Command};

use process::{fetched, has_chromium, has_libreoffice, is_missing, verapdf};

const FEATURES: [&str; 17] = [
    "health",
    "output_filename",
    "pdfengines_bookmarks",
    "pdfengines_embed",
    "pdfengines_encrypt",
    "pdfengines_flatten",
    "pdfengines_merge",
    "pdfengines_metadata",
    "pdfengines_optimize",
    "pdfengines_rotate",
    "pdfengines_split",
    "pdfengines_stamp",
    "pdfengines_watermark",
    "prometheus_metrics",
    "root",
    "version",
    "webhook",
];

#[test]
fn what_gotenberg_tests_is_the_same_but_for_what_is_listed() {
    let python = fetched("venv").join("bin/python");
    let has = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let modules = has(
        &python.display().to_string(),
        &["-c", "import requests, PIL"],
    );
    // Tools of poppler end with 99 when they say their version.
    let poppler = Command::new("pdfdetach").arg("-v").output().is_ok();
    let tools = has("go", &["version"]) && has("qpdf", &["--version"]) && poppler;
    if is_missing(
        "Go, qpdf, poppler, or Python with requests",
        modules && tools,
    ) || is_missing(
        "Chromium, or LibreOffice",
        has_chromium() && has_libreoffice(),
    ) || verapdf().is_none()
    {
        return;
    }
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let output = Command::new(python)
        .arg(manifest.join("../../tests/gotenberg/run.py"))
        .arg(env!("CARGO_BIN_EXE_platen"))
        .arg("--only")
        .args(FEATURES)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complaint}");
    let same = said
        .lines()
        .filter(|line| line.starts_with("same "))
        .count();
    assert!(same > 200, "{said}");
}

//! The binary under test and the programs that check its files: poppler, qpdf and LibreOffice.
//!
//! A program that is not installed is said aloud and its checks are left out; with
//! `REQUIRE_ALL=1` it must be there.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The root of the repository.
pub fn repository() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    manifest.ancestors().nth(2).expect("a root").to_owned()
}

/// True where `program` answers; otherwise says what is left out.
pub fn has(program: &str, version: &str) -> bool {
    let found = Command::new(program).arg(version).output().is_ok();
    if !found {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "{program} is required"
        );
        eprintln!("SKIPPED: {program} is missing, so its checks are left out");
    }
    found
}

/// The OOXML validator `openxml-audit`: in the path, or where `.ci/packages.sh` put it.
pub fn ooxml_validator() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
    let own = cache.join("platen/venv/bin/openxml-audit");
    if own.is_file() {
        return Some(own);
    }
    has("openxml-audit", "--help").then(|| PathBuf::from("openxml-audit"))
}

/// Programs that are there.
#[derive(Clone, Copy, Debug)]
pub struct Tools {
    /// `pdftotext` and `pdfinfo`.
    pub poppler: bool,
    /// `qpdf`.
    pub qpdf: bool,
}

impl Tools {
    /// Looks for them.
    pub fn find() -> Self {
        Self {
            poppler: has("pdftotext", "-v") && has("pdfinfo", "-v"),
            qpdf: has("qpdf", "--version"),
        }
    }
}

/// Runs `platen` with settings that give the same bytes on every machine.
pub fn platen(arguments: &[&str], outputs: &[PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command
        .args(arguments)
        .args(["--now", "1795219200", "--no-system-fonts"])
        .env_remove("PLATEN_FONTS_DIR")
        .env_remove("SOURCE_DATE_EPOCH");
    for output in outputs {
        command.arg("-o").arg(output);
    }
    command.output().expect("platen runs")
}

/// What `program` prints, or its complaint.
pub fn print_of(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{program}: {text}{complaint}"))
}

/// The JSON Schema that `platen schema` prints.
pub fn schema() -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .arg("schema")
        .output()
        .expect("platen runs");
    serde_json::from_slice(&output.stdout).expect("a JSON Schema")
}

/// The types of nodes that `schema` knows.
pub fn node_kinds(schema: &serde_json::Value) -> Vec<String> {
    let variants = schema["$defs"]["Node"]["oneOf"].as_array();
    variants
        .into_iter()
        .flatten()
        .filter_map(|variant| variant["properties"]["type"]["const"].as_str())
        .map(str::to_owned)
        .collect()
}

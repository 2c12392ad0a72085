//! Instructions of work that is to stay as cheap as it is: counted by valgrind, so the same whatever
//! else the machine does. They stand in `tests/instructions.json`, with the compiler that made them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value as Json, json};

/// How much a count may grow without the table being changed with it.
const TOLERANCE: f64 = 0.03;
/// What is counted of a rendering: binding, layout, writing; neither start nor fonts.
const RENDERING: &str = "platen_render::renderer::Renderer::render_all";

fn repository() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    manifest.ancestors().nth(2).unwrap().to_owned()
}

fn output(command: &mut Command) -> Output {
    command
        .current_dir(repository())
        .output()
        .expect("it starts")
}

fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = output(Command::new(rustc).arg("--version")).stdout;
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// Instructions within `function` while the program runs with `arguments`.
fn instructions(function: &str, arguments: &[&str], folder: &Path) -> u64 {
    let mut profile = std::ffi::OsString::from("--callgrind-out-file=");
    profile.push(folder.join("profile"));
    let said = output(
        Command::new("valgrind")
            .args(["--tool=callgrind", &format!("--toggle-collect={function}")])
            .arg(profile)
            .arg(env!("CARGO_BIN_EXE_platen"))
            .args(arguments),
    );
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{text}");
    let count = text
        .lines()
        .find_map(|line| line.split("Collected : ").nth(1));
    let count = count.and_then(|count| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("no count: {text}"))
}

fn counted(folder: &Path) -> BTreeMap<String, u64> {
    // One page, and nine.
    let cases = [
        (
            "bench-invoice",
            &["pdf", "docx", "pptx", "xlsx", "csv", "html"][..],
        ),
        (
            "bench-report",
            &["pdf", "docx", "pptx", "xlsx", "csv", "html"],
        ),
    ];
    let mut found = BTreeMap::new();
    for (example, formats) in cases {
        let template = format!("examples/{example}/template.json");
        let data = format!("examples/{example}/data.json");
        for format in formats {
            let made = folder.join(format!("made.{format}"));
            let made = made.to_str().expect("a path");
            let count = instructions(RENDERING, &["render", &template, &data, "-o", made], folder);
            found.insert(format!("{example} {format}"), count);
        }
    }
    found
}

#[test]
fn work_is_as_cheap_as_it_was() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
        assert!(!required, "valgrind is needed (REQUIRE_ALL=1)");
        eprintln!("SKIP: valgrind is not installed");
        return;
    }
    let path = repository().join("tests/instructions.json");
    let folder = tempfile::tempdir().expect("a folder");
    let (compiler, now) = (compiler(), counted(folder.path()));
    if std::env::var_os("UPDATE").is_some() {
        let table = json!({"compiler": compiler, "instructions": now});
        let text = serde_json::to_string_pretty(&table).expect("JSON");
        std::fs::write(&path, text + "\n").expect("the table is written");
        return;
    }
    let table = std::fs::read(&path).expect("tests/instructions.json");
    let table: Json = serde_json::from_slice(&table).expect("a table");
    // Another compiler makes other instructions.
    if table["compiler"] != compiler.as_str() {
        let made = &table["compiler"];
        eprintln!("SKIP: the table was made with {made}, this is {compiler}");
        return;
    }
    let table: BTreeMap<String, u64> =
        serde_json::from_value(table["instructions"].clone()).expect("counts");
    let (cases, known): (Vec<_>, Vec<_>) = (now.keys().collect(), table.keys().collect());
    assert_eq!(cases, known, "the table has other cases: run with UPDATE=1");
    let mut grown = String::new();
    for (case, count) in &now {
        let before = table[case];
        let growth = *count as f64 / before as f64 - 1.0;
        eprintln!("{case}: {count} ({:+.2} %)", growth * 100.0);
        if growth > TOLERANCE {
            grown += &format!("\n{case}: {before} to {count} ({:+.1} %)", growth * 100.0);
        }
    }
    assert!(
        grown.is_empty(),
        "more instructions than tests/instructions.json says; make it cheaper again, or say why in \
         the commit and run with UPDATE=1:{grown}"
    );
}

//! PDF/UA-1 and PDF/A of every case and example by veraPDF, which `.ci/packages.sh` fetches.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    case::Case,
    tools::{has, platen, repository},
};

/// veraPDF's jars, and Java to run them.
fn validator() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
    let jars = cache.join("platen/verapdf");
    let found = has("java", "--version") && jars.is_dir();
    if !found {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "veraPDF is required"
        );
        eprintln!("SKIPPED: veraPDF is missing, so PDF/A and PDF/UA are not checked");
    }
    found.then(|| jars.join("*"))
}

/// Renders `case` and returns pairs of flavour and path.
fn render(case: &Case, folder: &Path) -> Vec<String> {
    let name = case.name.replace('/', "-");
    let input = |file: &str| case.source.join(file).display().to_string();
    let (template, data) = (input("template.json"), input("data.json"));
    let fonts = case.font_arguments();
    let mut pairs = Vec::new();
    let standards: [(&str, &[&str]); 3] = [
        ("ua1", &[]),
        ("2b", &["--standard", "pdf-a-2b"]),
        ("3b", &["--standard", "pdf-a-3b", "--attach", &data]),
    ];
    // The XML of an e-invoice is attached, which PDF/A-2 does not allow.
    let has_invoice =
        std::fs::read_to_string(&template).is_ok_and(|source| source.contains("eInvoice"));
    for (flavour, options) in standards {
        if has_invoice && flavour == "2b" {
            continue;
        }
        let path = folder.join(format!("{name}-{flavour}.pdf"));
        let mut arguments = [&["render", &template, &data], options].concat();
        arguments.extend(fonts.iter().map(String::as_str));
        let output = platen(&arguments, std::slice::from_ref(&path));
        let said = String::from_utf8_lossy(&output.stderr);
        let path = path.display().to_string();
        assert!(output.status.success(), "{name} as {flavour}: {said}");
        if !said.contains("not-pdf-ua") {
            pairs.extend(["ua1".to_owned(), path.clone()]);
        }
        if flavour != "ua1" {
            pairs.extend([flavour.to_owned(), path]);
        }
    }
    pairs
}

/// Fails with every rule that a case breaks.
pub fn check(cases: &[Case]) {
    let Some(jars) = validator() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let pairs: Vec<String> = cases
        .iter()
        .flat_map(|case| render(case, folder.path()))
        .collect();
    let output = Command::new("java")
        .arg("-cp")
        .arg(jars)
        .arg(repository().join("tests/conformance/Validate.java"))
        .args(&pairs)
        .output()
        .expect("java runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let sound = said.lines().filter(|line| line.ends_with(" ok")).count();
    assert!(output.status.success(), "{said}{complaint}");
    assert_eq!(sound, pairs.len() / 2, "{said}");
    let accessible = pairs.iter().filter(|word| *word == "ua1").count();
    assert!(
        accessible * 10 > cases.len() * 3 * 9,
        "PDF/UA-1: {accessible}"
    );
}

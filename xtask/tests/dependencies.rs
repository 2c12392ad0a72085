//! Checks the dependencies of the workspace: licenses, the Rust that they need, banned crates, and
//! unused dependencies.

mod workspace;

use std::{path::Path, process::Command};

use serde_json::Value as Json;
use workspace::{files_below, root};

/// Licenses that permit what Platen's own permits: use, modification and sale in closed products.
const LICENCES: [&str; 17] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "IJG",
    "ISC",
    "MIT",
    "MIT-0",
    "OFL-1.1",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Banned crates, and why.
const BANNED: [(&str, &str); 3] = [
    (
        "openssl-sys",
        "TLS is rustls: one implementation, and no library of the system",
    ),
    ("native-tls", "TLS is rustls"),
    ("chrono", "times are jiff's"),
];

/// Crates that may link a banned one for themselves: rxing has times in the results of its readers.
const TOLERATED: [(&str, &str); 1] = [("chrono", "rxing")];

/// Dependencies that are listed only for their features, by crate.
const FOR_FEATURES: [(&str, &str); 1] = [("platen-document", "icu_provider")];

fn metadata() -> Json {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn list<'a>(value: &'a Json, member: &str) -> Vec<&'a Json> {
    let all = value[member].as_array();
    all.map(|all| all.iter().collect()).unwrap_or_default()
}

/// Whether an SPDX expression permits one of [`LICENCES`]. Its brackets contain alternatives and
/// are not nested.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut rest = expression.as_str();
    let mut flat = String::new();
    while let Some((before, after)) = rest.split_once('(') {
        let (inner, behind) = after.split_once(')').unwrap_or((after, ""));
        flat.push_str(before);
        flat.push_str(if is_allowed(inner) { "MIT" } else { "unknown" });
        rest = behind;
    }
    flat.push_str(rest);
    flat.split(" OR ").any(|choice| {
        let mut licences = choice.split(" AND ").map(str::trim);
        licences.all(|licence| LICENCES.contains(&licence))
    })
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let metadata = metadata();
    let mut findings = Vec::new();
    for package in list(&metadata, "packages") {
        let licence = package["license"].as_str().unwrap_or("none");
        if !is_allowed(licence) {
            let (name, version) = (&package["name"], &package["version"]);
            findings.push(format!("{name} {version}: {licence}"));
        }
    }
    assert!(findings.is_empty(), "licences:\n{}", findings.join("\n"));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!is_allowed("GPL-3.0-only") && !is_allowed("MIT AND GPL-2.0"));
}

/// Numbers of a version such as `1.92` or `1.92.1`.
fn numbers(version: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = version.split('.').map(|it| it.parse().unwrap()).collect();
    numbers.resize(3, 0);
    numbers
}

/// A lower `rust-version` would promise a toolchain that cargo then refuses, in a dependency that the
/// user has never heard of.
#[test]
fn our_rust_version_is_at_least_that_of_every_dependency() {
    let metadata = metadata();
    let required = |package: &Json| package["rust_version"].as_str().map(numbers);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for package in list(&metadata, "packages") {
        match package["source"].is_null() {
            true => ours.push(required(package).expect("every crate of ours has `rust-version`")),
            false => theirs.push((required(package), &package["name"], &package["version"])),
        }
    }
    let lowest = ours.into_iter().min().unwrap();
    assert!(theirs.len() > 100, "cargo lists the dependencies");
    let above = theirs.into_iter().filter_map(|(required, name, version)| {
        let required = required.filter(|required| *required > lowest)?;
        Some(format!("{name} {version}: {required:?}"))
    });
    let above: Vec<String> = above.collect();
    assert!(
        above.is_empty(),
        "these need more than our rust-version, {lowest:?}:\n{}",
        above.join("\n")
    );
}

#[test]
fn nothing_that_is_banned_is_linked() {
    let metadata = metadata();
    let nodes = list(&metadata["resolve"], "nodes");
    let ids: Vec<&str> = nodes
        .iter()
        .filter_map(|node| node["id"].as_str())
        .collect();
    let names = |id: &str, name: &str| {
        id.contains(&format!("/{name}#")) || id.contains(&format!("#{name}@"))
    };
    let is_there = |name: &str| ids.iter().any(|id| names(id, name));
    assert!(
        is_there("serde_json"),
        "identifiers are read as cargo writes them"
    );
    let is_tolerated = |name: &str| {
        let users: Vec<&str> = nodes
            .iter()
            .filter(|node| {
                list(node, "deps")
                    .iter()
                    .filter_map(|dep| dep["pkg"].as_str())
                    .any(|id| names(id, name))
            })
            .filter_map(|node| node["id"].as_str())
            .collect();
        let mut allowed = TOLERATED.iter().filter(|(banned, _)| *banned == name);
        allowed.any(|(_, user)| users.iter().all(|id| names(id, user)))
    };
    let found: Vec<String> = BANNED
        .iter()
        .filter(|(name, _)| is_there(name) && !is_tolerated(name))
        .map(|(name, why)| format!("{name}: {why}"))
        .collect();
    assert!(found.is_empty(), "banned:\n{}", found.join("\n"));
}

#[test]
fn every_dependency_is_used() {
    let metadata = metadata();
    let members = list(&metadata, "workspace_members");
    let mut findings = Vec::new();
    for package in list(&metadata, "packages") {
        if !members.contains(&&package["id"]) {
            continue;
        }
        let package_name = package["name"].as_str().unwrap();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let code = code_below(manifest.parent().unwrap());
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        for dependency in list(package, "dependencies") {
            let name = dependency["rename"].as_str();
            let name = name.or(dependency["name"].as_str()).unwrap();
            let word = library_of(&metadata, name);
            let mut words = code.split(|letter: char| !is_of_word(letter));
            let is_for_features = FOR_FEATURES.contains(&(package_name, name));
            if is_for_features == words.any(|found| found == word) {
                findings.push(format!("{package_name}: {name}"));
            }
        }
    }
    assert!(findings.is_empty(), "unused:\n{}", findings.join("\n"));
}

/// The name of a package in code.
fn library_of(metadata: &Json, package: &str) -> String {
    let all = list(metadata, "packages");
    let found = all.into_iter().find(|it| it["name"] == package);
    let targets = found.map(|it| list(it, "targets")).unwrap_or_default();
    let is_library = |target: &&&Json| {
        list(target, "kind")
            .iter()
            .any(|kind| **kind != "custom-build")
    };
    let library = targets.iter().find(is_library);
    let name = library.and_then(|target| target["name"].as_str());
    name.unwrap_or(package).replace('-', "_")
}

/// All Rust code of a crate: sources, tests and examples, and files of other crates that it
/// includes by `#[path]`.
fn code_below(folder: &Path) -> String {
    let mut code = String::new();
    for file in files_below(folder) {
        let text = std::fs::read_to_string(&file).unwrap();
        for rest in text.split("#[path = \"").skip(1) {
            let named = rest.split('"').next().unwrap_or_default();
            let taken_in = file.parent().unwrap().join(named);
            code.push_str(&std::fs::read_to_string(taken_in).unwrap());
        }
        code.push_str(&text);
    }
    code
}

#[test]
fn the_pages_name_the_compiler_that_is_promised() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut lines = manifest.lines();
    let promised = lines.find_map(|line| line.strip_prefix("rust-version = "));
    let promised = promised.expect("a rust-version").trim_matches('"');
    // Clippy's `incompatible_msrv` checks the code against it.
    for page in ["README.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        let is_of_version = |letter: char| letter.is_ascii_digit() || letter == '.';
        for rest in text.split("Rust ").skip(1) {
            let named = rest
                .split(|letter| !is_of_version(letter))
                .next()
                .unwrap_or_default();
            let named = named.trim_end_matches('.');
            let is_same = named.is_empty() || named == promised;
            assert!(is_same, "{page} names Rust {named}, Cargo.toml {promised}");
        }
    }
}

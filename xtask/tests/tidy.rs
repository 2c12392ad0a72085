//! The source tree keeps its invariants; ARCHITECTURE.md says what they are.

mod workspace;

use workspace::{files_below, root};

const PURE: [&str; 7] = [
    "fault/src",
    "document/src",
    "layout/src",
    "formats/src",
    "flow/src",
    "pdf/src",
    "urp/src/codec",
];
const MAX_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 70;

/// Rust files below `folder`, relative to the root, with their text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = root();
    let mut files: Vec<(String, String)> = files_below(&root.join(folder))
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn all_sources() -> Vec<(String, String)> {
    let mut files = sources("crates");
    files.extend(sources("xtask"));
    files
}

fn crates() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Lines of code outside comments and tests.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(index, line)| (index + 1, line))
}

fn assert_none(findings: Vec<String>, rule: &str) {
    assert!(findings.is_empty(), "{rule}:\n{}", findings.join("\n"));
}

#[test]
fn pure_crates_touch_nothing_outside() {
    let forbidden = [
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "SystemTime",
        "Instant::now",
        "tokio",
    ];
    let mut findings = Vec::new();
    for name in PURE {
        for (file, text) in sources(&format!("crates/{name}")) {
            if file.contains("/tests") {
                continue;
            }
            for (line, code) in code_lines(&text) {
                if forbidden.iter().any(|word| code.contains(word)) {
                    findings.push(format!("{file}:{line}: {}", code.trim()));
                }
            }
        }
    }
    assert_none(
        findings,
        "pure crates know no files, network, clock or runtime",
    );
}

#[test]
fn unsafe_code_only_in_jail() {
    let mut findings = Vec::new();
    let pattern = ["un", "safe "].concat();
    for (file, text) in all_sources() {
        let found = code_lines(&text).any(|(_, line)| line.contains(&pattern));
        if found && !file.starts_with("crates/jail/") && file != "xtask/tests/tidy.rs" {
            findings.push(file);
        }
    }
    for name in crates() {
        let manifest =
            std::fs::read_to_string(root().join("crates").join(&name).join("Cargo.toml"));
        if name != "jail" && !manifest.unwrap().contains("[lints]\nworkspace = true") {
            findings.push(format!(
                "crates/{name}/Cargo.toml does not take the workspace's lints"
            ));
        }
    }
    assert_none(findings, "unsafe code stands only in crates/jail");
}

#[test]
fn libraries_stay_in_their_rooms() {
    let rooms = [
        (
            "axum::",
            "crates/server/ crates/gotenberg/ crates/platen/src/command/service/bench_page.rs",
        ),
        (
            "hyper::",
            "crates/server/ crates/gotenberg/ crates/platen/src/command/service/bench_page.rs \
             crates/delivery/src/connection/ crates/delivery/src/bench_hyper.rs \
             crates/supervise/",
        ),
        ("rusqlite::", "crates/storage/"),
        ("tokio_postgres::", "crates/storage/"),
        ("subsetter::", "crates/formats/src/pdf/"),
        ("tiny_skia::", "crates/formats/src/picture/"),
        ("minijinja::", "crates/document/src/expression/"),
        ("harfrust::", "crates/layout/src/"),
        ("lopdf::", "crates/pdf/"),
        ("oxc::", "crates/script/ crates/studio/src/bundle/"),
        ("rquickjs::", "crates/script/"),
    ];
    let mut findings = Vec::new();
    for (file, text) in sources("crates") {
        for (line, code) in code_lines(&text) {
            for (library, room) in rooms {
                let used = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                let used = used.into_iter().any(|word| word.starts_with(library));
                if used && !room.split(' ').any(|room| file.starts_with(room)) {
                    findings.push(format!("{file}:{line}: {library} belongs to {room}"));
                }
            }
        }
    }
    assert_none(findings, "each library is used in one room");
}

#[test]
fn architecture_names_what_exists() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut findings = Vec::new();
    for name in crates() {
        if !text.contains(&format!("crates/{name}")) {
            findings.push(format!("crates/{name} is not named"));
        }
    }
    for word in text.split('`').skip(1).step_by(2) {
        let is_path = word.contains('/') && !word.contains([' ', ':', '{', '<', '*']);
        if is_path && !word.starts_with('/') && !root().join(word).exists() {
            findings.push(format!("`{word}` does not exist"));
        }
    }
    assert_none(findings, "ARCHITECTURE.md and the tree agree");
}

#[test]
fn files_say_what_they_hold_and_stay_short() {
    let mut findings = Vec::new();
    for (file, text) in all_sources() {
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("//!") {
            findings.push(format!("{file}: does not begin with //!"));
        }
        let lines = text.lines().count();
        if lines > MAX_FILE_LINES {
            findings.push(format!("{file}: {lines} lines"));
        }
        // Sample documents are long lists.
        if !file.contains("/tests/") {
            findings.extend(long_functions(&file, &text));
        }
        for (index, line) in text.lines().enumerate() {
            let marks = [
                ["TO", "DO"].concat(),
                ["FIX", "ME"].concat(),
                ["todo", "!("].concat(),
            ];
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                findings.push(format!("{file}:{}: left open", index + 1));
            }
        }
    }
    assert_none(
        findings,
        "files and functions are short, described and finished",
    );
}

/// Functions of more than 70 lines. Formatted code closes a function at its own indentation.
fn long_functions(file: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let mut open: Option<(usize, usize, &str)> = None;
    for (index, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim_start();
        match open {
            Some((start, depth, name)) if indent == depth && trimmed.starts_with('}') => {
                let length = index - start + 1;
                if length > MAX_FUNCTION_LINES {
                    findings.push(format!("{file}:{}: {length} lines: {name}", start + 1));
                }
                open = None;
            }
            // A declaration without a body.
            Some((_, depth, _)) if indent == depth && trimmed.ends_with(';') => open = None,
            Some(_) => {}
            None if starts_function(trimmed)
                && !trimmed.ends_with(';')
                && !trimmed.ends_with('}') =>
            {
                open = Some((index, indent, trimmed));
            }
            None => {}
        }
    }
    findings
}

fn starts_function(line: &str) -> bool {
    let rest = line
        .trim_start_matches("pub(crate) ")
        .trim_start_matches("pub(super) ")
        .trim_start_matches("pub ")
        .trim_start_matches("const ")
        .trim_start_matches("async ");
    rest.starts_with("fn ")
}

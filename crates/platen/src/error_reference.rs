//! `docs/reference/errors.md`: made from the table of codes, and compared with what is committed.
//! What the sources name is in the table, and what is in the table is named by the sources.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use platen_fault::{
    Backend, CODES, DIAGNOSTICS, Entry, Fault, RENAMED, Resource, Stage, What, find_diagnostic,
};

const HEAD: &str = "# Errors

Generated from the source: `UPDATE=1 cargo test --workspace --bin platen errors` writes this page.

Every failure has a stable code, which means the same wherever it occurs: in the problem document \
of an HTTP response (RFC 9457: `code`, with `status`, `detail` and `requestId`), in the error of a \
step or a run, and in the output of a command with `--json`. Further members tell its cases apart: \
`stage`, `resource`, `backend`, `what`, `limit`. Errors in a template, data, a flow or a custom \
action are reported in one pass as `diagnostics`, each with its own code.

```json
{\"type\": \"urn:platen:problem:timeout\", \"title\": \"Gateway Timeout\", \"status\": 504, \
\"code\": \"timeout\", \"stage\": \"conversion\", \"detail\": \"conversion timed out after 30000 ms\", \
\"requestId\": \"7f9c\"}
```

## Faults

Each code belongs to a fault, which determines the HTTP status, the exit code of a command (0 is \
success), and whether the same request may succeed later. A few codes have a more specific HTTP \
status. The forms of Gotenberg answer with [Gotenberg's statuses](gotenberg.md). A step of a flow \
is retried if its `retry` allows it and its error is `retryable`.

| Fault | What it means | HTTP status | Exit code | Retry may help |
|---|---|---|---|---|
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn words<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> String {
    let words: Vec<String> = all
        .iter()
        .map(|word| format!("`{}`", name(*word)))
        .collect();
    words.join(", ")
}

fn members(entry: &Entry) -> String {
    let member = |fact: &&str| match *fact {
        "u64" => "`limit`".to_owned(),
        name => format!("`{}`", name.to_ascii_lowercase()),
    };
    let members: Vec<String> = entry.facts.iter().map(member).collect();
    members.join(", ")
}

fn codes(page: &mut String) {
    page.push_str(
        "\n## Codes\n\n| Code | Status | Fault | Members | What happened | What to do |\n\
         |---|---|---|---|---|---|\n",
    );
    for entry in CODES {
        let status = match entry.name {
            "too-large" => "413, 422".to_owned(),
            "timeout" => "504, 408".to_owned(),
            _ => entry.status.unwrap_or(entry.fault.status()).to_string(),
        };
        let _ = writeln!(
            page,
            "| `{}` | {status} | {} | {} | {} | {} |",
            entry.name,
            entry.fault.name(),
            members(entry),
            entry.meaning,
            entry.remedy
        );
    }
    page.push_str(
        "\n`too-large` is 413 for what was sent, and 422 for a result. `timeout` is 408 if the body \
         of a request arrives too slowly. A head that is malformed, too large or too slow gets a \
         bare status or none; its code is in the log and in `platen_rejected_total`.\n\n\
         | Member | Values |\n|---|---|\n",
    );
    let _ = writeln!(page, "| `stage` | {} |", words(Stage::ALL, Stage::as_str));
    let _ = writeln!(
        page,
        "| `resource` | {} |",
        words(Resource::ALL, Resource::as_str)
    );
    let _ = writeln!(
        page,
        "| `backend` | {} |",
        words(Backend::ALL, Backend::as_str)
    );
    let _ = writeln!(page, "| `what` | {} |", words(What::ALL, What::as_str));
    page.push_str(
        "| `limit` | a number: bytes for memory and sizes, milliseconds for processor time, pixels, \
         or a count |\n",
    );
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for fault in Fault::ALL {
        let retry = if fault.is_retryable() { "yes" } else { "no" };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {retry} |",
            fault.name(),
            fault.meaning(),
            fault.status(),
            fault.exit_code()
        );
    }
    codes(&mut page);
    page.push_str(
        "\n## Diagnostics\n\nA diagnostic has `severity` (`error` or `warning`), `code`, `message`, `path` \
         (a JSON Pointer into the `source`, `template` or `data`) and, often, a `hint`.\n\n\
         | Code | What it means |\n|---|---|\n",
    );
    for (name, meaning) in DIAGNOSTICS {
        let _ = writeln!(page, "| `{name}` | {meaning} |");
    }
    page.push_str("\n## Renamed in this release\n\n| Before | Now | |\n|---|---|---|\n");
    for (old, new, facts) in RENAMED {
        let _ = writeln!(page, "| `{old}` | `{new}` | {facts} |");
    }
    page
}

#[test]
fn the_committed_page_of_errors_is_the_table() {
    let path = root().join("docs/reference/errors.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let mut both = page.lines().zip(committed.lines());
    let differs = both.find(|(one, two)| one != two);
    assert!(
        committed == page,
        "docs/reference/errors.md is old: run the tests with UPDATE=1 ({differs:?})"
    );
}

/// Files below `folder` with their text.
fn files(folder: &Path, wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            files(&path, wanted, found);
        } else if wanted(&path) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            found.push((path, text));
        }
    }
}

/// Sources of the product, without tests and without the table itself.
fn sources() -> Vec<(PathBuf, String)> {
    let is_source = |path: &Path| {
        let text = path.to_string_lossy();
        path.extension().is_some_and(|extension| extension == "rs")
            && !text.contains("test")
            && !text.contains("crates/fault/")
    };
    let mut found = Vec::new();
    files(&root().join("crates"), &is_source, &mut found);
    for (_, text) in &mut found {
        if let Some(end) = text.find("\n#[cfg(test)]\nmod tests {") {
            text.truncate(end);
        }
    }
    found
}

#[test]
fn every_code_and_every_fact_is_used() {
    let sources = sources();
    let is_used = |name: String| {
        let follows = |text: &str| {
            let mut found = text.match_indices(&name);
            found.any(|(at, _)| {
                let next = text[at + name.len()..].chars().next();
                next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
            })
        };
        sources.iter().any(|(_, text)| follows(text))
    };
    for entry in CODES {
        assert!(
            is_used(format!("Code::{}", entry.variant)),
            "{}",
            entry.name
        );
    }
    let all = [
        Stage::ALL
            .iter()
            .map(|one| format!("Stage::{one:?}"))
            .collect::<Vec<_>>(),
        Resource::ALL
            .iter()
            .map(|one| format!("Resource::{one:?}"))
            .collect(),
        Backend::ALL
            .iter()
            .map(|one| format!("Backend::{one:?}"))
            .collect(),
        What::ALL
            .iter()
            .map(|one| format!("What::{one:?}"))
            .collect(),
    ];
    for name in all.concat() {
        assert!(
            is_used(name.clone()),
            "{name} is in the table, but nowhere else"
        );
    }
}

/// The first text within quotes after each call of `call`.
fn first_texts<'t>(text: &'t str, call: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(call).filter_map(|(at, _)| {
        let rest = text[at + call.len()..].trim_start();
        rest.strip_prefix('"')?.split('"').next()
    })
}

#[test]
fn diagnostics_of_the_sources_and_of_the_table_are_the_same() {
    let sources = sources();
    let mut named = BTreeSet::new();
    for (path, text) in &sources {
        for call in [
            "Diagnostic::error(",
            "Diagnostic::warning(",
            "Failure::new(",
            ".mistake(",
            ".warn(",
        ] {
            for name in first_texts(text, call) {
                if name.is_empty()
                    || name.contains(' ')
                    || call == ".mistake(" && !name.contains('-')
                {
                    continue;
                }
                assert!(
                    find_diagnostic(name).is_some(),
                    "{}: `{name}` is not in the table of diagnostics",
                    path.display()
                );
                named.insert(name.to_owned());
            }
        }
    }
    assert!(named.len() > 80, "{} diagnostics were found", named.len());
    let is_used = |name: &str| {
        let quoted = format!("\"{name}\"");
        let family = name.split('-').next().unwrap_or_default();
        // The name is put together where it stands for several.
        let built = format!("\"{family}-{{");
        sources
            .iter()
            .any(|(_, text)| text.contains(&quoted) || text.contains(&built))
    };
    for (name, _) in DIAGNOSTICS {
        assert!(
            is_used(name),
            "`{name}` is in the table, but nothing says it"
        );
    }
}

#[test]
fn no_page_quotes_a_code_of_an_older_release() {
    let mut pages = Vec::new();
    let is_page = |path: &Path| {
        path.extension().is_some_and(|extension| extension == "md")
            && !path.ends_with("errors.md")
            && !path.ends_with("benchmarks.md")
    };
    files(&root().join("docs"), &is_page, &mut pages);
    for (path, text) in &pages {
        for (old, new, _) in RENAMED {
            // One word may mean other things.
            if !old.contains('-') {
                continue;
            }
            assert!(
                !text.contains(&format!("`{old}`")),
                "{}: `{old}` is `{new}` now",
                path.display()
            );
        }
    }
}

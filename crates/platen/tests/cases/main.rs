//! Black-box cases: every folder of `tests/cases/<area>/<case>` and every example is rendered by
//! the binary to all formats and compared with what is expected. `UPDATE=1` rewrites expectations;
//! `CASE=name` runs the cases whose name holds it.

mod case;
mod conformance;
mod forms;
mod office;
mod reduce;
mod tools;

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    case::{Case, Extent},
    tools::{Tools, repository},
};

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for area in folders(&repository().join("tests/cases")) {
        for source in folders(&area) {
            if source.join("template.json").exists() {
                cases.push(Case {
                    name: format!("{}/{}", name_of(&area), name_of(&source)),
                    expected: source.join("expected"),
                    source,
                    extent: Extent::Whole,
                });
            }
        }
    }
    cases
}

fn examples() -> Vec<Case> {
    let root = repository();
    folders(&root.join("examples"))
        .into_iter()
        .filter(|source| source.join("template.json").exists())
        .map(|source| {
            let key = name_of(&source);
            Case {
                name: format!("examples/{key}"),
                expected: root
                    .join("tests/cases/examples")
                    .join(&key)
                    .join("expected"),
                extent: match key.as_str() {
                    "bench-quarterly" | "bench-report" => Extent::Ends,
                    "bench-invoice"
                    | "delivery-note-ar"
                    | "invoice-de"
                    | "quarterly-report-en"
                    | "quotation-ja" => Extent::Whole,
                    _ => Extent::Text,
                },
                source,
            }
        })
        .collect()
}

/// Runs the cases on all processors and fails with everything that is wrong.
fn run(cases: &[Case]) {
    let tools = Tools::find();
    let wanted = std::env::var("CASE").unwrap_or_default();
    let cases: Vec<&Case> = cases
        .iter()
        .filter(|case| case.name.contains(&wanted))
        .collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = case.run(tools);
                    wrong.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} mistakes in {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn cases_give_what_is_expected() {
    run(&cases());
}

#[test]
fn examples_give_what_is_expected() {
    run(&examples());
}

/// Examples that LibreOffice reads in seconds.
fn short_examples() -> Vec<Case> {
    examples()
        .into_iter()
        .filter(|case| !case.name.ends_with("bench-quarterly"))
        .collect()
}

#[test]
fn examples_come_back_from_office() {
    office::check(&short_examples());
}

#[test]
fn office_files_keep_their_schemas() {
    office::check_schemas(&short_examples());
}

#[test]
fn pdfs_keep_their_standards() {
    let all: Vec<Case> = cases().into_iter().chain(short_examples()).collect();
    conformance::check(&all);
}

#[test]
fn every_node_has_a_case() {
    let mut all = String::new();
    for case in cases() {
        all += &std::fs::read_to_string(case.source.join("template.json")).expect("a template");
    }
    let schema = tools::schema();
    let kinds = tools::node_kinds(&schema);
    assert!(kinds.len() >= 19, "node types of the schema: {kinds:?}");
    for kind in kinds {
        assert!(
            all.contains(&format!("\"type\": \"{kind}\"")),
            "no case has a `{kind}` node"
        );
    }
}

//! Reports, and committed files: `docs/benchmarks.md` and the results that it was generated from.

mod report;

use std::path::{Path, PathBuf};

use platen_bench::{
    LoadMode,
    report::{Published, Status, update, update_figures},
    results::client_times_of_requests,
};

fn root() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap())
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn published() -> Published {
    Published::newest(&root().join("bench/results")).unwrap()
}

#[test]
fn the_page_says_what_the_results_say() {
    let document = root().join("docs/benchmarks.md");
    let is_check = std::env::var_os("UPDATE").is_none();
    if let Err(error) = update(&document, &published(), None, is_check) {
        panic!("{error}\n{}", error.hint().unwrap_or_default());
    }
}

#[test]
fn the_readme_and_the_guide_say_what_the_results_say() {
    let is_check = std::env::var_os("UPDATE").is_none();
    for document in ["README.md", "docs/guides/sizing.md"] {
        if let Err(error) = update_figures(&root().join(document), &published(), is_check) {
            panic!("{error}\n{}", error.hint().unwrap_or_default());
        }
    }
}

/// What was asked for rather than measured: sizes of inputs, limits and settings.
const GIVEN: [&str; 11] = [
    "in ticks of 10 ms",
    "Their rounds take 0.3 s",
    "waits 250 ms",
    "2.5 MB and 14 MB",
    "bodies of 1 kB to 2 MB",
    "At 1 and 10 kB the work",
    "less than 90 minutes",
    "10, 100 and 1,024 kB over",
    "strings of 10 kB",
    "within ±5 %",
    "a JPEG file of 100 kB",
];

#[test]
fn every_figure_in_prose_comes_from_results_or_a_decision() {
    for name in ["README.md", "docs/benchmarks.md"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        let mut found = platen_bench::figures::unfounded(&text);
        found.retain(|sentence| !GIVEN.iter().any(|given| sentence.contains(given)));
        assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
    }
}

#[test]
fn what_is_published_has_no_gaps() {
    for results in &published().packs {
        let found = platen_bench::gaps::gaps(results);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn only_a_draft_has_obstacles_and_it_says_so_at_every_table() {
    if std::env::var_os("UPDATE").is_some() {
        // Another test writes the page now.
        return;
    }
    let page = std::fs::read_to_string(root().join("docs/benchmarks.md")).unwrap();
    let obstacles = published().obstacles();
    if Status::of(&page) == Status::Final {
        assert!(obstacles.is_empty(), "{}", obstacles.join("\n"));
        return;
    }
    for block in page.split("<!-- bench: ").skip(1) {
        let (id, body) = block.split_once(" -->").unwrap();
        let is_measured = !body.contains("Not measured in this run.");
        assert!(!is_measured || body.contains("**Draft.**"), "{id}");
    }
}

#[test]
fn the_page_says_of_each_pack_what_was_run_and_where() {
    let published = published();
    let page = std::fs::read_to_string(root().join("docs/benchmarks.md")).unwrap();
    for results in &published.packs {
        let marker = format!("<!-- bench: {}/run -->", results.pack);
        let (_, run) = page.split_once(&marker).unwrap();
        let (run, _) = run.split_once("<!-- end -->").unwrap();
        let environment = &results.environment;
        let load = format!("a load of {:.2}", environment.load());
        for part in [&environment.commit, &results.command, &load] {
            assert!(run.contains(part), "{}: {part}: {run}", results.pack);
        }
        let is_quick = results.how_quick().is_some();
        assert_eq!(run.contains("A quick run"), is_quick, "{}", results.pack);
    }
}

#[test]
fn the_summary_says_what_the_requests_say() {
    let published = published();
    let mut compared = 0;
    for results in &published.packs {
        let folder = published.folder.join(&results.pack);
        for (index, cell) in results.cells.iter().enumerate() {
            let kept = platen_bench::recorder::MAX_RAW_ROWS as u64;
            // wrk does not report individual requests.
            if cell.mode == LoadMode::Wrk || cell.requests > kept {
                continue;
            }
            let times = client_times_of_requests(&folder, index).unwrap();
            let summary = cell.client.as_ref();
            // Of response bodies over UNIX sockets, only rates and percentiles are kept.
            if times.is_none() && summary.is_some_and(|times| times.shares.is_empty()) {
                continue;
            }
            assert_eq!(
                times.map(|times| times.shares),
                summary.map(|times| times.shares.clone()),
                "{}: {}",
                results.pack,
                cell.id()
            );
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn published_results_are_whole_and_small() {
    let published = published();
    let mut bytes = 0;
    for results in &published.packs {
        let void = results.cells.iter().find(|cell| cell.is_void());
        assert_eq!(void.map(platen_bench::Cell::id), None, "{}", results.pack);
        let folder = published.folder.join(&results.pack);
        for entry in std::fs::read_dir(folder).unwrap() {
            bytes += entry.unwrap().metadata().unwrap().len();
        }
    }
    // A full run over six kinds of sockets has three and a half megabytes, mostly values of rounds.
    assert!(bytes < 4 << 20, "{bytes} bytes of results");
}

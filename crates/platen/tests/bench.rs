//! `platen bench`, as a shell runs it, and its results in a real browser.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use platen_bench::{
    Name, Results,
    client::{Request, Target},
    gaps::gaps,
    name::{Age, BodyKind, FlowName, HttpName, PageCache, Server},
};
use process::{Service, has_chromium, has_libreoffice, is_missing, waiting::wait_until};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

fn platen(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    command.args(arguments).current_dir(root());
    command.output().unwrap()
}

fn results_page(service: &Service) -> (u16, String) {
    let target = Target::Tcp(service.address.clone());
    let (answer, body) = Request::get("/bench").fetch(&target).unwrap();
    (answer.status, text(&body))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn cells_of_documents_are_measured_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("render");
    let output = platen(&[
        "bench",
        "render",
        "-q",
        "--cells",
        "pdf-1p,csv",
        "--warmup",
        "2",
        "--samples",
        "10",
        "--rounds",
        "1",
        "--out",
        out.to_str().unwrap(),
    ]);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}{}", text(&output.stderr));
    assert!(
        shown.contains("| pdf-1p |") && shown.contains("| 0/10 |"),
        "{shown}"
    );
    for name in [
        "summary.json",
        "summary.md",
        "environment.json",
        "requests.csv.gz",
        "latency.svg",
    ] {
        assert!(out.join(name).is_file(), "{name}");
    }
    let wrong = platen(&["bench", "render", "--cells", "pdf-7p"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("the cells are pdf-1p"));
    let far = platen(&["bench", "render", "--url", "http://192.0.2.1:80"]);
    let said = text(&far.stderr);
    assert!(
        said.contains("too large a load for another machine"),
        "{said}"
    );
    let quick = ["--quick", "--cells", "csv"];
    let far = ["bench", "render", "--url", "http://192.0.2.1:80"];
    let far = platen(&[&far[..], &quick].concat());
    let said = text(&far.stderr);
    assert!(
        said.contains("is not this machine") && said.contains("--yes"),
        "{said}"
    );
}

#[test]
fn a_running_service_is_measured_with_the_names_of_pulp_engine() {
    let keys = [
        ("API_KEY_ADMIN", "admin-key-1"),
        ("API_KEY_RENDER", "render-key-1"),
    ];
    let service = Service::start(&keys);
    let folder = tempfile::tempdir().unwrap();
    let examples = root().canonicalize().unwrap().join("examples");
    let file = "API_KEY_ADMIN=admin-key-1\nPULP_ENGINE_RENDER_KEY=render-key-1\n";
    std::fs::write(folder.path().join(".env.benchmark"), file).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .args(["bench", "render", "--cells", "csv", "--warmup", "1"])
        .args([
            "--samples",
            "5",
            "--rounds",
            "1",
            "--out",
            "results",
            "--examples",
        ])
        .arg(&examples)
        .env("PULP_ENGINE_URL", format!("http://{}", service.address))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("sends at most 6 requests to http://"),
        "{said}"
    );
    let results = Results::read(&folder.path().join("results")).unwrap();
    let measured = results.target.unwrap();
    assert_eq!(measured.version, env!("CARGO_PKG_VERSION"));
    assert!(!results.command.contains("key-1"), "{}", results.command);
}

#[test]
fn bodies_of_a_running_service_are_measured() {
    let keys = [
        ("API_KEY_ADMIN", "admin-key-1"),
        ("API_KEY_RENDER", "render-key-1"),
    ];
    let service = Service::start(&keys);
    let url = format!("http://{}", service.address);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let mut arguments = vec!["bench", "http", "--url", &url, "--api-key", "admin-key-1"];
    arguments.extend(["--render-key", "render-key-1", "-b", "acsi1,100"]);
    arguments.extend(["-D", "3", "-T", "1", "-c", "2", "--rounds", "2"]);
    // The second run finds the template.
    for _ in 0..2 {
        let output = platen(&[&arguments[..], &["--out", &out]].concat());
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        // Three kinds of two sizes: ten requests each, of 101 kB together.
        let bound = "sends at most 60 requests to http://";
        assert!(
            said.contains(bound) && said.contains("receives at most 3.10 MB"),
            "{said}"
        );
    }
    let results = Results::read(folder.path()).unwrap();
    assert_eq!(gaps(&results), Vec::<String>::new());
    let cells = results.pick(|name| match name {
        Name::Http(HttpName::Matrix {
            server: Server::Address(address),
            kind,
            kilobytes,
            ..
        }) if *address == url => Some((*kind, *kilobytes)),
        _ => None,
    });
    let found: Vec<_> = cells
        .map(|(of, cell)| {
            assert!(!cell.is_void(), "{of:?}");
            of
        })
        .collect();
    let kinds = [BodyKind::Array, BodyKind::Chunk, BodyKind::String];
    let wanted = [1, 100].map(|size| kinds.map(|kind| (kind, size))).concat();
    assert_eq!(found, wanted);
    let far = ["bench", "http", "--url", "https://192.0.2.1"];
    let said = text(&platen(&far).stderr);
    assert!(
        said.contains("is not this machine") && said.contains("receives at most"),
        "{said}"
    );
    let wrong = [&arguments[..4], &["-b", "a1", "-D", "1", "--rounds", "1"]].concat();
    let refused = platen(&wrong);
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(said.contains("hint: give --api-key"), "{said}");
}

#[test]
fn conversions_of_a_running_service_are_measured() {
    if is_missing("LibreOffice", has_libreoffice()) {
        return;
    }
    let service = Service::start(&[("API_KEY_RENDER", "render-key-1")]);
    let url = format!("http://{}", service.address);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let mut arguments = vec!["bench", "office", "--url", &url, "--render-key"];
    arguments.extend(["render-key-1", "--documents", "letter.docx", "--samples"]);
    arguments.extend(["2", "--rounds", "1", "--concurrency", "2", "--out", &out]);
    let output = platen(&arguments);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let results = Results::read(folder.path()).unwrap();
    assert_eq!(gaps(&results), Vec::<String>::new());
    let measured = results.target.expect("the service");
    assert_eq!(
        (measured.url, &*measured.version),
        (url, env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(results.cells.len(), 1);
    assert!(!results.cells[0].is_void(), "{said}");
}

#[test]
fn seeding_twice_is_seeding_once() {
    let service = Service::start(&[]);
    let url = format!("http://{}", service.address);
    for stored in ["3 templates", "0 templates"] {
        let output = platen(&["bench", "seed", "--url", &url]);
        assert!(output.status.success());
        assert!(
            text(&output.stderr).contains(stored),
            "{}",
            text(&output.stderr)
        );
    }
}

/// The kinds of bodies that `platen serve` has sent.
fn served(results: &Results) -> Vec<BodyKind> {
    let kinds = results.pick(|name| match name {
        Name::Http(HttpName::Matrix {
            server: Server::Service { .. },
            kind,
            ..
        }) => Some(*kind),
        _ => None,
    });
    kinds.map(|(kind, _)| kind).collect()
}

/// The number of files read with the page cache in this state.
fn files(results: &Results, wanted: PageCache) -> usize {
    let files = results.pick(|name| match name {
        Name::Http(HttpName::Files { cache, .. }) if *cache == wanted => Some(()),
        _ => None,
    });
    files.count()
}

#[test]
fn a_run_of_flows_shows_the_service_where_it_is_due() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let mut arguments = vec!["bench", "flow", "-q", "--warmup", "2", "--samples", "16"];
    arguments.extend(["--rounds", "1", "--concurrency", "1,16", "--out", &out]);
    arguments.extend(["--peer", "/nonexistent"]);
    let output = platen(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = Results::read(folder.path()).unwrap();
    // The server of Node was left out: its columns and lines are missing, and nothing else.
    let is_of_node = |gap: &String| {
        let rows = ["Node", "| sandbox |", "| whole, "];
        rows.iter().any(|part| gap.contains(part))
    };
    let missing: Vec<String> = gaps(&results)
        .into_iter()
        .filter(|gap| !is_of_node(gap))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    fleets_are_there(&results);
}

/// The smallest fleets, each cold and warm, once each.
fn fleets_are_there(results: &Results) {
    let programs = ["redis-server", "versitygw", "nginx", "psql"];
    let find = |name: &&str| platen_bench::program::find(name).is_some();
    let failed = results.notes.iter().find(|it| it.starts_with("Fleets: "));
    if is_missing(
        "what fleets need",
        programs.iter().all(find) || failed.is_none(),
    ) {
        return;
    }
    assert_eq!(failed, None);
    let fleets = results.pick(|name| match name {
        Name::Flow(FlowName::Fleet { ratio, age }) => Some((ratio.services, ratio.workers, *age)),
        _ => None,
    });
    let found: Vec<_> = fleets
        .map(|(of, cell)| {
            assert_eq!((cell.requests, cell.failures), (48, 0), "{of:?}");
            let (ready, first) = (cell.values.get("readyMost"), cell.values.get("firstLeast"));
            assert_eq!(ready.is_some(), of.2 == Age::Cold);
            assert!(first >= ready, "{first:?} {ready:?}");
            of
        })
        .collect();
    let ages = [Age::Cold, Age::Warm];
    let wanted = [1, 2].map(|workers| ages.map(|age| (1, workers, age)));
    assert_eq!(found, wanted.concat());
}

/// Hyphens, and lines whose spaces are wider than 1.5, 2 and 3 times the font's, as typst 0.15.2
/// sets the same texts (decision 21).
const TYPST: [[u64; 4]; 6] = [
    [3, 1, 0, 0],
    [18, 19, 0, 0],
    [37, 74, 23, 1],
    [2, 6, 1, 0],
    [20, 20, 6, 0],
    [35, 43, 23, 2],
];

#[test]
fn justified_text_has_no_more_hyphens_and_loose_lines_than_typst() {
    let found = Command::new("pdftotext").arg("-v").output().is_ok();
    if is_missing("pdftotext", found) {
        return;
    }
    let output = platen(&["bench", "text", "--rounds", "1", "--json", "-q"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows.len(), TYPST.len());
    for (row, typst) in rows.iter().zip(TYPST) {
        let figures = &row["figures"];
        let looser = figures["looser"].as_array().unwrap();
        for (own, most) in [&figures["hyphens"]].into_iter().chain(looser).zip(typst) {
            assert!(own.as_u64().unwrap() <= most, "{row}");
        }
    }
}

#[test]
fn bodies_are_measured_over_tcp_tls_and_unix_sockets() {
    let has_wrk = platen_bench::program::find("wrk").is_some();
    if is_missing("wrk", has_wrk) {
        return;
    }
    for socket in ["tcp", "tcp6", "ssl", "ssl6", "unix", "aunix"] {
        // All kinds and two sizes over one of them.
        let is_whole = socket == "tcp";
        let bodies = if is_whole { "acsi1,100" } else { "si100" };
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().display().to_string();
        let mut arguments = vec!["bench", "http", "-q", "-s", socket, "-b", bodies];
        arguments.extend(["-D", "1", "-T", "1", "-c", "2", "--rounds", "1"]);
        arguments.extend(["--out", &out]);
        let output = platen(&arguments);
        let shown = text(&output.stdout);
        assert!(
            output.status.success(),
            "{socket}: {shown}{}",
            text(&output.stderr)
        );
        let mut parts = vec![
            "Type   req/sec    50%     75%     90%     99%    100%  Resp Size",
            "─  100kB",
        ];
        if is_whole {
            parts.push("─    1kB");
            parts.push("────────── req/sec ──────────   ─────── req 50% times ───────");
        }
        for part in parts {
            assert!(shown.contains(part), "{socket}: {part}: {shown}");
        }
        let mut strings = shown.lines().filter(|line| line.starts_with("string"));
        let line = strings.next().unwrap();
        let size: f64 = line.split_whitespace().last().unwrap().parse().unwrap();
        let wanted = if is_whole { 1024.0 } else { 102_400.0 };
        // Of all bytes, of which wrk shows three to five digits.
        assert!((size / wanted - 1.0).abs() < 0.03, "{socket}: {line}");
        let results = Results::read(folder.path()).unwrap();
        assert_eq!(gaps(&results), Vec::<String>::new(), "{socket}");
        // `platen serve` sends stored results and renderings, beside the bare delivery.
        let kinds = match is_whole {
            true => [BodyKind::ALL, BodyKind::ALL].concat(),
            false => vec![BodyKind::String, BodyKind::Io],
        };
        assert_eq!(served(&results), kinds, "{socket}");
        let is_told = |note: &String| note.starts_with("Files of the disk were left out");
        if !results.notes.iter().any(is_told) {
            for cache in [PageCache::Hot, PageCache::Cold] {
                // Of each size by two servers.
                let count = if is_whole { 4 } else { 2 };
                assert_eq!(files(&results, cache), count, "{socket}: {cache:?}");
            }
        }
    }
}

#[test]
fn the_page_of_results_opens_in_a_browser() {
    if is_missing("Chromium", has_chromium()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let measured = platen(&[
        "bench",
        "render",
        "-q",
        "--sections",
        "cells,concurrency",
        "--cells",
        "pdf-1p,html",
        "--warmup",
        "2",
        "--samples",
        "10",
        "--rounds",
        "1",
        "--out",
        results.to_str().unwrap(),
    ]);
    assert!(measured.status.success(), "{}", text(&measured.stderr));
    let service = Service::start(&[("BENCH_RESULTS_DIR", results.to_str().unwrap())]);
    let (status, page) = results_page(&service);
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("<svg") && page.contains("<td>pdf-1p</td>"));
    let path = folder.path().join("page.html");
    std::fs::write(&path, page).unwrap();
    let data = folder.path().join("data.json");
    std::fs::write(&data, "{}").unwrap();
    for name in ["page.png", "page.pdf"] {
        let [page, data, out] =
            [&path, &data, &folder.path().join(name)].map(|it| it.display().to_string());
        let arguments = ["render", &page, &data, "-q", "-o", &out];
        let output = platen(&arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let size = std::fs::metadata(&out).unwrap().len();
        assert!(size > 20_000, "{name}: {size} bytes are no page of plots");
    }
}

#[test]
fn without_results_the_page_says_how_to_switch_it_on() {
    let service = Service::start(&[]);
    let (status, answer) = results_page(&service);
    assert_eq!(status, 404);
    assert!(answer.contains("not-found") && answer.contains("BENCH_RESULTS_DIR"));
    let empty = Service::start(&[("BENCH_RESULTS_DIR", "/nonexistent")]);
    let (_, answer) = results_page(&empty);
    assert!(
        answer.contains("not-found") && answer.contains("holds no results"),
        "{answer}"
    );
}

#[test]
fn a_signal_ends_what_is_measured_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Command::new(env!("CARGO_BIN_EXE_platen"))
        .args([
            "bench",
            "render",
            "-q",
            "--cells",
            "pdf-1p",
            "--samples",
            "1000000",
        ])
        .current_dir(root())
        .env("TMPDIR", folder.path())
        .spawn()
        .unwrap();
    let mark = format!("TMPDIR={}", folder.path().display());
    let living = || {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let environments =
            entries.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
        environments
            .filter(|environment| text(environment).contains(&mark))
            .count()
    };
    wait_until("a service is measured", || living() >= 2);
    let status = Command::new("kill").arg(bench.id().to_string()).status();
    assert!(status.unwrap().success());
    assert_eq!(bench.wait().unwrap().code(), Some(143));
    wait_until("no process is left", || living() == 0);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

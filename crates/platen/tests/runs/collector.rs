//! The OpenTelemetry Collector itself, and a run that goes through a worker, Chromium and
//! LibreOffice: one trace.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};

use crate::{
    process::{Process, Service},
    waiting::wait_until,
};

const TRACE: &str = "7bf92f3577b34da6a3ce929d0e0e4736";

/// The programs of the test; if one is missing, a visible skip, or a failure with `REQUIRE_ALL=1`.
fn programs() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cached = cache.or(home).map(|it| it.join("platen/otelcol"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = cached.into_iter().chain(std::env::split_paths(&path));
    let mut programs = folders.map(|folder| folder.join("otelcol"));
    let collector = programs.find(|program| program.is_file());
    let has_all = collector.is_some()
        && platen_office::find_libreoffice(None).is_ok()
        && platen_browser::find_chromium(None).is_ok();
    if !has_all {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(
            !required,
            "otelcol, LibreOffice or Chromium is not installed"
        );
        println!("SKIP: otelcol, LibreOffice or Chromium is not installed");
        return None;
    }
    collector
}

/// Starts a collector that appends what it gets to a file.
fn start(program: &Path, folder: &Path) -> (Process, String) {
    // Free a moment ago, and it is soon said if it is not any more.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let config = json!({
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": address}}}},
        "exporters": {"file": {"path": folder.join("traces.json"), "flush_interval": "100ms"}},
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["file"]}}},
    });
    let file = folder.join("collector.yaml");
    std::fs::write(&file, config.to_string()).unwrap();
    let child = Command::new(program)
        .arg("--config")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(folder.join("collector.log")).unwrap())
        .spawn();
    let collector = Process(child.unwrap());
    wait_until("the collector listens", || {
        TcpStream::connect(&address).is_ok()
    });
    (collector, format!("http://{address}"))
}

/// Name, id and parent of the spans of the trace, by the service that made them.
fn spans(file: &Path) -> Vec<[String; 4]> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut found = Vec::new();
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    for line in text.lines() {
        // The last line may be under way.
        let Ok(line) = serde_json::from_str::<Json>(line) else {
            continue;
        };
        for group in list(&line["resourceSpans"]) {
            let attributes = list(&group["resource"]["attributes"]);
            let service = attributes.iter().find(|pair| pair["key"] == "service.name");
            let service = service.map_or(&Json::Null, |pair| &pair["value"]["stringValue"]);
            for span in list(&group["scopeSpans"])
                .iter()
                .flat_map(|scope| list(&scope["spans"]))
            {
                if span["traceId"] == TRACE {
                    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
                    found.push(
                        [
                            service,
                            &span["name"],
                            &span["spanId"],
                            &span["parentSpanId"],
                        ]
                        .map(text),
                    );
                }
            }
        }
    }
    found
}

#[test]
fn a_collector_gets_one_trace_of_app_worker_chromium_and_libreoffice() {
    let Some(program) = programs() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (_collector, endpoint) = start(&program, folder.path());
    let variables = |name| {
        [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
            ("OTEL_SERVICE_NAME", name),
            ("PLATEN_ROLE", "app"),
        ]
    };
    let service = Service::start(&folder.path().join("data"), &variables("app"));
    service.publish_whole(&json!({
        "kind": "flow", "key": "f", "name": "f", "trigger": {"type": "webhook"},
        "steps": [
            {"name": "page", "type": "render", "format": "pdf", "data": {},
             "definition": {"kind": "html", "key": "p", "name": "P", "html": "<p>Hello</p>"}},
            {"name": "letter", "type": "render", "format": "docx", "data": {},
             "definition": {"key": "l", "name": "L", "body": [{"type": "text", "content": "Hello"}]}},
            {"name": "pdf", "type": "convert", "file": "{{ steps.letter.output }}", "to": "pdf"},
            {"name": "reply", "type": "respond", "body": "done"},
        ],
    }));
    let mut worker = service.worker(1, &variables("worker"));
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let headers = [
        ("content-type", "application/json"),
        ("traceparent", &*parent),
    ];
    let answer = service
        .try_post_bytes("/webhooks/f/sync", &headers, b"{}")
        .unwrap();
    assert_eq!((answer.status, &*answer.text), (200, "done"), "{answer:?}");
    worker.signal("TERM");
    assert!(worker.wait().success());
    let file = folder.path().join("traces.json");
    let chain = |name: &str| {
        let spans = spans(&file);
        let mut chain = Vec::new();
        let mut next = spans.iter().find(|span| span[1] == name);
        while let Some([service, name, _, parent]) = next {
            chain.push(format!("{service}: {name}"));
            next = spans.iter().find(|span| span[2] == *parent);
        }
        chain
    };
    wait_until("all spans are in the file", || {
        ["chromium", "libreoffice"]
            .iter()
            .all(|name| chain(name).len() >= 4)
    });
    let ends = ["worker: run f", "app: POST /webhooks/{key}/sync"];
    assert_eq!(
        chain("chromium"),
        [&["worker: chromium", "worker: step page"], &ends[..]].concat()
    );
    assert_eq!(
        chain("libreoffice"),
        [&["worker: libreoffice", "worker: step pdf"], &ends[..]].concat()
    );
}

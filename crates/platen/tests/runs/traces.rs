//! Traces: what a collector gets of a request, its run in a worker, its steps and documents.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::{
    deferred::{Hook, field},
    process::{LONG, Service},
};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A span as the collector got it.
#[derive(Debug)]
struct Span {
    service: String,
    name: String,
    trace: String,
    id: String,
    parent: String,
    kind: u64,
    attributes: BTreeMap<String, Json>,
    error: Option<String>,
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn attributes(list: &Json) -> BTreeMap<String, Json> {
    let list = list.as_array().unwrap().iter();
    list.map(|pair| {
        let value = pair["value"].as_object().unwrap().values().next();
        (text(&pair["key"]), value.unwrap().clone())
    })
    .collect()
}

/// The spans of one request to the collector.
fn spans_of(body: &[u8]) -> Vec<Span> {
    let body: Json = serde_json::from_slice(body).unwrap();
    let mut spans = Vec::new();
    for group in body["resourceSpans"].as_array().unwrap() {
        let service = text(&attributes(&group["resource"]["attributes"])["service.name"]);
        for span in group["scopeSpans"][0]["spans"].as_array().unwrap() {
            let start: u64 = text(&span["startTimeUnixNano"]).parse().unwrap();
            let end: u64 = text(&span["endTimeUnixNano"]).parse().unwrap();
            assert!(start <= end && start > 1_700_000_000_000_000_000, "{span}");
            spans.push(Span {
                service: service.clone(),
                name: text(&span["name"]),
                trace: text(&span["traceId"]),
                id: text(&span["spanId"]),
                parent: text(&span["parentSpanId"]),
                kind: span["kind"].as_u64().unwrap(),
                attributes: attributes(&span["attributes"]),
                error: span["status"]["message"].as_str().map(str::to_owned),
            });
        }
    }
    spans
}

/// Collects until there are spans of all `names`.
fn collect(collector: &Hook, names: &[&str]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    while !names
        .iter()
        .all(|name| spans.iter().any(|span| span.name == *name))
    {
        let request = collector.requests.recv_timeout(LONG);
        let (head, body) = request.unwrap_or_else(|_| panic!("{names:?} in {spans:#?}"));
        assert!(head.starts_with("post /v1/traces "), "{head}");
        assert_eq!(field(&head, "content-type"), "application/json");
        assert_eq!(field(&head, "x-tenant"), "a b");
        spans.extend(spans_of(&body));
    }
    spans
}

#[test]
fn a_request_its_run_in_a_worker_and_its_steps_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (collector, other) = (Hook::start(), Hook::start());
    let endpoint = format!("http://{}", collector.host);
    let traces = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b"),
        ("FLOW_ALLOWED_HOSTS", &*other.host),
    ];
    let mut of_app = traces.to_vec();
    of_app.push(("PLATEN_ROLE", "app"));
    let service = Service::start(folder.path(), &of_app);
    service.publish_whole(&json!({
        "kind": "flow", "key": "f", "name": "f", "trigger": {"type": "webhook"},
        "steps": [
            {"name": "tell", "type": "http", "method": "POST",
             "url": format!("http://{}/x", other.host), "body": {"a": 1}},
            {"name": "html", "type": "render", "format": "html",
             "definition": {"key": "n", "name": "N", "body": [{"type": "text", "content": "hi"}]}},
            {"name": "reply", "type": "respond", "body": "done"},
        ],
    }));
    let mut of_worker = traces.to_vec();
    of_worker.push(("OTEL_SERVICE_NAME", "worker"));
    let mut worker = service.worker(1, &of_worker);
    let parent = format!("00-{TRACE}-{CALLER}-01");
    let headers = [
        ("content-type", "application/json"),
        ("traceparent", &*parent),
    ];
    let answer = service.try_post_bytes("/webhooks/f/sync", &headers, b"{}");
    assert_eq!(answer.unwrap().status, 200);
    // The worker sends its last spans before it ends.
    worker.signal("TERM");
    assert!(worker.wait().success());
    let names = [
        "POST /webhooks/{key}/sync",
        "run f",
        "step tell",
        "step html",
        "document",
    ];
    let spans = collect(&collector, &names);
    let span = |name: &str| {
        let mut found = spans.iter().filter(|span| span.name == name);
        found
            .find(|span| span.trace == TRACE)
            .unwrap_or_else(|| panic!("{name} in {spans:#?}"))
    };
    let [request, run, tell, html, document] = names.map(span);
    assert_eq!((&*request.parent, request.kind), (CALLER, 2));
    assert_eq!(request.attributes["http.response.status_code"], "200");
    assert_eq!((&run.parent, &*run.service), (&request.id, "worker"));
    assert_eq!(request.service, "platen");
    assert_eq!((&tell.parent, &html.parent), (&run.id, &run.id));
    assert_eq!(document.parent, html.id);
    assert!(
        spans
            .iter()
            .all(|span| span.trace != TRACE || span.error.is_none())
    );
    // The other side of the http step continues the trace below that step.
    let (head, _) = other.requests.recv_timeout(LONG).unwrap();
    let passed_on = format!("00-{TRACE}-{}-01", tell.id);
    assert_eq!(field(&head, "traceparent"), passed_on);
}

#[test]
fn without_a_collector_the_trace_of_the_caller_is_passed_on_as_it_came() {
    let folder = tempfile::tempdir().unwrap();
    let other = Hook::start();
    let service = Service::start(folder.path(), &[("FLOW_ALLOWED_HOSTS", &*other.host)]);
    service.publish(
        "f",
        &json!([{"name": "tell", "type": "http", "method": "POST",
            "url": format!("http://{}/x", other.host), "body": {}}]),
    );
    let parent = format!("00-{TRACE}-{CALLER}-00");
    let headers = [
        ("content-type", "application/json"),
        ("traceparent", &*parent),
    ];
    let answer = service.try_post_bytes("/webhooks/f", &headers, b"{}");
    assert_eq!(answer.unwrap().status, 202);
    let (head, _) = other.requests.recv_timeout(LONG).unwrap();
    assert_eq!(field(&head, "traceparent"), parent);
    // Without one from the caller there is none.
    assert_eq!(service.post("/webhooks/f", &json!({})).status, 202);
    let (head, _) = other.requests.recv_timeout(LONG).unwrap();
    assert!(!head.contains("traceparent"), "{head}");
}

#[test]
fn a_collector_that_fails_delays_nothing_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Hook::start();
    collector
        .status
        .store(400, std::sync::atomic::Ordering::SeqCst);
    let endpoint = format!("http://{}", collector.host);
    let service = Service::start(
        folder.path(),
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", &*endpoint)],
    );
    let failed = service.post("/render", &json!({"template": "none"}));
    assert_eq!(failed.status, 404);
    collector.requests.recv_timeout(LONG).unwrap();
    let dropped = || {
        let metrics = service.get("/metrics").text;
        let mut lines = metrics.lines();
        let line = lines.find_map(|line| line.strip_prefix("platen_trace_spans_dropped_total "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let until = std::time::Instant::now() + LONG;
    while dropped() == 0 {
        assert!(std::time::Instant::now() < until, "no span is counted");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_collector_that_cannot_be_named_stops_the_start() {
    for (variable, value, said) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "HOST:4318"),
        ("OTEL_TRACES_SAMPLER", "sometimes", "parentbased_always_on"),
        ("OTEL_TRACES_SAMPLER_ARG", "2", "0 to 1"),
    ] {
        let output = crate::process::platen()
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
            .env(variable, value)
            .args(["serve", "--bind", "127.0.0.1:0"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(text.contains(variable) && text.contains(said), "{text}");
    }
}

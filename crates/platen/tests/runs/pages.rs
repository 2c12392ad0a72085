//! Pages of HTML in flows, printed by the real Chromium: in the service, and by workers.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value as Json, json};

use crate::{
    process::{Answer, ENDS, Service},
    waiting::wait_until,
};

const IN_USE: &str = "platen_pool_slots_in_use{pool=\"chromium\"} ";

fn missing(what: &str) -> bool {
    let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!all, "{what}");
    println!("SKIP: {what}");
    false
}

fn has_chromium() -> bool {
    let found = platen_browser::find_chromium(None);
    found.map_or_else(|error| missing(&error.to_string()), |_| true)
}

/// What `pdftotext` reads in a PDF; `None` where it is not installed.
fn text_of(pdf: &[u8]) -> Option<String> {
    let child = Command::new("pdftotext")
        .args(["-layout", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        missing("pdftotext is not installed");
        return None;
    };
    child.stdin.take().unwrap().write_all(pdf).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "pdftotext reads it");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn letter() -> Json {
    json!({
        "kind": "html", "key": "letter", "name": "Letter",
        "html": "<h1>Dear {{ helpers.shout(name) }}</h1>",
        "helpers": "export const shout = (text: string) => `${text.toUpperCase()}!`;",
    })
}

fn page(name: &str, html: &str) -> Json {
    let definition =
        json!({"kind": "html", "key": "p", "name": "P", "javaScript": true, "html": html});
    json!({"name": name, "type": "render", "definition": definition, "format": "pdf", "data": {}})
}

/// Stores the letter, and a flow that answers with it.
fn with_letter(service: &Service) {
    let stored = service.post("/templates", &letter());
    assert_eq!(stored.status, 201, "{stored:?}");
    service.publish(
        "letter",
        &json!([
            {"name": "print", "type": "render", "template": "letter",
             "format": "{{ trigger.body.format }}", "data": {"name": "{{ trigger.body.name }}"},
             "retry": {"attempts": 5, "backoffMs": 10}},
            {"name": "answer", "type": "respond", "body": "{{ steps.print.output }}"},
        ]),
    );
}

fn written(service: &Service, format: &str) -> Answer {
    let body = json!({"name": "Ada", "format": format});
    service.post("/webhooks/letter/sync", &body)
}

#[track_caller]
fn is_letter(answer: &Answer) {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["content-type"], "application/pdf");
    assert!(answer.bytes.starts_with(b"%PDF-"));
    if let Some(text) = text_of(&answer.bytes) {
        assert!(text.contains("Dear ADA!"), "{text}");
    }
}

/// The newest run of a flow, which failed, and the error of its only step.
#[track_caller]
fn failure(service: &Service, flow: &str, answer: &Answer) -> (Json, Json) {
    assert_eq!(answer.status, 500, "{answer:?}");
    assert_eq!(answer.json()["code"], "run-failed", "{answer:?}");
    let newest = service.get(&format!("/runs?flow={flow}&limit=1")).json();
    let id = newest["runs"][0]["id"].as_str();
    let run = service.until(id.unwrap_or_else(|| panic!("{newest}")), &ENDS);
    let error = run["steps"][0]["error"].clone();
    (run, error)
}

#[track_caller]
fn is_not_installed(service: &Service) {
    let answer = written(service, "pdf");
    let (run, error) = failure(service, "letter", &answer);
    assert_eq!(error["code"], "backend-missing", "{run:#}");
    assert_eq!(error["backend"], "chromium", "{run:#}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("apt-get install"), "{message}");
    assert_eq!(run["steps"].as_array().unwrap().len(), 1, "{run:#}");
    assert_eq!(run["steps"][0]["attempt"], 1, "another try finds the same");
    let html = written(service, "html");
    assert!(html.text.contains("Dear ADA!"), "{html:?}");
}

#[test]
fn a_webhook_answers_with_a_page() {
    if !has_chromium() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[]);
    with_letter(&service);
    is_letter(&written(&service, "pdf"));
    let picture = written(&service, "png");
    assert_eq!(picture.headers["content-type"], "image/png");
    assert!(picture.bytes.starts_with(b"\x89PNG"));
    let html = written(&service, "html");
    assert!(html.text.contains("<h1>Dear ADA!</h1>"), "{html:?}");
    let (_, error) = failure(&service, "letter", &written(&service, "docx"));
    assert_eq!(error["code"], "unsupported-conversion");
    let nameless = service.post(
        "/webhooks/letter/sync",
        &json!({"format": "pdf", "name": null}),
    );
    let (_, error) = failure(&service, "letter", &nameless);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("/html: "), "{message}");
    let source = "export default async ({ name }, ctx) =>
        ctx.render({ template: 'letter', data: { name }, format: 'pdf' });";
    service.publish_whole(&json!({
        "kind": "flow", "key": "code", "name": "code", "trigger": {"type": "webhook"},
        "templates": ["letter"],
        "steps": [
            {"name": "print", "type": "code", "source": source, "input": "{{ trigger.body }}"},
            {"name": "answer", "type": "respond", "body": "{{ steps.print.output }}"},
        ],
    }));
    is_letter(&service.post("/webhooks/code/sync", &json!({"name": "Ada"})));
    let later = json!({"template": "letter", "format": "pdf", "data": {"name": "Ada"}});
    let accepted = service.post("/render?async=true", &later).json();
    let id = accepted["run"]
        .as_str()
        .unwrap_or_else(|| panic!("{accepted}"));
    service.until(id, &ENDS);
    is_letter(&service.get(&format!("/runs/{id}/output")));
    let metrics = service.get("/metrics").text;
    assert!(
        metrics.contains(IN_USE),
        "the pages are those of the service's pool"
    );
}

#[test]
fn a_page_that_never_loads_ends_at_its_deadline() {
    if !has_chromium() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("MAX_CONCURRENT_PAGES", "2")]);
    with_letter(&service);
    let mut stuck = page("stuck", "<p>text<script>for (;;) {}</script>");
    stuck["timeoutMs"] = json!(2_000);
    service.publish("stuck", &json!([stuck]));
    for _ in 0..3 {
        let answer = service.post("/webhooks/stuck/sync", &json!({}));
        let (run, error) = failure(&service, "stuck", &answer);
        assert_eq!(error["code"], "timeout", "{run:#}");
        assert_eq!(error["stage"], "page", "{run:#}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("page timed out after"), "{message}");
    }
    // A run that is cancelled lets go of its page, which had a minute left.
    service.publish(
        "endless",
        &json!([page("stuck", "<script>for (;;) {}</script>")]),
    );
    let in_use = || {
        let text = service.get("/metrics").text;
        let value = text.lines().find_map(|line| line.strip_prefix(IN_USE));
        value.map_or(0.0, |value| value.parse::<f64>().unwrap())
    };
    let begun = service.post("/webhooks/endless", &json!({})).json();
    let id = begun["run"].as_str().unwrap();
    wait_until("the page is being printed", || in_use() > 0.0);
    let cancelled = service.post(&format!("/runs/{id}/cancel"), &json!({}));
    assert!(cancelled.status < 300, "{cancelled:?}");
    assert_eq!(service.until(id, &ENDS)["state"], "cancelled");
    wait_until("the slot is free", || in_use() == 0.0);
    is_letter(&written(&service, "pdf"));
}

#[test]
fn without_chromium_a_step_says_what_to_install() {
    let nowhere = ("CHROMIUM_PATH", "/nowhere/chromium");
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[nowhere]);
    with_letter(&service);
    is_not_installed(&service);
}

#[test]
fn workers_print_pages_by_a_chromium_of_their_own() {
    let nowhere = ("CHROMIUM_PATH", "/nowhere/chromium");
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(folder.path(), &[("PLATEN_ROLE", "app"), nowhere]);
    with_letter(&service);
    let mut without = service.worker(1, &[nowhere]);
    is_not_installed(&service);
    without.signal("TERM");
    assert!(without.wait().success());
    if !has_chromium() {
        return;
    }
    let mut with = service.worker(1, &[]);
    is_letter(&written(&service, "pdf"));
    with.signal("TERM");
    assert!(with.wait().success(), "Chromium ends with its worker");
}

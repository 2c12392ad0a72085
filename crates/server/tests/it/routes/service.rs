//! Health, metrics, descriptions, headers of every answer.

use std::{io::Read, sync::Arc};

use crate::app::{TestApp, example, template};
use platen_server::Settings;
use serde_json::json;

#[test]
fn get_health_and_metrics() {
    let app = TestApp::start();
    assert_eq!(app.get("/health/live").json()["status"], "ok");
    let ready = app.get("/health/ready").json();
    assert_eq!(ready["checks"][1]["name"], "store");
    app.post(
        "/render",
        &json!({"definition": template("a", "x"), "data": {"name": "x"}}),
    );
    assert_eq!(
        app.metric("platen_renders_total{format=\"pdf\",outcome=\"ok\"}"),
        1.0
    );
    let requests = "platen_http_requests_total{route=\"/render\",method=\"POST\",status=\"200\"}";
    assert_eq!(app.metric(requests), 1.0);
    assert_eq!(app.metric("platen_render_slots_in_use"), 0.0);
    assert!(app.metric("process_resident_memory_bytes") > 1e6);
    assert!(app.metric("platen_render_stage_duration_seconds_count{stage=\"layout\"}") > 0.5);
}

#[test]
fn get_docs_is_self_contained() {
    let app = TestApp::start();
    let page = app.get("/docs");
    assert!(
        page.header("content-security-policy")
            .contains("default-src 'none'")
    );
    let text = String::from_utf8(page.bytes).unwrap();
    assert!(!text.contains("http://") && !text.contains("https://"));
    for (name, media_type) in [
        ("main.js", "text/javascript; charset=utf-8"),
        ("style.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ] {
        assert!(text.contains(&format!("docs/{name}")), "{name}");
        let file = app.get(&format!("/docs/{name}"));
        assert_eq!(
            (file.status, file.header("content-type")),
            (200, media_type)
        );
        let known = [("if-none-match", file.header("etag"))];
        let again = app.send("GET", &format!("/docs/{name}"), &known, b"");
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{name}");
    }
    let script = app.send("GET", "/docs/send.js", &[("accept-encoding", "gzip")], b"");
    assert_eq!(script.header("content-encoding"), "gzip");
    app.get("/docs/other.js").problem(404, "not-found path");
    app.get("/docs/..%2Fexamples.json")
        .problem(404, "not-found path");
    let schema = app.get("/schema/template.json").json();
    assert_eq!(schema["title"], "Platen document template");
}

#[test]
fn request_ids_are_taken_or_made() {
    let app = TestApp::start();
    let taken = app.send("GET", "/health/live", &[("x-request-id", "abc-1")], b"");
    assert_eq!(taken.header("x-request-id"), "abc-1");
    let made = app.send(
        "GET",
        "/health/live",
        &[("x-request-id", "a b<script>")],
        b"",
    );
    assert_eq!(made.header("x-request-id").len(), 24);
    assert_eq!(made.header("x-content-type-options"), "nosniff");
    app.get("/nothing/here").problem(404, "not-found path");
    let wrong = app.send("PATCH", "/templates", &[], b"{}");
    wrong.problem(405, "method-not-allowed");
    assert_eq!(wrong.header("allow"), "GET,HEAD,POST");
}

#[test]
fn text_is_compressed_and_documents_are_not() {
    let app = TestApp::start();
    let (definition, data) = example("bench-invoice");
    let body = json!({"definition": definition, "data": data}).to_string();
    let request = |format: &str| {
        let head = format!(
            "POST /render/{format} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Accept-Encoding: br, gzip;q=0.8\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        app.raw(head.as_bytes()).to_lowercase()
    };
    assert!(request("html").contains("content-encoding: gzip"));
    assert!(!request("pdf").contains("content-encoding"));
    let headers = [("accept-encoding", "gzip")];
    let packed = app.send("GET", "/openapi.json", &headers, b"");
    assert_eq!(packed.header("content-encoding"), "gzip");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed.bytes[..])
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.starts_with("{\"openapi\""));
}

#[test]
fn get_health_ready_waits_for_programs_that_start_with_the_service() {
    let settings = Settings {
        chromium_warm: Some(true),
        chromium_path: Some("/nonexistent/chromium".into()),
        ..Settings::default()
    };
    let app = TestApp::not_ready(settings, Arc::new(tempfile::tempdir().unwrap()));
    let check = |name: &str| {
        let ready = app.get("/health/ready");
        assert_eq!(ready.status, 503);
        let checks = ready.json()["checks"].clone();
        let checks = checks.as_array().unwrap().iter();
        let mut found = checks.filter(|check| check["name"] == name);
        found.next().map(|check| check["ok"].clone())
    };
    app.wait_until(|| check("engine") == Some(json!(true)) && check("flows") == Some(json!(true)));
    assert_eq!(check("chromium"), Some(json!(false)));
    // Nobody asked for LibreOffice at once.
    assert_eq!(check("libreoffice"), None);
    // Documents that need no Chromium are made all the same.
    let request = json!({"definition": template("a", "x"), "data": {"name": "x"}});
    assert_eq!(app.post("/render/pdf", &request).status, 200);
}

#[test]
fn get_health_ready_says_when_chromium_is_there() {
    if crate::programs::is_chromium_missing() {
        return;
    }
    let app = TestApp::with(Settings {
        chromium_warm: Some(true),
        ..Settings::default()
    });
    let checks = app.get("/health/ready").json()["checks"].clone();
    let checks = checks.as_array().unwrap();
    assert!(
        checks.contains(&json!({"name": "chromium", "ok": true})),
        "{checks:?}"
    );
}

//! Documents.

use serde_json::{Value, json};

use crate::app::{TestApp, example, template};

#[test]
fn create_render_makes_every_format() {
    let app = TestApp::start();
    let (invoice, data) = example("bench-invoice");
    assert_eq!(app.post("/templates", &invoice).status, 201);
    let request = json!({"template": "bench-invoice", "data": data});
    let starts: [(&str, &[u8], &str); 8] = [
        ("pdf", b"%PDF-", "application/pdf"),
        ("html", b"<!", "text/html; charset=utf-8"),
        (
            "docx",
            b"PK",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (
            "pptx",
            b"PK",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ),
        (
            "xlsx",
            b"PK",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        ("csv", b"", "text/csv; charset=utf-8"),
        ("png", b"\x89PNG", "image/png"),
        ("svg", b"<svg", "image/svg+xml"),
    ];
    for (format, start, media_type) in starts {
        let made = app.post(&format!("/render/{format}"), &request);
        assert_eq!(
            made.status,
            200,
            "{format}: {}",
            String::from_utf8_lossy(&made.bytes)
        );
        assert!(made.bytes.starts_with(start), "{format}");
        assert_eq!(made.header("content-type"), media_type);
        assert_eq!(made.header("x-template-version"), "1");
        assert_eq!(
            made.header("x-render-size-bytes"),
            made.bytes.len().to_string()
        );
        assert!(made.header("x-render-duration-ms").parse::<f64>().unwrap() > 0.0);
        let timing = made.header("server-timing");
        for stage in ["queue;dur=", "load;dur=", "bind;dur=", "write;dur="] {
            assert!(timing.contains(stage), "{timing}");
        }
        let name = format!("inline; filename=\"bench-invoice.{format}\"");
        assert_eq!(made.header("content-disposition"), name);
    }
    let pdf = app.post("/render", &request);
    assert_eq!(pdf.header("x-render-pages"), "1");
    assert_eq!(pdf.header("content-type"), "application/pdf");
    app.post("/render/gif", &request)
        .problem(404, "not-found format");
    let mut other = request.clone();
    other["format"] = json!("csv");
    assert_eq!(
        app.post("/render", &other).header("content-type"),
        "text/csv; charset=utf-8"
    );
    app.post("/render/pdf", &other)
        .problem(400, "invalid-request");
}

#[test]
fn create_render_takes_options() {
    let app = TestApp::start();
    let request = json!({
        "definition": template("a", "Hello"),
        "data": {"name": "Ada"},
        "options": {
            "locale": "de-DE", "timeZone": "Europe/Berlin", "paperSize": "A5",
            "orientation": "landscape", "now": "2026-11-21T15:00:00Z",
            "filename": "Angebot für Ada", "disposition": "attachment",
            "pdf": {"standard": "pdfa-3b", "attachments": [{
                "name": "data.xml", "mediaType": "text/xml", "description": "Data",
                "relationship": "data", "contentBase64": "PGE+PC9hPg==",
            }]},
        },
    });
    let made = app.post("/render", &request);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert_eq!(
        made.header("content-disposition"),
        "attachment; filename=\"Angebot f_r Ada.pdf\"; filename*=UTF-8''Angebot%20f%C3%BCr%20Ada.pdf"
    );
    // The same request gives the same bytes.
    assert_eq!(app.post("/render", &request).bytes, made.bytes);
    let accept = [("accept", "text/html")];
    let html = app.send("POST", "/render", &accept, request.to_string().as_bytes());
    assert!(String::from_utf8(html.bytes).unwrap().contains("Hello Ada"));
    let refused = app.send(
        "POST",
        "/render",
        &[("accept", "audio/ogg")],
        request.to_string().as_bytes(),
    );
    refused.problem(406, "not-acceptable");
}

#[test]
fn create_render_tells_mistakes() {
    let app = TestApp::start();
    let (invoice, _) = example("bench-invoice");
    app.post("/templates", &invoice);
    let mistakes = app
        .post("/render", &json!({"template": "bench-invoice", "data": {}}))
        .problem(422, "invalid-data");
    assert!(
        mistakes["diagnostics"].as_array().unwrap().len() >= 3,
        "{mistakes}"
    );
    let unknown = app.post("/render", &json!({"template": "a", "dat": {}}));
    let detail = unknown.problem(400, "invalid-request")["detail"].to_string();
    assert!(
        detail.contains("dat") && detail.contains("column"),
        "{detail}"
    );
    for body in [
        json!({"data": {}}),
        json!({"template": "a", "definition": {}}),
        json!({"definition": template("a", "x"), "options": {"colour": 1}}),
        json!({"definition": template("a", "x"), "options": {"pdf": {"standard": "x-4"}}}),
        json!([1]),
    ] {
        app.post("/render", &body).problem(400, "invalid-request");
    }
    for options in [
        json!({"now": "yesterday"}),
        json!({"pdf": {"attachments": [{"name": "a", "contentBase64": "%"}]}}),
    ] {
        let body = json!({"definition": template("a", "x"), "options": options});
        app.post("/render", &body).problem(400, "invalid-option");
    }
    app.post("/render", &json!({"template": "none"}))
        .problem(404, "not-found template");
    let many =
        json!({"definition": template("a", "x"), "data": {"name": 1}, "options": {"page": 3}});
    app.post("/render/png", &many)
        .problem(400, "invalid-option");
}

#[test]
fn validate_render_and_dry_run_render_nothing() {
    let app = TestApp::start();
    let mut request = json!({"definition": template("a", "x"), "data": {}, "dryRun": true});
    let dry = app.post("/render", &request);
    assert_eq!(dry.status, 200);
    assert_eq!(dry.json()["valid"], false);
    request["data"] = json!({"name": "Ada"});
    assert_eq!(app.post("/render/validate", &request).json()["valid"], true);
    assert!(app.metric("platen_render_pages_total") < 0.5);
}

#[test]
fn create_render_reports_warnings() {
    let app = TestApp::start();
    let request = json!({"definition": template("a", "\u{10FFFD}"), "data": {"name": "x"}});
    // The second time its words are known.
    for _ in 0..2 {
        let made = app.post("/render", &request);
        let warnings = made.header("x-render-warnings");
        assert!(
            warnings.starts_with("count=2;codes=missing-glyph,"),
            "{warnings}"
        );
    }
}

#[test]
fn options_that_the_format_cannot_carry_are_warned_about() {
    let app = TestApp::start();
    let definition = json!({"key": "a", "name": "A", "body": [{"type": "table", "name": "t",
        "rows": "rows", "columns": [{"key": "a", "header": "A", "value": "{{ item.a }}"}]}]});
    let page = json!({"kind": "html", "key": "a", "name": "A", "html": "<p>A"});
    let request = |definition: &Value, format: &str, options: Value| {
        json!({"definition": definition, "data": {"rows": [{"a": 1}]}, "format": format,
            "options": options})
    };
    let all = json!({"page": 1, "dpi": 72, "table": "t", "pdf": {"tagged": false}});
    for (definition, format, count) in [
        (&definition, "pdf", 3),
        (&definition, "png", 2),
        (&definition, "csv", 3),
        (&definition, "docx", 4),
        (&page, "html", 4),
    ] {
        let made = app.post("/render", &request(definition, format, all.clone()));
        assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
        let expected = format!("count={count};codes=unused-option");
        assert_eq!(made.header("x-render-warnings"), expected, "{format}");
    }
    let carried = json!({"locale": "de-DE", "timeZone": "Europe/Berlin", "paperSize": "A5",
        "orientation": "landscape", "now": 0, "filename": "b", "disposition": "attachment",
        "pdf": {"standard": "ua-1", "tagged": true}});
    let made = app.post("/render", &request(&definition, "pdf", carried));
    assert_eq!(made.status, 200);
    assert!(!made.headers.contains_key("x-render-warnings"));
    let items = json!({"items": [request(&definition, "csv", json!({"paperSize": "A5"}))]});
    let batch = app.post("/render/batch", &items).json();
    let warnings = &batch["results"][0]["warnings"];
    assert_eq!(warnings[0]["code"], "unused-option", "{batch}");
    assert_eq!(warnings[0]["path"], "/options/paperSize");
}

/// The lines of the benchmark pack of document 000.
#[test]
fn create_render_as_the_benchmark_pack_does() {
    use platen_server::Settings;
    let app = TestApp::with(Settings {
        api_key_admin: Some(vec!["dk_admin_bench_1".into()]),
        api_key_render: Some(vec!["dk_render_bench_1".into()]),
        ..Settings::default()
    });
    let (invoice, _) = example("bench-invoice");
    let admin = ("X-Api-Key", "dk_admin_bench_1");
    let seeded = app.send(
        "POST",
        "/templates",
        &[admin],
        invoice.to_string().as_bytes(),
    );
    assert_eq!(seeded.status, 201);
    let body = br#"{"template":"bench-invoice","data":{"invoiceNumber":"cold","customerName":"cold","items":[{"description":"line","quantity":1,"unitPrice":10}]}}"#;
    let made = app.send(
        "POST",
        "/render",
        &[("X-Api-Key", "dk_render_bench_1")],
        body,
    );
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert!(made.bytes.starts_with(b"%PDF-"));
    assert!(made.headers.contains_key("x-render-duration-ms"));
    let head = app.send("HEAD", "/templates/bench-invoice", &[admin], b"");
    let etag = head.header("etag").trim_matches('"').to_owned();
    let path = "/templates/bench-invoice";
    app.send("DELETE", path, &[admin], b"")
        .problem(428, "precondition-required template");
    app.send("DELETE", path, &[admin, ("If-Match", "\"0\"")], b"")
        .problem(412, "precondition-failed template");
    let quoted = format!("\"{etag}\"");
    assert_eq!(
        app.send("DELETE", path, &[admin, ("If-Match", &quoted)], b"")
            .status,
        204
    );
}

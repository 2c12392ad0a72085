//! Pages of HTML, printed by the real Chromium.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::{app::TestApp, programs::is_chromium_missing};

fn letter() -> Json {
    json!({
        "kind": "html", "key": "letter", "name": "Letter", "locale": "de-DE", "currency": "EUR",
        "messages": {"de": {"total": "Summe"}},
        "inputSchema": {"type": "object", "required": ["name"]},
        "html": "<!doctype html><h1>{{ name }}</h1>{% for item in items %}<p>{{ item.price|currency }}</p>\
            {% endfor %}<p>{{ t('total') }}</p><img src='logo.svg'>",
        "css": "h1 { color: red }",
        "footer": "<i style='font-size: 9px'>{{ pageNumber }}/{{ pageCount }}</i>",
        "assets": {"logo.svg": "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="},
    })
}

#[test]
fn create_html_render_takes_json_and_forms() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page = json!({
        "html": "<h1>Hello</h1><img src=a.png>", "css": "h1 { color: blue }",
        "header": "<b style='font-size: 9px'>above</b>",
        "options": {"paperSize": "A5", "landscape": true, "filename": "hello", "marginTop": "20mm"},
    });
    let made = app.post("/render/html-to-pdf", &page);
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert!(made.bytes.starts_with(b"%PDF-"));
    assert_eq!(made.header("content-type"), "application/pdf");
    assert_eq!(
        made.header("content-disposition"),
        "inline; filename=\"hello.pdf\""
    );
    assert_eq!(
        made.header("x-render-warnings"),
        "count=1;codes=missing-file"
    );

    let form = "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"index.html\"\r\n\r\n\
        <link rel=stylesheet href=a.css><p>text</p>\r\n\
        --b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.css\"\r\n\r\np { color: red }\r\n\
        --b\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n{\"tagged\": false}\r\n--b--\r\n";
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let made = app.send("POST", "/render/html-to-pdf", &headers, form.as_bytes());
    assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
    assert!(made.bytes.starts_with(b"%PDF-"));
    assert!(!made.headers.contains_key("x-render-warnings"));

    app.send(
        "POST",
        "/render/html-to-pdf",
        &headers,
        b"--b\r\n\r\nbroken",
    )
    .problem(400, "invalid-request");
    app.post(
        "/render/html-to-pdf",
        &json!({"html": "x", "options": {"scale": 9}}),
    )
    .problem(400, "invalid-option");
    let denied = json!({
        "html": "<img src=http://127.0.0.1:1/x.png>", "options": {"failOnDenied": true},
    });
    app.post("/render/html-to-pdf", &denied)
        .problem(403, "address-denied");
    assert!(app.metric("platen_pool_starts_total{pool=\"chromium\"}") >= 3.0);
    assert_eq!(
        app.metric("platen_pool_slots_in_use{pool=\"chromium\"}"),
        0.0
    );
}

#[test]
fn stored_templates_of_html_are_rendered_as_all_others() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    assert_eq!(app.post("/templates", &letter()).status, 201);
    let data = json!({"name": "<Ann>", "items": [{"price": 5}]});
    let request = json!({"template": "letter", "data": data});
    let pdf = app.post("/render/pdf", &request);
    assert_eq!(pdf.status, 200, "{}", String::from_utf8_lossy(&pdf.bytes));
    assert!(pdf.bytes.starts_with(b"%PDF-"));
    assert_eq!(pdf.header("x-template-version"), "1");
    assert!(pdf.header("server-timing").contains("print;dur="));
    assert!(
        !pdf.headers.contains_key("content-length"),
        "it is streamed"
    );
    let html = app.post("/render/html", &request);
    let text = String::from_utf8(html.bytes.clone()).unwrap();
    assert!(
        text.contains("&lt;Ann&gt;") && text.contains("5,00\u{a0}€"),
        "{text}"
    );
    assert!(
        text.contains("Summe") && text.contains("<style>h1"),
        "{text}"
    );
    assert!(html.header("content-security-policy").contains("sandbox"));
    assert!(
        app.post("/render/png", &request)
            .bytes
            .starts_with(b"\x89PNG")
    );
    app.post("/render/docx", &request)
        .problem(422, "unsupported-conversion");
    let problem = app
        .post("/render/pdf", &json!({"template": "letter", "data": {}}))
        .problem(422, "invalid-data");
    assert_eq!(problem["diagnostics"][0]["code"], "data-required");
    let mut broken = letter();
    broken["html"] = json!("{% if name %}");
    app.post("/templates", &broken)
        .problem(422, "invalid-template");
    let checked = app.post("/render/validate", &json!({"definition": broken}));
    assert_eq!(checked.json()["valid"], false);
}

#[test]
fn pages_and_size_of_a_streamed_pdf_stand_in_trailers() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let mut template = letter();
    template["html"] = json!("<p style='break-after: page'>one</p>".repeat(11));
    let request = json!({"definition": template, "data": {"name": "A", "items": []}}).to_string();
    let send = |path: &str, body: &str, te: &str| {
        let length = body.len();
        app.raw(
            format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\n{te}connection: close\r\n\
                 content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .as_bytes(),
        )
    };
    let te = "te: trailers\r\n";
    for (path, body) in [
        ("/render", request.as_str()),
        (
            "/render/html-to-pdf",
            &json!({"html": "<p style='break-after: page'>one</p>".repeat(11)}).to_string(),
        ),
    ] {
        let answer = send(path, body, te);
        assert!(
            answer.contains("trailer: x-render-pages, x-render-size-bytes"),
            "{path}"
        );
        let (_, trailers) = answer.rsplit_once("\r\n0\r\n").unwrap();
        assert!(trailers.contains("x-render-pages: 11"), "{trailers}");
        assert!(trailers.contains("x-render-size-bytes: "), "{trailers}");
        let (_, end) = send(path, body, "")
            .rsplit_once("%%EOF")
            .map(|it| (it.0.len(), it.1.to_owned()))
            .unwrap();
        assert!(!end.contains("x-render-pages"), "{end}");
    }
    assert_eq!(app.metric("platen_render_pages_total"), 44.0);
}

#[test]
fn without_chromium_all_else_works() {
    let app = TestApp::with(Settings {
        chromium_path: Some("/nowhere/chromium".into()),
        ..Settings::default()
    });
    let problem = app
        .post("/render/html-to-pdf", &json!({"html": "x"}))
        .problem(501, "backend-missing chromium");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("apt-get install")
    );
    assert_eq!(app.get("/health/ready").status, 200);
    assert_eq!(app.post("/templates", &letter()).status, 201);
    let request = json!({"template": "letter", "data": {"name": "A", "items": []}});
    assert_eq!(app.post("/render/html", &request).status, 200);
    app.post("/render/pdf", &request)
        .problem(501, "backend-missing chromium");
    let request = json!({"definition": crate::app::template("a", "x"), "data": {"name": "b"}});
    assert_eq!(app.post("/render/pdf", &request).status, 200);
}

#[test]
fn a_client_that_goes_away_frees_its_page() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let in_use = "platen_pool_slots_in_use{pool=\"chromium\"}";
    let send = |page: &Json| {
        let page = page.to_string();
        let length = page.len();
        let mut stream = TcpStream::connect(app.address).unwrap();
        let request = format!(
            "POST /render/html-to-pdf HTTP/1.1\r\nhost: localhost\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{page}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    };
    // Before the answer: the page would wait for longer than this test does.
    let stream = send(&json!({"html": "<p>text", "options": {"waitDelayMs": 60_000}}));
    app.wait_until(|| app.metric(in_use) > 0.0);
    drop(stream);
    app.wait_until(|| app.metric(in_use) == 0.0);
    // After the first byte of the answer.
    let mut stream = send(&json!({"html": "<p>text 123</p>".repeat(20_000)}));
    stream.read_exact(&mut [0]).unwrap();
    drop(stream);
    app.wait_until(|| app.metric(in_use) == 0.0);
    let made = app.post("/render/html-to-pdf", &json!({"html": "<p>next"}));
    assert_eq!(made.status, 200);
}

#[test]
fn options_that_chromium_cannot_keep_to_are_refused() {
    let app = TestApp::start();
    let definition = json!({"kind": "html", "key": "a", "name": "A", "html": "<p>A"});
    let attachment = json!({"name": "a.xml", "contentBase64": "PGE+"});
    let request = |pdf: serde_json::Value| json!({"definition": definition, "format": "pdf", "options": {"pdf": pdf}});
    let both = request(json!({"standard": "pdfa-3b", "attachments": [attachment]}));
    let problem = app.post("/render", &both).problem(422, "invalid-template");
    let paths = ["/options/pdf/standard", "/options/pdf/attachments"];
    for (found, path) in problem["diagnostics"].as_array().unwrap().iter().zip(paths) {
        assert_eq!(
            (&found["path"], &found["code"]),
            (&json!(path), &json!("unsupported-option"))
        );
    }
    let claimed = request(json!({"standard": "ua-1"}));
    app.post("/render", &claimed)
        .problem(422, "invalid-template");
}

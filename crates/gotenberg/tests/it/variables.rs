//! Gotenberg's variables by what they do: lists of URLs, and routes that are switched off.

use platen_server::Settings;
use serde_json::json;

use crate::{
    app::TestApp,
    documents::{form, pdf},
    webhook::{flatten, next, receiver, settings},
};

#[test]
fn lists_say_where_results_and_errors_may_go() {
    let (port, got) = receiver(Vec::new());
    let list = |text: String| Some(vec![text]);
    let app = TestApp::with(Settings {
        webhook_allowed_hosts: None,
        webhook_allow_list: list(format!(r"^http://127\.0\.0\.1:{port}/(?!private)")),
        webhook_deny_list: list("/good/denied$".to_owned()),
        ..settings(port)
    });
    let file = pdf(&app, "One");
    assert_eq!(flatten(&app, port, &file, &[]).status, 204);
    assert!(next(&got).0.starts_with("POST /good HTTP/1.1"));
    for path in ["good/denied", "private"] {
        let url = format!("http://127.0.0.1:{port}/{path}");
        for header in ["gotenberg-webhook-url", "gotenberg-webhook-error-url"] {
            let answer = flatten(&app, port, &file, &[(header, &url)]);
            answer.problem(403, "address-denied");
        }
    }
    assert!(got.try_recv().is_err(), "nothing else was sent");
    let more = [("gotenberg-webhook-error-method", "PATCH")];
    assert_eq!(flatten(&app, port, b"no PDF", &more).status, 204);
    let (head, _) = next(&got);
    assert!(head.starts_with("PATCH /bad HTTP/1.1"), "{head}");
}

#[test]
fn lists_say_what_is_loaded() {
    let (port, got) = receiver(Vec::new());
    let app = TestApp::with(Settings {
        download_allow_private_addresses: Some(true),
        api_download_from_allow_list: Some(vec![format!(
            r"^http://127\.0\.0\.1:{port}/[a-z/]+\.pdf$"
        )]),
        api_download_from_deny_list: Some(vec![r"/denied\.".to_owned()]),
        ..Settings::default()
    });
    let headers = [
        ("content-type", "multipart/form-data; boundary=b"),
        ("accept", "application/json"),
    ];
    let load = |path: &str| {
        let text = json!([{"url": format!("http://127.0.0.1:{port}/{path}")}]).to_string();
        let body = form(&[("downloadFrom", "", text.as_bytes())]);
        app.send("POST", "/forms/pdfengines/flatten", &headers, &body)
    };
    // The receiver's answer is an empty file, which was loaded.
    load("a/b.pdf").problem(400, "not-pdf");
    assert!(next(&got).0.starts_with("GET /a/b.pdf HTTP/1.1"));
    load("a/denied.pdf").problem(403, "address-denied");
    load("a/b.xml").problem(403, "address-denied");
    assert!(got.try_recv().is_err(), "nothing else was loaded");
}

#[test]
fn routes_are_switched_off() {
    let app = TestApp::with(Settings {
        libreoffice_disable_routes: Some(true),
        chromium_disable_routes: Some(true),
        ..Settings::default()
    });
    let file = pdf(&app, "One");
    let body = form(&[("files", "a.pdf", &file)]);
    let headers = [("content-type", "multipart/form-data; boundary=b")];
    let status = |path: &str| app.send("POST", path, &headers, &body).status;
    assert_eq!(status("/forms/libreoffice/convert"), 404);
    assert_eq!(status("/forms/chromium/convert/html"), 404);
    assert_eq!(status("/forms/pdfengines/flatten"), 200);
}

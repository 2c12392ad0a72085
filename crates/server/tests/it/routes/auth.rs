//! Keys and scopes, calls of other origins.

use platen_server::Settings;
use serde_json::json;

use crate::app::{TestApp, template};

fn app() -> TestApp {
    TestApp::with(Settings {
        api_key_admin: Some(vec!["admin-key-1".into()]),
        api_key_render: Some(vec!["render-key-1".into(), "render-key-2".into()]),
        metrics_token: Some("metrics-token".into()),
        cors_allowed_origins: Some(vec!["https://app.example".into()]),
        ..Settings::default()
    })
}

#[test]
fn keys_have_scopes() {
    let app = app();
    let body = template("a", "x").to_string();
    let create =
        |headers: &[(&str, &str)]| app.send("POST", "/templates", headers, body.as_bytes());
    create(&[]).problem(401, "unauthorized");
    create(&[("x-api-key", "admin-key-2")]).problem(401, "unauthorized");
    create(&[("x-api-key", "render-key-1")]).problem(403, "forbidden");
    assert_eq!(
        create(&[("authorization", "Bearer admin-key-1")]).status,
        201
    );
    let render = json!({"template": "a", "data": {"name": "x"}}).to_string();
    for key in ["render-key-1", "render-key-2", "admin-key-1"] {
        let made = app.send("POST", "/render", &[("x-api-key", key)], render.as_bytes());
        assert_eq!(made.status, 200);
        assert_eq!(
            app.send("GET", "/templates/a", &[("x-api-key", key)], b"")
                .status,
            200
        );
    }
    let delete = [("x-api-key", "render-key-1"), ("if-match", "*")];
    app.send("DELETE", "/templates/a", &delete, b"")
        .problem(403, "forbidden");
    app.send("POST", "/render", &[], render.as_bytes())
        .problem(401, "unauthorized");
    for open in [
        "/health/live",
        "/health/ready",
        "/openapi.json",
        "/docs",
        "/schema/template.json",
    ] {
        assert_eq!(app.get(open).status, 200, "{open}");
    }
}

#[test]
fn get_metrics_needs_its_token_where_one_is_set() {
    let app = app();
    app.get("/metrics").problem(401, "unauthorized");
    let headers = [("authorization", "Bearer metrics-token")];
    assert_eq!(app.send("GET", "/metrics", &headers, b"").status, 200);
}

#[test]
fn other_origins_need_leave() {
    let app = app();
    let ask = [
        ("origin", "https://app.example"),
        ("access-control-request-method", "POST"),
    ];
    let allowed = app.send("OPTIONS", "/render", &ask, b"");
    assert_eq!(allowed.status, 204);
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        "https://app.example"
    );
    let ask = [
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
    ];
    app.send("OPTIONS", "/render", &ask, b"")
        .problem(403, "forbidden");
    let read = app.send(
        "GET",
        "/health/live",
        &[("origin", "https://evil.example")],
        b"",
    );
    assert!(!read.headers.contains_key("access-control-allow-origin"));
}

#[test]
fn without_keys_a_name_that_is_not_local_is_refused() {
    let app = TestApp::start();
    let answer =
        app.raw(b"GET /templates HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
}

#[test]
fn without_keys_pages_of_other_sites_change_nothing() {
    let app = TestApp::start();
    let body = template("a", "x").to_string();
    let send =
        |path: &str, origin: &str| app.send("POST", path, &[("origin", origin)], body.as_bytes());
    for origin in ["https://evil.example", "null"] {
        for path in ["/templates", "/flows/a/runs", "/webhooks/a/sync"] {
            send(path, origin).problem(403, "forbidden");
        }
        let read = app.send("GET", "/templates", &[("origin", origin)], b"");
        assert_eq!(read.status, 200);
    }
    assert_eq!(send("/templates", "http://localhost:5173").status, 201);
}

//! Studio: its files, and sign-in.

use platen_server::Settings;
use serde_json::json;

use crate::app::{TestApp, template};

const OWN: (&str, &str) = ("x-platen-studio", "1");

fn app() -> TestApp {
    TestApp::with(Settings {
        api_key_admin: Some(vec!["admin-key-1".into()]),
        api_key_render: Some(vec!["render-key-1".into()]),
        ..Settings::default()
    })
}

/// The cookie of a session for `key`.
fn cookie(app: &TestApp, key: &str) -> String {
    let body = json!({ "key": key }).to_string();
    let answer = app.send("POST", "/studio/session", &[OWN], body.as_bytes());
    assert_eq!(answer.status, 200);
    let set = answer.header("set-cookie");
    assert!(set.contains("; HttpOnly; SameSite=Strict"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

#[test]
fn a_session_may_what_its_key_may() {
    let app = app();
    let asked = |headers: &[(&str, &str)]| app.send("GET", "/studio/session", headers, b"").json();
    let nobody = asked(&[]);
    assert_eq!(
        (&nobody["signedIn"], &nobody["needsKey"]),
        (&json!(false), &json!(true))
    );
    let wrong = json!({"key": "admin-key-2"}).to_string();
    app.send("POST", "/studio/session", &[OWN], wrong.as_bytes())
        .problem(401, "unauthorized");
    let (admin, render) = (cookie(&app, "admin-key-1"), cookie(&app, "render-key-1"));
    assert!(!admin.contains("admin-key-1"));
    let admin = ("cookie", admin.as_str());
    let render = ("cookie", render.as_str());
    assert_eq!(asked(&[admin])["mayChange"], true);
    assert_eq!(asked(&[render])["mayChange"], false);
    let body = template("a", "x").to_string();
    let create =
        |headers: &[(&str, &str)]| app.send("POST", "/templates", headers, body.as_bytes());
    create(&[render, OWN]).problem(403, "forbidden");
    assert_eq!(create(&[admin, OWN]).status, 201);
    assert_eq!(app.send("GET", "/templates/a", &[render], b"").status, 200);
    let forged = admin.1.replace('.', ".0");
    app.send("GET", "/templates/a", &[("cookie", &forged)], b"")
        .problem(401, "unauthorized");
}

#[test]
fn another_site_cannot_use_a_session() {
    let app = app();
    let session = cookie(&app, "admin-key-1");
    let session = ("cookie", session.as_str());
    let body = template("a", "x").to_string();
    let send = |headers: &[(&str, &str)]| app.send("POST", "/templates", headers, body.as_bytes());
    send(&[session]).problem(403, "forbidden");
    let origin = ("origin", "https://evil.example");
    send(&[session, origin]).problem(403, "forbidden");
    // A form cannot sign somebody in, or out, either.
    let key = json!({"key": "admin-key-1"}).to_string();
    app.send("POST", "/studio/session", &[], key.as_bytes())
        .problem(403, "forbidden");
    app.send("DELETE", "/studio/session", &[session], b"")
        .problem(403, "forbidden");
    app.send("POST", "/webhooks/a", &[session], b"{}")
        .problem(403, "forbidden");
    let preflight = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "x-platen-studio"),
    ];
    app.send("OPTIONS", "/templates", &preflight, b"")
        .problem(403, "forbidden");
    let out = app.send("DELETE", "/studio/session", &[session, OWN], b"");
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    // A key counts, whatever the cookie says.
    let wrong = ("x-api-key", "nobody");
    send(&[session, OWN, wrong]).problem(401, "unauthorized");
}

#[test]
fn the_page_needs_no_session_and_no_other_site() {
    let app = app();
    let page = app.get("/studio");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy");
    assert!(
        policy.contains("script-src 'self';") && !policy.contains("unsafe"),
        "{policy}"
    );
    let main = app.get("/studio/main.js");
    assert!(main.header("content-type").starts_with("text/javascript"));
    let tag = main.header("etag");
    let known = app.send("GET", "/studio/main.js", &[("if-none-match", tag)], b"");
    assert_eq!(known.status, 304);
    assert_eq!(
        app.get("/studio/gallery-invoice-de-template.json").status,
        200
    );
    app.get("/studio/../Cargo.toml")
        .problem(404, "not-found path");
    app.get("/studio/none.js").problem(404, "not-found path");
}

//! Stored assets: files that templates use by name.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::app::{Answer, TestApp};

/// A drawing of one color.
fn drawing(color: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\"><rect width=\"20\" height=\"10\" fill=\"{color}\"/></svg>"
    )
}

fn store(app: &TestApp, name: &str, bytes: &[u8]) -> Answer {
    let headers = [("content-type", "application/octet-stream")];
    app.send("PUT", &format!("/assets/{name}"), &headers, bytes)
}

/// A template that shows `source`.
fn showing(key: &str, source: &str) -> Json {
    json!({
        "key": key, "name": key,
        "body": [{"type": "image", "source": source, "alt": "a drawing"}]
    })
}

/// Which of the colors the document of a request shows.
#[track_caller]
fn color(app: &TestApp, request: &Json) -> &'static str {
    let made = app.post("/render/html", request);
    let text = String::from_utf8_lossy(&made.bytes).into_owned();
    assert_eq!(made.status, 200, "{text}");
    ["red", "blue", "green"]
        .into_iter()
        .find(|color| text.contains(&BASE64_STANDARD.encode(drawing(color))))
        .unwrap_or("none")
}

#[test]
fn an_asset_has_versions() {
    let app = TestApp::start();
    let first = store(&app, "logo.svg", drawing("red").as_bytes());
    assert_eq!(first.status, 201);
    assert_eq!(first.header("location"), "/assets/logo.svg");
    let entry = first.json();
    assert_eq!(
        (&entry["name"], &entry["version"], &entry["mediaType"]),
        (&"logo.svg".into(), &1.into(), &"image/svg+xml".into())
    );
    let same = store(&app, "logo.svg", drawing("red").as_bytes());
    assert_eq!((same.status, same.header("etag")), (200, "\"1\""));
    let second = store(&app, "logo.svg", drawing("blue").as_bytes());
    assert_eq!((second.status, second.header("etag")), (200, "\"2\""));

    let read = app.get("/assets/logo.svg");
    assert_eq!(read.bytes, drawing("blue").as_bytes());
    assert_eq!(read.header("content-type"), "image/svg+xml");
    // A picture must not run scripts as a page of the service.
    assert!(read.header("content-security-policy").contains("sandbox"));
    assert_eq!(read.header("x-content-type-options"), "nosniff");
    let known = [("if-none-match", read.header("etag"))];
    assert_eq!(app.send("GET", "/assets/logo.svg", &known, b"").status, 304);
    let former = app.get("/assets/logo.svg?version=1");
    assert_eq!(former.bytes, drawing("red").as_bytes());
    app.get("/assets/logo.svg?version=9")
        .problem(404, "not-found asset");
    app.get("/assets/other").problem(404, "not-found asset");

    store(&app, "Seal.svg", drawing("green").as_bytes());
    let all = app.get("/assets?limit=1").json();
    assert_eq!(
        (&all["assets"][0]["name"], &all["next"]),
        (&"Seal.svg".into(), &"Seal.svg".into())
    );
    let rest = app.get("/assets?after=Seal.svg").json();
    assert_eq!(rest["assets"][0]["version"], 2);
    assert_eq!(rest["assets"][0]["sizeBytes"], drawing("blue").len());
    let versions = app.get("/assets/logo.svg/versions").json();
    let numbers = versions["versions"].as_array().unwrap().iter();
    let numbers: Vec<_> = numbers.map(|one| one["version"].clone()).collect();
    assert_eq!(numbers, [2, 1]);

    let stale = [("if-match", "\"1\"")];
    app.send(
        "PUT",
        "/assets/logo.svg",
        &stale,
        drawing("green").as_bytes(),
    )
    .problem(412, "precondition-failed asset");
    app.send("DELETE", "/assets/logo.svg", &stale, b"")
        .problem(412, "precondition-failed asset");
    assert_eq!(app.send("DELETE", "/assets/logo.svg", &[], b"").status, 204);
    app.get("/assets/logo.svg?version=2")
        .problem(404, "not-found asset");
    let again = store(&app, "logo.svg", drawing("red").as_bytes());
    assert_eq!(again.json()["version"], 3, "numbers are not used again");
}

#[test]
fn an_asset_that_is_to_be_new_replaces_none() {
    let app = TestApp::start();
    let put = |header: (&str, &str), color: &str| {
        let bytes = drawing(color);
        app.send("PUT", "/assets/logo.svg", &[header], bytes.as_bytes())
    };
    let new = ("if-none-match", "*");
    assert_eq!(put(new, "red").status, 201);
    let taken = put(new, "blue");
    assert_eq!(taken.header("etag"), "\"1\"");
    taken.problem(412, "precondition-failed asset");
    put(new, "red").problem(412, "precondition-failed asset");
    put(("if-none-match", "\"1\""), "blue").problem(400, "invalid-request");
    let kept = app.get("/assets/logo.svg");
    assert_eq!(kept.bytes, drawing("red").as_bytes());
    assert_eq!(kept.header("etag"), "\"1\"");
}

#[test]
fn a_version_of_a_template_keeps_to_the_versions_of_its_assets() {
    let app = TestApp::start();
    store(&app, "logo.svg", drawing("red").as_bytes());
    let letter = showing("letter", "logo.svg");
    assert_eq!(app.post("/templates", &letter).status, 201);
    app.post("/templates", &showing("by-data", "{{ picture }}"));
    app.post("/templates", &showing("exact", "logo.svg@1"));
    let stored = json!({"template": "letter", "data": {}});
    let named = json!({"template": "by-data", "data": {"picture": "logo.svg"}});
    assert_eq!(color(&app, &stored), "red");

    store(&app, "logo.svg", drawing("blue").as_bytes());
    assert_eq!(color(&app, &stored), "red");
    assert_eq!(
        color(&app, &named),
        "blue",
        "a name in data is the current version"
    );
    let given = json!({"definition": letter, "data": {}});
    assert_eq!(color(&app, &given), "blue", "and so is one of a definition");
    let exact = json!({"definition": showing("x", "logo.svg@1"), "data": {}});
    assert_eq!(color(&app, &exact), "red");
    assert_eq!(
        color(&app, &json!({"template": "exact", "data": {}})),
        "red"
    );

    let read = app.get("/templates/letter");
    assert_eq!(read.json(), letter, "as its author wrote it");
    app.put("/templates/letter", "*", &letter);
    assert_eq!(color(&app, &stored), "blue");
    let former = json!({"template": "letter", "version": 1, "data": {}});
    assert_eq!(color(&app, &former), "red");
    let between = json!({"from": 1, "to": 2});
    let changed = app.post("/templates/letter/diff", &between).json();
    assert_eq!(changed["changes"], json!([]));

    // A template that imports another keeps to versions of its own.
    let house = json!({
        "key": "house", "name": "House",
        "macros": {"head": {"body": [{"type": "image", "source": "logo.svg", "alt": ""}]}},
        "body": [{"type": "use", "macro": "head"}]
    });
    let importing = json!({
        "key": "importing", "name": "I", "imports": [{"template": "house", "version": 1}],
        "body": [{"type": "use", "macro": "head"}]
    });
    assert_eq!(app.post("/templates", &house).status, 201);
    store(&app, "logo.svg", drawing("green").as_bytes());
    assert_eq!(app.post("/templates", &importing).status, 201);
    assert_eq!(
        color(&app, &json!({"template": "house", "data": {}})),
        "blue"
    );
    let imported = json!({"template": "importing", "data": {}});
    assert_eq!(color(&app, &imported), "green");
    assert_eq!(app.get("/templates/importing").json(), importing);
}

#[test]
fn an_asset_in_use_is_not_deleted_by_accident() {
    let app = TestApp::start();
    store(&app, "logo.svg", drawing("red").as_bytes());
    app.post("/templates", &showing("letter", "logo.svg"));
    app.post("/templates", &showing("other", "{{ picture }}"));
    let draft = showing("draft", "{{ paid ? 'logo.svg' : 'none' }}");
    app.send(
        "PUT",
        "/templates/draft/draft",
        &[],
        draft.to_string().as_bytes(),
    );
    let uses = app.get("/assets/logo.svg/uses").json();
    assert_eq!(
        uses["templates"],
        json!([
            {"key": "letter", "name": "letter", "draft": false},
            {"key": "draft", "name": "draft", "draft": true}
        ])
    );
    let refused = app.send("DELETE", "/assets/logo.svg", &[], b"");
    let detail = refused.problem(409, "in-use asset")["detail"].clone();
    assert!(
        detail.as_str().unwrap().contains("`letter`, `draft`"),
        "{detail}"
    );
    let forced = app.send("DELETE", "/assets/logo.svg?force=true", &[], b"");
    assert_eq!(forced.status, 204);
    let request = json!({"template": "letter", "data": {}});
    let problem = app
        .post("/render/html", &request)
        .problem(422, "invalid-template");
    assert_eq!(problem["diagnostics"][0]["code"], "unknown-asset");
    app.get("/assets/logo.svg/uses")
        .problem(404, "not-found asset");
}

#[test]
fn files_that_templates_cannot_use_are_refused() {
    let app = TestApp::start();
    for (bytes, hint) in [
        (&b"hello"[..], "PNG, JPEG"),
        (b"wOF2\0\x01\0\0", "TTF or OTF"),
        (b"\0\x01\0\0damaged", "damaged"),
        (b"<html><script>alert(1)</script></html>", "PNG, JPEG"),
    ] {
        let problem = store(&app, "file", bytes).problem(415, "media-type-not-supported");
        assert!(
            problem["detail"].as_str().unwrap().contains(hint),
            "{problem}"
        );
    }
    let laughs = "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><text>&b;</text></svg>";
    let deep = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\">{}{}</svg>",
        "<g>".repeat(500),
        "</g>".repeat(500)
    );
    let mut huge = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\0\0\0\x01\0\0\x08\x06\0\0\0".to_vec();
    huge.extend([0; 40]);
    let pdf = b"%PDF-1.7\nnothing".to_vec();
    for bytes in [
        deep.into_bytes(),
        huge,
        pdf,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0".to_vec(),
    ] {
        let answer = store(&app, "file", &bytes);
        let text = String::from_utf8_lossy(&answer.bytes);
        assert_eq!(answer.status, 422, "{text}");
        assert!(text.contains("document-unreadable"), "{text}");
    }
    assert!(matches!(
        store(&app, "file", laughs.as_bytes()).status,
        201 | 422
    ));
    store(&app, "file", &vec![0; (16 << 20) + 1]).problem(413, "too-large file");
    for name in ["-a", "a%2Fb", "a%20b", "..", &"x".repeat(129), "%C3%BC"] {
        let answer = store(&app, name, drawing("red").as_bytes());
        assert!(
            matches!(answer.status, 400 | 404),
            "{name}: {}",
            answer.status
        );
    }
}

#[test]
fn a_file_of_the_folder_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logo.svg"), drawing("green")).unwrap();
    let app = TestApp::with(Settings {
        assets_dir: Some(folder.path().to_owned()),
        ..Settings::default()
    });
    store(&app, "logo.svg", drawing("red").as_bytes()).problem(409, "already-exists asset");
    store(&app, "seal.svg", drawing("blue").as_bytes());
    app.post("/templates", &showing("letter", "logo.svg"));
    assert_eq!(
        color(&app, &json!({"template": "letter", "data": {}})),
        "green"
    );
    app.post("/templates", &showing("sealed", "seal.svg"));
    assert_eq!(
        color(&app, &json!({"template": "sealed", "data": {}})),
        "blue"
    );
}

#[test]
fn authors_add_assets_and_publishers_replace_them() {
    let app = TestApp::with(Settings {
        api_key_admin: Some(vec!["admin-key-of-the-assets".to_owned()]),
        ..Settings::default()
    });
    let admin = [("x-api-key", "admin-key-of-the-assets")];
    let key_of = |role: &str| {
        let body = json!({"name": role, "roles": [role]}).to_string();
        let made = app.send("POST", "/keys", &admin, body.as_bytes()).json();
        made["secret"].as_str().unwrap().to_owned()
    };
    let (author, publisher) = (key_of("author"), key_of("publisher"));
    let put = |key: &str, color: &str| {
        let bytes = drawing(color);
        app.send(
            "PUT",
            "/assets/logo.svg",
            &[("x-api-key", key)],
            bytes.as_bytes(),
        )
    };
    assert_eq!(put(&author, "red").status, 201);
    assert_eq!(put(&author, "red").status, 200, "it is there already");
    let refused = put(&author, "blue").problem(403, "forbidden");
    assert!(
        refused["detail"].as_str().unwrap().contains("`publish`"),
        "{refused}"
    );
    assert_eq!(put(&publisher, "blue").status, 200);
    let log = app.send("GET", "/audit?after=0", &admin, b"");
    let log = String::from_utf8(log.bytes).unwrap();
    assert!(
        log.contains("putAsset") && log.contains("/assets/logo.svg"),
        "{log}"
    );
}

//! Templates and their versions.

use serde_json::{Value as Json, json};

use crate::app::{TestApp, template};

#[test]
fn create_template_then_get_update_and_delete_it() {
    let app = TestApp::start();
    let created = app.post("/templates", &template("offer", "one"));
    assert_eq!(created.status, 201);
    assert_eq!(created.header("location"), "/templates/offer");
    assert_eq!(created.header("etag"), "\"1\"");
    assert_eq!(created.json()["version"], 1);
    let again = app.post("/templates", &template("offer", "x"));
    again.problem(409, "already-exists template");
    assert_eq!(again.header("etag"), "\"1\"");

    let read = app.get("/templates/offer");
    assert_eq!(read.json(), template("offer", "one"));
    assert_eq!(read.header("etag"), "\"1\"");
    assert!(read.header("last-modified").ends_with(" GMT"));
    let head = app.send("HEAD", "/templates/offer", &[], b"");
    assert_eq!((head.status, head.header("etag")), (200, "\"1\""));
    assert!(head.bytes.is_empty());
    for known in ["\"1\"", "W/\"1\"", "\"7\", \"1\"", "*"] {
        let known = app.send("GET", "/templates/offer", &[("if-none-match", known)], b"");
        assert_eq!((known.status, known.bytes.len()), (304, 0));
    }

    let body = template("offer", "two");
    let unconditional = app.send("PUT", "/templates/offer", &[], body.to_string().as_bytes());
    unconditional.problem(428, "precondition-required template");
    let stale = app.put("/templates/offer", "\"9\"", &body);
    stale.problem(412, "precondition-failed template");
    assert_eq!(stale.header("etag"), "\"1\"");
    assert_eq!(
        app.put("/templates/offer", "\"1\"", &body).header("etag"),
        "\"2\""
    );
    assert_eq!(
        app.put("/templates/offer", "*", &body).header("etag"),
        "\"3\""
    );
    assert_eq!(
        app.put("/templates/offer", "\"3\", \"8\"", &body)
            .header("etag"),
        "\"4\""
    );
    app.put("/templates/none", "*", &template("none", "x"))
        .problem(404, "not-found template");

    app.send("DELETE", "/templates/offer", &[], b"")
        .problem(428, "precondition-required template");
    app.send("DELETE", "/templates/offer", &[("if-match", "\"1\"")], b"")
        .problem(412, "precondition-failed template");
    let deleted = app.send("DELETE", "/templates/offer", &[("if-match", "\"4\"")], b"");
    assert_eq!(deleted.status, 204);
    app.get("/templates/offer")
        .problem(404, "not-found template");
    app.get("/templates/offer/versions/1")
        .problem(404, "not-found template");
    let render = json!({"template": "offer", "version": 4, "data": {"name": "x"}});
    app.post("/render/csv", &render)
        .problem(404, "not-found template");
}

#[test]
fn update_template_with_mistakes_stores_nothing() {
    let app = TestApp::start();
    app.post("/templates", &template("offer", "one"));
    let bad = json!({"key": "offer", "name": "Offer", "body": [
        {"type": "txt", "content": "a"},
        {"type": "text", "content": "{{ name | shout }}", "colour": 1},
    ]});
    let refused = app
        .put("/templates/offer", "\"1\"", &bad)
        .problem(422, "invalid-template");
    assert!(
        refused["diagnostics"].as_array().unwrap().len() >= 2,
        "{refused}"
    );
    app.post("/templates", &json!({"key": "Not A Key", "name": ""}))
        .problem(422, "invalid-template");
    let other = app
        .put("/templates/offer", "\"1\"", &template("other", "x"))
        .problem(422, "invalid-template");
    assert_eq!(other["diagnostics"][0]["code"], "key-mismatch");
    assert_eq!(app.get("/templates/offer").header("etag"), "\"1\"");
    app.get("/templates/other")
        .problem(404, "not-found template");
}

#[test]
fn list_templates_and_versions_in_pages() {
    let app = TestApp::start();
    for key in ["a", "b", "c"] {
        app.post("/templates", &template(key, "one"));
    }
    let page = app.get("/templates?limit=2").json();
    assert_eq!(page["templates"][1]["key"], "b");
    assert_eq!(page["next"], "b");
    let last = app.get("/templates/?limit=2&after=b").json();
    assert_eq!(last["templates"][0]["key"], "c");
    assert!(last["next"].is_null());
    for query in ["limit=0", "limit=501", "limit=x", "offset=1"] {
        app.get(&format!("/templates?{query}"))
            .problem(400, "invalid-request");
    }
    for _ in 0..4 {
        app.put("/templates/a", "*", &template("a", "more"));
    }
    let page = app.get("/templates/a/versions?limit=3").json();
    let numbers: Vec<&Json> = page["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["version"])
        .collect();
    assert_eq!(numbers, [5, 4, 3]);
    let next = page["next"].as_str().unwrap();
    let rest = app
        .get(&format!("/templates/a/versions?limit=3&after={next}"))
        .json();
    assert_eq!(rest["versions"].as_array().unwrap().len(), 2);
    assert!(rest["next"].is_null());
}

#[test]
fn restore_template_version_and_diff_template() {
    let app = TestApp::start();
    let note = [("x-change-note", "Gr%C3%BC%C3%9Fe")];
    let first = template("a", "one").to_string();
    let created = app.send("POST", "/templates", &note, first.as_bytes());
    assert_eq!(created.json()["note"], "Grüße");
    app.put("/templates/a", "\"1\"", &template("a", "two"));
    let changes = app
        .post("/templates/a/diff", &json!({"from": 1, "to": 2}))
        .json();
    assert_eq!(changes["changes"][0]["path"], "/body/0/content");
    assert_eq!(changes["changes"][0]["oldValue"], "one {{ name }}");
    assert_eq!(
        app.post("/templates/a/diff", &json!({"from": 1})).json(),
        changes
    );
    app.post("/templates/a/diff", &json!({"from": 9}))
        .problem(404, "not-found template");

    let path = "/templates/a/versions/1/restore";
    app.send("POST", path, &[], b"")
        .problem(428, "precondition-required template");
    app.send("POST", path, &[("if-match", "\"1\"")], b"")
        .problem(412, "precondition-failed template");
    let headers = [("if-match", "\"2\""), ("x-pulpengine-change-note", "back")];
    let restored = app.send("POST", path, &headers, b"");
    assert_eq!(restored.header("etag"), "\"3\"");
    assert_eq!(restored.json()["restoredFrom"], 1);
    assert_eq!(restored.json()["note"], "back");
    assert_eq!(app.get("/templates/a").json(), template("a", "one"));
    let second = app.get("/templates/a/versions/2");
    assert_eq!(
        (second.json(), second.header("etag")),
        (template("a", "two"), "\"2\"")
    );
    app.get("/templates/a/versions/zero")
        .problem(400, "invalid-request");
}

#[test]
fn validate_template_and_get_template_schema() {
    let app = TestApp::start();
    let mut with_schema = template("a", "one");
    with_schema["inputSchema"] = json!({"type": "object", "required": ["name"]});
    app.post("/templates", &with_schema);
    assert_eq!(
        app.get("/templates/a/schema").json(),
        with_schema["inputSchema"]
    );
    let good = app
        .post("/templates/a/validate", &json!({"data": {"name": "x"}}))
        .json();
    assert_eq!(good["valid"], true);
    let bad = app
        .post("/templates/a/validate", &json!({"data": {}}))
        .json();
    assert_eq!(bad["valid"], false);
    assert_eq!(bad["diagnostics"][0]["code"], "data-required");
    let other = json!({"definition": {"key": "a", "name": "A", "boody": []}});
    assert_eq!(
        app.post("/templates/a/validate", &other).json()["valid"],
        false
    );
}

#[test]
fn preview_template_png_and_svg() {
    let app = TestApp::start();
    app.post(
        "/templates",
        &json!({"key": "a", "name": "A", "body": [
            {"type": "text", "content": "Hello {{ name | default('nobody') }}"},
        ]}),
    );
    let picture = app.get("/templates/a/preview.png");
    assert_eq!(picture.header("content-type"), "image/png");
    assert!(picture.bytes.starts_with(b"\x89PNG"));
    // {"name":"Ada"}
    let drawing = app.get("/templates/a/preview.svg?page=1&version=1&data=eyJuYW1lIjoiQWRhIn0");
    assert_eq!(
        drawing.status,
        200,
        "{}",
        String::from_utf8_lossy(&drawing.bytes)
    );
    assert!(drawing.bytes.starts_with(b"<svg"));
    app.get("/templates/a/preview.png?page=2")
        .problem(400, "invalid-option");
    app.get("/templates/a/preview.png?data=***")
        .problem(400, "invalid-request");
}

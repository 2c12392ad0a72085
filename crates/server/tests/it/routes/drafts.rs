//! Drafts of templates, their sample data, and previews of what is not stored.

use serde_json::{Value as Json, json};

use crate::app::{Answer, TestApp, template};

fn save(app: &TestApp, path: &str, revision: Option<&str>, body: &Json) -> Answer {
    let headers: Vec<_> = revision.iter().map(|tag| ("if-match", *tag)).collect();
    app.send("PUT", path, &headers, body.to_string().as_bytes())
}

#[test]
fn a_draft_is_served_to_nobody_until_it_is_published() {
    let app = TestApp::start();
    app.post("/templates", &template("offer", "one"));
    app.get("/templates/offer/draft")
        .problem(404, "not-found draft");
    // It may be unfinished.
    let unfinished = json!({"key": "offer", "name": "New name", "body": [{"type": "no"}]});
    let path = "/templates/offer/draft?base=1";
    let first = save(&app, path, None, &unfinished);
    assert_eq!(first.status, 200);
    assert_eq!(first.json()["name"], "New name");
    save(&app, path, None, &unfinished).problem(409, "already-exists draft");
    let read = app.get("/templates/offer/draft");
    assert_eq!(read.json(), unfinished);
    assert_eq!(read.header("x-draft-base"), "1");
    let tag = read.header("etag").to_owned();
    assert_eq!(app.get("/templates/offer").json(), template("offer", "one"));
    let list = app.get("/drafts/templates").json();
    assert_eq!(list["drafts"][0]["key"], "offer");
    let publish = |tag: &str| {
        let path = "/templates/offer/draft/publication";
        let headers = [("if-match", tag), ("x-change-note", "second")];
        app.send("POST", path, &headers, b"")
    };
    publish(&tag).problem(422, "invalid-template");
    let finished = template("offer", "two");
    let second = save(&app, path, Some(&tag), &finished);
    let second = second.header("etag").to_owned();
    save(&app, path, Some(&tag), &finished).problem(412, "precondition-failed draft");
    publish(&tag).problem(412, "precondition-failed draft");
    let published = publish(&second);
    assert_eq!(published.json()["version"], 2);
    assert_eq!(published.json()["note"], "second");
    assert_eq!(app.get("/templates/offer").json(), finished);
    app.get("/templates/offer/draft")
        .problem(404, "not-found draft");
}

#[test]
fn a_draft_of_an_earlier_version_is_not_published_over_a_later_one() {
    let app = TestApp::start();
    app.post("/templates", &template("offer", "one"));
    let draft = save(
        &app,
        "/templates/offer/draft?base=1",
        None,
        &template("offer", "mine"),
    );
    app.put("/templates/offer", "\"1\"", &template("offer", "theirs"));
    let headers = [("if-match", draft.header("etag"))];
    app.send("POST", "/templates/offer/draft/publication", &headers, b"")
        .problem(412, "precondition-failed template");
    assert_eq!(
        app.get("/templates/offer").json(),
        template("offer", "theirs")
    );
    // Nothing is lost.
    let kept = app.get("/templates/offer/draft");
    assert_eq!(kept.json(), template("offer", "mine"));
    let gone = app.send("DELETE", "/templates/offer/draft", &headers, b"");
    assert_eq!(gone.status, 204);
}

#[test]
fn a_new_template_can_begin_as_a_draft() {
    let app = TestApp::start();
    let draft = save(&app, "/templates/new/draft", None, &template("new", "x"));
    app.get("/templates/new").problem(404, "not-found template");
    let headers = [("if-match", draft.header("etag"))];
    let path = "/templates/new/draft/publication";
    assert_eq!(app.send("POST", path, &headers, b"").json()["version"], 1);
    // Another one does not begin with its key.
    save(&app, "/templates/new/draft", None, &template("new", "y"))
        .problem(409, "already-exists template");
    app.get("/templates/new/draft")
        .problem(404, "not-found draft");
    let other = save(&app, "/templates/other/draft", None, &template("else", "x"));
    let headers = [("if-match", other.header("etag"))];
    let answer = app.send("POST", "/templates/other/draft/publication", &headers, b"");
    let problem = answer.problem(422, "invalid-template");
    assert_eq!(problem["diagnostics"][0]["code"], "key-mismatch");
    save(&app, "/templates/other/draft", None, &json!([])).problem(400, "invalid-request");
}

#[test]
fn sample_data_shows_in_previews() {
    let app = TestApp::start();
    app.post("/templates", &template("offer", "Dear"));
    let plain = app.get("/templates/offer/preview.svg?sample=true");
    plain.problem(422, "invalid-template");
    let path = "/templates/offer/sample";
    let stored = save(&app, path, None, &json!({"name": "Ada"}));
    assert_eq!(stored.status, 200);
    assert_eq!(app.get(path).json(), json!({"name": "Ada"}));
    let shown = app.get("/templates/offer/preview.svg?sample=true");
    assert_eq!(shown.header("content-type"), "image/svg+xml");
    let unsaved = json!({"definition": template("offer", "Hello"), "sample": "offer"});
    assert_eq!(app.post("/render/preview", &unsaved).status, 200);
    let both = json!({"definition": template("offer", "x"), "sample": "offer", "data": {}});
    app.post("/render/preview", &both)
        .problem(400, "invalid-request");
    app.get("/templates/offer/preview.svg")
        .problem(422, "invalid-template");
}

#[test]
fn a_preview_says_where_the_nodes_are() {
    let app = TestApp::start();
    let definition = json!({"key": "a", "page": {"size": "A5", "footer": [{"type": "text", "content": "foot"}]},
    "body": [
        {"type": "columns", "columns": [{"body": [{"type": "text", "content": "left"}]}, {"body": []}]},
        {"type": "pageBreak"},
        {"type": "text", "content": "{{ name }}"},
    ]});
    let preview = |first: u32, count: u32| {
        let body = json!({"definition": definition, "data": {"name": "x"},
            "firstPage": first, "pageCount": count});
        app.post("/render/preview", &body)
    };
    let both = preview(1, 9).json();
    assert_eq!(
        (&both["pageCount"], &both["warnings"]),
        (&json!(2), &json!([]))
    );
    let pages = both["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 2);
    assert!(pages[0]["picture"].as_str().unwrap().starts_with("<svg "));
    let boxes = both["boxes"].as_array().unwrap();
    let places = |page: u32| -> Vec<&str> {
        let on = boxes.iter().filter(|one| one["page"] == page);
        on.map(|one| one["path"].as_str().unwrap()).collect()
    };
    let first = ["/body/0", "/body/0/columns/0/body/0", "/page/footer/0"];
    assert_eq!(places(1), first);
    assert_eq!(places(2), ["/body/2", "/page/footer/0"]);
    let second = preview(2, 1).json();
    assert_eq!(second["pages"][0]["page"], 2);
    assert_eq!(second["boxes"].as_array().unwrap().len(), 2);
    // A shorter document shows its last page.
    assert_eq!(preview(99, 1).json()["pages"][0]["page"], 2);
    for (first, count) in [(0, 1), (1, 0), (1, 21)] {
        preview(first, count).problem(400, "invalid-request");
    }
    let wrong = json!({"definition": {"key": "a", "body": [{"type": "text", "content": "{{ x"}]}});
    let problem = app
        .post("/render/preview", &wrong)
        .problem(422, "invalid-template");
    assert_eq!(problem["diagnostics"][0]["path"], "/body/0/content");
    let page = json!({"definition": {"kind": "html", "key": "a", "html": "<p>x</p>"}});
    assert!(app.post("/render/preview", &page).status >= 400);
}

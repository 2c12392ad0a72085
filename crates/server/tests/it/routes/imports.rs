//! Templates that import others.

use serde_json::{Value as Json, json};

use crate::app::TestApp;

fn house(text: &str) -> Json {
    json!({
        "key": "house", "name": "House",
        "macros": {"address": {"body": [{"type": "text", "content": text}]}},
        "body": [{"type": "use", "macro": "address"}]
    })
}

fn letter(version: u32) -> Json {
    json!({
        "key": "letter", "name": "Letter",
        "imports": [{"template": "house", "version": version}],
        "body": [{"type": "use", "macro": "address"}]
    })
}

fn page(app: &TestApp, request: &Json) -> String {
    let made = app.post("/render/html", request);
    let text = String::from_utf8(made.bytes.clone()).unwrap();
    assert_eq!(made.status, 200, "{text}");
    text
}

#[test]
fn a_version_makes_the_same_document_whatever_happens_to_what_it_imports() {
    let app = TestApp::start();
    app.post("/templates", &house("Harbour Street"));
    assert_eq!(app.post("/templates", &letter(1)).status, 201);
    let request = json!({"template": "letter", "data": {}});
    assert!(page(&app, &request).contains("Harbour Street"));
    assert_eq!(
        app.get("/templates/letter").json(),
        letter(1),
        "as its author wrote it"
    );

    app.put("/templates/house", "*", &house("Mill Lane"));
    assert!(page(&app, &request).contains("Harbour Street"));
    assert_eq!(
        app.put("/templates/letter", "*", &letter(2)).header("etag"),
        "\"2\""
    );
    assert!(page(&app, &request).contains("Mill Lane"));
    let gone = app.send("DELETE", "/templates/house", &[("if-match", "*")], b"");
    assert_eq!(gone.status, 204);
    let former = json!({"template": "letter", "version": 1, "data": {}});
    assert!(page(&app, &former).contains("Harbour Street"));
    let changed = app
        .post("/templates/letter/diff", &json!({"from": 1, "to": 2}))
        .json();
    let paths: Vec<&str> = changed["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/imports/0/version"], "{changed}");
    let restored = app.send(
        "POST",
        "/templates/letter/versions/1/restore",
        &[("if-match", "*")],
        b"",
    );
    assert_eq!(restored.status, 200);
    assert!(page(&app, &request).contains("Harbour Street"));
}

#[test]
fn imports_that_are_not_there_are_named() {
    let app = TestApp::start();
    let code = |problem: &Json| {
        let found = &problem["diagnostics"][0];
        (
            found["code"].clone(),
            found["path"].clone(),
            found["message"].as_str().unwrap().to_owned(),
        )
    };
    let refused = app
        .post("/templates", &letter(1))
        .problem(422, "invalid-template");
    let (name, path, message) = code(&refused);
    assert_eq!(
        (name, path),
        (json!("import-not-found"), json!("/imports/0"))
    );
    assert!(
        message.contains("there is no template `house`"),
        "{message}"
    );
    app.post("/templates", &house("x"));
    let refused = app
        .post("/templates", &letter(7))
        .problem(422, "invalid-template");
    assert!(
        code(&refused)
            .2
            .contains("no version 7; its current one is 1"),
        "{refused}"
    );
    app.get("/templates/letter")
        .problem(404, "not-found template");
    // A template with a version of itself in it is no circle.
    app.post("/templates", &letter(1));
    let mut next = letter(1);
    next["imports"] = json!([{"template": "letter", "version": 1}]);
    assert_eq!(app.put("/templates/letter", "*", &next).status, 200);
    assert!(page(&app, &json!({"template": "letter", "data": {}})).contains(">x<"));
}

#[test]
fn templates_of_requests_import_stored_ones() {
    let app = TestApp::start();
    app.post("/templates", &house("Harbour Street"));
    let request = json!({"definition": letter(1), "data": {}});
    assert!(page(&app, &request).contains("Harbour Street"));
    assert_eq!(app.post("/render/validate", &request).json()["valid"], true);
    let checked = json!({"definition": letter(1)});
    assert_eq!(
        app.post("/templates/house/validate", &checked).json()["valid"],
        true
    );
    // What a client claims that a version holds is not believed.
    let mut forged = letter(1);
    forged["imports"][0]["content"] = house("Elsewhere");
    assert!(page(&app, &json!({"definition": forged, "data": {}})).contains("Harbour Street"));
    app.post(
        "/render/html",
        &json!({"definition": letter(2), "data": {}}),
    )
    .problem(422, "invalid-template");
    let run = app.post("/render/html?async=true", &request);
    assert_eq!(run.status, 202, "{}", String::from_utf8_lossy(&run.bytes));
}

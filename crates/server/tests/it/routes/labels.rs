//! Labels of templates and flows.

use serde_json::{Value as Json, json};

use crate::app::{TestApp, template};

fn keys(list: &Json, name: &str) -> Vec<String> {
    let all = list[name].as_array().unwrap().iter();
    all.map(|one| one["key"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn templates_are_found_by_their_labels() {
    let app = TestApp::start();
    for key in ["a", "b", "c"] {
        app.post("/templates", &template(key, "Hello"));
    }
    let read = app.get("/templates/a/labels");
    assert_eq!(
        (read.json(), read.header("etag")),
        (json!({"labels": []}), "\"0\"")
    );
    let both = json!({"labels": ["invoices", "sales/EU", "invoices"]});
    let written = app.put("/templates/a/labels", "\"0\"", &both);
    assert_eq!(written.json(), json!({"labels": ["invoices", "sales/EU"]}));
    assert_eq!(written.header("etag"), "\"1\"");
    app.put(
        "/templates/b/labels",
        "*",
        &json!({"labels": ["invoices 2026"]}),
    );
    app.put("/templates/a/labels", "\"0\"", &both)
        .problem(412, "precondition-failed template");
    let body = both.to_string();
    app.send("PUT", "/templates/a/labels", &[], body.as_bytes())
        .problem(428, "precondition-required template");

    let list = app.get("/templates").json();
    assert_eq!(
        list["templates"][0]["labels"],
        json!(["invoices", "sales/EU"])
    );
    assert_eq!(list["templates"][2].get("labels"), None);
    let found = app.get("/templates?label=invoices").json();
    assert_eq!(keys(&found, "templates"), ["a"], "the whole label counts");
    let found = app.get("/templates?label=sales%2FEU&limit=1").json();
    assert_eq!(keys(&found, "templates"), ["a"]);
    assert_eq!(
        keys(&app.get("/templates?label=other").json(), "templates"),
        [""; 0]
    );
    app.get("/templates?label=%0A")
        .problem(400, "invalid-request");

    // They belong to the template, and not to one of its versions.
    app.put("/templates/a", "*", &template("a", "Goodbye"));
    assert_eq!(
        keys(&app.get("/templates?label=invoices").json(), "templates"),
        ["a"]
    );
    app.send("DELETE", "/templates/a", &[("if-match", "*")], b"");
    app.get("/templates/a/labels")
        .problem(404, "not-found template");
    app.post("/templates", &template("a", "Anew"));
    assert_eq!(app.get("/templates/a/labels").json(), json!({"labels": []}));
}

#[test]
fn labels_have_bounds() {
    let app = TestApp::start();
    app.post("/templates", &template("a", "Hello"));
    let many: Vec<String> = (0..21).map(|number| format!("label {number}")).collect();
    for wrong in [
        json!({"labels": many}),
        json!({"labels": ["x".repeat(41)]}),
        json!({"labels": [""]}),
        json!({"labels": ["a\nb"]}),
        json!({"labels": ["<b>"]}),
        json!({"labels": "a"}),
        json!(["a"]),
    ] {
        let answer = app.put("/templates/a/labels", "*", &wrong);
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

#[test]
fn flows_have_labels_too() {
    let app = TestApp::start();
    let flow = json!({
        "kind": "flow", "key": "f", "name": "F", "trigger": {"type": "webhook"},
        "steps": [{"name": "reply", "type": "respond", "body": "done"}]
    });
    assert_eq!(app.post("/flows", &flow).status, 201);
    let labels = json!({"labels": ["night work"]});
    let written = app.put("/flows/f/labels", "*", &labels);
    assert_eq!((written.status, written.json()), (200, labels));
    assert_eq!(
        keys(&app.get("/flows?label=night%20work").json(), "flows"),
        ["f"]
    );
    assert_eq!(
        keys(&app.get("/flows?label=night").json(), "flows"),
        [""; 0]
    );
    app.get("/flows/g/labels").problem(404, "not-found flow");
}

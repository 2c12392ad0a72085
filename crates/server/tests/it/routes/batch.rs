//! Batches.

use std::io::{Cursor, Read};

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::app::{TestApp, template};

fn items() -> Json {
    let good = |name: &str, format: &str| json!({"template": "a", "data": {"name": name}, "format": format});
    json!([
        good("one", "csv"), good("two", "pdf"), {"template": "none"}, good("four", "html"),
        {"template": "a", "unknown": 1}, {"template": "a", "data": {}, "format": "html"}, 7,
    ])
}

#[test]
fn create_render_batch_as_json() {
    let app = TestApp::start();
    app.post("/templates", &template("a", "Hello"));
    let done = app.post("/render/batch", &json!({"items": items()}));
    assert_eq!(done.status, 200, "{}", String::from_utf8_lossy(&done.bytes));
    let done = done.json();
    let counts = ["total", "succeeded", "failed"].map(|name| done[name].as_u64().unwrap());
    let failed: Vec<u64> = done["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["success"] == false)
        .map(|one| one["index"].as_u64().unwrap())
        .collect();
    // A CSV needs a table, which this template has not.
    assert_eq!(failed, [0, 2, 4, 5, 6], "{done}");
    assert_eq!(counts, [7, 2, 5]);
    let results = &done["results"];
    assert_eq!(results[2]["error"]["code"], "not-found");
    assert_eq!(results[4]["error"]["code"], "invalid-request");
    assert_eq!(results[5]["error"]["code"], "invalid-template");
    assert_eq!(results[1]["filename"], "a.pdf");
    assert_eq!(results[1]["templateVersion"], 1);
    assert_eq!(results[1]["pages"], 1);
    assert!(
        results[1]["contentBase64"]
            .as_str()
            .unwrap()
            .starts_with("JVBER")
    );
}

#[test]
fn create_render_batch_in_format() {
    let app = TestApp::start();
    let item = json!({"definition": template("a", "Hello"), "data": {"name": "x"}});
    let done = app
        .post("/render/batch/docx", &json!({"items": [item, item]}))
        .json();
    assert_eq!(done["succeeded"], 2);
    assert_eq!(done["results"][0]["format"], "docx");
}

#[test]
fn create_render_batch_as_lines() {
    let app = TestApp::start();
    app.post("/templates", &template("a", "Hello"));
    let request = json!({"items": items(), "packaging": "ndjson"});
    let done = app.post("/render/batch", &request);
    assert_eq!(done.header("content-type"), "application/x-ndjson");
    let text = String::from_utf8(done.bytes).unwrap();
    let mut indexes: Vec<u64> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<Json>(line).unwrap()["index"]
                .as_u64()
                .unwrap()
        })
        .collect();
    indexes.sort_unstable();
    assert_eq!(indexes, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn create_render_batch_as_zip() {
    let app = TestApp::start();
    app.post("/templates", &template("a", "Hello"));
    let mut all = items();
    all.as_array_mut()
        .unwrap()
        .push(json!({"template": "a", "data": {"name": "again"}}));
    let done = app.post("/render/batch", &json!({"items": all, "packaging": "zip"}));
    assert_eq!(done.header("content-type"), "application/zip");
    let mut archive = zip::ZipArchive::new(Cursor::new(done.bytes)).unwrap();
    let mut names: Vec<String> = archive
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["a-8.pdf", "a.html", "a.pdf", "manifest.json"]);
    let mut manifest = String::new();
    archive
        .by_name("manifest.json")
        .unwrap()
        .read_to_string(&mut manifest)
        .unwrap();
    let manifest: Json = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["results"][7]["filename"], "a-8.pdf");
    assert_eq!(manifest["failed"], 5);
}

#[test]
fn create_render_batch_is_bounded() {
    let app = TestApp::with(Settings {
        batch_max_items: Some(3),
        batch_max_bytes: Some(10),
        ..Settings::default()
    });
    let item = json!({"definition": template("a", "Hello"), "data": {"name": "x"}});
    let many = json!({"items": [item, item, item, item]});
    app.post("/render/batch", &many)
        .problem(413, "too-large batch");
    app.post("/render/batch", &json!({"items": []}))
        .problem(400, "invalid-request");
    let done = app.post("/render/batch", &json!({"items": [item]})).json();
    assert_eq!(done["results"][0]["error"]["code"], "too-large");
}

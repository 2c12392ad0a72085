//! The description of the service, as it is committed and as the service answers.

use crate::app::TestApp;

fn file() -> String {
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    format!("{package}/../../docs/reference/openapi.json")
}

#[test]
fn the_committed_description_is_the_real_one() {
    let document = platen_server::openapi::document();
    let mut text = serde_json::to_string_pretty(&document).unwrap();
    text.push('\n');
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(file(), &text).unwrap();
    }
    let committed = std::fs::read_to_string(file()).unwrap_or_default();
    assert!(
        committed == text,
        "docs/reference/openapi.json is old: run the tests with UPDATE=1"
    );
}

#[test]
fn every_reference_leads_somewhere() {
    let document = platen_server::openapi::document();
    let mut waiting = vec![&document];
    let mut count = 0;
    while let Some(value) = waiting.pop() {
        if let Some(reference) = value.get("$ref").and_then(serde_json::Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
            count += 1;
        }
        match value {
            serde_json::Value::Array(items) => waiting.extend(items),
            serde_json::Value::Object(fields) => waiting.extend(fields.values()),
            _ => {}
        }
    }
    assert!(count > 100);
}

#[test]
fn every_operation_is_there() {
    let app = TestApp::start();
    let document = platen_server::openapi::document();
    let mut names = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path
            .replace("{key}", "a")
            .replace("{version}", "1")
            .replace("{format}", "pdf");
        for (method, operation) in methods.as_object().unwrap() {
            assert_ne!(operation["summary"], "", "{path}");
            names.push(operation["operationId"].as_str().unwrap().to_owned());
            let answer = app.send(&method.to_uppercase(), &path, &[("if-match", "*")], b"");
            let text = String::from_utf8_lossy(&answer.bytes);
            assert!(
                !text.contains("\"not-found\"") && answer.status != 405,
                "{method} {path}"
            );
        }
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

//! Keys by which callers mark requests that are one.

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::app::{Answer, TestApp, template};

const ORDER: (&str, &str) = ("idempotency-key", "order-7");
const OWN: (&str, &str) = ("x-platen-studio", "1");
const ADMIN: (&str, &str) = ("x-api-key", "admin-key-1");

/// The run of an accepted request, and whether it was known before.
#[track_caller]
fn run(answer: &Answer) -> (String, bool) {
    assert_eq!(
        answer.status,
        202,
        "{}",
        String::from_utf8_lossy(&answer.bytes)
    );
    let accepted = answer.json();
    let id = accepted["run"].as_str().unwrap().to_owned();
    (id, accepted["known"].as_bool().unwrap())
}

#[test]
fn a_key_stands_for_one_document() {
    let app = TestApp::with(Settings {
        flow_allowed_hosts: Some(vec!["hook.example".into()]),
        ..Settings::default()
    });
    for key in ["a", "b"] {
        app.post("/templates", &template(key, "Hello"));
    }
    let send = |format: &str, request: &Json| {
        let path = format!("/render/{format}?async=true");
        app.send("POST", &path, &[ORDER], request.to_string().as_bytes())
    };
    let request = json!({"template": "a", "data": {"name": "Ada"}});
    let (first, is_known) = run(&send("html", &request));
    assert!(!is_known);
    assert_eq!(run(&send("html", &request)), (first, true));
    let reused = |answer: Answer| answer.problem(422, "idempotency-key-reused");
    reused(send("docx", &request));
    for (name, value) in [
        ("template", json!("b")),
        ("version", json!(1)),
        ("data", json!({"name": "Bob"})),
        ("options", json!({"locale": "de"})),
        ("webhook", json!({"url": "https://hook.example/done"})),
    ] {
        let mut other = request.clone();
        other[name] = value;
        reused(send("html", &other));
    }
}

#[test]
fn a_key_of_one_caller_is_not_that_of_another() {
    let app = TestApp::with(Settings {
        api_key_admin: Some(vec!["admin-key-1".into()]),
        api_key_render: Some(vec!["render-key-1".into(), "render-key-2".into()]),
        ..Settings::default()
    });
    let [one, other] = ["render-key-1", "render-key-2"].map(|key| ("x-api-key", key));
    let key = json!({"key": one.1}).to_string();
    let signed_in = app.send("POST", "/studio/session", &[OWN], key.as_bytes());
    let session = signed_in.header("set-cookie").split(';').next().unwrap();
    let item = json!({"definition": template("a", "Hello"), "data": {"name": "Ada"}});
    for (path, request) in [
        ("/render/html?async=true", item.clone()),
        ("/render/batch/html?async=true", json!({"items": [item]})),
    ] {
        let body = request.to_string();
        let send = |caller: &[(&str, &str)]| {
            let mut headers = vec![ORDER];
            headers.extend_from_slice(caller);
            run(&app.send("POST", path, &headers, body.as_bytes()))
        };
        let (first, is_first_known) = send(&[one]);
        let (second, is_second_known) = send(&[other]);
        assert!(first != second && !is_first_known && !is_second_known);
        assert_eq!(send(&[other]), (second.clone(), true));
        // A session is the caller whose key began it.
        assert_eq!(send(&[("cookie", session), OWN]), (first.clone(), true));
        for id in [first, second] {
            app.wait_until(|| {
                let run = app
                    .send("GET", &format!("/runs/{id}"), &[ADMIN], b"")
                    .json();
                !["queued", "running"]
                    .map(Json::from)
                    .contains(&run["state"])
            });
        }
    }
}

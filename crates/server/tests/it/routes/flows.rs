//! What starts flows.

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::app::TestApp;

fn publish(app: &TestApp, key: &str, trigger: &Json) {
    publish_answer(app, key, trigger, &json!(1));
}

fn publish_answer(app: &TestApp, key: &str, trigger: &Json, body: &Json) {
    let flow = json!({"kind": "flow", "key": key, "name": key, "trigger": trigger,
        "steps": [{"name": "reply", "type": "respond", "body": body}]});
    let stored = app.post("/flows", &flow);
    assert_eq!(stored.status, 201, "{}", stored.json());
    let published = app.post(&format!("/flows/{key}/publication"), &json!({}));
    assert_eq!(published.status, 200, "{}", published.json());
}

#[test]
fn inputs_are_checked_by_the_schema_of_the_flow() {
    let app = TestApp::start();
    let schema = json!({"type": "object", "required": ["a"]});
    publish(
        &app,
        "hook",
        &json!({"type": "webhook", "inputSchema": schema}),
    );
    publish(
        &app,
        "hand",
        &json!({"type": "manual", "inputSchema": schema}),
    );
    for path in ["/webhooks/hook", "/webhooks/hook/sync", "/flows/hand/runs"] {
        let wrong = app.post(path, &json!({"b": 1}));
        let problem = wrong.problem(422, "invalid-data");
        let said = problem["diagnostics"][0]["message"].as_str().unwrap();
        assert!(said.contains("`a`") || said.contains("\"a\""), "{said}");
        let right = app.post(path, &json!({"a": 1}));
        assert!([200, 202].contains(&right.status), "{}", right.json());
    }
}

/// A check that takes as long as somebody likes has the deadline of a rendering, and the threads
/// that serve others are free of it.
#[test]
fn a_long_check_of_an_input_ends_at_the_deadline() {
    let app = TestApp::with(Settings {
        render_timeout_ms: Some(500),
        ..Settings::default()
    });
    let never: Vec<Json> = (1..60).map(|number| json!({"const": -number})).collect();
    let schema = json!({"type": "array", "items": {"anyOf": never}});
    publish(
        &app,
        "long",
        &json!({"type": "webhook", "inputSchema": schema}),
    );
    let data: Vec<u32> = (0..200_000).collect();
    let late = app.post("/webhooks/long", &json!(data));
    late.problem(504, "timeout render");
    assert_eq!(app.post("/webhooks/long", &json!([-1])).status, 202);
}

/// What starts a run is in memory as long as the run, so that few bytes must not become many values.
#[test]
fn the_memory_of_what_starts_a_flow_is_bounded() {
    let app = TestApp::start();
    publish(&app, "hook", &json!({"type": "webhook", "open": true}));
    publish(&app, "hand", &json!({"type": "manual"}));
    let many = format!("[{}0]", "0,".repeat(2_600_000));
    let json = ("content-type", "application/json");
    for path in ["/webhooks/hook", "/webhooks/hook/sync", "/flows/hand/runs"] {
        let answer = app.send("POST", path, &[json], many.as_bytes());
        answer.problem(413, "too-large");
    }
    // Without its media type it is read as JSON, too; as text it takes no more than its bytes.
    let none = ("content-type", "");
    app.send("POST", "/webhooks/hook", &[none], many.as_bytes())
        .problem(413, "too-large");
    let csv = ("content-type", "text/csv");
    let answer = app.send("POST", "/webhooks/hook", &[csv], many.as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.json());
}

/// Whoever sends what an open flow gives back must not run scripts in the origin of the service.
#[test]
fn pages_that_flows_answer_with_are_sandboxed() {
    let app = TestApp::start();
    let hook = json!({"type": "webhook", "open": true});
    publish_answer(&app, "echo", &hook, &json!("{{ trigger.body }}"));
    let page = json!({"$file": {"name": "a.html", "mediaType": "text/html", "base64": "PHA+"}});
    let answer = app.post("/webhooks/echo/sync", &page);
    assert_eq!(answer.status, 200);
    let again = app.get(&format!("/runs/{}/output", answer.header("x-run-id")));
    for answer in [answer, again] {
        assert!(answer.header("content-type").starts_with("text/html"));
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("sandbox ") && !policy.contains("same-origin"));
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
}

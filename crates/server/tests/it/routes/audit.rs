//! The audit log.

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::app::{TestApp, template};

const ADMIN: (&str, &str) = ("x-api-key", "admin-key-1");

fn lines(app: &TestApp, query: &str) -> Vec<Json> {
    let answer = app.send("GET", &format!("/audit{query}"), &[ADMIN], b"");
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let text = String::from_utf8(answer.bytes).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn what_changes_something_is_entered_and_nothing_else() {
    let app = TestApp::with(Settings {
        api_key_admin: Some(vec!["admin-key-1".into()]),
        api_key_render: Some(vec!["render-key-1".into()]),
        ..Settings::default()
    });
    let send = |method: &str, path: &str, more: &[(&str, &str)], body: &Json| {
        let headers = [&[ADMIN], more].concat();
        app.send(method, path, &headers, body.to_string().as_bytes())
    };
    let created = send("POST", "/templates", &[], &template("a", "x"));
    send(
        "PUT",
        "/templates/a",
        &[("if-match", "\"1\"")],
        &template("a", "y"),
    );
    // What fails and what only reads is not entered, and neither are drafts.
    send(
        "PUT",
        "/templates/a",
        &[("if-match", "\"1\"")],
        &template("a", "z"),
    );
    send("GET", "/templates/a", &[], &json!(null));
    send(
        "POST",
        "/render",
        &[],
        &json!({"template": "a", "data": {"name": "x"}}),
    );
    let draft = send("PUT", "/templates/a/draft?base=2", &[], &template("a", "z"));
    let tag = draft.header("etag").to_owned();
    let session = json!({"key": "admin-key-1"}).to_string();
    let own = ("x-platen-studio", "1");
    let session = app.send("POST", "/studio/session", &[own], session.as_bytes());
    let cookie = session.header("set-cookie").split(';').next().unwrap();
    let headers = [("cookie", cookie), own, ("if-match", &tag)];
    let published = app.send("POST", "/templates/a/draft/publication", &headers, b"");
    assert_eq!(published.status, 200);

    let all = lines(&app, "?after=0");
    let seen: Vec<[&Json; 3]> = all
        .iter()
        .map(|one| ["action", "subject", "version"].map(|name| &one[name]))
        .collect();
    let expected = [
        [&json!("createTemplate"), &json!("/templates/a"), &json!(1)],
        [&json!("updateTemplate"), &json!("/templates/a"), &json!(2)],
        [
            &json!("publishTemplateDraft"),
            &json!("/templates/a/draft/publication"),
            &json!(3),
        ],
    ];
    assert_eq!(seen, expected);
    assert_eq!(all[0]["requestId"], created.header("x-request-id"));
    let actor = all[0]["actor"].as_str().unwrap();
    assert!(actor.starts_with("admin key ") && !actor.contains("admin-key-1"));
    assert_eq!(all[2]["actor"], format!("session of {actor}"));
    assert_eq!(lines(&app, "")[0], all[2], "newest first");
    assert_eq!(lines(&app, "?limit=1&after=1"), all[1..2]);
    // The address of a callback is a secret.
    let flow = json!({"kind": "flow", "key": "w", "name": "W", "trigger": {"type": "webhook"}, "steps": [
        {"name": "reply", "type": "respond", "body": "{{ run.callback }}"},
        {"name": "hold", "type": "wait", "callback": true},
        {"name": "more", "type": "wait", "callback": true},
    ]});
    assert_eq!(send("POST", "/flows", &[], &flow).status, 201);
    send("POST", "/flows/w/publication", &[], &json!({}));
    let answer = send("POST", "/webhooks/w/sync", &[], &json!({}));
    let path = std::str::from_utf8(&answer.bytes).unwrap();
    let run = path.split('/').nth(2).unwrap();
    app.wait_until(|| {
        let found = app.send("GET", &format!("/runs/{run}"), &[ADMIN], b"");
        found.json()["state"] == "waiting"
    });
    let called = app.send("POST", path, &[], b"{}");
    assert!(called.status < 300, "{}", called.status);
    let cancelled = send("POST", &format!("/runs/{run}/cancel"), &[], &json!({}));
    assert_eq!(cancelled.status, 200);
    let all = lines(&app, "");
    assert_eq!(all[0]["subject"], format!("/runs/{run}/cancel"));
    assert!(all.iter().all(|one| !one.to_string().contains("callback")));
    let wrong = app.send("GET", "/audit?limit=0", &[ADMIN], b"");
    wrong.problem(400, "invalid-request");
    let render = ("x-api-key", "render-key-1");
    app.send("GET", "/audit", &[render], b"")
        .problem(403, "forbidden");
}

//! API keys that are made while the service runs, and what they may do.

use std::sync::Arc;

use platen_server::Settings;
use serde_json::{Value as Json, json};

use crate::app::{Answer, TestApp, template};

const ADMIN: (&str, &str) = ("x-api-key", "admin-key-1");
const OWN: (&str, &str) = ("x-platen-studio", "1");

fn settings() -> Settings {
    Settings {
        api_key_admin: Some(vec!["admin-key-1".into()]),
        api_key_render: Some(vec!["render-key-1".into()]),
        ..Settings::default()
    }
}

fn app() -> TestApp {
    TestApp::with(settings())
}

fn post(app: &TestApp, body: &Json) -> Answer {
    app.send("POST", "/keys", &[ADMIN], body.to_string().as_bytes())
}

/// The secret and the id of a new key.
fn make(app: &TestApp, body: &Json) -> (String, String) {
    let made = post(app, body);
    assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.bytes));
    assert_eq!(made.header("cache-control"), "no-store");
    let made = made.json();
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    (text(&made["secret"]), text(&made["key"]["id"]))
}

/// The status of a read of templates.
fn status(app: &TestApp, key: &str) -> u16 {
    app.send("GET", "/templates", &[("x-api-key", key)], b"")
        .status
}

#[test]
fn a_key_is_made_used_and_deleted() {
    let app = app();
    let (secret, id) = make(&app, &json!({"name": "Web shop", "roles": ["viewer"]}));
    assert!(secret.starts_with(&format!("plt_{id}_")), "{secret}");
    let read = |id: &str| app.send("GET", &format!("/keys/{id}"), &[ADMIN], b"");
    let unused = read(&id).json();
    assert_eq!(unused["lastUsedAt"], Json::Null);
    assert_eq!(unused["scopes"], json!(["read", "preview"]));
    assert_eq!(status(&app, &secret), 200);
    let used = read(&id).json();
    assert!(used["lastUsedAt"].as_str().unwrap() >= used["createdAt"].as_str().unwrap());
    assert!(
        used["createdBy"]
            .as_str()
            .unwrap()
            .starts_with("admin key ")
    );
    let list = app.send("GET", "/keys", &[ADMIN], b"");
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&secret));
    let list = list.json();
    assert_eq!(list["keys"], json!([used]));
    assert_eq!(list["fromSettings"][1]["role"], "operator");
    // A guess that has the id, and the hash itself, are no key.
    assert_eq!(status(&app, &format!("plt_{id}_0000")), 401);
    assert_eq!(status(&app, &secret[..secret.len() - 1]), 401);
    let session = json!({ "key": secret }).to_string();
    let session = app.send("POST", "/studio/session", &[OWN], session.as_bytes());
    let cookie = session.header("set-cookie").split(';').next().unwrap();
    assert!(!cookie.contains(&secret));
    let by_session = || app.send("GET", "/templates", &[("cookie", cookie)], b"");
    assert_eq!(by_session().status, 200);
    let path = format!("/keys/{id}");
    assert_eq!(app.send("DELETE", &path, &[ADMIN], b"").status, 204);
    assert_eq!((status(&app, &secret), by_session().status), (401, 401));
    app.send("DELETE", &path, &[ADMIN], b"")
        .problem(404, "not-found key");
    read(&id).problem(404, "not-found key");
    let log = app.send("GET", "/audit?after=0", &[ADMIN], b"");
    let log = String::from_utf8(log.bytes).unwrap();
    assert!(log.contains("\"createKey\"") && log.contains(&format!("\"/keys/{id}\"")));
    assert!(
        log.contains("\"deleteKey\"") && !log.contains(&secret),
        "{log}"
    );
}

#[test]
fn keys_survive_the_service_and_only_their_hashes_are_stored() {
    let mut app = app();
    let (secret, _) = make(&app, &json!({"name": "A", "scopes": ["read"]}));
    assert_eq!(status(&app, &secret), 200);
    let folder = Arc::clone(&app.folder);
    app.begin_stop();
    app.join();
    drop(app);
    for file in ["platen.db", "platen.db-wal"] {
        let bytes = std::fs::read(folder.path().join(file)).unwrap_or_default();
        let random = secret.rsplit('_').next().unwrap().as_bytes();
        let is_there = bytes.windows(random.len()).any(|some| some == random);
        assert!(!is_there, "{file}");
    }
    let app = TestApp::in_folder(settings(), folder);
    let list = app.send("GET", "/keys", &[ADMIN], b"").json();
    assert!(list["keys"][0]["lastUsedAt"].is_string(), "{list}");
    assert_eq!(status(&app, &secret), 200);
}

#[test]
fn a_key_may_end_and_have_a_limit() {
    let app = app();
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(1_500);
    let body = json!({"name": "Short", "roles": ["viewer"], "expiresAt": soon.to_string()});
    let (secret, id) = make(&app, &body);
    let now = || jiff::Timestamp::now().as_millisecond();
    app.wait_until(|| {
        let begin = now();
        let status = status(&app, &secret);
        let is_early = now() < soon.as_millisecond();
        let is_late = begin >= soon.as_millisecond();
        assert!(matches!(status, 200 | 401));
        assert!(!(is_early && status == 401 || is_late && status == 200));
        is_late
    });
    let expired = app.send("GET", &format!("/keys/{id}"), &[ADMIN], b"");
    assert_eq!(expired.json()["isExpired"], true);
    let body = json!({"name": "Slow", "roles": ["viewer"], "requestsPerMinute": 3});
    let (secret, _) = make(&app, &body);
    let statuses: Vec<u16> = (0..4).map(|_| status(&app, &secret)).collect();
    assert_eq!(statuses, [200, 200, 200, 429]);
    // Others have theirs.
    assert_eq!(status(&app, "render-key-1"), 200);
}

#[test]
fn what_is_no_key_is_refused() {
    let app = app();
    for body in [
        json!({"name": "A"}),
        json!({"name": " ", "roles": ["viewer"]}),
        json!({"name": "a".repeat(101), "roles": ["viewer"]}),
        json!({"name": "a\nb", "roles": ["viewer"]}),
        json!({"name": "A", "roles": ["viewer"], "expiresAt": "2020-01-01T00:00:00Z"}),
        json!({"name": "A", "roles": ["viewer"], "expiresAt": "tomorrow"}),
        json!({"name": "A", "roles": ["viewer"], "requestsPerMinute": 0}),
    ] {
        post(&app, &body).problem(400, "invalid-request");
    }
    for body in [
        json!({"name": "A", "roles": ["owner"]}),
        json!({"name": "A", "scopes": ["fly"]}),
        json!({"name": "A", "roles": ["viewer"], "hash": "x"}),
    ] {
        assert!(matches!(post(&app, &body).status, 400 | 422), "{body}");
    }
    let viewer = json!({"name": "A", "roles": ["viewer"]}).to_string();
    for key in ["render-key-1", "nobody"] {
        let refused = app.send("POST", "/keys", &[("x-api-key", key)], viewer.as_bytes());
        assert!(matches!(refused.status, 401 | 403));
    }
    let list = app.send("GET", "/keys", &[ADMIN], b"").json();
    assert_eq!(list["keys"], json!([]));
    // Without a key of the settings, a key would protect nothing.
    let open = TestApp::start();
    open.send("POST", "/keys", &[], viewer.as_bytes())
        .problem(403, "forbidden");
}

#[test]
fn an_author_drafts_and_a_publisher_publishes() {
    let app = app();
    let role = |role: &str| make(&app, &json!({"name": role, "roles": [role]})).0;
    let (author, publisher, viewer) = (role("author"), role("publisher"), role("viewer"));
    let body = template("a", "x").to_string();
    let send = |key: &str, method: &str, path: &str, more: &[(&str, &str)], body: &str| {
        let headers = [&[("x-api-key", key)], more].concat();
        app.send(method, path, &headers, body.as_bytes())
    };
    send(&viewer, "PUT", "/templates/a/draft", &[], &body).problem(403, "forbidden");
    let refused = send(&author, "POST", "/templates", &[], &body).problem(403, "forbidden");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("`publish`") && detail.contains("publisher"),
        "{detail}"
    );
    let draft = send(&author, "PUT", "/templates/a/draft", &[], &body);
    assert_eq!(draft.status, 200);
    let tag = draft.header("etag");
    let publish = |key: &str| {
        let path = "/templates/a/draft/publication";
        send(key, "POST", path, &[("if-match", tag)], "")
    };
    publish(&author).problem(403, "forbidden");
    assert_eq!(publish(&publisher).status, 200);
    let render = json!({"template": "a", "data": {"name": "x"}}).to_string();
    send(&viewer, "POST", "/render", &[], &render).problem(403, "forbidden");
    assert_eq!(send(&author, "POST", "/render", &[], &render).status, 200);
    send(&author, "GET", "/runs", &[], "").problem(403, "forbidden");
}

fn read(app: &TestApp, id: &str) -> Answer {
    app.send("GET", &format!("/keys/{id}"), &[ADMIN], b"")
}

#[test]
fn a_change_is_based_on_a_state_and_keeps_no_scopes_of_former_roles() {
    let app = app();
    let admin = json!({"name": "A", "roles": ["admin"], "scopes": ["render"]});
    let (secret, id) = make(&app, &admin);
    let before = read(&app, &id);
    let document = before.json();
    assert_eq!(document["scopes"].as_array().unwrap().len(), 7);
    assert_eq!(document["ownScopes"], json!(["render"]));
    let viewer = json!({"name": "A", "roles": ["viewer"], "scopes": document["ownScopes"]});
    let put = |tag: &str| {
        let headers = [ADMIN, ("if-match", tag)];
        let body = viewer.to_string();
        app.send("PUT", &format!("/keys/{id}"), &headers, body.as_bytes())
    };
    let changed = put(before.header("etag"));
    assert_eq!(
        changed.json()["scopes"],
        json!(["read", "preview", "render"])
    );
    let keys = app.send("GET", "/keys", &[("x-api-key", secret.as_str())], b"");
    keys.problem(403, "forbidden");
    put(before.header("etag")).problem(412, "precondition-failed key");
    assert_eq!(put(changed.header("etag")).status, 200);
    assert_eq!(put("*").status, 200);
}

#[test]
fn a_key_is_rotated_once() {
    let app = app();
    let rotate = |id: &str, tag: &str, grace_seconds: u32| {
        let body = json!({ "graceSeconds": grace_seconds }).to_string();
        let headers = [ADMIN, ("if-match", tag)];
        let path = format!("/keys/{id}/rotation");
        app.send("POST", &path, &headers, body.as_bytes())
    };
    let refused = |id: &str, grace_seconds: u32, why: &str| {
        let problem = rotate(id, "*", grace_seconds).problem(400, "invalid-request");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(why), "{detail}");
    };
    let named = |name: &str| make(&app, &json!({"name": name, "roles": ["viewer"]}));
    let (secret, id) = named("Web shop");
    let before = read(&app, &id);
    let tag = before.header("etag");
    let made = rotate(&id, tag, 3_600);
    assert_eq!(made.status, 201);
    let made = made.json();
    assert_eq!(made["key"]["expiresAt"], Json::Null);
    assert!(read(&app, &id).json()["expiresAt"].is_string());
    let next = made["secret"].as_str().unwrap();
    assert_eq!((status(&app, &secret), status(&app, next)), (200, 200));
    // The answer was lost, or somebody else has rotated it.
    rotate(&id, tag, 3_600).problem(412, "precondition-failed key");
    let successor = made["key"]["id"].as_str().unwrap();
    refused(&id, 3_600, successor);
    refused(&id, 0, successor);

    let (secret, id) = named("At once");
    assert_eq!(rotate(&id, "*", 0).status, 201);
    assert_eq!(status(&app, &secret), 401);
    refused(&id, 0, "has ended");

    // A new key ends when the old one would have, which must be worth it.
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
    let body = json!({"name": "Short", "roles": ["viewer"], "expiresAt": soon.to_string()});
    let (_, id) = make(&app, &body);
    let end = read(&app, &id).json()["expiresAt"].clone();
    refused(&id, 7_200, "change its end first");
    let made = rotate(&id, "*", 60);
    assert_eq!(made.json()["key"]["expiresAt"], end);
}

#[test]
fn of_many_rotations_at_once_one_makes_a_key() {
    let app = app();
    let (_, id) = make(&app, &json!({"name": "Web shop", "roles": ["viewer"]}));
    let answers = app.at_once(8, |_| {
        app.send("POST", &format!("/keys/{id}/rotation"), &[ADMIN], b"{}")
    });
    let made = answers.iter().filter(|one| one.status == 201).count();
    assert_eq!(made, 1);
    for answer in answers.iter().filter(|one| one.status != 201) {
        assert!(matches!(answer.status, 400 | 412), "{}", answer.status);
    }
    let list = app.send("GET", "/keys", &[ADMIN], b"").json();
    assert_eq!(list["keys"].as_array().unwrap().len(), 2);
}

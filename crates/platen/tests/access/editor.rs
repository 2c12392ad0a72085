//! Editor tokens: every declared route, and the editor in a frame of another site, which
//! `tests/studio/frame.mjs` plays in a browser.

use std::{path::PathBuf, process::Command};

use serde_json::json;

use crate::{
    client::{ADMIN, Answer, App},
    process::{has_chromium, is_missing},
};

const SECRET: &str = "a-secret-for-the-tokens-of-editors-7";

fn app(more: &[(&str, &str)]) -> App {
    App::start(&[&[("EDITOR_TOKEN_SECRET", SECRET)], more].concat())
}

fn token_of(app: &App, key: &str, body: &serde_json::Value) -> Answer {
    app.with(key, "POST", "/auth/editor-token", &body.to_string())
}

fn token(app: &App, key: &str, body: &serde_json::Value) -> String {
    let made = token_of(app, key, body);
    assert_eq!(made.status, 201, "{}", made.text);
    made.json()["token"].as_str().unwrap().to_owned()
}

fn store(app: &App, key: &str) {
    let body = json!({"key": key, "name": key, "body": [{"type": "text", "content": "Hello"}]});
    let stored = app.with(ADMIN, "POST", "/templates", &body.to_string());
    assert_eq!(stored.status, 201, "{}", stored.text);
}

/// A preview of a template that imports another.
fn importing(import: serde_json::Value) -> serde_json::Value {
    let definition = json!({"key": "mine", "name": "a", "imports": [import], "body": []});
    json!({"definition": definition, "data": {}})
}

#[test]
fn a_token_opens_the_routes_of_its_template_and_no_others() {
    let app = app(&[]);
    store(&app, "mine");
    store(&app, "other");
    let scopes = json!(["read", "preview", "draft", "publish"]);
    let token = token(&app, ADMIN, &json!({"template": "mine", "scopes": scopes}));
    let description = app.send("GET", "/openapi.json", &[], "").json();
    let bearer = format!("Bearer {token}");
    let (mut opened, mut closed) = (0, 0);
    for (template, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            if operation["security"].is_array() {
                continue;
            }
            let (method, name) = (method.to_uppercase(), &operation["operationId"]);
            let ask = |key: &str| {
                let path = template.replace("{key}", key).replace("{version}", "9");
                let path = path.replace("{format}", "pdf").replace(['{', '}'], "");
                app.send(&method, &path, &[("authorization", &bearer)], "{}")
            };
            let is_for_editor = operation["x-platen-editor-token"] == true;
            let mine = ask("mine");
            assert_eq!(mine.status != 403, is_for_editor, "{name}: {}", mine.text);
            opened += usize::from(is_for_editor);
            if template.contains("{key}") {
                let other = ask("other");
                assert_eq!(other.status, 403, "{name}: {}", other.text);
                closed += 1;
            }
        }
    }
    assert!(opened >= 14 && closed > 25, "{opened} {closed}");
    // What a body names is checked, too, and so is what a template imports.
    let preview = |body: serde_json::Value| {
        let headers = [("x-editor-token", token.as_str())];
        app.send("POST", "/render/preview", &headers, &body.to_string())
    };
    assert_eq!(preview(json!({"template": "mine", "data": {}})).status, 200);
    for named in [
        json!({"template": "other", "data": {}}),
        json!({"template": "mine", "sample": "other"}),
        importing(json!({"template": "other", "version": 1})),
        // What a client says of the content changes nothing.
        importing(
            json!({"template": "other", "version": 1, "content": {"key": "other", "name": "o", "body": []}}),
        ),
    ] {
        let refused = preview(named);
        assert_eq!(refused.status, 403, "{}", refused.text);
    }
    let session = app.send("GET", "/studio/session", &[("authorization", &bearer)], "");
    assert_eq!(session.json()["template"], "mine");
}

#[test]
fn a_template_imports_what_it_imported_before() {
    let app = app(&[]);
    store(&app, "other");
    let import = json!({"template": "other", "version": 1});
    let letter = json!({"key": "mine", "name": "a", "imports": [import], "body": []});
    let stored = app.with(ADMIN, "POST", "/templates", &letter.to_string());
    assert_eq!(stored.status, 201, "{}", stored.text);
    let scopes = json!(["read", "preview", "draft", "publish"]);
    let token = token(&app, ADMIN, &json!({"template": "mine", "scopes": scopes}));
    let send = |method: &str, path: &str, tag: &str, body: &serde_json::Value| {
        let headers = [("x-editor-token", token.as_str()), ("if-match", tag)];
        let headers = if tag.is_empty() {
            &headers[..1]
        } else {
            &headers
        };
        app.send(method, path, headers, &body.to_string())
    };
    let preview = send("POST", "/render/preview", "", &importing(import));
    assert_eq!(preview.status, 200, "{}", preview.text);
    // A draft may say anything, but it is not published with what it must not show.
    let publish = |imports: serde_json::Value, tag: &str| {
        let draft = json!({"key": "mine", "name": "a", "imports": imports, "body": []});
        let saved = send("PUT", "/templates/mine/draft?base=1", tag, &draft);
        assert_eq!(saved.status, 200, "{}", saved.text);
        let tag = saved.headers["etag"].to_str().unwrap().to_owned();
        let published = send(
            "POST",
            "/templates/mine/draft/publication",
            &tag,
            &json!({}),
        );
        (published.status, tag)
    };
    store(&app, "secret");
    let (status, tag) = publish(json!([{"template": "secret", "version": 1}]), "");
    assert_eq!(status, 403);
    assert_eq!(
        publish(json!([{"template": "other", "version": 1}]), &tag).0,
        200
    );
}

#[test]
fn a_token_is_worth_no_more_than_its_key() {
    let app = app(&[]);
    store(&app, "mine");
    let body = |scopes: &[&str]| json!({"template": "mine", "scopes": scopes, "name": "Ada"});
    let (author, id) = app.make_key(&json!({"name": "Shop", "roles": ["author"]}));
    assert_eq!(
        token_of(&app, &author, &body(&["read", "publish"])).status,
        403
    );
    for wrong in [
        json!({"template": "Mine"}),
        json!({"template": "mine", "scopes": ["draft"]}),
        json!({"template": "mine", "scopes": ["read", "admin"]}),
        json!({"template": "mine", "expiresInSeconds": 0}),
        json!({"template": "mine", "expiresInSeconds": 50_000}),
    ] {
        assert_eq!(token_of(&app, &author, &wrong).status, 400, "{wrong}");
    }
    let token = token(&app, &author, &body(&["read", "draft"]));
    let draft = |method: &str| {
        let headers = [("x-editor-token", token.as_str())];
        let path = "/templates/mine/draft?base=1";
        app.send(method, path, &headers, r#"{"body": []}"#)
    };
    assert_eq!(draft("PUT").status, 200);
    assert_eq!(draft("GET").status, 200);
    assert_eq!(token_of(&app, &token, &body(&["read"])).status, 403);
    let short = json!({"template": "mine", "expiresInSeconds": 1});
    let short = self::token(&app, &author, &short);
    app.service.wait_until("the token has ended", || {
        app.with(&short, "GET", "/templates/mine", "").status == 401
    });
    assert_eq!(
        app.with(ADMIN, "DELETE", &format!("/keys/{id}"), "").status,
        204
    );
    assert_eq!(draft("GET").status, 401, "its key is deleted");
    let log = app.with(ADMIN, "GET", "/audit?after=0", "").text;
    assert!(log.contains("createEditorToken") && !log.contains(&token));
    // A service without a secret makes none, and has no page for frames.
    let other = App::start(&[]);
    assert_eq!(
        token_of(&other, ADMIN, &json!({"template": "a"})).status,
        403
    );
    assert_eq!(other.send("GET", "/editor", &[], "").status, 404);
}

#[test]
fn pages_of_named_sites_frame_the_editor_and_no_other_page() {
    let app = app(&[(
        "EDITOR_FRAME_ANCESTORS",
        "https://app.example,http://*.test:81",
    )]);
    let policy = |path: &str| {
        let page = app.send("GET", path, &[], "");
        assert_eq!(page.status, 200);
        page.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    let editor = policy("/editor");
    assert!(editor.ends_with("; frame-ancestors https://app.example http://*.test:81"));
    assert!(editor.contains("script-src 'self';"));
    assert!(policy("/studio").ends_with("; frame-ancestors 'none'"));
}

#[test]
fn people_edit_in_a_frame_of_another_site() {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let modules = cache
        .unwrap_or_else(home)
        .join("platen/playwright/node_modules");
    let has_all = modules.join("playwright-core").exists() && has_chromium();
    if is_missing("playwright-core with Chromium", has_all) {
        return;
    }
    // The script serves the other site at this address.
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let site = format!("http://shop.localhost:{port}");
    let app = app(&[("EDITOR_FRAME_ANCESTORS", &site)]);
    store(&app, "mine");
    store(&app, "other");
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    let done = Command::new("node")
        .arg(manifest.join("../../tests/studio/frame.mjs"))
        .arg(modules)
        .arg(platen_browser::find_chromium(None).unwrap())
        .arg(format!("http://{}", app.service.address))
        .args([ADMIN, &port.to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    println!("{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}");
}

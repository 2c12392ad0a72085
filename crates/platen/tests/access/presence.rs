//! Who has a template open.

use serde_json::{Value as Json, json};

use crate::client::{ADMIN, Answer, App};

/// Says that an editor has the template `mine` open.
fn speak(app: &App, key: &str, id: &str, body: &Json) -> Answer {
    let path = format!("/templates/mine/editors/{id}");
    app.with(key, "PUT", &path, &body.to_string())
}

/// IDs and names of editors.
fn listed(answer: &Answer) -> Vec<(String, String)> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let editors = answer.json()["editors"].as_array().unwrap().clone();
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    editors
        .iter()
        .map(|one| (text(&one["id"]), text(&one["name"])))
        .collect()
}

#[test]
fn editors_of_a_template_see_each_other() {
    let secret = "a-secret-for-the-tokens-of-editors-7";
    let app = App::start(&[("EDITOR_TOKEN_SECRET", secret)]);
    let (ada, _) = app.make_key(&json!({"name": "Ada", "roles": ["author"]}));
    let pair = |id: &str, name: &str| (id.to_owned(), name.to_owned());
    let first = speak(&app, ADMIN, "one", &json!({}));
    assert_eq!(listed(&first), [pair("one", "")]);
    let second = speak(&app, &ada, "two", &json!({"place": "/body/3"}));
    assert_eq!(listed(&second), [pair("one", ""), pair("two", "Ada")]);
    assert_eq!(second.json()["editors"][1]["place"], "/body/3");

    // Who was let into one template does not learn who else is there.
    let wanted = json!({"template": "mine", "name": "Eve", "scopes": ["read", "draft"]});
    let made = app.with(ADMIN, "POST", "/auth/editor-token", &wanted.to_string());
    let token = made.json()["token"].as_str().unwrap().to_owned();
    let with_token = |path: &str| app.send("PUT", path, &[("x-editor-token", &token)], "{}");
    let guest = with_token("/templates/mine/editors/three");
    let expected = [pair("one", ""), pair("two", ""), pair("three", "Eve")];
    assert_eq!(listed(&guest), expected);
    assert_eq!(with_token("/templates/other/editors/three").status, 403);

    let gone = app.with(&ada, "DELETE", "/templates/mine/editors/two", "");
    assert_eq!(gone.status, 204, "{}", gone.text);
    let left = speak(&app, ADMIN, "one", &json!({}));
    assert_eq!(listed(&left), [pair("one", ""), pair("three", "Eve")]);
    // Drafts and their list are as before, and the log does not say who looked at what.
    assert_eq!(
        app.with(ADMIN, "GET", "/templates/mine/draft", "").status,
        404
    );
    let audit = app.with(ADMIN, "GET", "/audit", "").text;
    assert!(!audit.contains("TemplateEditor"), "{audit}");
}

#[test]
fn what_editors_say_has_bounds() {
    let app = App::start(&[]);
    for number in 0..40 {
        let said = speak(&app, ADMIN, &format!("editor-{number}"), &json!({}));
        assert_eq!(listed(&said).len(), (number + 1).min(30));
    }
    assert_eq!(
        speak(&app, ADMIN, "one", &json!({"place": "x".repeat(501)})).status,
        400
    );
    assert_eq!(
        speak(&app, ADMIN, "one", &json!({"place": "x".repeat(5_000)})).status,
        413
    );
    assert_eq!(
        speak(&app, ADMIN, "one", &json!({"name": "Ada"})).status,
        400
    );
    assert_eq!(speak(&app, ADMIN, "a.b", &json!({})).status, 400);
    assert_eq!(speak(&app, ADMIN, &"x".repeat(65), &json!({})).status, 400);
    let viewer = app.key_of_role("viewer");
    assert_eq!(speak(&app, &viewer, "one", &json!({})).status, 403);
}

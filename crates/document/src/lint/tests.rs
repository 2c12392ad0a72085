//! Each rule finds what it is for, and nothing in a template that is well made.

use serde_json::json;

use super::*;

fn codes(template: &Json) -> Vec<(String, String)> {
    lint(template)
        .into_iter()
        .map(|found| (found.code, found.path))
        .collect()
}

#[test]
fn a_sound_template_has_no_findings() {
    let template = json!({
        "metadata": {"title": "Invoice"},
        "theme": {"styles": {
            "body": {"align": "justify", "hyphenate": true},
            "note": {"color": "#333333"}
        }},
        "body": [
            {"type": "heading", "content": "Invoice 2026-117"},
            {"type": "heading", "level": 2, "content": "Items"},
            {"type": "table", "rows": "items", "columns": [{"header": "Item", "value": "{{ item.name }}"}]},
            {"type": "text", "style": "note", "content": "Thank you.  See you."},
            {"type": "image", "source": "logo.png", "alt": "Logo of the company"}
        ]
    });
    assert_eq!(codes(&template), []);
}

#[test]
fn each_rule_finds_what_it_is_for() {
    let template = json!({
        "theme": {"styles": {
            "body": {"align": "justify"},
            "tiny": {"fontSize": "4pt"},
            "pale": {"color": "#BBBBBB"},
            "inverse": {"color": "#FFFFFF"},
            "forgotten": {"bold": true}
        }},
        "assets": {"old": "data:image/png;base64,AA=="},
        "body": [
            {"type": "heading", "level": 2, "content": "1. Scope"},
            {"type": "heading", "level": 4, "content": "Detail"},
            {"type": "table", "rows": "items", "columns": [{"value": "{{ item }}"}]},
            {"type": "text", "style": "tiny", "content": ""},
            {"type": "text", "style": "pale", "content": "- one"},
            {"type": "text", "style": "inverse", "content": "Name    Place"},
            {"type": "columns", "columns": [{"body": [
                {"type": "text", "content": "Signed: ________"},
                {"type": "image", "source": "a.png", "alt": "image"}
            ]}]}
        ]
    });
    let expected = [
        ("no-title", "/metadata"),
        ("heading-level-skipped", "/body/0/level"),
        ("heading-level-skipped", "/body/1/level"),
        ("table-without-header", "/body/2"),
        ("alt-says-nothing", "/body/6/columns/0/body/1/alt"),
        ("unused-style", "/theme/styles/forgotten"),
        ("unused-asset", "/assets/old"),
        ("typed-number", "/body/0/content"),
        ("empty-paragraph", "/body/3/content"),
        ("typed-list", "/body/4/content"),
        ("typed-spaces", "/body/5/content"),
        ("typed-line", "/body/6/columns/0/body/0/content"),
        ("text-too-small", "/theme/styles/tiny/fontSize"),
        ("low-contrast", "/theme/styles/pale/color"),
        ("justified-without-hyphens", "/theme/styles/body/align"),
    ];
    let expected = expected.map(|(code, path)| (code.to_owned(), path.to_owned()));
    assert_eq!(codes(&template), expected);
}

#[test]
fn texts_are_compared_with_the_grounds_on_which_they_stand() {
    let template = |body: Json| {
        json!({
            "metadata": {"title": "Bill"},
            "theme": {"styles": {
                "dark": {"background": "#1F2937"},
                "darker": {"extends": "dark", "bold": true},
                "tint": {"color": "#CBD5E1"},
                "deep": {"color": "#334155"}
            }},
            "body": body
        })
    };
    let text = |style: Json| json!([{"type": "text", "style": style, "content": "Due"}]);
    let panel = |style: Json, inner: Json| json!({"type": "panel", "style": style, "body": inner});
    let found = |body: Json| {
        let all = codes(&template(body));
        let low = all.into_iter().filter(|(code, _)| code == "low-contrast");
        low.map(|(_, path)| path).collect::<Vec<_>>()
    };
    let tint = "/theme/styles/tint/color";
    assert_eq!(
        found(json!([panel(json!("darker"), text(json!("tint")))])),
        [""; 0]
    );
    assert_eq!(found(text(json!("tint"))), [tint]);
    assert_eq!(found(text(json!(["tint", "deep"]))), [tint]);
    assert_eq!(found(text(json!(["tint", "dark"]))), [""; 0]);
    let both = json!([
        panel(json!(["dark"]), text(json!("deep"))),
        panel(json!({}), text(json!("deep")))
    ]);
    assert_eq!(found(both), [tint, "/theme/styles/deep/color"]);
    let large = text(json!({"color": "#8A94A3", "fontSize": "18pt"}));
    assert_eq!(found(large), [tint]);
    let own = text(json!({"color": "#CBD5E1"}));
    let dark = panel(json!({"background": "{{ brand }}"}), own.clone());
    assert_eq!(
        found(json!([dark, panel(json!({}), own)])),
        [tint, "/body/1/body/0/style/color"]
    );
}

#[test]
fn what_data_names_and_languages_without_hyphens_are_no_findings() {
    let template = json!({
        "metadata": {"title": "目録"},
        "locale": "ja-JP",
        "theme": {"styles": {"body": {"align": "justify"}}},
        "assets": {"lamp": "data:image/png;base64,AA=="},
        "body": [
            {"type": "image", "source": "{{ item.picture }}", "alt": "{{ item.name }}"},
            {"type": "table", "rows": "items", "showHeader": false, "columns": [{"value": "{{ item }}"}]}
        ]
    });
    assert_eq!(codes(&template), []);
}

#[test]
fn a_habit_is_mentioned_ten_times() {
    let body: Vec<Json> = (0..50)
        .map(|_| json!({"type": "text", "content": " "}))
        .collect();
    let found = codes(&json!({"metadata": {"title": "a"}, "body": body}));
    assert_eq!(found.len(), MAX_OF_A_RULE);
}

#[test]
fn whatever_is_no_template_has_no_findings_that_panic() {
    for value in [
        json!(null),
        json!([1]),
        json!({"body": 3, "theme": [], "metadata": 7}),
    ] {
        let _ = lint(&value);
    }
}

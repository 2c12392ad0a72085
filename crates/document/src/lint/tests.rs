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

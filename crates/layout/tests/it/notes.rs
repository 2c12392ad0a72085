//! Footnotes outside the flow of the text: at fixed positions, in footnotes, in headers and footers.

use serde_json::json;

use crate::harness::{assert_no_overlap, assert_within, sheet, sheet_with};

#[test]
fn a_footnote_of_content_at_a_fixed_position_stands_at_the_foot_of_its_page() {
    let offer = json!({"text": "Offer", "footnote": "Valid until 1 May."});
    let body = json!([
        {"type": "text", "content": "Above"},
        {"type": "pageBreak"},
        {"type": "text", "content": "Beside"},
        {"type": "positioned", "top": "150pt", "left": "100pt", "width": "80pt", "body": [
            {"type": "panel", "body": [{"type": "text", "content": [offer]}]}
        ]}
    ]);
    let sheet = sheet(body, json!({}));
    assert_eq!(sheet.page_count(), 2);
    let lines = sheet.lines(1);
    let last = lines.last().unwrap();
    assert!(last.contains("Valid until 1 May."), "{lines:?}");
    assert_within(&sheet, 30.0);
}

#[test]
fn a_footnote_in_a_footnote_stands_below_it() {
    let body = json!([{"type": "text", "content": [
        {"text": "Text", "footnote": [{"text": "Outer note", "footnote": "Inner note"}]},
        {"text": " and more", "footnote": "Next note"}
    ]}]);
    let sheet = sheet(body, json!({}));
    let lines = sheet.lines(0);
    let at = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
    assert!(at("Outer note") < at("Inner note"), "{lines:?}");
    assert!(at("Inner note") < at("Next note"), "{lines:?}");
    assert_eq!(lines[at("Inner note")], "2 Inner note");
    assert_no_overlap(&sheet, 0);
}

#[test]
fn a_footnote_in_a_header_is_warned_of_once() {
    let head = json!({"text": "Head", "footnote": "Not printed"});
    let parts = json!({
        "page": {
            "size": {"width": "300pt", "height": "400pt"}, "margins": "40pt",
            "header": [{"type": "text", "content": [head]}]
        },
        "body": [{"type": "text", "content": "One"}, {"type": "pageBreak"},
            {"type": "text", "content": "Two"}]
    });
    let sheet = sheet_with(parts, json!({}));
    assert_eq!(sheet.page_count(), 2);
    let warnings = sheet.layout.warnings.iter();
    let found: Vec<(&str, &str)> = warnings
        .map(|warning| (warning.code.as_str(), warning.path.as_str()))
        .collect();
    assert_eq!(found, [("footnote-unlinked", "/page/header/0")]);
}

//! Tests that every error in a template has its pointer, code and hint.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn mistakes(json: Json) -> Vec<(String, String, Option<String>)> {
    template_from_json(json)
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|found| (found.code, found.path, found.hint))
        .collect()
}

fn codes(json: Json) -> Vec<String> {
    mistakes(json).into_iter().map(|found| found.0).collect()
}

fn with_body(body: Json) -> Json {
    json!({ "key": "a", "body": body })
}

#[test]
fn a_sound_template_is_read() {
    let template = template_from_json(json!({
        "key": "bench-invoice", "name": "Invoice", "locale": "de-DE", "currency": "EUR",
        "timeZone": "Europe/Berlin",
        "page": { "size": "A4", "margins": { "top": "30mm" }, "footer": [
            { "type": "text", "content": "Page {{ pageNumber }} of {{ pageCount }}" }
        ]},
        "body": [
            { "type": "heading", "content": ["A", { "text": "b", "bold": true }] },
            { "type": "table", "rows": "items", "zebra": true, "columns": [
                { "header": "x", "value": "{{ item.x }}", "format": "currency", "width": "2fr",
                  "total": "sum" },
                { "header": "y", "value": "{{ item.y }}", "format": { "type": "date" },
                  "total": "{{ rows|count }}" }
            ]},
            { "type": "list", "items": ["a", ["b"], { "content": "c", "body": [
                { "type": "list", "items": ["d"] }
            ]}]}
        ]
    }));
    assert!(template.is_ok(), "{template:?}");
}

#[test]
fn all_mistakes_are_found_at_once() {
    let found = mistakes(with_body(json!([
        { "type": "headng", "content": "x" },
        { "type": "heading", "contnt": "x", "level": 9 },
        { "type": "panel", "body": [ { "type": "spacer", "height": "12em" } ] },
        { "type": "divider", "color": "#12", "line": "dotty" },
        { "type": "table", "columns": [ { "width": "wide", "align": 3 } ] },
        "text", { "content": "x" }
    ])));
    let expected = [
        (
            "unknown-node-type",
            "/body/0/type",
            Some("did you mean `heading`?"),
        ),
        (
            "unknown-field",
            "/body/1/contnt",
            Some("did you mean `content`?"),
        ),
        ("out-of-range", "/body/1/level", None),
        ("missing-field", "/body/1", None),
        ("invalid-length", "/body/2/body/0/height", None),
        ("invalid-color", "/body/3/color", None),
        (
            "unknown-value",
            "/body/3/line",
            Some("did you mean `dotted`?"),
        ),
        ("invalid-width", "/body/4/columns/0/width", None),
        ("wrong-type", "/body/4/columns/0/align", None),
        ("wrong-type", "/body/5", None),
    ];
    for (found, (code, path, hint)) in found.iter().zip(expected) {
        assert_eq!((found.0.as_str(), found.1.as_str()), (code, path));
        assert_eq!(found.2.as_deref(), hint);
    }
    assert_eq!(found.len(), 11);
}

#[test]
fn meaning_is_checked_too() {
    let found = mistakes(json!({
        "key": "../etc", "locale": "not a locale", "timeZone": "Mars/Base", "currency": "euro",
        "page": { "margins": "200mm" }, "inputSchema": { "type": "objekt" },
        "theme": { "styles": { "a": { "extends": "a" } } },
        "messages": { "en": { "x": "X" } },
        "body": [
            { "type": "text", "id": "one", "content": "{{ customer. }}", "style": "heading7" },
            { "type": "text", "id": "one", "content": "{{ a|currncy }} {{ t('y') }} {{ b" },
            { "type": "repeat", "each": "{{ items }}", "as": "loop", "body": [] },
            { "type": "table", "columns": [], "groups": [{ "by": "a" }] },
            { "type": "table", "columns": [{}], "bodyRows": [{ "cells": ["a", "b"] }] }
        ]
    }));
    let mut codes: Vec<&str> = found.iter().map(|found| found.0.as_str()).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        [
            "duplicate-id",
            "expression-syntax",
            "expression-syntax",
            "invalid-input-schema",
            "invalid-key",
            "invalid-name",
            "invalid-span",
            "missing-field",
            "no-text-area",
            "out-of-range",
            "style-cycle",
            "unclosed-expression",
            "unknown-currency",
            "unknown-filter",
            "unknown-locale",
            "unknown-style",
            "unknown-time-zone",
        ]
    );
    let filter = found.iter().find(|found| found.0 == "unknown-filter");
    assert_eq!(
        filter.and_then(|found| found.2.as_deref()),
        Some("did you mean `currency`?")
    );
}

#[test]
fn unknown_messages_are_found() {
    let found = mistakes(json!({
        "key": "a", "messages": { "en": { "total": "Total" } },
        "body": [{ "type": "text", "content": "{{ t('totl') }}" }]
    }));
    assert_eq!(found[0].0, "unknown-message");
    assert_eq!(found[0].1, "/body/0/content");
    assert_eq!(found[0].2.as_deref(), Some("did you mean `total`?"));
}

#[test]
fn remote_references_are_refused() {
    let schema = json!({ "$ref": "https://example.com/schema.json" });
    assert_eq!(
        codes(json!({ "key": "a", "inputSchema": schema })),
        ["invalid-input-schema"]
    );
    let schema = json!({ "$ref": "file:///etc/passwd" });
    assert_eq!(
        codes(json!({ "key": "a", "inputSchema": schema })),
        ["invalid-input-schema"]
    );
}

#[test]
fn pages_are_bounded() {
    let page = |size: Json| codes(json!({ "key": "a", "page": { "size": size } }));
    assert_eq!(page(json!("A44")), ["unknown-value"]);
    assert_eq!(
        page(json!({ "width": "5pt", "height": "100pt" })),
        ["out-of-range"]
    );
    assert_eq!(
        page(json!({ "width": "-5pt", "height": "100pt" })),
        ["out-of-range"]
    );
    assert_eq!(page(json!({ "width": "1in" })), ["missing-field"]);
}

#[test]
fn broken_input_is_refused() {
    let code = |bytes: &[u8]| parse_template(bytes).unwrap_err()[0].code.clone();
    assert_eq!(code(b"{\"key\": \"a\", \"bo"), "invalid-json");
    assert_eq!(code(b""), "invalid-json");
    assert_eq!(code(b"{\"key\": \"\xff\"}"), "invalid-json");
    assert_eq!(code(b"{\"key\": NaN}"), "invalid-json");
    assert_eq!(code(b"[]"), "wrong-type");
    assert_eq!(
        code(&vec![b' '; MAX_TEMPLATE_BYTES + 1]),
        "template-too-large"
    );
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    let mut text = String::from("{\"key\":\"a\",\"body\":[");
    text.push_str(&"{\"type\":\"panel\",\"body\":[".repeat(10_000));
    text.push_str(&"]}".repeat(10_000));
    text.push_str("]}");
    let found = parse_template(text.as_bytes()).unwrap_err();
    assert_eq!(found[0].code, "too-deep");
    assert_eq!(
        parse_template("[".repeat(100_000).as_bytes()).unwrap_err()[0].code,
        "too-deep"
    );
}

#[test]
fn the_deepest_template_fits_the_stack() {
    let mut node = json!({ "type": "text", "content": "x" });
    for _ in 0..58 {
        node = json!({ "type": "panel", "body": [node] });
    }
    let template = template_from_json(with_body(json!([node]))).unwrap();
    assert_eq!(template.body.len(), 1);
}

#[test]
fn too_many_nodes_are_refused() {
    let node = json!({ "type": "pageBreak" });
    let found = codes(with_body(Json::Array(vec![node; MAX_NODES + 1])));
    assert_eq!(found, ["too-many-nodes"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_templates_never_panic(place in 0_usize..1_000, byte in any::<u8>(), cut in 0_usize..1_000) {
        let mut bytes = include_bytes!("../../tests/damaged.json").to_vec();
        let length = bytes.len();
        bytes[place % length] = byte;
        let _ = parse_template(&bytes);
        bytes.truncate(cut % length);
        let _ = parse_template(&bytes);
    }

    #[test]
    fn misplaced_values_never_panic(place in 0_usize..40, kind in 0_usize..6) {
        let mut json: Json = serde_json::from_slice(include_bytes!("../../tests/damaged.json")).unwrap();
        let value = [json!(null), json!(1e308), json!([]), json!({}), json!("{{ x"), json!(-1)][kind].clone();
        let mut count = place;
        replace(&mut json, &mut count, &value);
        let _ = template_from_json(json);
    }
}

/// Replaces the value at position `count` in a depth-first traversal.
fn replace(json: &mut Json, count: &mut usize, value: &Json) {
    if *count == 0 {
        *json = value.clone();
    }
    *count = count.wrapping_sub(1);
    match json {
        Json::Array(items) => items
            .iter_mut()
            .for_each(|item| replace(item, count, value)),
        Json::Object(fields) => fields
            .values_mut()
            .for_each(|item| replace(item, count, value)),
        _ => {}
    }
}

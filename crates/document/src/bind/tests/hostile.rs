//! Malicious or broken data and templates.

use super::*;
use crate::{Severity, bound::FormFieldKind};

#[test]
fn links_that_run_code_are_refused() {
    for address in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " data:text/html,x",
        "file:///etc/passwd",
        "//example.com",
        "https://a b",
        "x",
    ] {
        let body = json!([{ "type": "text", "content": [{ "text": "x", "link": "{{ link }}" }] }]);
        let found = mistakes(body, &json!({ "link": address }));
        assert_eq!(found[0].code, "invalid-link", "{address}");
        assert_eq!(found[0].path, "/body/0/content/0/link");
    }
}

#[test]
fn control_characters_and_overrides_are_warned_of_once() {
    let body = json!([{ "type": "text", "content": "{{ a }}{{ b }}" }]);
    let document = document(body, &json!({ "a": "x\0\u{202e}", "b": "\u{1}y" }));
    assert_eq!(texts(&document), ["x\u{fffd}\u{fffd}y"]);
    let codes: Vec<&str> = document
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(codes, ["control-characters", "bidi-controls"]);
    assert_eq!(document.warnings[0].severity, Severity::Warning);
}

#[test]
fn names_of_fields_are_cleaned_as_texts_are() {
    let body = json!([
        { "type": "text", "content": "{{ o|join(',') }} end" },
        { "type": "text", "content": "{{ p.total + 0 }} {{ p|join(',') }} {{ q.a + 0 }}" }
    ]);
    let data = json!({
        "o": { "\u{fdd2}a\u{202e}\u{1}": 1 },
        "p": { "total": 1, "total\u{202e}": 2 },
        "q": { "a\u{202e}": 3, "a\u{202d}": 4 }
    });
    let document = document(body, &data);
    assert_eq!(texts(&document), ["a\u{fffd} end", "1 total 3"]);
    let codes = document.warnings.iter().map(|warning| &*warning.code);
    assert!(codes.eq(["control-characters", "bidi-controls"]));
}

#[test]
fn properties_and_options_from_data_are_cleaned() {
    let body = json!([
        { "type": "list", "mark": "{{ mark }}", "items": ["x"] },
        { "type": "formField", "name": "f", "kind": "dropDown", "each": "options" }
    ]);
    let data = json!({ "mark": "\u{fdd0}*\u{1}", "options": ["a\u{202e}\u{ffff}"] });
    let document = document(body, &data);
    let body = &document.sections[0].body;
    let (BlockKind::List(list), BlockKind::FormField(field)) = (&body[0].kind, &body[1].kind)
    else {
        panic!();
    };
    assert_eq!(list.label(0, 0), "*\u{fffd}");
    let FormFieldKind::DropDown(options) = &field.kind else {
        panic!();
    };
    assert_eq!(options[0].label, "a\u{fffd}");
}

#[test]
fn a_part_of_a_page_reference_erases_nothing() {
    let body = json!([
        { "type": "text", "id": "abc", "content": "x" },
        { "type": "text", "content": "{{ ref('abc').page|truncate(2) }} end" },
        { "type": "text", "content": "{{ ref('abc').page|reverse }} end" }
    ]);
    let document = document(body, &json!({}));
    assert_eq!(texts(&document), ["x", "a… end", "cba end"]);
}

#[test]
fn huge_numbers_stay_short_or_are_refused() {
    let body = json!([{ "type": "text", "content": "{{ n }} {{ n|number(2) }} {{ n|currency }}" }]);
    let document = document(body, &json!({ "n": 1e308 }));
    assert_eq!(texts(&document), ["1E308 1E308 €1E308"]);
    let table = json!([{ "type": "table", "rows": "items", "columns": [
        {}, { "value": "{{ item }}", "format": "number", "total": "sum" }], "total": "T" }]);
    let found = mistakes(table, &json!({ "items": [1e308, 1e308] }));
    assert_eq!(found[0].code, "number-too-large");
}

#[test]
fn pictures_are_checked_before_anything_unpacks_them() {
    let image = |source: &str| {
        let body = json!([{ "type": "image", "source": "{{ s }}", "alt": "" }]);
        mistakes(body, &json!({ "s": source }))[0].code.clone()
    };
    let encode = |bytes: &[u8]| {
        use base64::Engine;
        let text = base64::engine::general_purpose::STANDARD.encode(bytes);
        format!("data:image/png;base64,{text}")
    };
    let mut bomb = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x06\0\0\0".to_vec();
    bomb.resize(64, 0);
    assert_eq!(image(&encode(&bomb)), "image-too-large");
    assert_eq!(
        image(&encode(
            b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd' width='9' height='9'/></svg>"
        )),
        "invalid-image"
    );
    assert_eq!(
        image(&encode(b"BM not a picture that is read")),
        "unsupported-image"
    );
    assert_eq!(
        image(&encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")),
        "invalid-image"
    );
    assert_eq!(image("data:image/png;base64,@@@"), "invalid-image");
    assert_eq!(image("data:image/png,abc"), "invalid-image");
    assert_eq!(image("https://example.com/a.png"), "unknown-asset");
    assert_eq!(image("../../etc/passwd"), "unknown-asset");
}

#[test]
fn bounds_hold() {
    let compiled = compiled(json!({ "body": [
        { "type": "repeat", "each": "items", "body": [
            { "type": "repeat", "each": "items", "body": [{ "type": "text", "content": "{{ text }}" }] } ] }
    ]}));
    let data = json!({ "items": vec![1; 1_000], "text": "x".repeat(1_000) });
    let code = |limits: Limits| {
        let options = BindOptions {
            limits,
            ..BindOptions::default()
        };
        // Without a bound it would take minutes and gigabytes.
        let found = bind(&compiled, &data, &options, &HOST).unwrap_err();
        found[0].code.clone()
    };
    let default = Limits::default();
    assert_eq!(
        code(Limits {
            blocks: 1_000,
            ..default
        }),
        "too-many-blocks"
    );
    assert_eq!(
        code(Limits {
            text_bytes: 10_000,
            ..default
        }),
        "too-much-text"
    );
    assert_eq!(
        code(Limits {
            rows: 10,
            ..default
        }),
        "too-many-rows"
    );
    assert_eq!(
        code(Limits {
            work: 10_000,
            ..default
        }),
        "too-much-work"
    );
}

#[test]
fn deep_data_is_refused_without_recursion() {
    let mut data = json!(1);
    for _ in 0..1_000 {
        data = json!([data]);
    }
    let found = mistakes(json!([]), &json!({ "a": data }));
    assert_eq!(found[0].code, "too-deep");
}

#[test]
fn wrong_shapes_are_named() {
    let found = mistakes(
        json!([
            { "type": "repeat", "each": "name", "body": [] },
            { "type": "barcode", "symbology": "ean13", "value": "{{ name }}" },
            { "type": "panel", "body": [{ "type": "section", "body": [] }] },
            { "type": "image", "source": "lgo", "alt": "" },
            { "type": "text", "content": "{{ name.first }}" }
        ]),
        &json!({ "name": "Ada" }),
    );
    let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "not-a-list",
            "invalid-barcode",
            "misplaced-section",
            "unknown-asset",
            "undefined-variable"
        ]
    );
}

#[test]
fn validation_says_all_without_rendering() {
    let template = json!({
        "key": "a", "messages": { "en": { "unused": "x" } },
        "inputSchema": { "properties": { "customer": { "properties": { "name": {} } } } },
        "body": [{ "type": "text", "content": "{{ customer.nam }} {{ custmer.name }}" }]
    });
    let bytes = serde_json::to_vec(&template).unwrap();
    let found = crate::validate(&bytes, None);
    let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(codes, ["unused-message", "unknown-path", "unknown-path"]);
    assert_eq!(found[1].hint.as_deref(), Some("did you mean `name`?"));
    let found = crate::validate(&bytes, Some(&json!({ "customer": { "name": "x" } })));
    assert_eq!(found.iter().filter(|found| found.is_error()).count(), 1);
    assert_eq!(crate::validate(b"{", None)[0].code, "invalid-json");
}

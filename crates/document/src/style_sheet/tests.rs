//! Tests of style resolution.

use serde_json::json;

use super::*;

fn theme(json: serde_json::Value) -> Theme {
    serde_json::from_value(json).unwrap()
}

#[test]
fn every_builtin_style_resolves() {
    let (sheet, found) = StyleSheet::new(&Theme::default());
    assert_eq!(found, []);
    for name in NAMES {
        assert!(sheet.named(name).is_some(), "{name}");
    }
    let heading = sheet.named("heading1").unwrap();
    assert!(heading.bold && heading.keep_with_next);
    assert_eq!(heading.font_size, 20.0);
    assert_eq!(heading.color, sheet.colors.primary);
    assert!(sheet.named("code").unwrap().code);
    assert_eq!(
        sheet.named("code").unwrap().font_families[0],
        "Liberation Mono"
    );
}

#[test]
fn themes_change_and_extend_styles() {
    let (sheet, found) = StyleSheet::new(&theme(json!({
        "fontSize": "11pt",
        "colors": { "primary": "#aa0000" },
        "styles": {
            "heading1": { "fontSize": "30pt" },
            "shout": { "extends": "heading1", "italic": true }
        }
    })));
    assert_eq!(found, []);
    let shout = sheet.named("shout").unwrap();
    assert_eq!(
        (shout.font_size, shout.italic, shout.bold),
        (30.0, true, true)
    );
    assert_eq!(shout.color, Color::from_rgb(0xAA_0000));
    assert_eq!(sheet.named("body").unwrap().font_size, 11.0);
}

#[test]
fn cycles_and_unknown_parents_are_found() {
    let (_, found) = StyleSheet::new(&theme(json!({ "styles": {
        "a": { "extends": "b" }, "b": { "extends": "a" },
        "c": { "extends": "headng1" }, "d": { "fontSize": "0pt" }
    }})));
    let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "style-cycle",
            "style-cycle",
            "unknown-style",
            "out-of-range"
        ]
    );
    assert_eq!(found[2].hint.as_deref(), Some("did you mean `heading1`?"));
    assert_eq!(found[2].path, "/theme/styles/c/extends");
}

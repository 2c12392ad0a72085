//! Paragraphs: lines, alignment, bidirectional text, scripts, hyphens.

use platen_layout::{FontLibrary, page::Item};
use serde_json::json;

use crate::harness::{Placed, sheet, sheet_with, words};

/// The text area of the harness's page.
const LEFT: f32 = 30.0;
const RIGHT: f32 = 270.0;

#[test]
fn lines_stay_between_the_margins() {
    let sheet = sheet(json!([{"type": "text", "content": words(120)}]), json!({}));
    let texts = sheet.texts(0);
    assert!(texts.len() > 5);
    for text in texts {
        assert!(
            text.x >= LEFT - 0.01 && text.x + text.width <= RIGHT + 0.1,
            "{text:?}"
        );
    }
}

#[test]
fn justified_lines_are_flush_but_for_the_last() {
    let content = words(60);
    let body = json!([{"type": "text", "style": {"align": "justify"}, "content": content}]);
    let texts = sheet(body, json!({})).texts(0);
    let (last, full) = texts.split_last().unwrap();
    assert!(
        full.iter()
            .all(|text| (text.x + text.width - RIGHT).abs() < 0.1)
    );
    assert!(last.x + last.width < RIGHT - 1.0);
}

#[test]
fn alignments_place_the_line() {
    let text = |align: &str| {
        let body = json!([{"type": "text", "style": {"align": align}, "content": "short"}]);
        sheet(body, json!({})).texts(0).remove(0)
    };
    assert!((text("start").x - LEFT).abs() < 0.1);
    let end = text("end");
    assert!((end.x + end.width - RIGHT).abs() < 0.1);
    let center = text("center");
    assert!((center.x + center.width / 2.0 - (LEFT + RIGHT) / 2.0).abs() < 0.1);
}

#[test]
fn right_to_left_documents_start_at_the_right() {
    let parts = json!({"locale": "ar-EG", "body": [{"type": "text", "content": "مرحبا بالعالم"}]});
    let mut texts = sheet_with(parts, json!({})).texts(0);
    texts.sort_by(|a, b| b.x.total_cmp(&a.x));
    let [first, second] = texts.as_slice() else {
        panic!("{texts:?}")
    };
    assert_eq!(
        (first.text.as_str(), second.text.as_str()),
        ("مرحبا", "بالعالم")
    );
    assert!((first.x + first.width - RIGHT).abs() < 0.1);
    assert!(second.x + second.width < first.x);
}

#[test]
fn arabic_inside_english_keeps_its_spaces() {
    let body = json!([{"type": "text", "content": "say العربية في النص and go"}]);
    let mut texts = sheet(body, json!({})).texts(0);
    texts.sort_by(|a, b| a.x.total_cmp(&b.x));
    let order: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(order, ["say", "النص", "في", "العربية", "and go"]);
    for pair in texts.windows(2) {
        let gap = pair[1].x - (pair[0].x + pair[0].width);
        assert!((2.0..4.0).contains(&gap), "{gap} between {pair:?}");
    }
}

#[test]
fn japanese_breaks_between_characters_but_not_before_a_full_stop() {
    let text = "日本語の文章を組む。".repeat(12);
    let parts = json!({"locale": "ja-JP", "body": [{"type": "text", "content": text}]});
    let lines = sheet_with(parts, json!({})).lines(0);
    assert!(lines.len() > 3);
    assert!(
        lines.iter().all(|line| !line.starts_with('。')),
        "{lines:?}"
    );
    let whole: String = lines.concat();
    assert_eq!(whole.replace(' ', ""), text);
}

#[test]
fn words_are_hyphenated_where_asked() {
    let content = "Rechnungsstellungsbedingungen und Zahlungsvereinbarungen ".repeat(6);
    let paragraph = |hyphenate: bool| {
        json!({"locale": "de-DE", "body": [
            {"type": "text", "style": {"hyphenate": hyphenate}, "content": content}
        ]})
    };
    let lines = sheet_with(paragraph(true), json!({})).lines(0);
    assert!(lines.iter().any(|line| line.ends_with('-')), "{lines:?}");
    let plain = sheet_with(paragraph(false), json!({})).lines(0);
    assert!(plain.iter().all(|line| !line.ends_with('-')));
}

#[test]
fn a_word_wider_than_the_page_is_broken_and_nothing_is_lost() {
    let long = "x".repeat(500);
    let lines = sheet(json!([{"type": "text", "content": long}]), json!({})).lines(0);
    assert!(lines.len() > 5);
    assert_eq!(lines.concat(), long);
}

#[test]
fn numbers_have_tabular_digits() {
    let width = |text: &str| -> Placed {
        sheet(json!([{"type": "text", "content": text}]), json!({}))
            .texts(0)
            .remove(0)
    };
    assert!((width("1111").width - width("8888").width).abs() < 0.001);
}

#[test]
fn a_missing_glyph_is_named() {
    let sheet = sheet(
        json!([{"type": "text", "content": "a \u{16A0} rune"}]),
        json!({}),
    );
    let warning = sheet
        .layout
        .warnings
        .iter()
        .find(|warning| warning.code == "missing-glyph");
    assert!(warning.unwrap().message.contains("U+16A0"));
}

#[test]
fn line_breaks_and_empty_paragraphs_have_height() {
    let body = json!([
        {"type": "text", "content": "one\n\nthree"},
        {"type": "text", "content": ""},
        {"type": "text", "content": "last"}
    ]);
    let texts = sheet(body, json!({})).texts(0);
    let ys: Vec<f32> = texts.iter().map(|text| text.y).collect();
    assert!(ys[1] - ys[0] > 24.0, "an empty line stands between: {ys:?}");
    assert!(
        ys[2] - ys[1] > 26.0,
        "an empty paragraph stands between: {ys:?}"
    );
}

/// A shipped font whose outline tables are renamed, as in bitmap fonts.
#[test]
fn fonts_without_outlines_are_left_out() {
    let shipped = include_bytes!("../../../../assets/fonts/LiberationMono-Regular.ttf");
    assert_eq!(FontLibrary::inspect(shipped, "test").len(), 1);
    let mut bitmaps = shipped.to_vec();
    let record = bitmaps.windows(4).position(|tag| tag == b"glyf").unwrap();
    bitmaps[record..record + 4].copy_from_slice(b"EBDT");
    assert!(FontLibrary::inspect(&bitmaps, "test").is_empty());
}

#[test]
fn amounts_and_dates_are_set_smaller_rather_than_broken() {
    for value in [
        "£1,026,132.14",
        "01/01/2026",
        "1\u{202F}026\u{202F}132,14\u{A0}€",
    ] {
        let body = json!([{"type": "table", "showHeader": false, "columns": [{"width": "62pt"}, {}],
            "bodyRows": [{"cells": [{"content": value, "style": {"fontSize": "12pt"}}, "other"]}]}]);
        let sheet = sheet(body, json!({}));
        let texts = sheet.texts(0);
        let placed = texts.iter().find(|text| text.text == value);
        let placed = placed.unwrap_or_else(|| panic!("{value} is whole: {texts:?}"));
        assert!(placed.x + placed.width < 30.0 + 62.0, "{placed:?}");
        let warning = &sheet.layout.warnings[0];
        assert_eq!(
            (warning.code.as_str(), warning.path.as_str()),
            ("value-shrunk", "/body/0")
        );
    }
}

#[test]
fn a_value_that_must_be_broken_is_named() {
    let body = json!([{"type": "table", "showHeader": false, "columns": [{"width": "20pt"}, {}],
        "bodyRows": [{"cells": ["1,026,132,458.14", "other"]}]}]);
    let sheet = sheet(body, json!({}));
    assert_eq!(sheet.layout.warnings[0].code, "value-broken");
}

#[test]
fn columns_wider_than_the_page_are_named() {
    let body = json!([{"type": "table", "columns": [{"header": "A", "width": "200pt"},
        {"header": "B", "width": "200pt"}], "bodyRows": []}]);
    let sheet = sheet(body, json!({}));
    let warning = &sheet.layout.warnings[0];
    assert_eq!(
        (warning.code.as_str(), warning.path.as_str()),
        ("columns-too-wide", "/body/0")
    );
}

#[test]
fn words_wider_than_their_line_are_hyphenated_before_they_are_cut() {
    let body = json!([{"type": "table", "showHeader": false, "columns": [{"width": "60pt"}, {}],
        "bodyRows": [{"cells": ["incomprehensibilities", "other"]}]}]);
    let sheet = sheet(body, json!({}));
    let texts: Vec<String> = sheet.texts(0).into_iter().map(|text| text.text).collect();
    assert!(texts[0].ends_with('-'), "{texts:?}");
    let parts = texts.iter().filter(|text| *text != "other");
    let whole: String = parts.map(|text| text.trim_end_matches('-')).collect();
    assert_eq!(whole, "incomprehensibilities");
}

#[test]
fn a_font_that_is_not_there_is_named_once() {
    let parts = json!({
        "theme": {"fonts": {"body": "Brand Grotesk", "heading": ["Brand Serif", "Arial"]}},
        "body": [{"type": "heading", "level": 1, "content": "one"}, {"type": "text", "content": "two"}]
    });
    let warnings = sheet_with(parts, json!({})).layout.warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].code, "font-not-found");
    assert!(warnings[0].message.contains("`Brand Grotesk`"));
}

#[test]
fn missing_characters_are_one_warning() {
    let runes: String = ('\u{16A0}'..='\u{16C7}').collect();
    let warnings = sheet(json!([{"type": "text", "content": runes}]), json!({}))
        .layout
        .warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].message.contains("40 characters"));
    assert!(warnings[0].message.contains("20 more"));
}

#[test]
fn numbered_lists_in_lists_have_letters() {
    let body = json!([{"type": "list", "ordered": true, "items": [
        {"content": "one", "body": [{"type": "list", "ordered": true, "items": ["two", "three"]}]}
    ]}]);
    let lines = sheet(body, json!({})).lines(0);
    assert_eq!(lines, ["1. one", "a. two", "b. three"]);
}

#[test]
fn words_of_one_letter_do_not_end_polish_lines() {
    let ends_with_letter = |locale: &str| {
        let words = (0..90).map(|index| format!("{} i ", "m".repeat(index * 5 % 9 + 2)));
        let body = json!([{"type": "text", "content": words.collect::<String>() + "end"}]);
        let sheet = sheet_with(json!({"locale": locale, "body": body}), json!({}));
        let lines = sheet.lines(0);
        lines.iter().any(|line| line.ends_with(" i"))
    };
    assert!(!ends_with_letter("pl-PL"));
    assert!(ends_with_letter("en-GB"));
    // Nothing but such words still breaks.
    let body = json!([{"type": "text", "content": "i ".repeat(400)}]);
    let sheet = sheet_with(json!({"locale": "pl-PL", "body": body}), json!({}));
    assert!(
        sheet
            .texts(0)
            .iter()
            .all(|text| text.x + text.width < 271.0)
    );
}

#[test]
fn digits_of_amounts_are_as_wide_as_each_other() {
    let width = |text: &str| {
        let body = json!([{"type": "text", "content": text}]);
        sheet(body, json!({})).texts(0)[0].width
    };
    // Kerning moves two ones together.
    assert!(width("No.11") < width("No.22"));
    for (ones, others) in [
        ("£1,111.11", "£2,222.22"),
        ("11,11\u{a0}€", "22,22\u{a0}€"),
        ("\u{2212}1\u{a0}111\u{a0}zł", "\u{2212}2\u{a0}222\u{a0}zł"),
    ] {
        assert_eq!(width(ones), width(others), "{ones}");
    }
}

#[test]
fn check_boxes_and_emoji_both_keep_their_alternative_text() {
    let body = json!([{"type": "list", "mark": "checkedBox", "items": ["😀 done"]}]);
    let tags = sheet(body, json!({})).layout.tags;
    assert!(tags.alternatives.is_sorted_by_key(|(tag, _)| *tag));
    let texts = tags.alternatives.iter().map(|(_, text)| text.as_str());
    assert!(texts.eq(["☑", "😀"]), "{:?}", tags.alternatives);
}

#[test]
fn emoji_of_turned_titles_stand_in_their_line() {
    let body = json!([{
        "type": "chart", "chart": "bar", "alt": "A chart", "valueTitle": "😀😀😀",
        "rows": "[1]", "category": "one", "series": [{"name": "Series", "value": "item"}]
    }]);
    let sheet = sheet(body, json!({}));
    let pictures: Vec<_> = (sheet.layout.pages[0].items.iter())
        .filter_map(|item| match item {
            Item::Image { area, .. } => Some(*area),
            _ => None,
        })
        .collect();
    assert_eq!(pictures.len(), 3);
    for pair in pictures.windows(2) {
        assert!((pair[0].x - pair[1].x).abs() < 0.01 && pair[0].y > pair[1].y);
    }
    assert!(pictures.iter().all(|area| area.x >= LEFT - 0.01));
}

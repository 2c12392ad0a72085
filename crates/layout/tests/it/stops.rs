//! Tabs, decimal columns, baselines of rows, balanced columns and blocks that span them.

use serde_json::{Value, json};

use crate::harness::{Placed, Sheet, assert_within, sheet, sheet_with, words};

/// The text area of the harness's page.
const LEFT: f32 = 30.0;
const RIGHT: f32 = 270.0;

fn find<'t>(texts: &'t [Placed], start: &str) -> &'t Placed {
    let found = texts.iter().find(|text| text.text.starts_with(start));
    found.unwrap_or_else(|| panic!("`{start}` is missing in {texts:?}"))
}

/// Left edge of the word `word` of a text, wherever it is in its run.
fn word_x(sheet: &Sheet, word: &str) -> f32 {
    let page = &sheet.layout.pages[0];
    for item in &page.items {
        if let platen_layout::page::Item::Text(run) = item {
            for placed in &page.words[run.words.start as usize..run.words.end as usize] {
                if &*sheet.shaper.word(placed.word).text == word {
                    return run.x + placed.x;
                }
            }
        }
    }
    panic!("`{word}` is missing");
}

#[test]
fn a_tab_reaches_the_hanging_indent() {
    for (number, align) in [("1.", "start"), ("10.12", "justify")] {
        let body = json!([{"type": "text", "content": format!("{number}\t{}", words(60)),
            "style": {"indentStart": "40pt", "indentFirstLine": "-40pt", "align": align}}]);
        let sheet = sheet(body, json!({}));
        assert!((word_x(&sheet, number) - LEFT).abs() < 0.1);
        assert!(
            (word_x(&sheet, "word0") - LEFT - 40.0).abs() < 0.1,
            "{align}"
        );
        let second = &sheet.texts(0)[1];
        assert!((second.x - LEFT - 40.0).abs() < 0.1);
    }
}

#[test]
fn tab_stops_align_what_follows() {
    let stop = |align: &str| json!({"position": "100pt", "align": align});
    let x = |align: &str, text: &str, word: &str| {
        let body = json!([{"type": "text", "content": text, "style": {"tabs": [stop(align)]}}]);
        word_x(&sheet(body, json!({})), word)
    };
    assert!((x("start", "a\tword", "word") - LEFT - 100.0).abs() < 0.1);
    let (short, long) = (x("end", "a\t10", "10"), x("end", "a\t1000", "1000"));
    assert!(short > long && short < LEFT + 100.0);
    let (one, two) = (
        x("decimal", "a\t1.5", "1.5"),
        x("decimal", "a\t100.25", "100.25"),
    );
    // Two digits of ten points.
    assert!((one - two - 2.0 * 5.56).abs() < 0.1, "{one} {two}");
    let center = x("center", "a\t10", "10");
    assert!((center + 5.56 - LEFT - 100.0).abs() < 0.1);
}

#[test]
fn a_stop_beyond_the_line_is_its_end_and_leaders_fill_the_gap() {
    for leader in ["dots", "dashes", "line"] {
        let body = json!([{"type": "text", "content": "Total\t1,000",
            "style": {"tabs": [{"position": "900pt", "align": "end", "leader": leader}]}}]);
        let sheet = sheet(body, json!({}));
        let amount = word_x(&sheet, "1,000") + 4.0 * 5.56 + 2.78;
        assert!((amount - RIGHT).abs() < 0.2, "{leader}: {amount}");
        let count = sheet.layout.pages[0]
            .items
            .iter()
            .filter(|item| match item {
                platen_layout::page::Item::Line { .. } => leader == "line",
                platen_layout::page::Item::Text(run) => leader != "line" && run.width > 80.0,
                _ => false,
            });
        assert_eq!(count.count(), 1, "{leader}");
    }
}

#[test]
fn decimal_columns_have_their_separators_below_each_other() {
    let values = ["1.5", "1,200.25", "7", "0.125"];
    let rows: Vec<Value> = values
        .iter()
        .map(|value| json!({"cells": ["x", value]}))
        .collect();
    let body = json!([{"type": "table", "showHeader": false,
        "columns": [{}, {"align": "decimal", "width": "100pt"}], "bodyRows": rows}]);
    let sheet = sheet(body, json!({}));
    let texts = sheet.texts(0);
    let separator = |value: &str| {
        let whole = value.split('.').next().unwrap();
        let digits = whole.chars().filter(char::is_ascii_digit).count() as f32;
        let commas = whole.matches(',').count() as f32;
        find(&texts, value).x + digits * 5.56 + commas * 2.78
    };
    for value in &values[1..] {
        assert!(
            (separator(value) - separator("1.5")).abs() < 0.2,
            "{value}: {texts:?}"
        );
    }
    assert_within(&sheet, 30.0);
}

#[test]
fn cells_of_a_row_stand_on_one_baseline() {
    let body = json!([{"type": "table", "showHeader": false, "columns": [{}, {}],
    "bodyRows": [{"cells": [
        {"content": "large", "style": {"fontSize": "20pt"}}, {"content": "small", "style": {"fontSize": "8pt"}}
    ]}]}]);
    let texts = sheet(body, json!({})).texts(0);
    assert!(
        (find(&texts, "large").y - find(&texts, "small").y).abs() < 0.01,
        "{texts:?}"
    );
}

fn columns(body: Value) -> Sheet {
    let page =
        json!({"size": {"width": "400pt", "height": "400pt"}, "margins": "30pt", "columns": 2});
    sheet_with(json!({"page": page, "body": body}), json!({}))
}

/// Lowest baselines of the texts left and right of the middle.
fn ends(sheet: &Sheet, page: usize) -> (f32, f32) {
    let lowest = |left: bool| {
        let texts = sheet.texts(page).into_iter();
        let texts = texts.filter(|text| (text.x < 200.0) == left);
        texts.map(|text| text.y).fold(0.0, f32::max)
    };
    (lowest(true), lowest(false))
}

#[test]
fn the_columns_of_the_last_page_are_even() {
    for count in [40, 90, 300, 700] {
        let text = words(count);
        let sheet = columns(json!([{"type": "text", "content": text}]));
        let last = sheet.page_count() - 1;
        let (left, right) = ends(&sheet, last);
        assert!(
            left >= right && left - right < 45.0,
            "{count}: {left} {right}"
        );
        let whole: Vec<String> = (0..=last)
            .flat_map(|page| sheet.texts(page))
            .flat_map(|text| text.text.split(' ').map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert_eq!(whole.join(" "), text);
    }
}

#[test]
fn a_heading_spans_all_columns() {
    let body = json!([
        {"type": "text", "content": words(50)},
        {"type": "heading", "level": 1, "content": "A heading that is much wider than a column",
         "style": {"columnSpan": "all", "fontSize": "14pt"}},
        {"type": "text", "content": words(70)}
    ]);
    let sheet = columns(body);
    let texts = sheet.texts(0);
    let heading = find(&texts, "A heading");
    assert!(heading.text.ends_with("column"), "{heading:?}");
    let above = texts.iter().filter(|text| text.y < heading.y - 1.0);
    let below = texts.iter().filter(|text| text.y > heading.y + 1.0);
    assert!(above.clone().any(|text| text.x > 200.0) && below.clone().any(|text| text.x > 200.0));
    let first = |left: bool| {
        let texts = below.clone().filter(|text| (text.x < 200.0) == left);
        texts.map(|text| text.y).fold(f32::MAX, f32::min)
    };
    assert!(
        (first(true) - first(false)).abs() < 0.01,
        "columns start at one height"
    );
    assert_within(&sheet, 30.0);
}

#[test]
fn a_spanning_heading_is_not_left_at_the_foot_of_a_page() {
    for count in (400..640).step_by(7) {
        let body = json!([
            {"type": "text", "content": words(count)},
            {"type": "heading", "level": 1, "content": "Heading", "style": {"columnSpan": "all"}},
            {"type": "text", "content": words(70).replace("word", "text")}
        ]);
        let sheet = columns(body);
        let page = sheet.page_of("Heading");
        let texts = sheet.texts(page);
        let below = find(&texts, "Heading").y;
        assert!(texts.iter().any(|text| text.y > below + 1.0), "{count}");
    }
}

#[test]
fn a_line_to_write_on_ends_at_the_margin() {
    let style = json!({"tabs": [{"position": "240pt", "align": "end", "leader": "line"}]});
    let end = |content: &str| {
        let sheet = sheet(
            json!([{"type": "text", "content": content, "style": style}]),
            json!({}),
        );
        let lines = sheet.layout.pages[0]
            .items
            .iter()
            .filter_map(|item| match item {
                platen_layout::page::Item::Line { to, .. } => Some(to.0),
                _ => None,
            });
        lines.fold(0.0_f32, f32::max)
    };
    assert!((end("Date\t") - 270.0).abs() < 0.01);
    // It keeps away from a text at its end.
    assert!(end("Date\tPlace") < 250.0);
}

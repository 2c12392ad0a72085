//! Tables over pages.

use serde_json::{Value, json};

use crate::harness::{sheet, words};

fn rows(count: usize) -> Value {
    let rows: Vec<Value> = (0..count)
        .map(|index| json!({"name": format!("name{index}"), "group": index / 10, "amount": index}))
        .collect();
    json!({"rows": rows})
}

fn table() -> Value {
    json!({"type": "table", "rows": "rows", "columns": [
        {"header": "Name", "value": "{{ item.name }}", "width": "1fr"},
        {"header": "Amount", "value": "{{ item.amount }}", "format": "integer", "width": "60pt", "total": "sum"}
    ]})
}

#[test]
fn every_page_has_the_header_and_each_row_stands_once() {
    let sheet = sheet(json!([table()]), rows(100));
    assert!(sheet.page_count() > 4);
    let mut seen = Vec::new();
    for page in 0..sheet.page_count() {
        let lines = sheet.lines(page);
        assert_eq!(lines[0], "Name Amount");
        seen.extend(lines.into_iter().skip(1));
    }
    let expected: Vec<String> = (0..100)
        .map(|index| format!("name{index} {index}"))
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_header_is_never_left_alone() {
    for count in 5..25 {
        let mut body: Vec<Value> = (0..count)
            .map(|index| json!({"type": "text", "content": format!("paragraph {index}")}))
            .collect();
        body.push(table());
        let sheet = sheet(Value::from(body), rows(3));
        assert_eq!(
            sheet.page_of("Name Amount"),
            sheet.page_of("name0 0"),
            "{count}"
        );
    }
}

#[test]
fn group_headers_and_subtotals_stay_with_their_rows() {
    let mut grouped = table();
    grouped["groups"] = json!([{"by": "item.group", "header": "Group {{ group.key }}", "footer": "Subtotal {{ group.key }}"}]);
    let sheet = sheet(json!([grouped]), rows(60));
    for group in 0..6 {
        let first = format!("name{} ", group * 10);
        let last = format!("name{} ", group * 10 + 9);
        assert_eq!(
            sheet.page_of(&format!("Group {group}")),
            sheet.page_of(&first)
        );
        assert_eq!(
            sheet.page_of(&format!("Subtotal {group}")),
            sheet.page_of(&last)
        );
    }
}

#[test]
fn a_cell_higher_than_a_page_goes_on_and_loses_nothing() {
    let text = words(900);
    for row_break in ["keep", "allow"] {
        let body = json!([{
            "type": "table", "rowBreak": row_break,
            "columns": [{"header": "Text"}],
            "bodyRows": [{"cells": [{"content": text}]}, {"cells": [{"content": "after"}]}]
        }]);
        let sheet = sheet(body, json!({}));
        assert!(sheet.page_count() > 3, "{row_break}");
        let mut all = Vec::new();
        for page in 0..sheet.page_count() {
            let height = sheet.layout.pages[page].height;
            assert!(
                sheet.texts(page).iter().all(|text| text.y < height - 29.0),
                "{row_break}"
            );
            all.extend(sheet.lines(page).into_iter().filter(|line| line != "Text"));
        }
        assert_eq!(all.join(" "), format!("{text} after"), "{row_break}");
    }
}

#[test]
fn spans_cover_their_columns_and_rows() {
    let body = json!([{
        "type": "table", "borders": "all", "showHeader": false,
        "columns": [{"width": "80pt"}, {"width": "80pt"}, {"width": "80pt"}],
        "bodyRows": [
            {"cells": [{"content": "tall", "rowSpan": 2}, {"content": "wide", "colSpan": 2}]},
            {"cells": ["b2", "c2"]}
        ]
    }]);
    let sheet = sheet(body, json!({}));
    let texts = sheet.texts(0);
    let at = |text: &str| texts.iter().find(|one| one.text == text).unwrap();
    assert!(at("b2").x > at("tall").x + 70.0);
    assert!((at("b2").x - at("wide").x).abs() < 0.1);
    assert!(at("c2").x > at("b2").x + 70.0);
    assert!(at("b2").y > at("wide").y);
}

#[test]
fn automatic_columns_fit_their_longest_word() {
    let body = json!([{"type": "table", "rows": "rows", "columns": [
        {"header": "A", "value": "{{ item.a }}"}, {"header": "B", "value": "{{ item.b }}"}
    ]}]);
    let data = json!({"rows": [{"a": "short", "b": "a text of many words that needs several lines to be read"}]});
    let sheet = sheet(body, data);
    let lines = sheet.lines(0);
    assert!(
        lines.iter().any(|line| line.starts_with("short")),
        "{lines:?}"
    );
}

#[test]
fn tables_nest_in_cells() {
    let inner = json!({"type": "table", "columns": [{"header": "In"}, {"header": "Out"}],
        "bodyRows": [{"cells": ["1", "2"]}]});
    let body = json!([{"type": "table", "columns": [{"header": "Outer"}, {"header": "Other"}],
        "bodyRows": [{"cells": [{"body": [inner]}, "plain"]}]}]);
    let lines = sheet(body, json!({})).lines(0).join("\n");
    for text in ["Outer", "In", "Out", "plain"] {
        assert!(lines.contains(text), "{lines}");
    }
}

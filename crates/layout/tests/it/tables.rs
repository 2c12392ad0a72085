//! Tables across pages.

use platen_layout::page::Item;
use serde_json::{Value, json};

use crate::harness::{Sheet, assert_within, sheet, sheet_with, words};

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

/// Number of lines, on all pages, that contain `text`.
fn count(sheet: &Sheet, text: &str) -> usize {
    (0..sheet.page_count())
        .flat_map(|page| sheet.lines(page))
        .filter(|line| line.contains(text))
        .count()
}

fn joined(rows: usize, row_break: &str) -> Value {
    let rows: Vec<Value> = (0..rows)
        .map(|index| {
            let text = format!("row{index}.\nsecond{index}.");
            match index {
                0 => json!({"cells": [{"content": "Group", "rowSpan": rows}, text]}),
                _ => json!({"cells": [text]}),
            }
        })
        .collect();
    json!({"type": "table", "borders": "all", "rowBreak": row_break, "showHeader": false,
        "columns": [{"width": "60pt"}, {}], "bodyRows": rows})
}

#[test]
fn rows_that_a_span_joins_go_on_at_the_next_page() {
    for row_break in ["keep", "allow"] {
        let body = json!([
            {"type": "text", "content": words(120)},
            joined(30, row_break)
        ]);
        let sheet = sheet(body, json!({}));
        assert!(
            sheet.layout.warnings.is_empty(),
            "{:?}",
            sheet.layout.warnings
        );
        assert_within(&sheet, 30.0);
        for index in 0..30 {
            assert_eq!(
                count(&sheet, &format!("row{index}.")),
                1,
                "{row_break} {index}"
            );
            assert_eq!(
                count(&sheet, &format!("second{index}.")),
                1,
                "{row_break} {index}"
            );
        }
        assert_eq!(sheet.page_of("Group"), 0, "{row_break}");
        assert_eq!(sheet.page_of("row0."), 0, "{row_break}");
    }
}

#[test]
fn few_joined_rows_move_to_the_next_page_as_a_whole() {
    for filler in 1..40 {
        let mut body: Vec<Value> = (0..filler)
            .map(|index| json!({"type": "text", "content": format!("paragraph {index}")}))
            .collect();
        body.push(joined(3, "keep"));
        let sheet = sheet(Value::from(body), json!({}));
        assert_eq!(sheet.page_of("row0."), sheet.page_of("row2."), "{filler}");
    }
}

#[test]
fn a_long_cell_beside_joined_rows_loses_nothing() {
    let text = words(700);
    let body = json!([{
        "type": "table", "borders": "all", "showHeader": false, "columns": [{}, {}],
        "bodyRows": [
            {"cells": [{"content": text, "rowSpan": 3}, "one."]}, {"cells": ["two."]},
            {"cells": [words(300)]}
        ]
    }]);
    let sheet = sheet(body, json!({}));
    assert_within(&sheet, 30.0);
    let mut found: Vec<String> = Vec::new();
    for page in 0..sheet.page_count() {
        let mut texts = sheet.texts(page);
        texts.retain(|text| text.x < 150.0);
        for text in texts {
            found.extend(text.text.split_whitespace().map(str::to_owned));
        }
    }
    assert_eq!(found.join(" "), text);
}

#[test]
fn a_total_is_never_left_alone() {
    let mut grouped = table();
    grouped["groups"] = json!([{"by": "item.group", "header": "Group {{ group.key }}", "footer": "Subtotal {{ group.key }}"}]);
    for rows_count in 1..40 {
        let sheet = sheet(json!([grouped]), rows(rows_count));
        let last = sheet.page_count() - 1;
        let lines = sheet.lines(last);
        assert!(
            lines.iter().any(|line| line.starts_with("name")),
            "{rows_count}: {lines:?}"
        );
    }
}

/// Vertical and horizontal lines of a page: (x or y, from, to).
fn rules(sheet: &Sheet, page: usize, vertical: bool) -> Vec<(f32, f32, f32)> {
    let lines = sheet.layout.pages[page]
        .items
        .iter()
        .filter_map(|item| match item {
            platen_layout::page::Item::Line { from, to, .. } => Some((*from, *to)),
            _ => None,
        });
    lines
        .filter(|(from, to)| {
            (from.0 - to.0).abs() < 0.01 && vertical || (from.1 - to.1).abs() < 0.01 && !vertical
        })
        .map(|(from, to)| {
            if vertical {
                (from.0, from.1, to.1)
            } else {
                (from.1, from.0, to.0)
            }
        })
        .collect()
}

#[test]
fn a_table_with_all_borders_has_every_line_on_every_page() {
    for row_break in ["keep", "allow"] {
        let rows: Vec<Value> = (0..12)
            .map(|index| json!({"cells": [format!("row{index}"), words(30)]}))
            .collect();
        let body = json!([{"type": "table", "borders": "all", "rowBreak": row_break,
            "zebra": true, "showHeader": false, "repeatHeader": false,
            "columns": [{"width": "80pt"}, {"width": "160pt"}], "bodyRows": rows}]);
        let sheet = sheet(body, json!({}));
        assert!(sheet.page_count() > 1);
        for page in 0..sheet.page_count() {
            let (first, last) = bounds(&sheet, page);
            for x in [30.0, 110.0, 270.0] {
                let length: f32 = rules(&sheet, page, true)
                    .into_iter()
                    .filter(|line| (line.0 - x).abs() < 0.1)
                    .map(|line| line.2 - line.1)
                    .sum();
                assert!(
                    length > last - first,
                    "{row_break} page {page} x {x}: {length}"
                );
            }
            let top = rules(&sheet, page, false)
                .into_iter()
                .any(|line| line.0 < first && line.2 - line.1 > 239.0);
            assert!(top, "{row_break} page {page} has a top line");
        }
    }
}

/// Baselines of a page's first and last text.
fn bounds(sheet: &Sheet, page: usize) -> (f32, f32) {
    let texts = sheet.texts(page);
    let ys = texts.iter().map(|text| text.y);
    (ys.clone().fold(f32::MAX, f32::min), ys.fold(0.0, f32::max))
}

#[test]
fn lines_between_rows_lie_over_the_backgrounds_of_both() {
    for borders in ["all", "horizontal"] {
        let body = json!([{"type": "table", "borders": borders, "zebra": true,
        "columns": [{"header": "Name"}], "bodyRows": [
            {"cells": ["one"]}, {"cells": ["two"]}, {"cells": ["three"]}
        ]}]);
        let sheet = sheet(body, json!({}));
        let items = &sheet.layout.pages[0].items;
        for (index, item) in items.iter().enumerate() {
            let platen_layout::page::Item::Rect { area, .. } = item else {
                continue;
            };
            let again = items[index..].iter().any(|item| match item {
                platen_layout::page::Item::Line { from, to, .. } => {
                    (from.1 - area.y).abs() < 0.01 && from.1 == to.1
                }
                _ => false,
            });
            let header = area.y < 31.0 && borders == "horizontal";
            assert!(again || header, "{borders}: no line over {area:?}");
        }
    }
}

#[test]
fn lines_between_rows_leave_spanning_cells_alone() {
    let body = json!([{"type": "table", "borders": "horizontal", "showHeader": false,
    "columns": [{"width": "80pt"}, {"width": "80pt"}], "bodyRows": [
        {"cells": [{"content": "tall", "rowSpan": 3}, "a"]}, {"cells": ["b"]}, {"cells": ["c"]}
    ]}]);
    let sheet = sheet(body, json!({}));
    let (first, last) = bounds(&sheet, 0);
    let across = rules(&sheet, 0, false)
        .into_iter()
        .filter(|line| line.0 > first && line.0 < last && line.1 < 100.0)
        .count();
    assert_eq!(across, 0);
}

#[test]
fn the_header_stands_over_the_parts_of_a_first_row_that_goes_on() {
    let body = json!([{"type": "table", "columns": [{"header": "Heading"}],
        "bodyRows": [{"cells": [words(600)]}]}]);
    let sheet = sheet(body, json!({}));
    assert!(sheet.page_count() > 2);
    for page in 0..sheet.page_count() {
        assert_eq!(sheet.lines(page)[0], "Heading", "{page}");
    }
}

#[test]
fn a_table_across_columns_that_just_fits_leaves_no_header_alone() {
    let page = json!({
        "size": {"width": "300pt", "height": "400pt"}, "margins": "30pt", "columns": 2
    });
    let mut spanning = table();
    spanning["style"] = json!({"columnSpan": "all"});
    for count in 1..45 {
        let parts = json!({"page": page, "body": [spanning]});
        let sheet = sheet_with(parts, rows(count));
        let seen: usize = (0..sheet.page_count())
            .map(|page| {
                let lines = sheet.lines(page);
                assert!(lines.len() > 1, "{count} rows, page {page}: {lines:?}");
                lines.len() - 1
            })
            .sum();
        assert_eq!(seen, count, "{count} rows");
    }
}

#[test]
fn a_group_header_stays_with_its_first_row_where_totals_are_carried_forward() {
    let mut carried = 0;
    for height in 200..330 {
        let body = json!([{"type": "spacer", "height": format!("{height}pt")},
            {"type": "table", "rows": "rows", "carriedForward": "Carried",
                "columns": [{"header": "N", "value": "row {{ item }}"},
                    {"header": "A", "value": "{{ item }}", "format": "number", "total": "sum"}],
                "groups": [{"by": "item % 2", "header": "Group {{ group.key }}"}]}]);
        let sheet = sheet(body, json!({"rows": [1, 2, 3, 4, 5, 6]}));
        for (group, row) in [("Group 1", "row 1"), ("Group 0", "row 2")] {
            assert_eq!(sheet.page_of(group), sheet.page_of(row), "{height}");
        }
        carried += usize::from(sheet.lines(0).iter().any(|line| line.contains("Carried")));
    }
    assert!(carried > 20, "{carried}");
}

#[test]
fn totals_are_carried_forward_above_the_margin_where_the_last_row_goes_on() {
    let mut broken = 0;
    for height in 10..250 {
        let body = json!([{"type": "spacer", "height": format!("{height}pt")},
            {"type": "table", "rows": "rows", "rowBreak": "allow", "carriedForward": "Carried",
                "columns": [{"header": "N", "value": "{{ item.name }}"},
                    {"header": "A", "value": "{{ item.amount }}", "format": "number",
                        "width": "60pt", "total": "sum"}]}]);
        let rows = json!([{"name": "first", "amount": 1}, {"name": words(90), "amount": 2}]);
        let sheet = sheet(body, json!({"rows": rows}));
        assert_within(&sheet, 30.0);
        let lines = sheet.lines(0);
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        broken += usize::from(has("word0") && has("Carried"));
    }
    assert!(broken > 50, "{broken}");
}

#[test]
fn emoji_of_turned_cells_stand_in_them() {
    let body = json!([{
        "type": "table",
        "columns": [
            {"header": "😀😀😀😀", "width": "30pt", "headerStyle": {"turned": true}},
            {"header": "b"}
        ],
        "bodyRows": [{"cells": ["1", "2"]}]
    }]);
    let sheet = sheet(body, json!({}));
    let texts = sheet.texts(0);
    let below = texts.iter().find(|text| text.text == "1").unwrap().y;
    let pictures: Vec<_> = (sheet.layout.pages[0].items.iter())
        .filter_map(|item| match item {
            Item::Image { area, .. } => Some(*area),
            _ => None,
        })
        .collect();
    assert_eq!(pictures.len(), 4);
    for area in &pictures {
        let across = area.x >= 30.0 && area.x + area.width <= 60.0;
        let down = area.y >= 30.0 && area.y + area.height < below;
        assert!(across && down, "{area:?}");
    }
    // They are read from the bottom up.
    assert!(pictures.is_sorted_by(|one, next| one.y > next.y));
}

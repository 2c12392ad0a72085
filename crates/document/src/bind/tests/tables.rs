//! Bound tables: values, groups, totals, spans.

use super::*;
use crate::bound::{Aggregate, Align, RowKind, Value, ValueFormat};

fn items() -> Json {
    json!({ "items": [
        { "n": "a", "q": 2, "p": 1.5, "k": "x", "d": "2026-01-31" },
        { "n": "b", "q": 1, "p": 0.1, "k": "y", "d": "2026-02-01" },
        { "n": "c", "q": 3, "p": 0.2, "k": "x", "d": null }
    ]})
}

#[test]
fn values_keep_their_types() {
    let document = document(
        json!([{ "type": "table", "rows": "items", "columns": [
            { "header": "Name", "value": "{{ item.n|upper }}" },
            { "header": "Price", "value": "{{ item.p }}", "format": "currency", "total": "sum" },
            { "header": "Sum", "value": "{{ item.p * item.q }}", "format": { "type": "number", "decimals": 2 } },
            { "header": "Day", "value": "{{ item.d }}", "format": "date" },
            { "value": "{{ item.p|percent }}" },
            { "when": "false", "value": "{{ item.nothing }}" }
        ], "total": "Total" }]),
        &items(),
    );
    let table = table(&document);
    assert_eq!(
        rows(table)[0],
        ["A", "€1.50", "3.00", "Jan 31, 2026", "150%"]
    );
    assert_eq!(rows(table)[2], ["C", "€0.20", "0.60", "", "20%"]);
    assert_eq!(rows(table)[3], ["Total", "€1.80", "", "", ""]);
    let cells = &table.rows[0].cells;
    assert_eq!(cells[1].value, Value::Number(1.5));
    assert_eq!(cells[3].value, Value::Date(20_484));
    assert_eq!(cells[4].value, Value::Number(1.5));
    assert_eq!(
        cells[4].format.as_deref(),
        Some(&ValueFormat::Percent { decimals: 0 })
    );
    assert_eq!(document.styles[cells[1].style].align, Align::Right);
    assert_eq!(table.rows[3].cells[1].aggregate, Some(Aggregate::Sum));
    assert_eq!(table.rows[3].kind, RowKind::Total);
    let keys: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.key.as_str())
        .collect();
    assert_eq!(keys, ["Name", "Price", "Sum", "Day", "column5"]);
}

#[test]
fn groups_have_headers_and_subtotals() {
    let document = document(
        json!([{ "type": "table", "rows": "items", "as": "row", "rowWhen": "row.q > 0",
          "groups": [{ "by": "row.k", "header": "Kind {{ group.key }} ({{ group.count }})",
                       "footer": "Sum {{ group.key }}", "pageBreak": true }],
          "columns": [ { "value": "{{ row.n }}" }, { "value": "{{ row.q }}", "total": "sum" },
                       { "value": "{{ row.p }}", "total": "{{ rows|max('p') }}" } ],
          "total": "All", "footerRows": [{ "cells": ["{{ rows|count }} rows", { "content": "x", "colSpan": 2 }] }] }]),
        &items(),
    );
    let table = table(&document);
    assert_eq!(
        rows(table),
        [
            vec!["Kind x (2)"],
            vec!["a", "2", "1.5"],
            vec!["c", "3", "0.2"],
            vec!["Sum x", "5", "1.5"],
            vec!["Kind y (1)"],
            vec!["b", "1", "0.1"],
            vec!["Sum y", "1", "0.1"],
            vec!["All", "6", "1.5"],
            vec!["3 rows", "x"],
        ]
    );
    assert_eq!(table.rows[0].kind, RowKind::GroupHeader(0));
    assert_eq!(table.rows[0].cells[0].col_span, 3);
    assert!(table.rows[4].page_break && !table.rows[0].page_break);
}

#[test]
fn rows_by_hand_keep_their_spans() {
    let document = document(
        json!([{ "type": "table", "columns": [{ "header": "A" }, { "header": "B", "when": "false" }, {}],
          "bodyRows": [
            { "cells": [{ "content": "tall", "rowSpan": 3 }, { "content": "wide", "colSpan": 2 }] },
            { "when": "false", "cells": ["gone", "gone"] },
            { "cells": ["b", "{{ 1 + 1 }}"] },
            { "cells": [] }
        ]}]),
        &json!({}),
    );
    let table = table(&document);
    assert_eq!(table.columns.len(), 2);
    assert_eq!(rows(table), [vec!["tall", "wide"], vec!["2"], vec!["", ""]]);
    assert_eq!(
        (
            table.rows[0].cells[0].row_span,
            table.rows[0].cells[1].col_span
        ),
        (2, 1)
    );
    assert_eq!(table.rows[1].cells[0].value, Value::Number(2.0));
}

#[test]
fn looks_of_cells_by_hand_see_the_element_of_their_column() {
    let document = document(
        json!([{ "type": "table", "rows": "items", "columns": [
            { "each": "items", "as": "kind", "value": "{{ kind.n }}" }, { "value": "{{ item.n }}" } ],
          "footerRows": [{ "cells": [{ "content": "{{ kind.n }}",
            "style": { "bold": "{{ kind.q > 2 }}", "italic": true },
            "align": "{{ 'end' if kind.q > 1 else 'start' }}" }, "-"] }] }]),
        &items(),
    );
    let table = table(&document);
    let styles = table.rows[3]
        .cells
        .iter()
        .map(|cell| &document.styles[cell.style]);
    let looks: Vec<_> = styles
        .map(|style| (style.bold, style.italic, style.align))
        .collect();
    assert_eq!(looks[0], (false, true, Align::End));
    assert_eq!(looks[1], (false, true, Align::Start));
    assert_eq!(looks[2], (true, true, Align::End));
    assert_eq!(rows(table)[3], ["a", "b", "c", "-"]);
}

#[test]
fn rules_style_rows_and_emptiness_is_shown() {
    let template = json!([
        { "type": "table", "rows": "items", "zebra": true, "empty": "none",
          "rowStyles": [{ "when": "item.q > 2", "style": { "bold": true } }],
          "columns": [{ "value": "{{ item.n }}" }, { "body": [{ "type": "text", "content": "{{ item.n }}!" }] }] }
    ]);
    let bound = document(template.clone(), &items());
    let bold: Vec<bool> = table(&bound)
        .rows
        .iter()
        .map(|row| bound.styles[row.cells[0].style].bold)
        .collect();
    assert_eq!(bold, [false, false, true]);
    assert_eq!(rows(table(&bound))[0], ["a", "a!"]);
    let bound = document(template, &json!({ "items": [] }));
    assert_eq!(rows(table(&bound)), [["none"]]);
}

#[test]
fn rich_cells_with_rules_are_bound_once() {
    let rules = json!([{ "when": "value is none", "style": { "bold": true } }]);
    let document = document(
        json!([{ "type": "table", "rows": "items", "columns": [
            { "value": ["n", { "text": "o", "footnote": "{{ item.n }}" }], "cellStyles": rules },
            { "body": [{ "type": "text", "id": "cell-{{ item.n }}", "content": "-" }],
              "cellStyles": rules } ] }]),
        &items(),
    );
    let notes = document.footnotes.iter();
    let notes: Vec<String> = notes.map(|note| plain_text(&note.content)).collect();
    assert_eq!(notes, ["a", "b", "c"]);
    for ((number, name), row) in (0..).zip(&notes).zip(&table(&document).rows) {
        let CellContent::Inlines(content) = &row.cells[0].content else {
            panic!("{row:?}");
        };
        let marks = content.iter().filter_map(|inline| match inline {
            Inline::Footnote { index, .. } => Some(*index),
            _ => None,
        });
        assert_eq!(marks.collect::<Vec<u32>>(), [number]);
        let CellContent::Blocks(blocks) = &row.cells[1].content else {
            panic!("{row:?}");
        };
        assert_eq!(blocks[0].id, Some(format!("cell-{name}").into()));
        assert!(
            row.cells
                .iter()
                .all(|cell| document.styles[cell.style].bold)
        );
    }
}

#[test]
fn mistakes_in_rows_are_few_and_name_the_row() {
    let data = json!({ "items": vec![json!({ "price": 1 }); 500] });
    let found = mistakes(
        json!([{ "type": "table", "rows": "items", "columns": [{ "value": "{{ item.prise }}" }] }]),
        &data,
    );
    assert_eq!(found.len(), 20);
    assert_eq!(found[1].path, "/body/0/columns/0/value");
    assert!(
        found[1].message.ends_with("(row 2)"),
        "{}",
        found[1].message
    );
    assert_eq!(found[1].hint.as_deref(), Some("did you mean `item.price`?"));
}

#[test]
fn long_tables_have_all_their_rows() {
    let row = json!({ "sku": "A-1", "name": "Widget", "quantity": 3, "price": 12.5, "day": "2026-01-31" });
    let data = json!({ "items": vec![row; 4_000] });
    let compiled = compiled(json!({ "currency": "EUR", "locale": "de-DE", "body": [
        { "type": "table", "rows": "items", "columns": [
            { "value": "{{ item.sku }}" }, { "value": "{{ item.name }}" },
            { "value": "{{ item.quantity }}", "format": "integer", "total": "sum" },
            { "value": "{{ item.price }}", "format": "currency" },
            { "value": "{{ item.price|currency }}" }
        ], "total": "Total" } ]}));
    let document = bind(&compiled, &data, &BindOptions::default(), &HOST).unwrap();
    assert_eq!(table(&document).rows.len(), 4_001);
}

#[test]
fn tables_of_rich_text_are_whole() {
    let body = json!([{ "type": "richText", "format": "html", "source": "{{ html }}" }]);
    let html = "<table><caption>c</caption><tr><th>a<th>b</tr>\
                <tr><td><ul><li>x</li><ul><li>y</li></ul></ul></td><td>second</td></tr>\
                <tr><td>3<td>4</table>";
    let document = document(body, &json!({ "html": html }));
    assert_eq!(document.sections[0].body.len(), 1);
    let table = table(&document);
    assert_eq!(plain_text(table.caption.as_deref().unwrap()), "c");
    assert_eq!(table.header.len(), 1);
    let rows = rows(table);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].len(), &*rows[0][1]), (2, "second"));
    assert_eq!(rows[1], ["3", "4"]);
}

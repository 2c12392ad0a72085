//! XLSX: typed cells, live totals, page setup, the same text through LibreOffice.

use platen_document::bound::{
    Barcode, BlockKind, Document, Inline, KeyValue, Section, Value as Typed, ValueFormat,
};
use platen_formats::xlsx::write;
use serde_json::{Value, json};

use crate::{
    office::{assert_holds, text_by_office},
    package::{parts, text},
    sample,
    whole::{bound, bound_to, captioned_cell},
};

#[test]
fn parts_are_sound_and_equal_documents_make_equal_bytes() {
    for document in [
        sample::everything("en-GB"),
        sample::drawings(),
        sample::arabic(),
        sample::spans(),
        Document::default(),
    ] {
        let written = write(&document).unwrap();
        parts(&written.bytes);
        assert_eq!(written.bytes, write(&document).unwrap().bytes);
    }
}

#[test]
fn cells_are_typed_and_totals_live() {
    let written = write(&sample::everything("en-GB")).unwrap();
    let parts = parts(&written.bytes);
    let sheet = text(&parts, "xl/worksheets/sheet1.xml");
    for piece in [
        "SUBTOTAL(9,F",
        "outlineLevel=\"1\"",
        "<v>46269</v>",
        "fitToHeight=\"0\"",
        "<mergeCell ",
        "&amp;LPage &amp;P of &amp;N",
    ] {
        assert!(sheet.contains(piece), "{piece}\n{sheet}");
    }
    assert!(sheet.contains("<v>332.5</v>"), "totals carry their result");
    let workbook = text(&parts, "xl/workbook.xml");
    assert!(workbook.contains("name=\"Report 2026 Q3\""));
    assert!(workbook.contains("state=\"hidden\""));
    assert!(parts.contains_key("xl/charts/chart4.xml"));
    let styles = text(&parts, "xl/styles.xml");
    assert!(styles.contains("[$€]#,##0.00"), "{styles}");
    let codes: Vec<_> = written
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(
        codes,
        [
            "first-page-header-omitted",
            "contents-omitted",
            "links-omitted",
            "panel-flattened",
            "columns-flattened",
            "signature-as-line",
            "links-omitted",
            "footnotes-as-rows",
            "first-page-number-omitted",
        ]
    );
}

#[test]
fn one_long_table_is_frozen_and_filtered() {
    let parts = parts(&write(&sample::long_table(50)).unwrap().bytes);
    let sheet = text(&parts, "xl/worksheets/sheet1.xml");
    assert!(sheet.contains("state=\"frozen\""));
    assert!(sheet.contains("<autoFilter ref=\"A2:F52\""), "{sheet}");
    assert!(text(&parts, "xl/workbook.xml").contains("Print_Titles"));
}

#[test]
fn very_long_tables_are_written_in_constant_memory() {
    let written = write(&sample::long_table(20_500)).unwrap();
    let parts = parts(&written.bytes);
    let sheet = text(&parts, "xl/worksheets/sheet1.xml");
    assert!(sheet.contains("r=\"20503\""));
    assert!(sheet.contains("SUBTOTAL(9,F3:F20502)"));
}

#[test]
fn texts_never_become_formulas() {
    let parts = parts(&write(&sample::spans()).unwrap().bytes);
    assert!(!text(&parts, "xl/worksheets/sheet1.xml").contains("<f>"));
    assert!(text(&parts, "xl/sharedStrings.xml").contains("<t>=1+1</t>"));
}

#[test]
fn libre_office_prints_the_same_text() {
    let written = write(&sample::everything("en-GB")).unwrap();
    let Some(text) = text_by_office(&written.bytes, "everything.xlsx") else {
        return;
    };
    assert_holds(
        &text,
        &[
            "Quarterly report",
            "twelve per cent <against> last year & beyond",
            "c. Third step",
            "All amounts are in euro.",
            "Example Ltd",
            "R-2026-07",
            "Region 2",
            "€249.50",
            "€332.50",
            "The right column.",
            "Figure 1: Gradient",
            "After the break.",
            "Revenue (Pie)",
            "Audited figures",
            "Page 1 of",
        ],
    );
}

#[test]
fn values_beside_labels_keep_their_type() {
    let template = serde_json::json!({"key": "t", "name": "T", "locale": "de-DE", "currency": "EUR",
    "body": [{"type": "keyValue", "items": [
        {"key": "Due", "value": "{{ '2026-11-22' }}", "format": "date"},
        {"key": "Rate", "value": "{{ 0.19 }}", "format": "percent"},
        {"key": "Net pay", "value": "{{ 3122.43 }}", "format": "currency"},
        {"key": "Plain", "value": "about {{ 7 }}", "format": "integer"}
    ]}]});
    let written = write(&crate::whole::bound(template)).unwrap();
    let parts = parts(&written.bytes);
    let sheet = text(&parts, "xl/worksheets/sheet1.xml");
    for value in ["<v>46348</v>", "<v>0.19</v>", "<v>3122.43</v>"] {
        assert!(sheet.contains(value), "{value}\n{sheet}");
    }
    let strings = text(&parts, "xl/sharedStrings.xml");
    assert!(strings.contains("about 7") && !strings.contains("3.122,43"));
}

#[test]
fn a_header_far_down_is_not_frozen_and_other_tables_have_room() {
    let mut body: Vec<serde_json::Value> = (0..9)
        .map(|index| serde_json::json!({"type": "text", "content": format!("line {index}")}))
        .collect();
    body.push(serde_json::json!({"type": "table", "columns": [
        {"header": "A", "width": "20mm"}, {"header": "B", "width": "20mm"}],
        "bodyRows": [{"cells": ["1", "2"]}, {"cells": ["3", "4"]}]}));
    body.push(
        serde_json::json!({"type": "table", "columns": [{"header": "Name"}, {"header": "C"}],
        "bodyRows": [{"cells": ["Krankenversicherung und Pflege", "1"]}]}),
    );
    let template = serde_json::json!({"key": "t", "name": "T", "body": body});
    let written = write(&crate::whole::bound(template)).unwrap();
    let parts = parts(&written.bytes);
    let sheet = text(&parts, "xl/worksheets/sheet1.xml");
    assert!(!sheet.contains("state=\"frozen\""));
    let width = sheet.split_once("<col min=\"1\"").unwrap().1;
    let width = width
        .split_once("width=\"")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0;
    assert!(width.parse::<f32>().unwrap() > 25.0, "{width}");
}

#[test]
fn table_names_that_read_as_references_do_not_fail_the_file() {
    for (name, expected) in [("C12-34", "_C12_34"), ("R1 results", "_R1_results")] {
        let template = json!({"key": "t", "name": "T", "body": [
            {"type": "table", "name": name, "columns": [{}], "bodyRows": [{"cells": ["1"]}]}
        ]});
        let parts = parts(&write(&bound(template)).unwrap().bytes);
        let workbook = text(&parts, "xl/workbook.xml");
        let written = format!("<definedName name=\"{expected}\"");
        assert!(workbook.contains(&written), "{workbook}");
    }
}

#[test]
fn what_xml_does_not_have_stays_out_of_every_part() {
    let pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAIAAAA8r+mnAAAAGElEQVR4nGNkYGhQYGDARCwMNgxYAekSAKGAAiL79PrSAAAAAElFTkSuQmCC";
    let address = "https://example.com/{{ t }}";
    let template = json!({"key": "t", "name": "T", "metadata": {"title": "{{ t }}"}, "body": [
        {"type": "section", "name": "{{ t }}", "body": [
            {"type": "image", "source": pixel, "alt": "{{ t }}", "link": address},
            {"type": "text", "content": [{"text": "{{ t }}", "link": address}]}
        ]},
        {"type": "section", "name": "' '", "body": [{"type": "text", "content": "x"}]}
    ]});
    let data = json!({"t": "a\u{fffe}b\u{ffff}"});
    let parts = parts(&write(&bound_to(template, &data)).unwrap().bytes);
    for (name, content) in &parts {
        if name.ends_with(".xml") || name.ends_with(".rels") {
            let content = std::str::from_utf8(content).unwrap();
            assert!(!content.contains(['\u{fffe}', '\u{ffff}']), "{name}");
        }
    }
    let workbook = text(&parts, "xl/workbook.xml");
    for name in ["a\u{fffd}b\u{fffd}", "Sheet2"] {
        let written = format!("<sheet name=\"{name}\"");
        assert!(workbook.contains(&written), "{workbook}");
    }
}

/// All cells of a written template, whose rows are in `bodyRows` of a table with this cell.
fn strings_of(cell: Value) -> String {
    let template = json!({"key": "t", "name": "T", "body": [
        {"type": "table", "name": "true", "columns": [{}], "bodyRows": [{"cells": [cell]}]}
    ]});
    let written = write(&bound(template)).unwrap();
    let parts = parts(&written.bytes);
    assert!(text(&parts, "xl/workbook.xml").contains("name=\"_true\""));
    text(&parts, "xl/sharedStrings.xml")
}

#[test]
fn footnotes_of_nodes_in_cells_are_kept() {
    let noted = json!(["Text", {"text": "", "footnote": "The note"}]);
    let listed = json!(["Item", {"text": "", "footnote": "Another"}]);
    let inner = json!(["Inner", {"text": "", "footnote": "The third"}]);
    let strings = strings_of(json!({"body": [
        {"type": "text", "content": noted},
        {"type": "list", "items": [listed]},
        {"type": "table", "columns": [{}], "bodyRows": [{"cells": [{"content": inner}]}]}
    ]}));
    for piece in [
        "Text¹\n• Item²\nInner³",
        "¹ The note",
        "² Another",
        "³ The third",
    ] {
        assert!(strings.contains(piece), "{piece}\n{strings}");
    }
}

#[test]
fn captions_of_nodes_in_cells_are_kept() {
    let strings = strings_of(captioned_cell());
    for piece in ["The picture", "The table", "The chart"] {
        assert!(strings.contains(piece), "{piece}\n{strings}");
    }
}

/// The first sheet of `template` with `data`.
fn sheet_of(template: Value, data: &Value) -> String {
    let written = write(&bound_to(template, data)).unwrap();
    text(&parts(&written.bytes), "xl/worksheets/sheet1.xml")
}

#[test]
fn live_totals_leave_out_rows_that_do_not_count() {
    let template = json!({"key": "t", "name": "T", "currency": "EUR", "body": [{
        "type": "table",
        "rows": "items",
        "columns": [
            {"header": "Item", "value": "{{ item.name }}"},
            {"header": "Amount", "value": "{{ item.amount }}", "format": "currency", "total": "sum"}
        ],
        "bodyRows": [{"cells": ["Shipping", "{{ shipping }}"]}],
        "total": "Total"
    }]});
    let data = json!({"shipping": 5, "items": [
        {"name": "A", "amount": 60}, {"name": "B", "amount": 40}
    ]});
    let sheet = sheet_of(template, &data);
    for piece in ["<v>5</v>", "SUBTOTAL(9,B2:B3)", "<v>100</v>"] {
        assert!(sheet.contains(piece), "{piece}\n{sheet}");
    }
}

#[test]
fn live_counts_leave_out_what_is_no_data() {
    let template = json!({"key": "t", "name": "T", "body": [{
        "type": "table",
        "rows": "items",
        "columns": [
            {"header": "Name", "value": "{{ item.name }}", "total": "count"},
            {"header": "Amount", "value": "{{ item.amount }}", "format": "integer", "total": "sum"}
        ],
        "groups": [{"by": "item.kind", "header": "{{ group.key }}", "footer": "Sum"}],
        "empty": "Nothing",
        "total": "All"
    }]});
    let data = json!({"items": [
        {"kind": "x", "name": "A", "amount": 1},
        {"kind": "x", "name": "B", "amount": 2},
        {"kind": "y", "name": "C", "amount": 3}
    ]});
    let sheet = sheet_of(template.clone(), &data);
    for piece in [
        "SUBTOTAL(3,A3:A4)",
        "SUBTOTAL(3,A7:A7)",
        "SUBTOTAL(9,B2:B8)",
    ] {
        assert!(sheet.contains(piece), "{piece}\n{sheet}");
    }
    let total = sheet.split_once("r=\"A9\"").unwrap().1;
    let total = total.split_once("</c>").unwrap().0;
    assert!(
        total.contains("<v>3</v>") && !total.contains("<f>"),
        "{total}"
    );
    let sheet = sheet_of(template, &json!({"items": []}));
    assert!(
        sheet.contains("<v>0</v>") && !sheet.contains("<f>"),
        "{sheet}"
    );
}

#[test]
fn numbers_have_no_decimals_from_binary_arithmetic() {
    let mut document = sample::spans();
    let BlockKind::Table(table) = &mut document.sections[0].body[0].kind else {
        panic!("no table")
    };
    table.columns[1].format = ValueFormat::Number { decimals: None };
    table.rows[2].cells[1].value = Typed::Number(3.0 * 24.9);
    let parts = parts(&write(&document).unwrap().bytes);
    let styles = text(&parts, "xl/styles.xml");
    assert!(styles.contains("formatCode=\"#,##0.0\""), "{styles}");
}

#[test]
fn what_is_below_the_last_row_is_reported() {
    let (document, look) = sample::document("en-GB");
    let body = document.named.body;
    let mut table = sample::table(&look, 2, 0);
    table.header.extend(table.header.clone());
    let text = |words: &str| vec![Inline::text(words, body)];
    let pairs = KeyValue {
        items: vec![(text("A"), text("1")), (text("B"), text("2"))],
        columns: 1,
        ..KeyValue::default()
    };
    for kind in [
        BlockKind::Table(Box::new(table)),
        BlockKind::KeyValue(pairs),
    ] {
        // A picture reaches down to the last row of a sheet, or just beyond it.
        for rows in [1_048_574_u32, 1_048_575] {
            let picture = Barcode {
                height: 15.0 * rows as f32,
                ..sample::barcode()
            };
            let kinds = [
                BlockKind::Barcode(picture),
                kind.clone(),
                BlockKind::PageBreak,
            ];
            let mut document = document.clone();
            document.sections.push(Section {
                body: kinds.map(|kind| sample::block(kind, body, "/body")).into(),
                ..Section::default()
            });
            let warnings = write(&document).unwrap().warnings;
            let mut codes = warnings.iter().map(|warning| &*warning.code);
            assert!(codes.any(|code| code == "rows-omitted"), "{warnings:?}");
        }
    }
}

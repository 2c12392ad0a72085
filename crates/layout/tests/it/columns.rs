//! Text columns with footnotes and totals of pages, above and below blocks that span them.

use serde_json::{Value, json};

use crate::harness::{Placed, Sheet, assert_no_overlap, assert_within, sheet_with, words};

/// Lays out `body` in two text columns.
fn in_columns(body: Value) -> Sheet {
    let parts = json!({
        "page": {"size": {"width": "300pt", "height": "400pt"}, "margins": "30pt", "columns": 2},
        "body": body
    });
    sheet_with(parts, json!({"rows": (1..=25).collect::<Vec<_>>()}))
}

fn span() -> Value {
    json!({"type": "text", "content": "Spanning text", "style": {"columnSpan": "all"}})
}

/// The text of a page that contains `text`.
fn find(sheet: &Sheet, page: usize, text: &str) -> Placed {
    let mut texts = sheet.texts(page).into_iter();
    texts
        .find(|placed| placed.text.contains(text))
        .unwrap_or_else(|| panic!("`{text}` is not on page {page}"))
}

/// Panics if something overlaps, or something of `above` is not above the block that spans.
fn assert_span_below(sheet: &Sheet, above: &str) {
    for page in 0..sheet.page_count() {
        assert_no_overlap(sheet, page);
    }
    assert_within(sheet, 30.0);
    let page = sheet.page_of("Spanning");
    let span = find(sheet, page, "Spanning");
    for text in sheet.texts(page) {
        assert!(!text.text.contains(above) || text.y < span.y, "{text:?}");
    }
}

#[test]
fn a_block_that_spans_columns_with_footnotes_starts_below_the_lowest() {
    for count in 1..110 {
        let sheet = in_columns(json!([
            {"type": "text", "content": [
                {"text": "Marked", "footnote": "First note."}, words(count)
            ]},
            {"type": "text", "content": [
                {"text": "again", "footnote": "Second note."}, words(8)
            ]},
            span(),
            {"type": "text", "content": [{"text": "Below", "footnote": "Third note."}]}
        ]));
        assert_span_below(&sheet, "word");
        let (page, mark) = (sheet.page_of("Second note."), sheet.page_of("again"));
        assert_eq!(page, mark, "{count}");
        let (note, mark) = (
            find(&sheet, page, "Second note."),
            find(&sheet, page, "again"),
        );
        let half = |text: &Placed| text.x > 150.0;
        assert_eq!(half(&note), half(&mark), "{count}: {note:?} {mark:?}");
    }
}

#[test]
fn the_footnote_of_a_block_that_spans_columns_stands_in_the_first() {
    let sheet = in_columns(json!([
        {"type": "text", "content": words(20), "style": {"columnSpan": "all"}},
        {"type": "text", "style": {"columnSpan": "all"}, "content": [
            {"text": "Spanning text", "footnote": format!("Its note {}", words(12))}
        ]},
        {"type": "text", "content": words(200)}
    ]));
    assert_eq!(sheet.page_count(), 2);
    for page in 0..2 {
        assert_no_overlap(&sheet, page);
    }
    assert_within(&sheet, 30.0);
    let note = find(&sheet, 0, "Its note");
    assert!(note.x < 150.0 && note.y > 300.0, "{note:?}");
}

#[test]
fn long_footnotes_continue_around_a_block_that_spans_columns() {
    for count in (10..260).step_by(10) {
        let note: Vec<String> = (0..count).map(|index| format!("note{index}")).collect();
        let sheet = in_columns(json!([
            {"type": "text", "content": [words(60), {"text": "", "footnote": note.join(" ")}]},
            span(),
            {"type": "text", "content": words(60)},
            span(),
        ]));
        for page in 0..sheet.page_count() {
            assert_no_overlap(&sheet, page);
        }
        assert_within(&sheet, 30.0);
        sheet.page_of(&format!("note{}", count - 1));
    }
}

#[test]
fn a_block_that_spans_columns_starts_below_the_totals_of_a_page() {
    for count in 1..=25 {
        let sheet = in_columns(json!([
            {"type": "text", "content": "Above\n".repeat(count), "style": {"columnSpan": "all"}},
            {"type": "table", "rows": "rows", "pageTotal": "Page", "carriedForward": "Carried",
                "columns": [{"header": "N", "value": "row {{ item }}"},
                    {"header": "A", "value": "{{ item }}", "total": "sum"}]},
            span()
        ]));
        for above in ["row", "Page", "Carried"] {
            assert_span_below(&sheet, above);
        }
    }
}

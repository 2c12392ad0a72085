//! Page breaks: widows, keep rules, headers, footers, contents, footnotes.

use platen_layout::page::{Item, TagId, TagKind};
use serde_json::{Value, json};

use crate::harness::{Sheet, assert_no_overlap, assert_within, sheet, sheet_with, words};

fn paragraphs(count: usize) -> Vec<Value> {
    (0..count)
        .map(|index| json!({"type": "text", "content": format!("paragraph {index}")}))
        .collect()
}

#[test]
fn a_heading_stays_with_its_text() {
    for count in 8..24 {
        let mut body = paragraphs(count);
        body.push(json!({"type": "heading", "level": 2, "content": "The heading"}));
        body.push(json!({"type": "text", "content": "The text below it"}));
        let sheet = sheet(Value::from(body), json!({}));
        assert_eq!(
            sheet.page_of("The heading"),
            sheet.page_of("The text below"),
            "{count}"
        );
    }
}

#[test]
fn widows_and_orphans_are_two_lines() {
    for count in 6..18 {
        let mut body = paragraphs(count);
        body.push(json!({"type": "text", "content": words(60)}));
        let sheet = sheet(Value::from(body), json!({}));
        let with_words = |page: usize| -> usize {
            sheet
                .lines(page)
                .iter()
                .filter(|line| line.contains("word"))
                .count()
        };
        for page in 0..sheet.page_count() {
            let lines = with_words(page);
            assert!(
                lines != 1,
                "{count} paragraphs leave one line on page {page}"
            );
        }
    }
}

#[test]
fn panels_break_over_pages_and_keep_everything() {
    let body: Vec<Value> = paragraphs(60);
    let sheet = sheet(json!([{"type": "panel", "body": body}]), json!({}));
    assert!(sheet.page_count() > 2);
    for index in 0..60 {
        sheet.page_of(&format!("paragraph {index}"));
    }
}

#[test]
fn page_numbers_count_to_the_end() {
    let parts = json!({
        "page": {
            "size": {"width": "300pt", "height": "400pt"}, "margins": "40pt",
            "footer": [{"type": "text", "content": "Page {{ pageNumber }} of {{ pageCount }}"}],
            "header": [{"type": "text", "content": "Running"}],
            "firstHeader": [{"type": "text", "content": "Cover"}]
        },
        "body": paragraphs(60)
    });
    let sheet = sheet_with(parts, json!({}));
    let count = sheet.page_count();
    assert!(count > 2);
    for page in 0..count {
        let lines = sheet.lines(page);
        assert_eq!(
            lines.last().unwrap(),
            &format!("Page {} of {count}", page + 1)
        );
        assert_eq!(lines[0], if page == 0 { "Cover" } else { "Running" });
    }
}

#[test]
fn contents_show_the_right_pages() {
    let mut body = vec![json!({"type": "tableOfContents", "title": "Contents", "depth": 2})];
    for chapter in 0..6 {
        body.push(json!({"type": "heading", "level": 1, "content": format!("Chapter {chapter}")}));
        body.extend(paragraphs(9));
    }
    let sheet = sheet(Value::from(body), json!({}));
    for chapter in 0..6 {
        let title = format!("Chapter {chapter}");
        let entry = sheet
            .lines(0)
            .into_iter()
            .find(|line| line.starts_with(&title))
            .unwrap();
        let number: usize = entry.rsplit(' ').next().unwrap().parse().unwrap();
        let pages: Vec<usize> = (0..sheet.page_count())
            .filter(|page| sheet.lines(*page).contains(&title))
            .collect();
        assert_eq!(pages, [number - 1], "{entry}");
    }
    assert_eq!(sheet.layout.outline.len(), 6);
}

#[test]
fn a_footnote_stands_on_the_page_of_its_mark() {
    for count in 5..25 {
        let mut body = paragraphs(count);
        body.push(json!({"type": "text", "content": [
            "Marked text", {"text": "", "footnote": "The note itself"}
        ]}));
        body.extend(paragraphs(4));
        let sheet = sheet(Value::from(body), json!({}));
        assert_eq!(
            sheet.page_of("Marked text"),
            sheet.page_of("The note itself"),
            "{count}"
        );
        let lines = sheet.lines(sheet.page_of("The note itself"));
        assert!(
            lines.last().unwrap().contains("The note itself"),
            "{lines:?}"
        );
    }
}

#[test]
fn sections_have_their_own_paper() {
    let body = json!([
        {"type": "text", "content": "first"},
        {"type": "section", "page": {"orientation": "landscape"}, "body": [
            {"type": "text", "content": "second"}
        ]},
        {"type": "text", "content": "third"}
    ]);
    let sheet = sheet(body, json!({}));
    let sizes: Vec<(f32, f32)> = sheet
        .layout
        .pages
        .iter()
        .map(|page| (page.width, page.height))
        .collect();
    assert_eq!(sizes, [(300.0, 400.0), (400.0, 300.0), (300.0, 400.0)]);
    assert_eq!((sheet.page_of("second"), sheet.page_of("third")), (1, 2));
}

#[test]
fn text_columns_fill_one_after_the_other() {
    let parts = json!({
        "page": {"size": {"width": "300pt", "height": "400pt"}, "margins": "30pt", "columns": 2},
        "body": paragraphs(30)
    });
    let sheet = sheet_with(parts, json!({}));
    assert_eq!(sheet.page_count(), 1);
    let xs = column_edges(&sheet);
    assert_eq!(xs.len(), 2, "{xs:?}");
}

fn column_edges(sheet: &Sheet) -> Vec<i32> {
    let mut xs: Vec<i32> = sheet
        .texts(0)
        .iter()
        .map(|text| text.x.round() as i32)
        .collect();
    xs.sort_unstable();
    xs.dedup();
    xs
}

#[test]
fn a_page_break_breaks_once() {
    let body = json!([
        {"type": "pageBreak"},
        {"type": "text", "content": "one"},
        {"type": "pageBreak"},
        {"type": "text", "content": "two"}
    ]);
    let sheet = sheet(body, json!({}));
    assert_eq!((sheet.page_count(), sheet.page_of("two")), (2, 1));
}

#[test]
fn no_space_stands_above_the_first_block_behind_a_page_break() {
    let spaced = json!({"type": "text", "style": {"spaceBefore": "20pt"}, "content": "spaced"});
    let body = json!([
        spaced, {"type": "pageBreak"}, spaced, {"type": "pageBreak"}, {"type": "pageBreak"}, spaced
    ]);
    let sheet = sheet(body, json!({}));
    // The page between two breaks stays empty.
    assert_eq!(sheet.page_count(), 4);
    let top = |page: usize| sheet.texts(page)[0].y;
    assert!((top(0) - top(1)).abs() < 0.01 && (top(0) - top(3)).abs() < 0.01);
    assert!(sheet.texts(2).is_empty());
}

#[test]
fn borders_stay_within_the_column() {
    let style = json!({"border": {"width": "4pt"}});
    let sheet = sheet(
        json!([{"type": "panel", "style": style, "body": [{"type": "text", "content": "text"}]}]),
        json!({}),
    );
    for item in &sheet.layout.pages[0].items {
        if let Item::Line {
            from, to, width, ..
        } = item
        {
            let half = width / 2.0;
            let (left, right) = (from.0.min(to.0), from.0.max(to.0));
            let across = if from.0 == to.0 { half } else { 0.0 };
            assert!(left - across > 29.99 && right + across < 270.01, "{item:?}");
            assert!(from.1.min(to.1) > 29.99, "{item:?}");
        }
    }
}

#[test]
fn kept_content_higher_than_a_page_still_ends() {
    let body: Vec<Value> = (0..80)
        .map(|index| {
            json!({"type": "text", "style": {"keepWithNext": true}, "content": format!("kept {index}")})
        })
        .collect();
    let sheet = sheet(Value::from(body), json!({}));
    assert!(sheet.page_count() >= 4);
    sheet.page_of("kept 79");
}

#[test]
fn a_heading_stays_with_a_text_that_has_a_footnote() {
    for count in 8..24 {
        let mut body = paragraphs(count);
        body.push(json!({"type": "heading", "level": 2, "content": "The heading"}));
        body.push(json!({"type": "text", "content": [
            "The text below it", {"text": "", "footnote": words(25)}
        ]}));
        let sheet = sheet(Value::from(body), json!({}));
        assert_eq!(
            sheet.page_of("The heading"),
            sheet.page_of("The text below"),
            "{count}"
        );
    }
}

/// The words of all footnotes, each with its page.
fn note_words(sheet: &Sheet, start: &str) -> Vec<String> {
    (0..sheet.page_count())
        .flat_map(|page| sheet.lines(page))
        .flat_map(|line| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|word| word.starts_with(start))
        .collect()
}

#[test]
fn a_footnote_longer_than_a_page_goes_on_at_the_next() {
    let note: Vec<String> = (0..900).map(|index| format!("note{index}")).collect();
    let mut body = paragraphs(3);
    body.push(json!({"type": "text", "content": [
        "Marked", {"text": "", "footnote": note.join(" ")}
    ]}));
    body.extend(paragraphs(30));
    let sheet = sheet(Value::from(body), json!({}));
    assert!(
        sheet.layout.warnings.is_empty(),
        "{:?}",
        sheet.layout.warnings
    );
    assert_within(&sheet, 30.0);
    assert_eq!(note_words(&sheet, "note"), note);
    assert_eq!(sheet.page_of("Marked"), 0);
    assert_eq!(sheet.page_of("note0"), 0);
    // The text gets the part of the page that the notes leave.
    assert_eq!(sheet.page_of("paragraph 2"), 0);
    assert!(sheet.page_of("paragraph 1") < sheet.page_of("note899"));
    for page in 0..sheet.page_count() {
        assert_no_overlap(&sheet, page);
    }
}

#[test]
fn footnotes_of_text_columns_leave_the_text_alone() {
    let mut body = Vec::new();
    for index in 0..40 {
        body.push(json!({"type": "text", "content": [
            format!("paragraph{index} of some words that fill a line or two"),
            {"text": "", "footnote": format!("note{index} {}", words(index % 17))}
        ]}));
    }
    let parts = json!({
        "page": {"size": {"width": "300pt", "height": "400pt"}, "margins": "30pt", "columns": 2},
        "body": body
    });
    let sheet = sheet_with(parts, json!({}));
    assert_within(&sheet, 30.0);
    let expected: Vec<String> = (0..40).map(|index| format!("note{index}")).collect();
    let mut found = note_words(&sheet, "note");
    found.sort_by_key(|note| note[4..].parse::<u32>().unwrap());
    assert_eq!(found, expected);
    for page in 0..sheet.page_count() {
        assert_no_overlap(&sheet, page);
    }
}

#[test]
fn footnotes_stand_on_the_page_of_their_marks_in_long_cells() {
    let cells: Vec<Value> = (0..60)
        .map(|index| {
            json!({"type": "text", "content": [
                format!("mark{index}."), {"text": "", "footnote": format!("note{index}.")}
            ]})
        })
        .collect();
    let body = json!([{"type": "table", "rowBreak": "allow", "columns": [{"header": "Text"}],
        "bodyRows": [{"cells": [{"body": cells}]}]}]);
    let sheet = sheet(body, json!({}));
    assert_within(&sheet, 30.0);
    for index in 0..60 {
        let page = sheet.page_of(&format!("mark{index}."));
        assert_eq!(sheet.page_of(&format!("note{index}.")), page, "{index}");
    }
}

#[test]
fn a_first_page_with_less_room_does_not_cut_what_fits_on_the_next() {
    let column: Vec<Value> = paragraphs(14);
    let parts = json!({
        "page": {
            "size": {"width": "300pt", "height": "400pt"}, "margins": "30pt",
            "firstHeader": [{"type": "spacer", "height": "150pt"}],
            "header": [{"type": "text", "content": "Running"}]
        },
        "body": [{"type": "columns", "columns": [{"body": column}]}]
    });
    let sheet = sheet_with(parts, json!({}));
    for page in 0..sheet.page_count() {
        assert!(
            sheet.texts(page).iter().all(|text| text.y < 371.0),
            "{page}"
        );
    }
    sheet.page_of("paragraph 13");
}

#[test]
fn headings_and_ids_in_cells_are_places_to_go_to() {
    let body = json!([{"type": "table", "columns": [{"header": "Text"}], "bodyRows": [
        {"cells": [{"body": [
            {"type": "heading", "level": 1, "content": "In a cell"},
            {"type": "text", "id": "target", "content": "here"}
        ]}]}
    ]}]);
    let sheet = sheet(body, json!({}));
    assert_eq!(sheet.layout.outline.len(), 1);
    assert_eq!(sheet.layout.anchors.len(), 1);
}

#[test]
fn headings_are_nested_in_the_structure_without_gaps() {
    let levels = [2, 4, 4, 3, 2, 1, 6];
    let body: Vec<Value> = levels
        .iter()
        .map(|level| json!({"type": "heading", "level": level, "content": "Heading"}))
        .collect();
    let tags = sheet(Value::from(body), json!({})).layout.tags;
    let nested: Vec<u8> = (0..tags.len() as u32)
        .filter_map(|id| match tags.kind(TagId(id)) {
            TagKind::Heading(level) => Some(level),
            _ => None,
        })
        .collect();
    assert_eq!(nested, [1, 2, 2, 2, 1, 1, 2]);
}

#[test]
fn contents_of_some_levels_lead_to_their_headings() {
    let body = json!([
        {"type": "tableOfContents", "depth": 1},
        {"type": "heading", "level": 1, "content": "One"},
        {"type": "heading", "level": 2, "content": "Inner"},
        {"type": "heading", "level": 1, "content": "Two"}
    ]);
    let sheet = sheet(body, json!({}));
    let links: Vec<String> = sheet.layout.pages[0]
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Link { target, .. } => Some(target.to_string()),
            _ => None,
        })
        .collect();
    let target = platen_layout::HEADING_TARGET;
    assert_eq!(links, [format!("#{target}0"), format!("#{target}2")]);
}

#[test]
fn a_long_value_beside_its_label_goes_on_at_the_next_page() {
    let text = words(700);
    let body = json!([{"type": "keyValue", "items": [
        {"key": "Short", "value": "one"}, {"key": "Long", "value": text},
        {"key": "Noted", "value": ["two", {"text": "", "footnote": "The note"}]}
    ]}]);
    let sheet = sheet(body, json!({}));
    assert!(
        sheet.layout.warnings.is_empty(),
        "{:?}",
        sheet.layout.warnings
    );
    assert_within(&sheet, 30.0);
    let found = note_words(&sheet, "word");
    assert_eq!(found.join(" "), text);
    sheet.page_of("The note");
}

#[test]
fn what_stands_outside_the_page_is_an_error_with_its_node() {
    let body = json!([
        {"type": "text", "content": "inside"},
        {"type": "text", "content": "outside", "style": {"fontSize": "400pt"}}
    ]);
    let sheet = sheet(body, json!({}));
    let error = sheet.layout.warnings.iter().find(|found| found.is_error());
    let error = error.expect("an error");
    assert_eq!(
        (error.code.as_str(), error.path.as_str()),
        ("off-page", "/body/1")
    );
}

#[test]
fn lines_kept_together_are_never_more_than_a_page() {
    let body = json!([{"type": "text", "style": {"orphans": 200, "widows": 200},
        "content": words(900)}]);
    let sheet = sheet(body, json!({}));
    assert_within(&sheet, 30.0);
    assert_eq!(note_words(&sheet, "word").len(), 900);
}

#[test]
fn the_first_page_has_room_for_the_headers_of_even_and_last_pages() {
    let furniture = json!([{"type": "spacer", "height": "60pt"}]);
    let page = |name: &str, first: u32| {
        let mut page = json!({"size": {"width": "300pt", "height": "400pt"}, "margins": "30pt",
            "firstPageNumber": first});
        page[name] = furniture.clone();
        page
    };
    // Half of the margin is above the header, and 10 points are below it.
    for name in ["lastHeader", "evenHeader"] {
        let parts = json!({"page": page(name, 2), "body": paragraphs(1)});
        let top = sheet_with(parts, json!({})).texts(0)[0].y;
        assert!(top > 85.0 && top < 105.0, "{name}: {top}");
    }
    for name in ["lastFooter", "evenFooter"] {
        for count in 5..25 {
            let parts = json!({"page": page(name, 2), "body": paragraphs(count)});
            for text in sheet_with(parts, json!({})).texts(0) {
                assert!(text.y < 315.0, "{name}: {text:?}");
            }
        }
    }
    // A header of the first page's own decides alone.
    let mut parts = json!({"page": page("lastHeader", 1), "body": paragraphs(1)});
    parts["page"]["firstHeader"] = json!([]);
    assert!(sheet_with(parts, json!({})).texts(0)[0].y < 45.0);
}

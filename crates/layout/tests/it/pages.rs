//! Page breaks: widows, keeps, headers, footers, contents, footnotes.

use serde_json::{Value, json};

use crate::harness::{Sheet, sheet, sheet_with, words};

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

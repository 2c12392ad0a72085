//! Tests that bind templates to data.

mod forms;
mod hostile;
mod invoices;
mod modules;
mod tables;

use serde_json::json;

use super::*;
use crate::{
    bound::{Block, BlockKind, CellContent, Inline, Table, plain_text},
    host::FixedHost,
    template_from_json,
};

/// 2026-11-21T00:00:00Z
const HOST: FixedHost = FixedHost {
    unix_seconds: 1_795_219_200,
};

fn compiled(template: Json) -> CompiledTemplate {
    let mut template = template;
    template["key"] = json!("test");
    crate::compile(template_from_json(template).unwrap()).unwrap()
}

fn outcome(template: Json, data: &Json) -> Result<bound::Document, Vec<Diagnostic>> {
    bind(&compiled(template), data, &BindOptions::default(), &HOST)
}

fn document(body: Json, data: &Json) -> bound::Document {
    outcome(json!({ "body": body, "currency": "EUR" }), data).unwrap()
}

fn mistakes(body: Json, data: &Json) -> Vec<Diagnostic> {
    outcome(json!({ "body": body, "currency": "EUR" }), data).unwrap_err()
}

fn text(block: &Block) -> String {
    match &block.kind {
        BlockKind::Paragraph(content) | BlockKind::Heading { content, .. } => plain_text(content),
        _ => String::new(),
    }
}

fn texts(document: &bound::Document) -> Vec<String> {
    document.sections[0].body.iter().map(text).collect()
}

fn table(document: &bound::Document) -> &Table {
    match &document.sections[0].body[0].kind {
        BlockKind::Table(table) => table,
        other => panic!("{other:?}"),
    }
}

fn rows(table: &Table) -> Vec<Vec<String>> {
    let cell = |content: &CellContent| match content {
        CellContent::Text(text) => text.to_string(),
        CellContent::Inlines(content) => plain_text(content),
        CellContent::Blocks(blocks) => blocks.iter().map(text).collect::<Vec<_>>().join("|"),
    };
    table
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|made| cell(&made.content)).collect())
        .collect()
}

#[test]
fn conditions_and_repeats_are_decided() {
    let body = json!([
        { "type": "heading", "id": "top", "content": "{{ title }}" },
        { "type": "text", "when": "false", "content": "never" },
        { "type": "conditional", "condition": "items|count > 1",
          "then": [{ "type": "text", "content": "many" }], "else": [{ "type": "text", "content": "few" }] },
        { "type": "repeat", "each": "items", "as": "thing",
          "body": [{ "type": "text", "content": "{{ loop.index }} {{ thing }}" }],
          "separator": [{ "type": "divider" }] },
        { "type": "repeat", "each": "none", "body": [], "empty": [{ "type": "text", "content": "empty" }] }
    ]);
    let document = document(
        body,
        &json!({ "title": "T", "items": ["a", "b"], "none": [] }),
    );
    assert_eq!(texts(&document), ["T", "many", "1 a", "", "2 b", "empty"]);
    assert_eq!(document.sections[0].body[0].id.as_deref(), Some("top"));
    assert_eq!(
        document.sections[0].body[0].style,
        document.named.headings[0]
    );
    assert_eq!(document.sections[0].body[1].style, document.named.body);
    assert_eq!(&*document.sections[0].body[2].path, "/body/3/body/0");
    assert_eq!(document.metadata.title, "test");
}

#[test]
fn runs_keep_their_styles_links_and_breaks() {
    let body = json!([{ "type": "text", "id": "x", "content": [
        "a ", { "text": "b", "bold": true, "color": "red" },
        { "text": "c", "link": "https://example.com/?q={{ q }}" }, { "text": "d\ne", "lineBreak": true },
        { "text": "f", "superscript": true, "when": "q == 1" }, { "text": "g", "link": "#x" }
    ]}]);
    let document = document(body, &json!({ "q": 1 }));
    let BlockKind::Paragraph(content) = &document.sections[0].body[0].kind else {
        panic!();
    };
    assert_eq!(plain_text(content), "a bcd\ne\nfg");
    let Inline::Text { style, .. } = &content[1] else {
        panic!();
    };
    assert!(document.styles[*style].bold);
    let links: Vec<&str> = content
        .iter()
        .filter_map(|inline| match inline {
            Inline::Text { link, .. } => link.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(links, ["https://example.com/?q=1", "#x"]);
}

#[test]
fn footnotes_are_numbered_in_order() {
    let body = json!([
        { "type": "text", "content": ["a", { "text": "b", "footnote": "one" }] },
        { "type": "footnote", "content": "two" },
        { "type": "spacer", "height": "1mm" },
        { "type": "footnote", "content": "three" }
    ]);
    let document = document(body, &json!({}));
    let notes: Vec<String> = document
        .footnotes
        .iter()
        .map(|note| plain_text(&note.content))
        .collect();
    assert_eq!(notes, ["one", "two", "three"]);
    assert_eq!(document.sections[0].body.len(), 3);
}

#[test]
fn sections_cut_the_flow() {
    let template = json!({
        "page": { "size": "A4", "footer": [
            { "type": "text", "content": "{{ name }} {{ pageNumber }}/{{ pageCount }}" } ] },
        "body": [
            { "type": "text", "content": "before" },
            { "type": "repeat", "each": "parts", "body": [
                { "type": "section", "name": "{{ item }}", "page": { "orientation": "landscape", "footer": [] },
                  "body": [{ "type": "text", "content": "in {{ item }}" }] } ] },
            { "type": "text", "content": "after" }
        ]
    });
    let document = outcome(template, &json!({ "name": "N", "parts": ["p", "q"] })).unwrap();
    let names: Vec<Option<&str>> = document
        .sections
        .iter()
        .map(|section| section.name.as_deref())
        .collect();
    assert_eq!(names, [None, Some("p"), Some("q"), None]);
    assert!(document.sections[1].page.width > document.sections[1].page.height);
    assert!(document.sections[1].footer.is_empty());
    let BlockKind::Paragraph(footer) = &document.sections[0].footer[0].kind else {
        panic!();
    };
    assert!(matches!(
        footer.as_slice(),
        [
            Inline::Text { .. },
            Inline::PageNumber(_),
            Inline::Text { .. },
            Inline::PageCount(_)
        ]
    ));
    let style = document.sections[0].footer[0].style;
    assert_eq!(document.styles[style].font_size, 8.5);
    assert_eq!(document.styles[style].space_after, 0.0);
}

#[test]
fn requests_choose_locale_zone_and_paper() {
    let compiled = compiled(json!({
        "locale": "en-US", "timeZone": "UTC",
        "messages": { "en": { "hi": "Hello" }, "de": { "hi": "Hallo" } },
        "body": [{ "type": "text", "content": "{{ t('hi') }} {{ at|datetime('short') }} {{ 1.5|number }}" }]
    }));
    let data = json!({ "at": "2026-07-01T22:30:00Z" });
    let bind = |options: &BindOptions| bind(&compiled, &data, options, &HOST);
    assert!(texts(&bind(&BindOptions::default()).unwrap())[0].starts_with("Hello 7/1/26"));
    let options = BindOptions {
        locale: Some("de-AT".to_owned()),
        time_zone: Some("Europe/Vienna".to_owned()),
        paper_size: Some(PaperSize::Named("A6".to_owned())),
        orientation: Some(Orientation::Landscape),
        ..BindOptions::default()
    };
    let document = bind(&options).unwrap();
    assert_eq!(texts(&document)[0], "Hallo 02.07.26, 00:30 1,5");
    assert_eq!(document.language, "de-AT");
    assert!((document.sections[0].page.width - 419.528).abs() < 0.01);
    let wrong = BindOptions {
        locale: Some("???".to_owned()),
        ..BindOptions::default()
    };
    assert_eq!(bind(&wrong).unwrap_err()[0].code, "unknown-locale");
}

#[test]
fn data_is_checked_against_the_schema() {
    let template = json!({ "inputSchema": {
        "type": "object", "required": ["invoiceNumber", "items"],
        "properties": { "items": { "type": "array", "items": { "required": ["price"],
            "properties": { "price": { "type": "number" } } } } }
    }});
    let found = outcome(
        template,
        &json!({ "invoiceNumbr": 1, "items": [{ "price": "x" }, {}] }),
    )
    .unwrap_err();
    let summary: Vec<(&str, &str)> = found
        .iter()
        .map(|found| (found.code.as_str(), found.path.as_str()))
        .collect();
    assert_eq!(summary.len(), 3);
    assert!(summary.contains(&("data-required", "")));
    assert!(summary.contains(&("data-type", "/items/0/price")));
    assert!(summary.contains(&("data-required", "/items/1")));
    assert!(
        found
            .iter()
            .all(|found| found.source == crate::diagnostic::Source::Data)
    );
    let hint = found.iter().find_map(|found| found.hint.clone());
    assert_eq!(
        hint.as_deref(),
        Some("is `invoiceNumbr` meant to be \"invoiceNumber\"?")
    );
}

#[test]
fn drawings_have_sizes() {
    // A PNG of 2 x 1 pixels, header only.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAC0lEQVR4nGNgQAYAAA4AAV/LB9MAAAAASUVORK5CYII=";
    let template = json!({
        "assets": { "logo": format!("data:image/png;base64,{png}") },
        "body": [
            { "type": "image", "source": "logo", "alt": "Logo", "width": "20mm", "caption": "c" },
            { "type": "image", "source": "{{ picture }}", "alt": "" },
            { "type": "barcode", "symbology": "qr", "value": "{{ code }}", "width": "30mm" },
            { "type": "chart", "chart": "bar", "rows": "rows", "category": "{{ item.c }}", "alt": "x",
              "series": [{ "name": "s", "value": "item.v" }], "format": "integer" },
            { "type": "signatureField", "name": "sign", "label": "Signed" },
            { "type": "columns", "columns": [{ "body": [{ "type": "text", "content": "l" }] }, { "width": "30mm", "body": [] }] },
            { "type": "keyValue", "items": [{ "key": "Total", "value": "{{ total }}", "format": "number" }] },
            { "type": "panel", "title": "P", "body": [{ "type": "text", "content": "in" }] },
            { "type": "tableOfContents", "title": "Contents" },
            { "type": "list", "each": "rows", "item": "{{ item.c }}" }
        ]
    });
    let data = json!({
        "picture": format!("data:image/png;base64,{png}"), "code": "https://example.com", "total": 1234.5,
        "rows": [{ "c": "a", "v": 10 }, { "c": "b" }, { "c": "d", "v": null }]
    });
    let document = outcome(template, &data).unwrap();
    let body = &document.sections[0].body;
    let BlockKind::Image(image) = &body[0].kind else {
        panic!();
    };
    assert!((image.width - 56.69).abs() < 0.01 && (image.height - 28.35).abs() < 0.01);
    let BlockKind::Image(natural) = &body[1].kind else {
        panic!();
    };
    assert_eq!((natural.width, natural.height), (1.5, 0.75));
    let BlockKind::Barcode(barcode) = &body[2].kind else {
        panic!();
    };
    assert_eq!(barcode.width, barcode.height);
    let BlockKind::Chart(chart) = &body[3].kind else {
        panic!();
    };
    assert_eq!(chart.series[0].values, [Some(10.0), None, None]);
    assert_eq!(
        chart.value_axis.ticks.last(),
        Some(&(10.0, "10".to_owned()))
    );
    let BlockKind::KeyValue(pairs) = &body[6].kind else {
        panic!();
    };
    assert_eq!(plain_text(&pairs.items[0].1), "1,234.5");
    let BlockKind::List(list) = &body[9].kind else {
        panic!();
    };
    assert_eq!(list.items.len(), 3);
}

#[test]
fn photos_are_drawn_as_their_orientation_says() {
    use base64::Engine;
    let mut stored = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut stored, 90);
    let gray = jpeg_encoder::ColorType::Luma;
    encoder.encode(&[128; 48 * 32], 48, 32, gray).unwrap();
    // The right side of what is stored is to be seen at the bottom.
    let exif = b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\
                 \x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let photo = [&stored[..2], &exif[..], &stored[2..]].concat();
    let photo = base64::engine::general_purpose::STANDARD.encode(photo);
    let document = document(
        json!([{ "type": "image", "source": "{{ photo }}", "alt": "", "width": "60mm" }]),
        &json!({ "photo": format!("data:image/jpeg;base64,{photo}") }),
    );
    let BlockKind::Image(image) = &document.sections[0].body[0].kind else {
        panic!();
    };
    assert_eq!((image.data.width_px, image.data.height_px), (32, 48));
    assert!((image.height - image.width * 1.5).abs() < 0.01);
    assert!(!image.data.bytes.windows(4).any(|name| name == b"Exif"));
}

#[test]
fn compiled_templates_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<CompiledTemplate>();
    shared::<crate::Locale>();
}

#[test]
fn page_numbers_start_once() {
    let template = json!({ "page": { "firstPageNumber": 5 }, "body": [
        { "type": "text", "content": "a" }, { "type": "section", "body": [] },
        { "type": "section", "page": { "firstPageNumber": 1 }, "body": [] }
    ]});
    let document = outcome(template, &json!({})).unwrap();
    let numbers: Vec<Option<u32>> = document
        .sections
        .iter()
        .map(|section| section.page.first_page_number)
        .collect();
    assert_eq!(numbers, [Some(5), None, Some(1)]);
}

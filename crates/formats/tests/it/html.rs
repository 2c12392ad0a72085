//! HTML: well-formed, semantic, escaped, right to left.

use platen_formats::html::write;

use crate::sample;

fn page(document: &platen_document::bound::Document) -> String {
    String::from_utf8(write(document).unwrap().bytes).unwrap()
}

/// Converts the page to XML: void elements closed, the doctype removed.
fn parse(page: &str) -> String {
    let mut xml = page.replacen("<!DOCTYPE html>", "", 1);
    for element in ["meta", "br", "col", "hr", "img"] {
        let mut closed = String::new();
        let mut rest = xml.as_str();
        while let Some(at) = rest.find(&format!("<{element}")) {
            let end = at + rest[at..].find('>').unwrap();
            let name_ends = rest[at + 1 + element.len()..].starts_with([' ', '>']);
            closed.push_str(&rest[..end]);
            closed.push_str(if name_ends { "/>" } else { ">" });
            rest = &rest[end + 1..];
        }
        closed.push_str(rest);
        xml = closed;
    }
    let style = xml.find("<style>").unwrap()..xml.find("</style>").unwrap();
    xml.replace_range(style, "<style>");
    xml
}

#[test]
fn pages_are_well_formed_and_links_resolve() {
    for document in [
        sample::everything("en-GB"),
        sample::arabic(),
        sample::spans(),
    ] {
        let xml = parse(&page(&document));
        let tree =
            roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
        let ids: Vec<_> = tree
            .descendants()
            .filter_map(|node| node.attribute("id"))
            .collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[index + 1..].contains(id), "{id} twice");
        }
        for href in tree.descendants().filter_map(|node| node.attribute("href")) {
            if let Some(id) = href.strip_prefix('#') {
                assert!(ids.contains(&id), "#{id} leads nowhere");
            }
        }
        for image in tree.descendants().filter(|node| node.has_tag_name("img")) {
            assert!(image.attribute("alt").is_some());
        }
    }
}

#[test]
fn meaning_is_in_the_elements() {
    let page = page(&sample::everything("en-GB"));
    for piece in [
        "<html lang=\"en-GB\" dir=\"ltr\">",
        "<h1",
        "<thead>",
        "<tfoot>",
        "scope=\"col\"",
        "<caption",
        "<figcaption",
        "<dl",
        "<ol class",
        "start=\"3\"",
        "<nav class=\"toc\"",
        "role=\"doc-endnotes\"",
        "role=\"img\"",
        "&lt;against&gt;",
        "rel=\"noopener\"",
        "src=\"data:image/png;base64,",
        "counter(page)",
        "@page section-1{size:841.89pt 595.276pt",
        "<strong",
    ] {
        assert!(page.contains(piece), "{piece}");
    }
    assert!(!page.contains("<against>"));
    assert!(crate::html::page(&sample::arabic()).contains("<html lang=\"ar\" dir=\"rtl\">"));
}

#[test]
fn long_addresses_in_cells_are_broken() {
    let template = serde_json::json!({"key": "t", "name": "T", "body": [
    {"type": "table", "columns": [{"header": "A"}, {"header": "B"}], "bodyRows": [
        {"cells": ["https://example.com/a/very/long/address/without/spaces?at=all", "short"]}
    ]}]});
    let page = page(&crate::whole::bound(template));
    assert!(page.contains(".long{overflow-wrap:anywhere}"));
    assert!(page.contains(" long\">https://example.com/"), "{page}");
    assert!(!page.contains(" long\">short"));
}

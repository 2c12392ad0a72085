//! HTML: well-formed, semantic, escaped, right to left.

use platen_formats::html::write;

use crate::sample;

fn page(document: &platen_document::bound::Document) -> String {
    String::from_utf8(write(document, None).unwrap().bytes).unwrap()
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

#[test]
fn printed_headers_and_footers_have_their_text() {
    let image = crate::whole::captioned_cell()["body"][0].clone();
    let template = serde_json::json!({"key": "t", "name": "T", "page": {
        "header": [image],
        "footer": [
            {"type": "keyValue", "columns": 2, "items": [
                {"key": "IBAN", "value": "DE02 1203"}, {"key": "Page", "value": "{{ pageNumber }}"}
            ]},
            {"type": "table", "caption": "Offices",
                "columns": [{"header": "City"}, {"header": "Phone"}],
                "bodyRows": [{"cells": [
                    "Bremen", {"body": [{"type": "text", "content": "0421 <5>"}]}
                ]}]},
            {"type": "panel", "title": "Register", "body": [
                {"type": "list", "items": ["First", {"content": "Second", "body": [
                    {"type": "list", "ordered": true, "items": ["Nested"]}
                ]}]}
            ]},
            {"type": "positioned", "right": "5mm", "bottom": "5mm", "width": "30mm", "body": [
                {"type": "text", "content": "Stamp"}
            ]}
        ]
    }, "body": [{"type": "text", "content": "Body"}]});
    let written = write(&crate::whole::bound(template), None).unwrap();
    let page = String::from_utf8(written.bytes).unwrap();
    let rule = |name: &str| {
        let (_, rule) = page.split_once(name).unwrap();
        rule.split_once('}').unwrap().0
    };
    let header = rule("@top-center{");
    assert!(header.contains("\"The picture\""), "{header}");
    let footer = rule("@bottom-center{");
    for piece in [
        "\"IBAN\"\" \"\"DE02 1203\"\"\u{2003}\"\"Page\"\" \"counter(page)",
        "\"Offices\"\"\\A \"\"City\"\"\u{2003}\"\"Phone\"",
        "\"Bremen\"\"\u{2003}\"\"0421 \\3c 5>\"",
        "\"Register\"",
        "\"• \"\"First\"",
        "\"a. \"\"Nested\"",
        "\"Stamp\"",
    ] {
        assert!(footer.contains(piece), "{piece}\n{footer}");
    }
    let lost: Vec<&str> = written
        .warnings
        .iter()
        .filter(|warning| warning.code == "header-simplified")
        .map(|warning| warning.path.as_str())
        .collect();
    assert_eq!(lost, ["/page/header/0"]);
}

/// The tables of a WOFF file as an OpenType font.
fn unpack(woff: &[u8]) -> Vec<u8> {
    use std::io::Read as _;
    let word = |at: usize| u32::from_be_bytes(woff[at..at + 4].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_be_bytes(woff[12..14].try_into().unwrap()));
    let mut file = woff[4..8].to_vec();
    file.extend((count as u16).to_be_bytes());
    file.extend([0; 6]);
    let mut body = Vec::new();
    for entry in (0..count).map(|index| 44 + index * 20) {
        let (start, packed, plain) = (word(entry + 4), word(entry + 8), word(entry + 12));
        let data = &woff[start..start + packed];
        let mut table = Vec::new();
        if packed < plain {
            let mut decoder = flate2::read::ZlibDecoder::new(data);
            decoder.read_to_end(&mut table).unwrap();
        } else {
            table.extend_from_slice(data);
        }
        assert_eq!(table.len(), plain);
        file.extend_from_slice(&woff[entry..entry + 4]);
        file.extend_from_slice(&woff[entry + 16..entry + 20]);
        file.extend(((12 + count * 16 + body.len()) as u32).to_be_bytes());
        file.extend((plain as u32).to_be_bytes());
        body.extend(table);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    file.extend(body);
    file
}

#[test]
fn embedded_fonts_have_what_the_page_shows_and_little_else() {
    use base64::Engine as _;
    use skrifa::{FontRef, GlyphId, MetadataProvider, instance::Size};

    let document = sample::everything("en-GB");
    let mut library = platen_layout::FontLibrary::default();
    for bytes in [
        include_bytes!("../../../../assets/fonts/LiberationSans-Regular.ttf").as_slice(),
        include_bytes!("../../../../assets/fonts/LiberationSans-Bold.ttf").as_slice(),
    ] {
        library.add_static(bytes, "test");
    }
    let mut shaper = platen_layout::Shaper::new(library.into());
    let options = platen_layout::LayoutOptions::default();
    let layout = platen_layout::layout(&document, &mut shaper, options);
    let written = write(&document, Some((&layout, &shaper))).unwrap();
    let page = String::from_utf8(written.bytes).unwrap();
    let mut fonts = 0;
    for rule in page.split("@font-face").skip(1) {
        let encoded = rule
            .split("base64,")
            .nth(1)
            .unwrap()
            .split(')')
            .next()
            .unwrap();
        let woff = base64::engine::general_purpose::STANDARD
            .decode(encoded)
            .unwrap();
        assert!(woff.len() < 80_000, "{}", woff.len());
        let file = unpack(&woff);
        let font = FontRef::new(&file).unwrap();
        let bounds = |code: char| {
            let glyph = font.charmap().map(code)?;
            font.glyph_metrics(Size::unscaled(), skrifa::instance::LocationRef::default())
                .bounds(glyph)
        };
        let drawn = |code: char| bounds(code).is_some_and(|bounds| bounds.x_max > bounds.x_min);
        assert!(drawn('e') && drawn('1'), "{}", &rule[..80]);
        assert!(font.charmap().map('☎').is_none());
        let outlines = font.outline_glyphs();
        let empty = (0..font.glyph_names().num_glyphs())
            .filter_map(|glyph| outlines.get(GlyphId::new(glyph)))
            .filter(|outline| {
                let mut pen = skrifa::outline::pen::SvgPen::new();
                let plain = skrifa::instance::LocationRef::default();
                let settings = skrifa::outline::DrawSettings::unhinted(Size::unscaled(), plain);
                outline.draw(settings, &mut pen).unwrap();
                pen.to_string().is_empty()
            });
        assert!(empty.count() > 500, "unused outlines are dropped");
        fonts += 1;
    }
    assert!(fonts >= 2, "regular and bold: {fonts}");
}

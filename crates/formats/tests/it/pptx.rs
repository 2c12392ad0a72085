//! PPTX: valid packages, tables that repeat their header, the same text through LibreOffice.

use platen_document::bound::{BlockKind, Document, Inline, Section};
use platen_formats::pptx::write;

use crate::{
    office::{assert_holds, text_by_office},
    package::{assert_order, parts, text},
    sample,
};

const RUN: &[&str] = &["ln", "solidFill", "latin", "ea", "cs", "hlinkClick"];
const PARAGRAPH: &[&str] = &[
    "lnSpc",
    "spcBef",
    "spcAft",
    "buNone",
    "buFont",
    "buAutoNum",
    "buChar",
];
const CELL: &[&str] = &["lnL", "lnR", "lnT", "lnB", "noFill", "solidFill"];

#[test]
fn parts_are_sound_and_in_order() {
    for document in [
        sample::everything("en-GB"),
        sample::drawings(),
        sample::arabic(),
        sample::spans(),
        Document::default(),
    ] {
        let written = write(&document).unwrap();
        let parts = parts(&written.bytes);
        for name in parts
            .keys()
            .filter(|name| name.starts_with("ppt/slides/slide"))
        {
            let xml = text(&parts, name);
            assert_order(&xml, "rPr", RUN);
            assert_order(&xml, "pPr", PARAGRAPH);
            assert_order(&xml, "tcPr", CELL);
            let tree = roxmltree::Document::parse(&xml).unwrap();
            for table in tree
                .descendants()
                .filter(|node| node.tag_name().name() == "tbl")
            {
                let count = |parent: roxmltree::Node<'_, '_>, name: &str| {
                    parent
                        .children()
                        .filter(|node| node.tag_name().name() == name)
                        .count()
                };
                let grid = table
                    .children()
                    .find(|node| node.tag_name().name() == "tblGrid")
                    .unwrap();
                for row in table
                    .children()
                    .filter(|node| node.tag_name().name() == "tr")
                {
                    assert_eq!(
                        count(row, "tc"),
                        count(grid, "gridCol"),
                        "every row fills the grid"
                    );
                }
            }
        }
        assert_eq!(written.bytes, write(&document).unwrap().bytes);
    }
}

#[test]
fn tables_go_on_with_their_header() {
    let parts = parts(&write(&sample::long_table(100)).unwrap().bytes);
    let slides: Vec<String> = parts
        .keys()
        .filter(|name| name.starts_with("ppt/slides/slide"))
        .map(|name| text(&parts, name))
        .collect();
    assert!(slides.len() > 4);
    let count = slides.len();
    for slide in &slides {
        assert!(slide.contains("<a:t>Unit price</a:t>"));
        assert!(slide.contains(&format!("/{count})</a:t>")));
    }
    let rows: usize = slides
        .iter()
        .map(|slide| slide.matches("Service package").count())
        .sum();
    assert_eq!(rows, 100, "no row is lost");
}

#[test]
fn long_paragraphs_are_cut_not_lost() {
    let (mut document, _) = sample::document("en");
    let body = document.named.body;
    let words: Vec<String> = (0..4000).map(|number| format!("word{number}")).collect();
    let content = vec![Inline::text(words.join(" "), body)];
    document.sections.push(Section {
        body: vec![sample::block(
            BlockKind::Paragraph(content),
            body,
            "/body/0",
        )],
        ..Section::default()
    });
    let parts = parts(&write(&document).unwrap().bytes);
    let all: String = parts
        .keys()
        .filter(|name| name.starts_with("ppt/slides/slide"))
        .map(|name| text(&parts, name))
        .collect();
    assert!(parts.contains_key("ppt/slides/slide2.xml"));
    for word in words {
        assert!(all.contains(&word), "{word}");
    }
}

#[test]
fn libre_office_prints_the_same_text() {
    let written = write(&sample::everything("en-GB")).unwrap();
    let codes: Vec<_> = written
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(
        codes,
        [
            "page-size-changed",
            "header-omitted",
            "contents-unlinked",
            "links-omitted",
            "signature-as-line"
        ]
    );
    let Some(text) = text_by_office(&written.bytes, "everything.pptx") else {
        return;
    };
    assert_holds(
        &text,
        &[
            "Quarterly report",
            "twelve per cent",
            "<against> last year & beyond",
            "Third step",
            "All amounts are in euro.",
            "Example Ltd",
            "R-2026-07",
            "Region 2",
            "249.50",
            "332.50",
            "The right column.",
            "Figure 1: Gradient",
            "Place, date, signature",
            "After the break.",
            "Revenue (Pie)",
            "Audited figures",
        ],
    );
}

//! DOCX: schema order, every node, the same text through LibreOffice.

use platen_document::bound::Document;
use platen_formats::{Error, Written, docx};

use crate::{
    office::{assert_holds, text_by_office},
    package::{assert_order, parts, text},
    sample,
};

fn write(document: &Document) -> Result<Written, Error> {
    docx::write(document, &docx::DocxOptions::default())
}

const PARAGRAPH: &[&str] = &[
    "pStyle",
    "keepNext",
    "keepLines",
    "pageBreakBefore",
    "widowControl",
    "numPr",
    "pBdr",
    "shd",
    "tabs",
    "bidi",
    "spacing",
    "ind",
    "jc",
    "outlineLvl",
    "rPr",
    "sectPr",
];
const RUN: &[&str] = &[
    "rStyle",
    "rFonts",
    "b",
    "bCs",
    "i",
    "iCs",
    "strike",
    "color",
    "spacing",
    "sz",
    "szCs",
    "u",
    "shd",
    "vertAlign",
    "rtl",
    "lang",
];
const TABLE: &[&str] = &[
    "tblStyle",
    "bidiVisual",
    "tblW",
    "jc",
    "tblInd",
    "tblBorders",
    "tblLayout",
    "tblCellMar",
    "tblLook",
];
const CELL: &[&str] = &[
    "tcW",
    "gridSpan",
    "vMerge",
    "tcBorders",
    "shd",
    "tcMar",
    "vAlign",
];
const SECTION: &[&str] = &[
    "headerReference",
    "footerReference",
    "type",
    "pgSz",
    "pgMar",
    "pgNumType",
    "cols",
    "titlePg",
    "bidi",
];

fn check_order(xml: &str) {
    assert_order(xml, "pPr", PARAGRAPH);
    assert_order(xml, "rPr", RUN);
    assert_order(xml, "tblPr", TABLE);
    assert_order(xml, "tcPr", CELL);
    assert_order(xml, "sectPr", SECTION);
}

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
            .filter(|name| name.starts_with("word/") && name.ends_with(".xml"))
        {
            if !name.contains("theme") && !name.contains("charts") && !name.contains("styles") {
                check_order(&text(&parts, name));
            }
        }
        assert_eq!(
            written.bytes,
            write(&document).unwrap().bytes,
            "deterministic"
        );
    }
}

#[test]
fn cells_of_a_long_table_share_styles_and_every_style_exists() {
    let written = write(&sample::long_table(120)).unwrap();
    let parts = parts(&written.bytes);
    let body = text(&parts, "word/document.xml");
    let styles = text(&parts, "word/styles.xml");
    let values = |xml: &str, start: &str| -> Vec<String> {
        let found = xml.split(start).skip(1);
        found
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    };
    let known = values(&styles, " w:styleId=\"");
    let used = values(&body, "<w:pStyle w:val=\"");
    for style in &used {
        assert!(known.contains(style), "{style}");
    }
    let cells = used.iter().filter(|style| style.starts_with("TableCell"));
    assert!(cells.count() > 400, "{used:?}");
    // What the rows look like stands in the styles, not in each of 120 rows.
    for property in ["<w:sz ", "<w:spacing ", "<w:jc "] {
        let count = body.matches(property).count();
        assert!(count < 60, "{property}: {count}");
        assert!(styles.contains(property));
    }
    let mut folded: Vec<String> = known.iter().map(|id| id.to_ascii_lowercase()).collect();
    folded.sort();
    folded.dedup();
    assert_eq!(folded.len(), known.len(), "ids differ by more than case");
    let order = ["name", "basedOn", "next", "uiPriority", "semiHidden"];
    let rest = ["unhideWhenUsed", "qFormat", "pPr", "rPr", "tblPr"];
    assert_order(&styles, "style", &[&order[..], &rest].concat());
}

#[test]
fn native_things_are_native() {
    let written = write(&sample::everything("en-GB")).unwrap();
    let parts = parts(&written.bytes);
    let body = text(&parts, "word/document.xml");
    for piece in [
        "<w:tblHeader/>",
        "<w:footnoteReference w:id=\"1\"/>",
        "TOC \\o",
        "<w:pStyle w:val=\"Heading1\"/>",
        "<w:titlePg/>",
        "w:orient=\"landscape\"",
        "<w:pgNumType w:start=\"10\"/>",
        "<c:chart ",
    ] {
        assert!(body.contains(piece), "{piece}");
    }
    assert!(parts.contains_key("word/charts/chart4.xml"));
    assert!(parts.contains_key("word/embeddings/Microsoft_Excel_Sheet4.xlsx"));
    assert_eq!(
        parts
            .keys()
            .filter(|name| name.starts_with("word/media/"))
            .count(),
        2
    );
    let codes: Vec<_> = written
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(codes, ["page-numbers-on-open", "signature-as-line"]);
}

#[test]
fn libre_office_prints_the_same_text() {
    let written = write(&sample::everything("en-GB")).unwrap();
    let Some(text) = text_by_office(&written.bytes, "everything.docx") else {
        return;
    };
    assert_holds(
        &text,
        &[
            "Quarterly report",
            "Contents",
            "twelve per cent <against> last year & beyond",
            "Third step",
            "Second point",
            "All amounts are in euro.",
            "Example Ltd",
            "R-2026-07",
            "Region 2",
            "Subtotal",
            "Table 1: Services",
            "The right column.",
            "Figure 1: Gradient",
            "Place, date, signature",
            "After the break.",
            "Revenue (Pie)",
            "Audited figures",
            "First page only",
            "Page 10 of 5",
        ],
    );
    let written = write(&sample::long_table(120)).unwrap();
    let Some(text) = text_by_office(&written.bytes, "long.docx") else {
        return;
    };
    assert!(
        text.matches("Unit price").count() >= 3,
        "the header repeats"
    );
    assert_holds(&text, &["Page 3 of", "120"]);
}

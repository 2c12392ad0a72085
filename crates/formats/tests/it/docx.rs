//! DOCX: schema order, every node, the same text through LibreOffice.

use std::sync::Arc;

use platen_document::bound::*;
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

/// Asserts what Word needs to open a part: cells end with a paragraph, headers and footers have one,
/// tables have rows, and rows have cells.
fn check_blocks(xml: &str) {
    let tree = roxmltree::Document::parse(xml).unwrap();
    for node in tree.descendants().filter(roxmltree::Node::is_element) {
        let children = node.children().filter(roxmltree::Node::is_element);
        let names: Vec<&str> = children
            .map(|child| child.tag_name().name())
            .filter(|name| !name.starts_with("bookmark"))
            .collect();
        let name = node.tag_name().name();
        let is_sound = match name {
            "tc" => names.last() == Some(&"p"),
            "hdr" | "ftr" => names.contains(&"p"),
            "tbl" => names.contains(&"tr"),
            "tr" => names.contains(&"tc"),
            _ => true,
        };
        assert!(is_sound, "{name}: {names:?}\n{xml}");
    }
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
                check_blocks(&text(&parts, name));
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

fn row(kind: RowKind, cells: Vec<Cell>) -> Row {
    Row {
        kind,
        cells: cells.into(),
        page_break: false,
    }
}

/// A form field without a label.
fn field(kind: FormFieldKind) -> FormField {
    FormField {
        name: "field".to_owned(),
        kind,
        label: None,
        purpose: "field".to_owned(),
        value: String::new(),
        required: false,
        read_only: false,
        width: None,
        height: None,
    }
}

/// A document with blocks in everything that Word has as cells, and in header and footer.
fn boxed(kind: BlockKind) -> Document {
    let (mut document, look) = sample::document("en");
    let mut inner = sample::block(kind, document.named.body, "/body/0/body/0");
    inner.id = Some("inner".into());
    let inner = vec![inner];
    let cell = Cell {
        content: CellContent::Blocks(inner.clone().into()),
        ..Cell::text("", look.cell)
    };
    let kinds = [
        BlockKind::Panel {
            title: None,
            body: inner.clone(),
        },
        BlockKind::Columns(Columns {
            columns: vec![ColumnBox {
                width: ColumnWidth::Auto,
                body: inner.clone(),
            }],
            gap: 0.0,
            vertical_align: VerticalAlign::Top,
            equal_height: false,
        }),
        BlockKind::Positioned(Positioned {
            body: inner.clone(),
            ..Positioned::default()
        }),
        BlockKind::Table(Box::new(Table {
            columns: vec![Column::default()],
            rows: vec![row(RowKind::Data, vec![cell])],
            ..Table::default()
        })),
    ];
    let body = kinds.map(|kind| sample::block(kind, look.table, "/body/0"));
    document.sections.push(Section {
        header: inner.clone(),
        footer: inner,
        body: body.into(),
        ..Section::default()
    });
    document
}

#[test]
fn cells_headers_and_footers_have_a_paragraph_whatever_they_hold() {
    let list = List {
        ordered: false,
        start: 1,
        mark: None,
        items: Vec::new(),
    };
    let button = field(FormFieldKind::Button { submit: None });
    let radio = field(FormFieldKind::Radio(Vec::new()));
    for kind in [
        BlockKind::List(list),
        BlockKind::FormField(Arc::new(button)),
        BlockKind::FormField(Arc::new(radio)),
        BlockKind::Table(Box::default()),
        BlockKind::KeyValue(KeyValue::default()),
    ] {
        let parts = parts(&write(&boxed(kind)).unwrap().bytes);
        for name in ["document", "header1", "footer2"] {
            check_blocks(&text(&parts, &format!("word/{name}.xml")));
        }
    }
}

#[test]
fn tables_without_rows_are_left_out_with_their_caption_kept() {
    let (mut document, look) = sample::document("en");
    let table = Table {
        columns: vec![Column::default()],
        caption: Some(vec![Inline::text("The caption", document.named.caption)]),
        ..Table::default()
    };
    let pairs = KeyValue {
        columns: 1,
        ..KeyValue::default()
    };
    let kinds = [
        BlockKind::Table(Box::new(table)),
        BlockKind::KeyValue(pairs),
    ];
    document.sections.push(Section {
        body: kinds
            .map(|kind| sample::block(kind, look.table, "/body/0"))
            .into(),
        ..Section::default()
    });
    let parts = parts(&write(&document).unwrap().bytes);
    let body = text(&parts, "word/document.xml");
    assert!(body.contains("The caption"), "{body}");
    assert!(!body.contains("<w:tbl>"), "{body}");
}

#[test]
fn what_exceeds_the_limits_of_word_is_reported() {
    let (mut document, look) = sample::document("en");
    let title = Cell {
        col_span: 70,
        ..Cell::text("title", look.header)
    };
    let cells = (0..70).map(|index| Cell::text(format!("cell{index}"), look.cell));
    let table = Table {
        columns: vec![Column::default(); 70],
        header: vec![row(RowKind::Header, vec![title])],
        rows: vec![row(RowKind::Data, cells.collect())],
        ..Table::default()
    };
    document.sections.push(Section {
        page: Page {
            width: 3000.0,
            height: 2000.0,
            ..Page::default()
        },
        body: vec![sample::block(
            BlockKind::Table(Box::new(table)),
            look.table,
            "/body/0",
        )],
        ..Section::default()
    });
    let written = write(&document).unwrap();
    let parts = parts(&written.bytes);
    let body = text(&parts, "word/document.xml");
    check_order(&body);
    for piece in [
        "<w:pgSz w:w=\"31680\" w:h=\"31680\"/>",
        "<w:gridSpan w:val=\"63\"/>",
        "cell62",
    ] {
        assert!(body.contains(piece), "{piece}\n{body}");
    }
    assert_eq!(body.matches("<w:gridCol ").count(), 63);
    assert!(!body.contains("cell63"));
    let codes: Vec<&str> = written.warnings.iter().map(|found| &*found.code).collect();
    assert_eq!(codes, ["page-size-changed", "too-many-columns"]);
}

#[test]
fn drop_downs_offer_nothing_that_is_empty_or_doubled() {
    let (mut document, _) = sample::document("en");
    let options = [
        ("", ""),
        ("a", "A"),
        ("a", "A"),
        ("b", ""),
        ("", "C"),
        ("a", "D"),
    ];
    let options = options.map(|(value, label)| FormOption {
        value: value.to_owned(),
        label: label.to_owned(),
    });
    let field = FormField {
        name: "n".repeat(70),
        purpose: "p".repeat(70),
        ..field(FormFieldKind::DropDown(options.into()))
    };
    document.sections.push(Section {
        body: vec![sample::block(
            BlockKind::FormField(Arc::new(field)),
            document.named.body,
            "/body/0",
        )],
        ..Section::default()
    });
    let parts = parts(&write(&document).unwrap().bytes);
    let body = text(&parts, "word/document.xml");
    let items: Vec<&str> = body
        .split("<w:listItem ")
        .skip(1)
        .map(|rest| rest.split("/>").next().unwrap())
        .collect();
    assert_eq!(
        items,
        [
            "w:displayText=\"A\" w:value=\"a\"",
            "w:displayText=\"b\" w:value=\"b\"",
            "w:displayText=\"C\" w:value=\"C\"",
            "w:displayText=\"D\" w:value=\"D\"",
        ]
    );
    let names = format!(
        "<w:alias w:val=\"{}\"/><w:tag w:val=\"{}\"/>",
        "p".repeat(64),
        "n".repeat(64)
    );
    assert!(body.contains(&names), "{body}");
}

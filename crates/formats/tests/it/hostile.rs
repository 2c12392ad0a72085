//! Pathological documents: every writer succeeds, and its file is valid.

use platen_document::bound::*;
use platen_formats::{csv, docx, html, pptx, xlsx};

use crate::{package::parts, sample};

fn row(cells: Vec<Cell>) -> Row {
    Row {
        kind: RowKind::Data,
        cells: cells.into(),
        page_break: true,
    }
}

/// Tables without columns, spans beyond the table, extreme numbers, characters that XML forbids.
fn hostile() -> Document {
    let (mut document, look) = sample::document("en\"<");
    let body = document.named.body;
    let cell = |columns, rows| Cell {
        col_span: columns,
        row_span: rows,
        ..Cell::text("\u{0}\u{1}\u{FFFE}<&\"'>\t\r\n\u{202E}", look.cell)
    };
    let number = |value| Cell {
        value: Value::Number(value),
        ..Cell::text("9", look.number)
    };
    let extremes = [
        Value::Date(i32::MIN),
        Value::DateTime(i64::MAX / 4),
        Value::Time(-1),
        Value::Bool(true),
    ];
    let table = Table {
        columns: vec![Column::default(); 2],
        header: vec![row(vec![cell(65_535, 65_535)])],
        rows: vec![
            row(vec![cell(1, 65_535), cell(0, 0)]),
            row(vec![number(1e308), number(-1e-308), cell(3, 3)]),
            row(vec![]),
            row(extremes
                .map(|value| Cell {
                    value,
                    ..cell(1, 1)
                })
                .to_vec()),
        ],
        ..Table::default()
    };
    let mut chart = sample::chart(ChartKind::Line, &document.theme.chart);
    chart.series[0].values = vec![
        Some(f64::MAX),
        Some(f64::MIN),
        None,
        Some(f64::NAN),
        Some(1.0),
    ];
    chart.value_axis.ticks.clear();
    let broken = Image {
        crop: Crop::default(),
        data: std::sync::Arc::new(ImageData {
            bytes: std::sync::Arc::from(*b"RIFF"),
            format: ImageFormat::WebP,
            width_px: 1,
            height_px: 1,
            page: 0,
            drawing: None,
        }),
        width: 1e9,
        height: 0.0,
        alt: "\u{0}".to_owned(),
        align: Align::Justify,
        caption: None,
        link: Some("javascript:alert(1)".into()),
    };
    let barcode = Barcode {
        modules: Modules::default(),
        ..sample::barcode()
    };
    let item = ListItem {
        content: vec![],
        body: vec![],
        mark: None,
    };
    let list = List {
        ordered: true,
        start: u32::MAX,
        mark: None,
        items: vec![item.clone(), item],
    };
    let content = vec![
        Inline::Footnote {
            index: u32::MAX,
            style: body,
        },
        Inline::Text {
            text: "x".into(),
            style: body,
            link: Some("#nowhere".into()),
        },
        Inline::Text {
            text: "y".into(),
            style: body,
            link: Some("JAVASCRIPT:alert(1)".into()),
        },
    ];
    let kinds = vec![
        BlockKind::Table(Box::default()),
        BlockKind::Table(Box::new(table)),
        BlockKind::Chart(Box::new(chart)),
        BlockKind::Image(broken),
        BlockKind::Barcode(barcode),
        BlockKind::List(list),
        BlockKind::Paragraph(content),
        BlockKind::Heading {
            level: 99,
            content: vec![],
        },
        BlockKind::Columns(Columns {
            equal_height: false,
            columns: vec![],
            gap: 1e9,
            vertical_align: VerticalAlign::Top,
        }),
        BlockKind::KeyValue(KeyValue {
            items: vec![],
            columns: 0,
            key_width: Some(-1.0),
            ..KeyValue::default()
        }),
        BlockKind::Spacer(1e9),
        BlockKind::Panel {
            title: None,
            body: vec![],
        },
        BlockKind::PageBreak,
    ];
    let blocks = kinds
        .into_iter()
        .map(|kind| sample::block(kind, body, "/body"))
        .collect();
    document.sections.push(Section {
        page: Page {
            width: 1.0,
            height: 0.0,
            columns: 0,
            ..Page::default()
        },
        body: blocks,
        ..Section::default()
    });
    document
}

#[test]
fn every_writer_answers() {
    let document = hostile();
    parts(
        &docx::write(&document, &docx::DocxOptions::default())
            .unwrap()
            .bytes,
    );
    parts(&pptx::write(&document).unwrap().bytes);
    parts(&xlsx::write(&document).unwrap().bytes);
    csv::write(&document, &csv::CsvOptions::default()).unwrap();
    let page = String::from_utf8(html::write(&document, None).unwrap().bytes).unwrap();
    assert!(!page.to_lowercase().contains("javascript:"));
    assert!(!page.contains('\u{0}'));
}

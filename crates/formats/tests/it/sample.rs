//! Handmade bound documents: one of every node kind, and long tables.

mod look;
mod pieces;
mod tables;

use platen_document::bound::*;

pub use self::{look::*, pieces::*, tables::*};

/// One of every node kind, in two sections.
pub fn everything(language: &str) -> Document {
    let (mut document, look) = document(language);
    let named = document.named;
    let text = |text: &str| Inline::text(text, named.body);
    let link = |text: &str, to: &str| Inline::Text {
        text: text.into(),
        style: look.link,
        link: Some(to.into()),
    };
    let mut body = Vec::new();
    let mut add = |kind: BlockKind, style: StyleId| {
        let path = format!("/body/{}", body.len());
        body.push(block(kind, style, &path));
        body.len() - 1
    };
    let heading = |level: u8, text: &str| BlockKind::Heading {
        level,
        content: vec![Inline::text(text, named.headings[usize::from(level) - 1])],
    };
    let paragraph = |words: &str| BlockKind::Paragraph(vec![text(words)]);
    let item = |words: &str, body: Vec<Block>| ListItem {
        content: vec![text(words)],
        body,
        mark: None,
    };
    let (h1, h2) = (named.headings[0], named.headings[1]);

    add(heading(1, "Quarterly report"), h1);
    add(
        BlockKind::TableOfContents {
            title: Some(vec![Inline::text("Contents", look.bold)]),
            depth: 2,
            of: Default::default(),
        },
        named.body,
    );
    add(heading(2, "Summary"), h2);
    add(
        BlockKind::Paragraph(vec![
            text("Revenue grew by "),
            Inline::text("twelve per cent", look.bold),
            text(" <against> last year & beyond expectations"),
            Inline::Footnote {
                index: 0,
                style: named.body,
            },
            text(". See "),
            link("our site", "https://example.com/?a=1&b=2"),
            text(" or "),
            link("the figures", "#figures"),
            text(". E = mc"),
            Inline::text("2", look.raised),
            Inline::Break,
            text("A new line."),
        ]),
        named.body,
    );
    let nested = List {
        ordered: true,
        start: 3,
        mark: None,
        items: vec![item("Third step", vec![]), item("Fourth step", vec![])],
    };
    let list = List {
        ordered: false,
        start: 1,
        mark: None,
        items: vec![
            item("First point", vec![]),
            item(
                "Second point",
                vec![block(
                    BlockKind::List(nested),
                    named.body,
                    "/body/4/items/1/body/0",
                )],
            ),
        ],
    };
    add(BlockKind::List(list), named.body);
    add(
        BlockKind::Panel {
            title: Some(vec![Inline::text("Note", look.bold)]),
            body: vec![block(
                paragraph("All amounts are in euro."),
                named.body,
                "/body/5/body/0",
            )],
        },
        look.panel,
    );
    let pair = |key: &str, value: &str| (vec![Inline::text(key, named.label)], vec![text(value)]);
    add(
        BlockKind::KeyValue(KeyValue {
            items: vec![
                pair("Customer", "Example Ltd"),
                pair("Number", "R-2026-07"),
                pair("Contact", "Ada Byron"),
            ],
            columns: 2,
            ..KeyValue::default()
        }),
        look.table,
    );
    let figures = add(heading(2, "Figures"), h2);
    let mut grouped = table(&look, 6, 3);
    grouped.caption = Some(vec![Inline::text("Table 1: Services", named.caption)]);
    add(BlockKind::Table(Box::new(grouped)), look.table);
    let column = |width, words: &str| ColumnBox {
        width,
        body: vec![block(
            paragraph(words),
            named.body,
            "/body/9/columns/0/body/0",
        )],
    };
    add(
        BlockKind::Columns(Columns {
            equal_height: false,
            columns: vec![
                column(
                    ColumnWidth::Fraction(2.0),
                    "The left column is twice as wide as the right one.",
                ),
                column(ColumnWidth::Fraction(1.0), "The right column."),
            ],
            gap: 17.0,
            vertical_align: VerticalAlign::Top,
        }),
        look.table,
    );
    add(
        BlockKind::Divider {
            thickness: 0.75,
            color: document.theme.border,
            line: LineStyle::Dashed,
        },
        named.body,
    );
    add(
        BlockKind::Image(Image {
            crop: Crop::default(),
            data: picture(),
            width: 120.0,
            height: 60.0,
            alt: "A blue gradient".to_owned(),
            align: Align::Center,
            caption: Some(vec![Inline::text("Figure 1: Gradient", named.caption)]),
            link: Some("https://example.com/picture".into()),
        }),
        named.body,
    );
    add(BlockKind::Barcode(barcode()), named.body);
    add(BlockKind::Spacer(12.0), named.body);
    add(
        BlockKind::Signature(Signature {
            name: "approval".to_owned(),
            label: Some(vec![text("Place, date, signature")]),
            width: 200.0,
            height: 36.0,
        }),
        named.body,
    );
    add(BlockKind::PageBreak, named.body);
    add(paragraph("After the break."), named.body);
    body[figures].id = Some("figures".into());
    let charts = charts(&document.theme.chart);
    let charts = charts
        .into_iter()
        .take(4)
        .enumerate()
        .map(|(index, chart)| {
            block(
                BlockKind::Chart(Box::new(chart)),
                named.body,
                &format!("/body/17/body/{index}"),
            )
        });
    let mut second = vec![block(heading(2, "Charts"), h2, "/body/17/body/9")];
    second.extend(charts);
    document.footnotes = vec![Footnote {
        content: vec![
            Inline::text("Audited figures, see ", named.footnote),
            link("the appendix", "https://example.com/a"),
        ],
    }];
    document.sections = vec![
        Section {
            name: Some("Report: 2026/Q3?".to_owned()),
            header: vec![margin_line(&look, "Example Ltd")],
            footer: vec![page_line(&look)],
            first_header: Some(vec![margin_line(&look, "First page only")]),
            body,
            ..Section::default()
        },
        Section {
            name: Some("Charts".to_owned()),
            page: Page {
                width: 841.89,
                height: 595.276,
                first_page_number: Some(10),
                ..Page::default()
            },
            footer: vec![page_line(&look)],
            body: second,
            ..Section::default()
        },
    ];
    document
}

/// A table with column and row spans, rich and nested cells.
/// Every chart that there is.
pub fn drawings() -> Document {
    let (mut document, _) = document("en-GB");
    let named = document.named;
    let body = charts(&document.theme.chart).into_iter().enumerate();
    let body = body.map(|(index, chart)| {
        let kind = BlockKind::Chart(Box::new(chart));
        block(kind, named.body, &format!("/body/{index}"))
    });
    document.sections = vec![Section {
        body: body.collect(),
        ..Section::default()
    }];
    document
}

pub fn spans() -> Document {
    let (mut document, look) = document("en");
    let cell = |text: &str, columns, rows| Cell {
        col_span: columns,
        row_span: rows,
        ..Cell::text(text, look.cell)
    };
    let inner = block(
        BlockKind::Paragraph(vec![Inline::text("inner paragraph", document.named.body)]),
        document.named.body,
        "/body/0/rows/1/body/0",
    );
    let mut nested = cell("", 1, 1);
    nested.content = CellContent::Blocks(vec![inner].into());
    let row = |cells: Vec<Cell>| Row {
        kind: RowKind::Data,
        cells: cells.into(),
        page_break: false,
    };
    let table = Table {
        columns: ["a", "b", "c"]
            .map(|key| Column {
                key: key.to_owned(),
                ..Column::default()
            })
            .to_vec(),
        rows: vec![
            row(vec![cell("tall", 1, 2), cell("wide", 2, 1)]),
            row(vec![nested, cell("=1+1", 1, 1)]),
            row(vec![cell("one, \"two\"", 1, 1), cell("-5", 1, 1)]),
        ],
        borders: TableBorders::All,
        ..Table::default()
    };
    document.sections.push(Section {
        body: vec![block(
            BlockKind::Table(Box::new(table)),
            look.table,
            "/body/0",
        )],
        ..Section::default()
    });
    document
}

/// An Arabic delivery note.
pub fn arabic() -> Document {
    let (mut document, look) = document("ar");
    document.metadata.title = "إشعار تسليم".to_owned();
    let named = document.named;
    let mut table = table(&look, 4, 0);
    let titles = ["رقم", "التاريخ", "الوصف", "الكمية", "سعر الوحدة", "المبلغ"];
    for (cell, title) in table.header[0].cells.iter_mut().zip(titles) {
        cell.content = CellContent::Text(title.into());
    }
    for row in &mut table.rows {
        if row.kind == RowKind::Data {
            row.cells[2].content = CellContent::Text("ورق طباعة أبيض A4".into());
        }
    }
    let text = |words: &str, style| vec![Inline::text(words, style)];
    document.sections.push(Section {
        name: Some("إشعار".to_owned()),
        footer: vec![page_line(&look)],
        body: vec![
            block(
                BlockKind::Heading {
                    level: 1,
                    content: text("إشعار تسليم", named.headings[0]),
                },
                named.headings[0],
                "/body/0",
            ),
            block(
                BlockKind::Paragraph(text(
                    "السادة شركة النور المحترمين، نرفق لكم البضائع التالية.",
                    named.body,
                )),
                named.body,
                "/body/1",
            ),
            block(BlockKind::Table(Box::new(table)), look.table, "/body/2"),
            block(
                BlockKind::Chart(Box::new(chart(ChartKind::Bar, &document.theme.chart))),
                named.body,
                "/body/3",
            ),
        ],
        ..Section::default()
    });
    document
}

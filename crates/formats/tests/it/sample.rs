//! Bound documents built by hand: one of every node kind, and long tables.

use std::sync::Arc;

use platen_document::{Color, bound::*};

/// Styles that the samples use.
pub struct Look {
    pub cell: StyleId,
    pub number: StyleId,
    pub header: StyleId,
    pub header_number: StyleId,
    pub group: StyleId,
    pub total: StyleId,
    pub total_number: StyleId,
    pub bold: StyleId,
    pub link: StyleId,
    pub raised: StyleId,
    pub panel: StyleId,
    pub table: StyleId,
    pub margin: StyleId,
}

pub const PRIMARY: Color = Color::from_rgb(0x1F_4E79);

/// A document with a theme and no sections.
pub fn document(language: &str) -> (Document, Look) {
    let mut document = Document {
        metadata: Metadata {
            title: "Quarterly report <Q3> & outlook".to_owned(),
            author: Some("Example Ltd".to_owned()),
            subject: Some("Results".to_owned()),
            keywords: vec!["report".to_owned(), "Q3".to_owned()],
            created_unix_seconds: 1_795_253_400,
        },
        language: language.to_owned(),
        theme: ThemeColors {
            text: Color::from_rgb(0x1F_2933),
            primary: PRIMARY,
            muted: Color::from_rgb(0x5F_6B7A),
            border: Color::from_rgb(0xC9_D1DA),
            surface: Color::from_rgb(0xF3_F6F9),
            chart: [0x1F_4E79, 0xC5_5A11, 0x54_8235, 0x7F_6000, 0x7B_3F9E]
                .map(Color::from_rgb)
                .to_vec(),
        },
        ..Document::default()
    };
    if matches!(language.get(..2), Some("ar" | "he")) {
        document.direction = Direction::RightToLeft;
    }
    let body = Style {
        name: Some("body".into()),
        space_after: 6.0,
        ..Style::default()
    };
    let with = |change: &dyn Fn(&mut Style)| {
        let mut style = Style {
            name: None,
            ..body.clone()
        };
        change(&mut style);
        style
    };
    let mut intern = |style: Style| document.styles.intern(style);
    let mut named = NamedStyles {
        body: intern(body.clone()),
        ..NamedStyles::default()
    };
    for (index, size) in [20.0, 15.0, 12.5, 11.0, 10.0, 10.0].into_iter().enumerate() {
        named.headings[index] = intern(with(&|style| {
            style.name = Some(format!("heading{}", index + 1).into());
            style.font_size = size;
            style.bold = true;
            style.color = PRIMARY;
            style.space_before = size * 0.8;
            style.space_after = size * 0.4;
            style.line_height = 1.2;
            style.keep_with_next = true;
        }));
    }
    let muted = document.theme.muted;
    let mut small = |name: &str, size: f32, bold: bool| {
        intern(with(&|style| {
            style.name = Some(name.into());
            style.font_size = size;
            style.bold = bold;
            style.color = muted;
        }))
    };
    named.caption = small("caption", 8.5, false);
    named.footnote = small("footnote", 8.0, false);
    named.label = small("label", 9.0, true);
    named.small = small("small", 8.0, false);
    let margin = small("margin", 8.0, false);
    named.toc_entry = intern(with(&|style| style.name = Some("tocEntry".into())));
    let cell = |change: &dyn Fn(&mut Style)| {
        with(&|style| {
            style.space_after = 0.0;
            style.padding = Sides {
                top: 3.0,
                right: 5.0,
                bottom: 3.0,
                left: 5.0,
            };
            change(style);
        })
    };
    let end = |style: &mut Style| style.align = Align::End;
    let head = |style: &mut Style| {
        style.bold = true;
        style.color = Color::WHITE;
        style.background = Some(PRIMARY);
    };
    let total = |style: &mut Style| {
        style.bold = true;
        style.background = Some(Color::from_rgb(0xE7_EDF3));
        style.borders.top = Some(Border {
            width: 1.0,
            color: PRIMARY,
            style: LineStyle::Solid,
        });
    };
    let look = Look {
        cell: intern(cell(&|_| {})),
        number: intern(cell(&end)),
        header: intern(cell(&head)),
        header_number: intern(cell(&|style| {
            head(style);
            end(style);
        })),
        group: intern(cell(&|style| {
            style.bold = true;
            style.color = PRIMARY;
        })),
        total: intern(cell(&total)),
        total_number: intern(cell(&|style| {
            total(style);
            end(style);
        })),
        bold: intern(with(&|style| style.bold = true)),
        link: intern(with(&|style| {
            style.color = PRIMARY;
            style.underline = true;
        })),
        raised: intern(with(&|style| style.baseline = Baseline::Superscript)),
        panel: intern(with(&|style| {
            style.background = Some(Color::from_rgb(0xF3_F6F9));
            style.padding = Sides::all(9.0);
            style.space_after = 10.0;
            style.borders.left = Some(Border {
                width: 3.0,
                color: PRIMARY,
                style: LineStyle::Solid,
            });
        })),
        table: intern(with(&|style| {
            style.space_before = 4.0;
            style.space_after = 10.0;
        })),
        margin,
    };
    document.named = named;
    (document, look)
}

pub fn block(kind: BlockKind, style: StyleId, path: &str) -> Block {
    Block {
        kind,
        style,
        id: None,
        path: path.into(),
    }
}

fn number_cell(value: f64, text: String, style: StyleId) -> Cell {
    Cell {
        value: Value::Number(value),
        ..Cell::text(text, style)
    }
}

/// `1234.5` as `1,234.50`.
fn money(value: f64) -> String {
    let cents = (value * 100.0).round() as i64;
    let (mut whole, mut grouped) = (cents / 100, String::new());
    while whole >= 1000 {
        grouped = format!(",{:03}{grouped}", whole % 1000);
        whole /= 1000;
    }
    format!("{whole}{grouped}.{:02}", cents % 100)
}

/// A table of `count` rows of six columns, in groups of `group` rows where it is not 0.
pub fn table(look: &Look, count: usize, group: usize) -> Table {
    let column = |key: &str, width, format| Column {
        key: key.to_owned(),
        width,
        format,
    };
    let currency = || ValueFormat::Currency {
        code: "EUR".to_owned(),
        decimals: 2,
    };
    let columns = vec![
        column(
            "no",
            ColumnWidth::Fixed(34.0),
            ValueFormat::Number { decimals: Some(0) },
        ),
        column(
            "date",
            ColumnWidth::Auto,
            ValueFormat::Date(FormatLength::Medium),
        ),
        column("description", ColumnWidth::Fraction(1.0), ValueFormat::Text),
        column(
            "quantity",
            ColumnWidth::Auto,
            ValueFormat::Number { decimals: Some(0) },
        ),
        column("price", ColumnWidth::Auto, currency()),
        column("amount", ColumnWidth::Auto, currency()),
    ];
    let titles = [
        "No",
        "Date",
        "Description",
        "Quantity",
        "Unit price",
        "Amount",
    ];
    let header = titles.iter().enumerate().map(|(index, title)| {
        Cell::text(
            *title,
            if index == 1 || index == 2 {
                look.header
            } else {
                look.header_number
            },
        )
    });
    let row = |kind, cells: Vec<Cell>| Row {
        kind,
        cells: cells.into(),
        page_break: false,
    };
    let mut rows = Vec::new();
    let (mut sum, mut all) = (0.0, 0.0);
    let subtotal = |kind, label: &str, sum: f64, style, number_style| {
        let label = Cell {
            col_span: 5,
            ..Cell::text(label, style)
        };
        let amount = number_cell(sum, money(sum), number_style);
        row(
            kind,
            vec![
                label,
                Cell {
                    aggregate: Some(Aggregate::Sum),
                    ..amount
                },
            ],
        )
    };
    for index in 0..count {
        if group > 0 && index % group == 0 {
            let title = format!("Region {}", index / group + 1);
            rows.push(row(
                RowKind::GroupHeader(0),
                vec![Cell {
                    col_span: 6,
                    ..Cell::text(title, look.group)
                }],
            ));
        }
        let (quantity, price) = ((index % 9 + 1) as f64, 12.5 + (index % 40) as f64);
        let amount = quantity * price;
        sum += amount;
        all += amount;
        rows.push(row(
            RowKind::Data,
            vec![
                number_cell((index + 1) as f64, (index + 1).to_string(), look.number),
                Cell {
                    value: Value::Date(20_700 + (index % 90) as i32),
                    ..Cell::text(format!("{:02} Sep 2026", index % 28 + 1), look.cell)
                },
                Cell::text(
                    format!("Service package {} with on-site support", index % 17),
                    look.cell,
                ),
                number_cell(quantity, quantity.to_string(), look.number),
                number_cell(price, money(price), look.number),
                number_cell(amount, money(amount), look.number),
            ],
        ));
        if group > 0 && (index % group == group - 1 || index + 1 == count) {
            rows.push(subtotal(
                RowKind::Subtotal(0),
                "Subtotal",
                sum,
                look.total,
                look.total_number,
            ));
            sum = 0.0;
        }
    }
    rows.push(subtotal(
        RowKind::Total,
        "Total",
        all,
        look.total,
        look.total_number,
    ));
    Table {
        name: Some("items".to_owned()),
        columns,
        header: vec![row(RowKind::Header, header.collect())],
        rows,
        repeat_header: true,
        border_color: Color::from_rgb(0xC9_D1DA),
        zebra: Some(Color::from_rgb(0xF3_F6F9)),
        ..Table::default()
    }
}

/// A report of one long table, for speed.
pub fn long_table(count: usize) -> Document {
    let (mut document, look) = document("en-GB");
    let heading = vec![Inline::text("Long table", document.named.headings[0])];
    document.sections.push(Section {
        header: vec![margin_line(&look, "Long table")],
        footer: vec![page_line(&look)],
        body: vec![
            block(
                BlockKind::Heading {
                    level: 1,
                    content: heading,
                },
                document.named.headings[0],
                "/body/0",
            ),
            block(
                BlockKind::Table(Box::new(table(&look, count, 0))),
                look.table,
                "/body/1",
            ),
        ],
        ..Section::default()
    });
    document
}

pub fn margin_line(look: &Look, text: &str) -> Block {
    block(
        BlockKind::Paragraph(vec![Inline::text(text, look.margin)]),
        look.margin,
        "/page/header/0",
    )
}

pub fn page_line(look: &Look) -> Block {
    let content = vec![
        Inline::text("Page ", look.margin),
        Inline::PageNumber(look.margin),
        Inline::text(" of ", look.margin),
        Inline::PageCount(look.margin),
    ];
    block(BlockKind::Paragraph(content), look.margin, "/page/footer/0")
}

/// A PNG of one colour.
pub fn picture() -> Arc<ImageData> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 120, 60);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    let pixels: Vec<u8> = (0..120 * 60)
        .flat_map(|i| [31, (i % 120) as u8 + 60, 160])
        .collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    Arc::new(ImageData {
        bytes: bytes.into(),
        format: ImageFormat::Png,
        width_px: 120,
        height_px: 60,
    })
}

pub fn chart(kind: ChartKind, colors: &[Color]) -> Chart {
    let series = |name: &str, values: [Option<f64>; 4], color: Color| Series {
        name: name.to_owned(),
        labels: values
            .iter()
            .map(|v| v.map_or(String::new(), |v| format!("{v}k")))
            .collect(),
        values: values.to_vec(),
        color,
    };
    Chart {
        kind,
        title: Some(format!("Revenue ({kind:?})")),
        categories: ["Q1", "Q2", "Q3", "Q4"].map(str::to_owned).to_vec(),
        series: vec![
            series(
                "North",
                [Some(120.0), Some(132.0), Some(101.0), Some(160.0)],
                colors[0],
            ),
            series(
                "South",
                [Some(80.0), None, Some(95.0), Some(70.0)],
                colors[1],
            ),
        ],
        width: None,
        height: 180.0,
        format: ValueFormat::Number { decimals: Some(0) },
        category_title: Some("Quarter".to_owned()),
        value_title: Some("kEUR".to_owned()),
        legend: true,
        labels: true,
        ticks: if kind == ChartKind::Pie {
            Vec::new()
        } else if kind == ChartKind::StackedBar {
            [0.0, 50.0, 100.0, 150.0, 200.0, 250.0]
                .map(|t| (t, format!("{t}")))
                .to_vec()
        } else {
            [0.0, 50.0, 100.0, 150.0, 200.0]
                .map(|t| (t, format!("{t}")))
                .to_vec()
        },
        alt: "Revenue by quarter and region".to_owned(),
    }
}

pub fn barcode() -> Barcode {
    let side = 29;
    let dark = (0..side * side)
        .map(|i| (i * 7 + i / side * 3) % 5 < 2)
        .collect();
    Barcode {
        symbology: Symbology::Qr,
        value: "https://example.com/pay".to_owned(),
        modules: Modules {
            width: side,
            height: side,
            dark,
        },
        width: 80.0,
        height: 80.0,
        align: Align::Start,
        text: None,
        alt: "Payment code".to_owned(),
    }
}

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
    };
    let (h1, h2) = (named.headings[0], named.headings[1]);

    add(heading(1, "Quarterly report"), h1);
    add(
        BlockKind::TableOfContents {
            title: Some(vec![Inline::text("Contents", look.bold)]),
            depth: 2,
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
        items: vec![item("Third step", vec![]), item("Fourth step", vec![])],
    };
    let list = List {
        ordered: false,
        start: 1,
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
            key_width: None,
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
    let kinds = [
        ChartKind::Bar,
        ChartKind::StackedBar,
        ChartKind::Line,
        ChartKind::Pie,
    ];
    let charts = kinds.into_iter().enumerate().map(|(index, kind)| {
        let mut chart = chart(kind, &document.theme.chart);
        chart.legend = kind != ChartKind::Pie;
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

//! Tables of any length.

use platen_document::{Color, bound::*};

use super::*;

fn number_cell(value: f64, text: String, style: StyleId) -> Cell {
    Cell {
        value: Value::Number(value),
        ..Cell::text(text, style)
    }
}

/// Formats `1234.5` as `1,234.50`.
fn money(value: f64) -> String {
    let cents = (value * 100.0).round() as i64;
    let (mut whole, mut grouped) = (cents / 100, String::new());
    while whole >= 1000 {
        grouped = format!(",{:03}{grouped}", whole % 1000);
        whole /= 1000;
    }
    format!("{whole}{grouped}.{:02}", cents % 100)
}

/// A table of `count` rows with six columns, in groups of `group` rows unless it is 0.
pub fn table(look: &Look, count: usize, group: usize) -> Table {
    let column = |key: &str, width, format| Column {
        key: key.to_owned(),
        width,
        format,
        sheet: None,
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

/// A report with one long table, for measuring speed.
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

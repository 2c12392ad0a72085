//! Building blocks of the samples.

use std::sync::Arc;

use platen_document::{Color, bound::*};

use super::{Look, block};

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

/// A PNG of a single color.
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

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
        page: 0,
        drawing: None,
    })
}

/// An axis with the given ticks.
pub fn axis(title: &str, ticks: &[f64]) -> Axis {
    Axis {
        title: Some(title.to_owned()),
        format: ValueFormat::Number { decimals: Some(0) },
        ticks: ticks
            .iter()
            .map(|tick| (*tick, format!("{tick}")))
            .collect(),
        logarithmic: false,
    }
}

pub fn chart(kind: ChartKind, colors: &[Color]) -> Chart {
    let series = |name: &str, values: [Option<f64>; 4], color: Color| Series {
        name: name.to_owned(),
        labels: values
            .iter()
            .map(|v| v.map_or(String::new(), |v| format!("{v}k")))
            .collect(),
        positions: vec![Some(1.0), Some(2.5), Some(4.0), Some(8.0)],
        values: values.to_vec(),
        mark: kind.mark(),
        secondary: false,
        color,
    };
    let ticks: &[f64] = match kind {
        ChartKind::Pie | ChartKind::Doughnut => &[],
        ChartKind::PercentBar => &[0.0, 0.5, 1.0],
        ChartKind::StackedBar | ChartKind::StackedArea => &[0.0, 50.0, 100.0, 150.0, 200.0, 250.0],
        _ => &[0.0, 50.0, 100.0, 150.0, 200.0],
    };
    Chart {
        kind,
        horizontal: false,
        title: Some(format!("Revenue ({kind:?})")),
        categories: ["Q1", "Q2", "Q3", "Q4"].map(str::to_owned).to_vec(),
        category_title: Some("Quarter".to_owned()),
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
        legend: true,
        labels: true,
        percent_labels: false,
        format: ValueFormat::Number { decimals: Some(0) },
        value_axis: axis("kEUR", ticks),
        secondary_axis: None,
        x_axis: (kind == ChartKind::Scatter).then(|| axis("Years", &[0.0, 5.0, 10.0])),
        targets: Vec::new(),
        alt: "Revenue by quarter and region".to_owned(),
        text: StyleId::default(),
        text_color: Color::BLACK,
        caption: None,
    }
}

/// A chart of each kind, one of horizontal bars, and one of bars and a line on two axes with a target.
pub fn charts(colors: &[Color]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = [
        ChartKind::Bar,
        ChartKind::StackedBar,
        ChartKind::Line,
        ChartKind::Pie,
        ChartKind::PercentBar,
        ChartKind::Area,
        ChartKind::StackedArea,
        ChartKind::Doughnut,
        ChartKind::Scatter,
    ]
    .into_iter()
    .map(|kind| Chart {
        legend: kind != ChartKind::Pie,
        ..chart(kind, colors)
    })
    .collect();
    let target = Target {
        value: 100.0,
        label: "Plan".to_owned(),
        secondary: false,
        color: colors[2],
    };
    charts.push(Chart {
        horizontal: true,
        targets: vec![target.clone()],
        ..chart(ChartKind::Bar, colors)
    });
    let mut combined = chart(ChartKind::Bar, colors);
    combined.series[1].mark = Mark::Line;
    combined.series[1].secondary = true;
    combined.secondary_axis = Some(Axis {
        logarithmic: true,
        ..axis("Pieces", &[1.0, 10.0, 100.0])
    });
    combined.targets = vec![target];
    charts.push(combined);
    charts
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

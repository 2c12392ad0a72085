//! Tests of figures: everything stays inside, labels do not overlap, right-to-left mirrors.

use platen_document::{
    Color,
    bound::{Chart, ChartKind, Direction, Document, Modules, Series, ValueFormat},
};

use super::*;

fn chart(kind: ChartKind, categories: usize) -> Chart {
    let series = |name: &str, shift: f64, color: u32| Series {
        name: name.to_owned(),
        values: (0..categories)
            .map(|i| (i != 2).then_some((i as f64 * 7.0 + shift) % 40.0 - 10.0))
            .collect(),
        labels: (0..categories).map(|i| format!("{i}.5")).collect(),
        color: Color::from_rgb(color),
    };
    Chart {
        kind,
        title: Some("Revenue by region".to_owned()),
        categories: (0..categories)
            .map(|i| format!("Quarter {i} of the year"))
            .collect(),
        series: vec![
            series("North", 3.0, 0x1F4E79),
            series("South", 12.0, 0xC55A11),
        ],
        width: None,
        height: 200.0,
        format: ValueFormat::Number { decimals: None },
        category_title: Some("Quarter".to_owned()),
        value_title: Some("EUR".to_owned()),
        legend: true,
        labels: true,
        ticks: [-20.0, 0.0, 20.0, 40.0]
            .map(|t| (t, format!("{t}")))
            .to_vec(),
        alt: String::new(),
    }
}

fn measure(text: &str, size: f32, _: bool) -> f32 {
    text.chars().count() as f32 * size * 0.5
}

fn document() -> Document {
    let mut document = Document::default();
    document.theme.chart = vec![Color::from_rgb(0x1F4E79), Color::from_rgb(0xC55A11)];
    document
}

/// Bounding box of a text: left, top, right and bottom.
fn bounds(shape: &Shape) -> Option<(f32, f32, f32, f32)> {
    let Shape::Text {
        x,
        y,
        text,
        size,
        bold,
        anchor,
        rotated,
        ..
    } = shape
    else {
        return None;
    };
    let width = measure(text, *size, *bold);
    let shift = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    Some(if *rotated {
        (x - size * 0.72, y + shift - width, *x, y + shift)
    } else {
        (x - shift, y - size * 0.72, x - shift + width, *y)
    })
}

#[test]
fn texts_stay_inside_and_apart() {
    for kind in [
        ChartKind::Bar,
        ChartKind::StackedBar,
        ChartKind::Line,
        ChartKind::Pie,
    ] {
        for categories in [1, 4, 9, 60] {
            for width in [180.0, 480.0] {
                let figure = chart_figure(&chart(kind, categories), width, &document(), &measure);
                let texts: Vec<_> = figure.shapes.iter().filter_map(bounds).collect();
                for (index, a) in texts.iter().enumerate() {
                    assert!(
                        a.0 >= -0.5 && a.2 <= width + 0.5 && a.1 >= -0.5 && a.3 <= 200.5,
                        "{kind:?} {categories} {width}: {a:?}"
                    );
                    for b in &texts[index + 1..] {
                        let touch = a.0 < b.2 - 0.1
                            && b.0 < a.2 - 0.1
                            && a.1 < b.3 - 0.1
                            && b.1 < a.3 - 0.1;
                        // In a crowded chart, value labels may overlap.
                        assert!(
                            !touch || categories > 4 || width < 200.0,
                            "{kind:?} {categories} {width}: {a:?} {b:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn gaps_break_lines_and_negative_bars_hang() {
    let figure = chart_figure(&chart(ChartKind::Line, 6), 400.0, &document(), &measure);
    let lines = figure
        .shapes
        .iter()
        .filter(|shape| matches!(shape, Shape::Line { width, .. } if *width > 1.0))
        .count();
    assert_eq!(lines, 4, "two series, each in two parts");
    let figure = chart_figure(&chart(ChartKind::Bar, 6), 400.0, &document(), &measure);
    assert!(
        figure
            .shapes
            .iter()
            .all(|shape| !matches!(shape, Shape::Rect { height, .. } if *height < 0.0))
    );
}

#[test]
fn right_to_left_mirrors_the_axis() {
    let mut document = document();
    let chart = chart(ChartKind::Bar, 4);
    let left = chart_figure(&chart, 400.0, &document, &measure);
    document.direction = Direction::RightToLeft;
    let right = chart_figure(&chart, 400.0, &document, &measure);
    let first_rect = |figure: &Figure| {
        figure.shapes.iter().find_map(|shape| match shape {
            Shape::Rect { x, width, .. } => Some((*x, *width)),
            _ => None,
        })
    };
    let (x, width) = first_rect(&left).unwrap();
    let (mirrored, _) = first_rect(&right).unwrap();
    assert!((400.0 - x - width - mirrored).abs() < 1e-3);
}

#[test]
fn hostile_numbers_stay_finite() {
    for kind in [
        ChartKind::Bar,
        ChartKind::StackedBar,
        ChartKind::Line,
        ChartKind::Pie,
    ] {
        let mut chart = chart(kind, 3);
        chart.series[0].values = vec![Some(1e308), Some(f64::NAN), Some(-1e308)];
        chart.series[1].values = vec![Some(1e308)];
        chart.ticks = vec![(-1e308, "-".into()), (1e308, "+".into())];
        let figure = chart_figure(&chart, 0.0, &document(), &measure);
        assert!(!format!("{figure:?}").contains("NaN"));
        assert!(!format!("{figure:?}").contains("inf"));
        chart.categories.clear();
        chart.series.clear();
        chart.ticks.clear();
        let figure = chart_figure(&chart, 300.0, &document(), &measure);
        assert!(!format!("{figure:?}").contains("NaN"));
    }
}

#[test]
fn barcode_runs_are_merged() {
    let modules = Modules {
        width: 4,
        height: 3,
        dark: [true, true, false, true]
            .repeat(2)
            .into_iter()
            .chain([false; 4])
            .collect(),
    };
    assert_eq!(
        barcode_rects(&modules, 8.0, 6.0),
        [(0.0, 0.0, 4.0, 4.0), (6.0, 0.0, 2.0, 4.0)]
    );
    assert!(
        barcode_rects(
            &Modules {
                width: 9,
                ..modules
            },
            8.0,
            6.0
        )
        .is_empty()
    );
}

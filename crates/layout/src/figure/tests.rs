//! Tests of figures: everything stays inside, labels do not overlap, right-to-left mirrors.

use platen_document::{
    Color,
    bound::{
        Axis, Chart, ChartKind, Direction, Document, Mark, Modules, Series, StyleId, Target,
        ValueFormat,
    },
};

use super::*;

const KINDS: [ChartKind; 9] = [
    ChartKind::Bar,
    ChartKind::StackedBar,
    ChartKind::PercentBar,
    ChartKind::Line,
    ChartKind::Area,
    ChartKind::StackedArea,
    ChartKind::Pie,
    ChartKind::Doughnut,
    ChartKind::Scatter,
];

fn axis(title: &str, ticks: &[f64]) -> Axis {
    Axis {
        title: Some(title.to_owned()),
        format: ValueFormat::Number { decimals: None },
        ticks: ticks
            .iter()
            .map(|tick| (*tick, format!("{tick}")))
            .collect(),
        logarithmic: false,
    }
}

fn chart(kind: ChartKind, categories: usize) -> Chart {
    let series = |name: &str, shift: f64, color: u32| Series {
        name: name.to_owned(),
        values: (0..categories)
            .map(|i| (i != 2).then_some((i as f64 * 7.0 + shift) % 40.0 - 10.0))
            .collect(),
        positions: (0..categories).map(|i| Some(i as f64 * 3.0)).collect(),
        labels: (0..categories).map(|i| format!("{i}.5")).collect(),
        mark: kind.mark(),
        secondary: false,
        color: Color::from_rgb(color),
    };
    let ticks: &[f64] = match kind {
        ChartKind::PercentBar => &[-1.0, 0.0, 1.0],
        _ => &[-20.0, 0.0, 20.0, 40.0],
    };
    Chart {
        kind,
        horizontal: false,
        title: Some("Revenue by region".to_owned()),
        categories: (0..categories)
            .map(|i| format!("Quarter {i} of the year"))
            .collect(),
        category_title: Some("Quarter".to_owned()),
        series: vec![
            series("North", 3.0, 0x1F4E79),
            series("South", 12.0, 0xC55A11),
        ],
        width: None,
        height: 200.0,
        legend: true,
        labels: true,
        percent_labels: false,
        format: ValueFormat::Number { decimals: None },
        value_axis: axis("EUR", ticks),
        secondary_axis: None,
        x_axis: (kind == ChartKind::Scatter).then(|| axis("Hours", &[0.0, 100.0, 200.0])),
        targets: Vec::new(),
        alt: String::new(),
        text: StyleId::default(),
        text_color: Color::BLACK,
        caption: None,
    }
}

/// All kinds, the horizontal ones, and one that combines bars and a line on two axes.
fn charts(categories: usize) -> Vec<Chart> {
    let mut charts: Vec<Chart> = KINDS.map(|kind| chart(kind, categories)).into();
    for kind in &KINDS[..3] {
        charts.push(Chart {
            horizontal: true,
            ..chart(*kind, categories)
        });
    }
    let mut combined = chart(ChartKind::Bar, categories);
    combined.series[1].mark = Mark::Line;
    combined.series[1].secondary = true;
    combined.secondary_axis = Some(axis("Pieces", &[-20.0, 40.0]));
    combined.targets = vec![Target {
        value: 10.0,
        label: "Target".to_owned(),
        secondary: false,
        color: Color::from_rgb(0xC0_00_00),
    }];
    charts.push(combined);
    charts
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
    for categories in [1, 4, 9, 60] {
        for chart in charts(categories) {
            for width in [180.0, 480.0] {
                let figure = chart_figure(&chart, width, &document(), &measure);
                let texts: Vec<_> = figure.shapes.iter().filter_map(bounds).collect();
                let what = format!("{:?} {} {categories} {width}", chart.kind, chart.horizontal);
                for (index, a) in texts.iter().enumerate() {
                    assert!(
                        a.0 >= -0.5 && a.2 <= width + 0.5 && a.1 >= -0.5 && a.3 <= 200.5,
                        "{what}: {a:?}"
                    );
                    for b in &texts[index + 1..] {
                        let touch = a.0 < b.2 - 0.1
                            && b.0 < a.2 - 0.1
                            && a.1 < b.3 - 0.1
                            && b.1 < a.3 - 0.1;
                        // The lowest labels of a crowded chart come close to its axis.
                        assert!(
                            !touch || categories > 4 || width < 200.0,
                            "{what}: {a:?} {b:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn labels_of_values_never_cover_each_other() {
    for categories in [9, 40, 300] {
        for mut chart in charts(categories) {
            chart.targets.clear();
            let of_values = |figure: &Figure| -> Vec<_> {
                let is_value = |shape: &&Shape| matches!(shape, Shape::Text { text, .. } if text.ends_with(".5"));
                figure
                    .shapes
                    .iter()
                    .filter(is_value)
                    .filter_map(bounds)
                    .collect()
            };
            let texts = of_values(&chart_figure(&chart, 480.0, &document(), &measure));
            for (index, a) in texts.iter().enumerate() {
                for b in &texts[index + 1..] {
                    let apart = a.0 >= b.2 - 0.1
                        || b.0 >= a.2 - 0.1
                        || a.1 >= b.3 - 0.1
                        || b.1 >= a.3 - 0.1;
                    assert!(
                        apart || chart.kind.is_round(),
                        "{:?}: {a:?} {b:?}",
                        chart.kind
                    );
                }
            }
        }
    }
}

#[test]
fn horizontal_bars_grow_to_the_right() {
    let upright = chart(ChartKind::Bar, 4);
    let lying = Chart {
        horizontal: true,
        ..chart(ChartKind::Bar, 4)
    };
    let longest = |chart: &Chart, side: fn(f32, f32) -> f32| {
        let figure = chart_figure(chart, 400.0, &document(), &measure);
        let sides = figure.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { width, height, .. } => Some(side(*width, *height)),
            _ => None,
        });
        sides.fold(0.0, f32::max)
    };
    assert!(longest(&upright, |_, height| height) > longest(&upright, |width, _| width));
    assert!(longest(&lying, |width, _| width) > longest(&lying, |_, height| height));
}

#[test]
fn a_logarithmic_axis_spaces_powers_of_ten_equally() {
    let mut chart = chart(ChartKind::Line, 3);
    chart.value_axis = axis("EUR", &[1.0, 10.0, 100.0]);
    chart.value_axis.logarithmic = true;
    let scale = scale::Scale::new(&chart.value_axis, &chart);
    assert!((scale.share(10.0) - 0.5).abs() < 1e-6);
    assert_eq!(
        (scale.share(0.5), scale.share(1e9), scale.base()),
        (0.0, 1.0, 0.0)
    );
}

#[test]
fn a_doughnut_has_a_hole() {
    let figure = chart_figure(&chart(ChartKind::Doughnut, 4), 400.0, &document(), &measure);
    let curves = figure.shapes.iter().filter_map(|shape| match shape {
        Shape::Path { commands, .. } => Some(
            commands
                .iter()
                .filter(|command| matches!(command, PathCommand::CurveTo(..)))
                .count(),
        ),
        _ => None,
    });
    assert!(curves.clone().count() > 0 && curves.clone().all(|count| count >= 2));
}

#[test]
fn the_shares_of_a_percent_bar_fill_the_axis() {
    let mut chart = chart(ChartKind::PercentBar, 2);
    chart.series[0].values = vec![Some(1.0), Some(1e300)];
    chart.series[1].values = vec![Some(3.0), Some(1e300)];
    assert_eq!(chart.share(0, 0), Some(0.25));
    assert_eq!(chart.share(1, 1), Some(0.5));
    chart.series[0].values[0] = Some(0.0);
    chart.series[1].values[0] = Some(0.0);
    assert_eq!(chart.share(0, 0), None);
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
    for mut chart in charts(3) {
        chart.series[0].values = vec![Some(1e308), Some(f64::NAN), Some(-1e308)];
        chart.series[1].values = vec![Some(1e308)];
        chart.value_axis.ticks = vec![(-1e308, "-".into()), (1e308, "+".into())];
        let figure = chart_figure(&chart, 0.0, &document(), &measure);
        assert!(!format!("{figure:?}").contains("NaN"));
        assert!(!format!("{figure:?}").contains("inf"));
        chart.categories.clear();
        chart.series.clear();
        chart.value_axis.ticks.clear();
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

#[test]
fn texts_below_codes_are_centered_below_the_bars() {
    // Eleven light modules, four dark ones, five light ones.
    let mut dark = vec![false; 20];
    dark[11..15].fill(true);
    let modules = Modules {
        width: 20,
        height: 1,
        dark,
    };
    assert!((barcode_middle(&modules) - 13.0 / 20.0).abs() < 1e-6);
    let none = Modules {
        width: 20,
        height: 1,
        dark: vec![false; 20],
    };
    assert!((barcode_middle(&none) - 0.5).abs() < 1e-6);
}

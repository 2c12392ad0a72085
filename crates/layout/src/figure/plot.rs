//! Draws the values of bar, stacked bar and line charts into a [`Plot`].

use platen_document::{
    Color,
    bound::{Chart, ChartKind, Series},
    work,
};

use super::{
    Anchor, PathCommand, Shape,
    axes::Plot,
    pen::{CAP_HEIGHT, Pen, text_on},
};

pub(super) fn draw(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot) {
    work::check();
    match chart.kind {
        ChartKind::Line => lines(pen, chart, plot),
        ChartKind::StackedBar => stacked(pen, chart, plot),
        ChartKind::Bar | ChartKind::Pie => bars(pen, chart, plot),
    }
}

/// Maximum width of a bar in points, so that a chart of one or two categories still looks like one.
const WIDEST_BAR: f32 = 56.0;

fn bars(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot) {
    let count = chart.series.len().max(1) as f32;
    let share = if count > 1.0 { 0.72 } else { 0.58 };
    let step = (plot.slot() * share / count).min(WIDEST_BAR);
    let bar = if step > 4.0 { step * 0.94 } else { step };
    let base = plot.base();
    let labels = LabelFit::new(pen, chart, step);
    for category in 0..plot.slots {
        let start = plot.middle(category) - step * count / 2.0;
        for (index, series) in chart.series.iter().enumerate() {
            let Some(value) = value(series, category) else {
                continue;
            };
            let (x, y) = (start + index as f32 * step, plot.y(value));
            rect(pen, x + (step - bar) / 2.0, y, bar, base, series.color);
            if let Some(text) = label(chart, series, category) {
                labels.draw(pen, x + step / 2.0, y, value < 0.0, text);
            }
        }
    }
}

/// Orientation of bar labels: flat if all of them fit above their bars, otherwise upwards or none.
enum LabelFit {
    Flat,
    Upwards,
    None,
}

impl LabelFit {
    fn new(pen: &Pen<'_>, chart: &Chart, step: f32) -> Self {
        let widest = chart
            .series
            .iter()
            .flat_map(|series| &series.labels)
            .map(|text| pen.width(text))
            .fold(0.0, f32::max);
        let room = if chart.series.len() > 1 {
            step
        } else {
            step / 0.58
        };
        if widest <= room {
            Self::Flat
        } else if pen.size <= room {
            Self::Upwards
        } else {
            Self::None
        }
    }

    fn draw(&self, pen: &mut Pen<'_>, x: f32, y: f32, negative: bool, text: &str) {
        let (color, gap) = (pen.text, pen.size * 0.35);
        match self {
            Self::Flat if negative => {
                let y = y + gap + pen.size * CAP_HEIGHT;
                pen.label(x, y, text, color, Anchor::Middle);
            }
            Self::Flat => pen.label(x, y - gap, text, color, Anchor::Middle),
            Self::Upwards => {
                let x = x + pen.size * CAP_HEIGHT / 2.0;
                if negative {
                    pen.rotated(x, y + gap, text, color, Anchor::End);
                } else {
                    // A label as tall as the plot would leave the figure, so it starts lower.
                    let y = (y - gap).max(pen.width(text) + pen.title_size);
                    pen.rotated(x, y, text, color, Anchor::Start);
                }
            }
            Self::None => {}
        }
    }
}

fn stacked(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot) {
    let bar = (plot.slot() * 0.6).min(WIDEST_BAR);
    let dark = pen.text;
    for category in 0..plot.slots {
        let (mut above, mut below) = (0.0f64, 0.0f64);
        let middle = plot.middle(category);
        for series in &chart.series {
            let Some(value) = value(series, category) else {
                continue;
            };
            let from = if value < 0.0 { &mut below } else { &mut above };
            let (start, end) = (plot.y(*from), plot.y(*from + value));
            *from += value;
            rect(pen, middle - bar / 2.0, end, bar, start, series.color);
            let Some(text) = label(chart, series, category) else {
                continue;
            };
            if (start - end).abs() >= pen.size * 1.1 && pen.width(text) <= plot.slot() {
                let color = if pen.width(text) <= bar {
                    text_on(series.color, dark)
                } else {
                    dark
                };
                let y = (start + end) / 2.0 + pen.size * CAP_HEIGHT / 2.0;
                pen.label(middle, y, text, color, Anchor::Middle);
            }
        }
    }
}

fn lines(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot) {
    let mut taken: Vec<(f32, f32, f32)> = Vec::new();
    let marked = plot.slot() >= 7.0;
    for series in &chart.series {
        let mut run: Vec<(f32, f32)> = Vec::new();
        for category in 0..=plot.slots {
            match value(series, category).filter(|_| category < plot.slots) {
                Some(value) => run.push((plot.middle(category), plot.y(value))),
                None => finish_run(pen, &mut run, series.color, marked),
            }
        }
    }
    if !chart.labels {
        return;
    }
    let color = pen.text;
    for series in &chart.series {
        for category in 0..plot.slots {
            let (Some(value), Some(text)) =
                (value(series, category), label(chart, series, category))
            else {
                continue;
            };
            let (x, y) = (plot.middle(category), plot.y(value) - pen.size * 0.6);
            let half = pen.width(text) / 2.0;
            let x = x
                .min(plot.left + plot.width + pen.size * 0.5 - half)
                .max(half);
            // Labels of lines that meet would overlap; the first one stays.
            let free = taken.iter().all(|(other, at, other_half)| {
                (other - x).abs() >= half + other_half || (at - y).abs() >= pen.size
            });
            if free {
                taken.push((x, y, half));
                pen.label(x, y, text, color, Anchor::Middle);
            }
        }
    }
}

/// Draws the points of `run` as a line; a single point becomes a dot.
fn finish_run(pen: &mut Pen<'_>, run: &mut Vec<(f32, f32)>, color: Color, marked: bool) {
    let points = std::mem::take(run);
    if marked || points.len() == 1 {
        for point in &points {
            dot(pen, *point, 2.2, color);
        }
    }
    if points.len() > 1 {
        pen.shapes.push(Shape::Line {
            points,
            width: 1.6,
            color,
            dash: None,
        });
    }
}

fn dot(pen: &mut Pen<'_>, (x, y): (f32, f32), radius: f32, fill: Color) {
    // Control point distance at which a cubic Bézier curve approximates a quarter circle.
    let bend = radius * 0.552_285;
    let commands = vec![
        PathCommand::MoveTo(x + radius, y),
        PathCommand::CurveTo(x + radius, y + bend, x + bend, y + radius, x, y + radius),
        PathCommand::CurveTo(x - bend, y + radius, x - radius, y + bend, x - radius, y),
        PathCommand::CurveTo(x - radius, y - bend, x - bend, y - radius, x, y - radius),
        PathCommand::CurveTo(x + bend, y - radius, x + radius, y - bend, x + radius, y),
        PathCommand::Close,
    ];
    pen.shapes.push(Shape::Path { commands, fill });
}

fn rect(pen: &mut Pen<'_>, x: f32, y: f32, width: f32, base: f32, fill: Color) {
    pen.shapes.push(Shape::Rect {
        x,
        y: y.min(base),
        width: width.max(0.1),
        height: (base - y).abs(),
        fill,
    });
}

fn value(series: &Series, category: usize) -> Option<f64> {
    let value = series.values.get(category).copied().flatten();
    value.filter(|value| value.is_finite())
}

fn label<'a>(chart: &Chart, series: &'a Series, category: usize) -> Option<&'a str> {
    let text = series.labels.get(category).filter(|_| chart.labels)?;
    (!text.is_empty()).then_some(text)
}

//! Lines, areas and scattered points.

use platen_document::{
    Color,
    bound::{Chart, ChartKind, Mark, Series},
};

use super::{
    Anchor, PathCommand, Shape,
    area::Plot,
    labels::Labels,
    pen::{CAP_HEIGHT, Pen, mix},
    plot,
    scale::Scale,
};

/// Draws the grounds of all areas, so that no area covers the line of another.
pub(super) fn areas(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot) {
    if chart.kind == ChartKind::StackedArea {
        return stacked_areas(pen, chart, plot);
    }
    for series in &chart.series {
        if series.mark != Mark::Area {
            continue;
        }
        let base = plot.base(series.secondary);
        for run in runs(series, plot) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                continue;
            };
            let mut commands = vec![PathCommand::MoveTo(first.0, base)];
            commands.extend(run.iter().map(|(x, y)| PathCommand::LineTo(*x, *y)));
            commands.push(PathCommand::LineTo(last.0, base));
            commands.push(PathCommand::Close);
            let fill = mix(series.color, Color::WHITE, 0.62);
            pen.shapes.push(Shape::Path { commands, fill });
        }
    }
}

/// Draws areas on top of each other; a gap counts as zero.
fn stacked_areas(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot) {
    let mut sums = vec![0.0f64; plot.slots];
    for series in &chart.series {
        if series.mark != Mark::Area {
            continue;
        }
        let edge = |sums: &[f64]| -> Vec<(f32, f32)> {
            let at = |(category, sum): (usize, &f64)| (plot.middle(category), plot.at(*sum, false));
            sums.iter().enumerate().map(at).collect()
        };
        let lower = edge(&sums);
        for (category, sum) in sums.iter_mut().enumerate() {
            *sum += series.value(category).unwrap_or(0.0);
        }
        let upper = edge(&sums);
        let mut commands: Vec<PathCommand> = lower
            .iter()
            .chain(upper.iter().rev())
            .map(|(x, y)| PathCommand::LineTo(*x, *y))
            .collect();
        if let Some(first) = lower.first() {
            commands[0] = PathCommand::MoveTo(first.0, first.1);
        }
        commands.push(PathCommand::Close);
        let fill = series.color;
        pen.shapes.push(Shape::Path { commands, fill });
    }
}

/// Draws lines and, if the chart has labels, the values beside their points.
pub(super) fn lines(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, taken: &mut Labels) {
    let marked = plot.slot() >= 7.0;
    let is_line = |series: &&Series| match series.mark {
        Mark::Bar => false,
        Mark::Line => true,
        Mark::Area => chart.kind != ChartKind::StackedArea,
    };
    for series in chart.series.iter().filter(is_line) {
        let marked = marked && series.mark == Mark::Line;
        for run in runs(series, plot) {
            if marked || run.len() == 1 {
                run.iter()
                    .for_each(|point| dot(pen, *point, 2.2, series.color));
            }
            if run.len() > 1 {
                pen.shapes.push(Shape::Line {
                    points: run,
                    width: 1.6,
                    color: series.color,
                    dash: None,
                });
            }
        }
    }
    if !chart.labels {
        return;
    }
    let has_bars = chart.series.iter().any(|series| series.mark == Mark::Bar);
    for series in chart.series.iter().filter(is_line) {
        for category in 0..plot.slots {
            if let (Some(value), Some(text)) = (series.value(category), series.labels.get(category))
            {
                let point = (plot.middle(category), plot.at(value, series.secondary));
                near(pen, plot, taken, point, text, has_bars);
            }
        }
    }
}

/// Labels a point above it or, if something is there, below it; on a white ground where bars may be
/// behind it.
fn near(
    pen: &mut Pen<'_>,
    plot: &Plot,
    taken: &mut Labels,
    (x, y): (f32, f32),
    text: &str,
    on_bars: bool,
) {
    let (color, gap, half) = (pen.text, pen.size * 0.6, pen.width(text) / 2.0);
    // Beside the axis stand its own labels.
    let x = x.min(plot.right() + pen.size * 0.5 - half);
    let x = x.max(plot.left + pen.size * 0.2 + half);
    let below = y + gap + pen.size * CAP_HEIGHT;
    let mut draw = |y: f32| {
        if on_bars {
            taken.on_white(pen, (x, y), text, color, Anchor::Middle)
        } else {
            taken.level(pen, (x, y), text, color, Anchor::Middle)
        }
    };
    if !draw(y - gap) && below <= plot.bottom() {
        draw(below);
    }
}

/// The points of a series between its gaps.
fn runs(series: &Series, plot: &Plot) -> Vec<Vec<(f32, f32)>> {
    let mut runs = Vec::new();
    let mut run = Vec::new();
    for category in 0..plot.slots {
        match series.value(category) {
            Some(value) => run.push((plot.middle(category), plot.at(value, series.secondary))),
            None if run.is_empty() => {}
            None => runs.push(std::mem::take(&mut run)),
        }
    }
    if !run.is_empty() {
        runs.push(run);
    }
    runs
}

/// Draws the points of a scatter chart, whose horizontal axis is `across`.
pub(super) fn scatter(
    pen: &mut Pen<'_>,
    chart: &Chart,
    plot: &Plot,
    across: &Scale,
    taken: &mut Labels,
) {
    let point = |series: &Series, place: usize| {
        let position = series.positions.get(place).copied().flatten()?;
        let value = series.value(place)?;
        let x = plot.left + plot.width * across.share(position);
        Some((x, plot.at(value, series.secondary)))
    };
    for series in &chart.series {
        for place in 0..series.values.len() {
            if let Some(at) = point(series, place) {
                dot(pen, at, 2.6, series.color);
            }
        }
    }
    plot::targets(pen, chart, plot, taken);
    if !chart.labels {
        return;
    }
    for series in &chart.series {
        for (place, text) in series.labels.iter().enumerate() {
            if let Some(at) = point(series, place) {
                near(pen, plot, taken, at, text, false);
            }
        }
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

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

/// Segments of a line farther from a label, in categories, are not near it.
const MOST_NEAR: f32 = 100.0;

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
    let on_bars = chart.series.iter().any(|series| series.mark == Mark::Bar);
    let lines: Vec<&Series> = chart.series.iter().filter(is_line).collect();
    for series in &lines {
        for category in 0..plot.slots {
            if let (Some(value), Some(text)) = (series.value(category), series.labels.get(category))
            {
                let point = (plot.middle(category), plot.at(value, series.secondary));
                let label = Beside {
                    point,
                    text,
                    on_bars,
                    lines: near_lines(&lines, plot, category, pen.width(text) * 2.0),
                };
                label.draw(pen, plot, taken);
            }
        }
    }
}

/// The segments of lines within `reach` of a category.
fn near_lines(lines: &[&Series], plot: &Plot, category: usize, reach: f32) -> Vec<[(f32, f32); 2]> {
    let around = (reach / plot.slot()).ceil().min(MOST_NEAR) as usize + 1;
    let from = category.saturating_sub(around);
    let to = (category + around).min(plot.slots - 1);
    let mut segments = Vec::new();
    for series in lines {
        let point = |at: usize| {
            let value = series.value(at)?;
            Some((plot.middle(at), plot.at(value, series.secondary)))
        };
        let pairs = (from..to).filter_map(|at| Some([point(at)?, point(at + 1)?]));
        segments.extend(pairs);
    }
    segments
}

/// The label of a point.
struct Beside<'t> {
    point: (f32, f32),
    text: &'t str,
    /// Whether bars may be behind it.
    on_bars: bool,
    lines: Vec<[(f32, f32); 2]>,
}

impl Beside<'_> {
    /// Draws the label above the point or, if something is there, below it or beside; where lines
    /// are everywhere, on them.
    fn draw(&self, pen: &mut Pen<'_>, plot: &Plot, taken: &mut Labels) {
        let half = pen.width(self.text) / 2.0;
        let (gap, height) = (pen.size * 0.6, pen.size * CAP_HEIGHT);
        let (x, above, below) = (
            self.point.0,
            self.point.1 - gap,
            self.point.1 + gap + height,
        );
        let aside = half + pen.size * 0.25;
        let nearer = pen.size * 0.3;
        let places = [
            (x, above),
            (x, below),
            (x - aside, above + nearer),
            (x + aside, above + nearer),
            (x + aside, below - nearer),
            (x - aside, below - nearer),
        ];
        // Beside the axis stand its own labels.
        let most = plot.right() + pen.size * 0.5 - half;
        let least = plot.left + pen.size * 0.2 + half;
        let within = |(x, y): (f32, f32)| (x.min(most).max(least), y);
        let fits = |(_, y): &(f32, f32)| *y <= above || *y <= plot.bottom();
        let places = places.map(within);
        let margin = pen.size * 0.15;
        let is_clear = |(x, y): &(f32, f32)| {
            let area = (
                (x - half - margin, y - height - margin),
                (x + half + margin, y + margin),
            );
            !self.lines.iter().any(|line| crosses(line, area))
        };
        let clear = places.iter().filter(|place| is_clear(place));
        for place in clear.chain(&places[..2]).filter(|place| fits(place)) {
            if self.put(pen, taken, *place) {
                return;
            }
        }
    }

    fn put(&self, pen: &mut Pen<'_>, taken: &mut Labels, at: (f32, f32)) -> bool {
        let color = pen.text;
        if self.on_bars {
            taken.on_white(pen, at, self.text, color, Anchor::Middle)
        } else {
            taken.level(pen, at, self.text, color, Anchor::Middle)
        }
    }
}

/// Whether a segment has a point in an area, given by its corners (Liang and Barsky).
fn crosses([from, to]: &[(f32, f32); 2], (low, high): ((f32, f32), (f32, f32))) -> bool {
    let (mut enter, mut leave) = (0.0_f32, 1.0_f32);
    for (start, end, low, high) in [(from.0, to.0, low.0, high.0), (from.1, to.1, low.1, high.1)] {
        let way = end - start;
        if way == 0.0 {
            if start < low || start > high {
                return false;
            }
            continue;
        }
        let (a, b) = ((low - start) / way, (high - start) / way);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter <= leave
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
                let label = Beside {
                    point: at,
                    text,
                    on_bars: false,
                    lines: Vec::new(),
                };
                label.draw(pen, plot, taken);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_cross_an_area_are_found() {
        let area = ((0.0, 0.0), (10.0, 4.0));
        for line in [
            [(-5.0, 2.0), (15.0, 2.0)],
            [(5.0, -5.0), (5.0, 9.0)],
            [(1.0, 1.0), (2.0, 2.0)],
            [(-2.0, 1.0), (3.0, 6.0)],
        ] {
            assert!(crosses(&line, area), "{line:?}");
        }
        for line in [[(-5.0, 5.0), (15.0, 5.0)], [(-4.0, 2.0), (1.0, 7.0)]] {
            assert!(!crosses(&line, area), "{line:?}");
        }
    }
}

//! Pies and doughnuts: slices clockwise from twelve o'clock, with labels outside that do not overlap.

use std::f32::consts::{FRAC_PI_2, TAU};

use platen_document::{
    Color,
    bound::{Chart, ChartKind, slice_color},
};

use super::{
    Anchor, PathCommand, Shape,
    legend::{Below, draw_column},
    pen::{CAP_HEIGHT, Pen, ellipsize},
};

struct Slice {
    category: usize,
    share: f32,
    /// Direction of its center line, clockwise from twelve o'clock, in radians.
    middle: f32,
    color: Color,
}

pub(super) fn draw(pen: &mut Pen<'_>, chart: &Chart, colors: &[Color], width: f32, height: f32) {
    let top = pen.title(chart.title.as_deref(), width);
    let slices = slices(chart, colors);
    let entries: Vec<_> = slices
        .iter()
        .filter(|_| chart.legend)
        .filter_map(|slice| Some((chart.categories.get(slice.category)?.as_str(), slice.color)))
        .collect();
    let mut area = (0.0, top, width, height - top);
    let below = Below::new(pen, &entries, width, height * 0.35);
    let column = entries
        .iter()
        .map(|(name, _)| pen.width(name) + pen.size * 1.3)
        .fold(0.0, f32::max);
    let column_height = entries.len() as f32 * pen.size * 1.5;
    let beside = column <= width * 0.4 && column_height <= area.3 && width >= height;
    if beside {
        area.2 -= column + pen.size;
        let at = top + (area.3 - column_height) / 2.0;
        // The legend is next to the pie, not at the far edge.
        let x = (area.2 / 2.0 + area.3 * 0.75).min(area.2) + pen.size;
        draw_column(pen, &entries, x.min(width - column), at, column);
    } else {
        area.3 -= below.height(pen);
        below.draw(pen, top + area.3);
    }
    pie(pen, chart, &slices, area);
}

/// The slices of the first series. Values that are not above zero get none.
fn slices(chart: &Chart, colors: &[Color]) -> Vec<Slice> {
    let Some(series) = chart.series.first() else {
        return Vec::new();
    };
    let values: Vec<f64> = series
        .values
        .iter()
        .map(|value| {
            value
                .filter(|value| value.is_finite() && *value > 0.0)
                .unwrap_or(0.0)
        })
        .collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return Vec::new();
    }
    let total: f64 = values.iter().map(|value| value / largest).sum();
    let mut turned = 0.0;
    let mut slices = Vec::new();
    for (category, value) in values.iter().enumerate() {
        let share = (value / largest / total) as f32;
        if share > 0.0 {
            slices.push(Slice {
                category,
                share,
                middle: (turned + share / 2.0) * TAU,
                color: slice_color(colors, category),
            });
        }
        turned += share;
    }
    slices
}

fn pie(pen: &mut Pen<'_>, chart: &Chart, slices: &[Slice], area: (f32, f32, f32, f32)) {
    let (left, top, width, height) = area;
    let texts: Vec<String> = slices.iter().map(|slice| text(chart, slice)).collect();
    let labelled = texts.iter().any(|text| !text.is_empty());
    let room = if labelled {
        texts
            .iter()
            .map(|text| pen.width(text))
            .fold(0.0, f32::max)
            .min(width * 0.32)
            + pen.size * 1.4
    } else {
        0.0
    };
    let margin = if labelled {
        pen.size * 1.6
    } else {
        pen.size * 0.4
    };
    let radius = ((width - room * 2.0) / 2.0)
        .min(height / 2.0 - margin)
        .max(4.0);
    let centre = (left + width / 2.0, top + height / 2.0);
    let hole = match chart.kind {
        ChartKind::Doughnut => radius * 0.55,
        _ => 0.0,
    };
    if slices.is_empty() {
        let grid = pen.grid;
        sector(pen, centre, (hole, radius), 0.0, TAU, grid);
    }
    let mut from = 0.0;
    for slice in slices {
        let to = from + slice.share * TAU;
        sector(pen, centre, (hole, radius), from, to, slice.color);
        from = to;
    }
    if slices.len() > 1 {
        for slice in slices {
            let angle = slice.middle - slice.share * TAU / 2.0;
            let (from, edge) = (point(centre, hole, angle), point(centre, radius, angle));
            pen.line_between(from, edge, 0.75, Color::WHITE);
        }
    }
    if labelled {
        for right in [true, false] {
            labels(pen, slices, &texts, right, centre, radius, area);
        }
    }
}

fn text(chart: &Chart, slice: &Slice) -> String {
    let name = chart
        .categories
        .get(slice.category)
        .map_or("", String::as_str);
    let value = chart
        .series
        .first()
        .and_then(|series| series.labels.get(slice.category))
        .map_or("", String::as_str);
    match (chart.legend, chart.labels) {
        (false, true) if !value.is_empty() => format!("{name}: {value}"),
        (false, _) => name.to_owned(),
        (true, true) => value.to_owned(),
        (true, false) => String::new(),
    }
}

/// Places the labels of one side from top to bottom, pushed apart where they would overlap.
fn labels(
    pen: &mut Pen<'_>,
    slices: &[Slice],
    texts: &[String],
    right: bool,
    centre: (f32, f32),
    radius: f32,
    (left, top, width, height): (f32, f32, f32, f32),
) {
    let mut side: Vec<(f32, usize)> = slices
        .iter()
        .enumerate()
        .filter(|(index, slice)| (slice.middle.sin() >= 0.0) == right && !texts[*index].is_empty())
        .map(|(index, slice)| {
            (
                centre.1 - slice.middle.cos() * (radius + pen.size * 0.7),
                index,
            )
        })
        .collect();
    side.sort_by(|a, b| a.0.total_cmp(&b.0));
    let line = pen.size * 1.2;
    let mut free = top + pen.size * 0.5;
    for (y, _) in &mut side {
        *y = y.max(free);
        free = *y + line;
    }
    let mut free = top + height - pen.size * 0.4;
    for (y, _) in side.iter_mut().rev() {
        *y = y.min(free);
        free = *y - line;
    }
    let (muted, text_color) = (pen.axis, pen.text);
    for (y, index) in side {
        // There are more labels than lines; the rest is left to the legend.
        if y < top {
            continue;
        }
        let edge = point(centre, radius + 1.0, slices[index].middle);
        let sign = if right { 1.0 } else { -1.0 };
        let reach = (radius + pen.size * 0.7).powi(2) - (y - centre.1).powi(2);
        let bend = centre.0 + sign * reach.max(0.0).sqrt().max(radius * 0.2);
        let bend = if right {
            bend.max(edge.0)
        } else {
            bend.min(edge.0)
        };
        let end = bend + sign * pen.size * 0.4;
        pen.shapes.push(Shape::Line {
            points: vec![edge, (bend, y), (end, y)],
            width: 0.5,
            color: muted,
            dash: None,
        });
        let x = end + sign * pen.size * 0.25;
        let room = if right { left + width - x } else { x - left };
        let text = ellipsize(&texts[index], room, &|text| pen.width(text));
        let anchor = if right { Anchor::Start } else { Anchor::End };
        pen.label(x, y + pen.size * CAP_HEIGHT / 2.0, text, text_color, anchor);
    }
}

fn point((x, y): (f32, f32), radius: f32, angle: f32) -> (f32, f32) {
    (x + radius * angle.sin(), y - radius * angle.cos())
}

/// A sector from angle `from` to `to`, between an inner radius, which may be zero, and an outer one.
fn sector(
    pen: &mut Pen<'_>,
    centre: (f32, f32),
    (hole, radius): (f32, f32),
    from: f32,
    to: f32,
    fill: Color,
) {
    let is_whole = to - from >= TAU * 0.9999;
    let start = point(centre, radius, from);
    let mut commands = vec![PathCommand::MoveTo(start.0, start.1)];
    arc(&mut commands, centre, radius, from, to);
    let inner = point(centre, hole, to);
    if !is_whole {
        commands.push(PathCommand::LineTo(inner.0, inner.1));
    } else if hole > 0.0 {
        commands.push(PathCommand::Close);
        // The hole is drawn the other way round, so that it stays empty.
        commands.push(PathCommand::MoveTo(inner.0, inner.1));
    }
    if hole > 0.0 {
        arc(&mut commands, centre, hole, to, from);
    }
    commands.push(PathCommand::Close);
    pen.shapes.push(Shape::Path { commands, fill });
}

/// Appends an arc, as Bézier curves of at most a quarter turn each.
fn arc(commands: &mut Vec<PathCommand>, centre: (f32, f32), radius: f32, from: f32, to: f32) {
    let arcs = ((to - from).abs() / FRAC_PI_2).ceil().max(1.0) as usize;
    let step = (to - from) / arcs as f32;
    let bend = 4.0 / 3.0 * (step / 4.0).tan() * radius;
    for arc in 0..arcs {
        let (a, b) = (from + arc as f32 * step, from + (arc + 1) as f32 * step);
        let (p, q) = (point(centre, radius, a), point(centre, radius, b));
        commands.push(PathCommand::CurveTo(
            p.0 + bend * a.cos(),
            p.1 + bend * a.sin(),
            q.0 - bend * b.cos(),
            q.1 - bend * b.sin(),
            q.0,
            q.1,
        ));
    }
}

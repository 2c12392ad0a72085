//! The frame of charts with axes: title, axes, grid, tick and category labels, legend.

use platen_document::bound::{Chart, ChartKind};

use super::{
    Anchor,
    area::Plot,
    categories::{CategoryLabels, RowLabels},
    labels::Labels,
    legend::Below,
    pen::{CAP_HEIGHT, Pen, ellipsize},
    plot, points,
    scale::Scale,
};

/// Widest of some texts in points.
fn widest<'a>(pen: &Pen<'_>, texts: impl Iterator<Item = &'a str>) -> f32 {
    texts.map(|text| pen.width(text)).fold(0.0, f32::max)
}

fn tick_texts(scale: &Scale) -> impl Iterator<Item = &str> {
    scale.ticks.iter().map(|(_, text)| text.as_str())
}

pub(super) fn draw(pen: &mut Pen<'_>, chart: &Chart, width: f32, height: f32) {
    let top = pen.title(chart.title.as_deref(), width);
    let entries: Vec<_> = chart
        .series
        .iter()
        .filter(|_| chart.legend)
        .map(|series| (series.name.as_str(), series.color))
        .collect();
    let legend = Below::new(pen, &entries, width, height * 0.35);
    let room = (width, height - legend.height(pen));
    let below = if chart.horizontal {
        horizontal(pen, chart, top, room, width)
    } else {
        upright(pen, chart, top, room, width)
    };
    legend.draw(pen, below);
}

/// The area of a chart whose values grow upwards, between the labels of its axes; its height is not
/// known yet.
fn upright_plot(pen: &Pen<'_>, chart: &Chart, top: f32, width: f32) -> Plot {
    let primary = Scale::new(&chart.value_axis, chart);
    let secondary = chart
        .secondary_axis
        .as_ref()
        .map(|axis| Scale::new(axis, chart));
    let title_room = |title: &Option<String>| title.as_ref().map_or(0.0, |_| pen.size * 1.55);
    let left = title_room(&chart.value_axis.title)
        + widest(pen, tick_texts(&primary)).min(width * 0.4)
        + pen.size * 0.6;
    let right = match (&secondary, &chart.secondary_axis) {
        (Some(scale), Some(axis)) => {
            widest(pen, tick_texts(scale)).min(width * 0.3)
                + pen.size * 0.6
                + title_room(&axis.title)
        }
        _ => pen.size * 0.5,
    };
    Plot {
        left,
        top,
        width: (width - left - right).max(1.0),
        height: 0.0,
        horizontal: false,
        slots: chart.categories.len().max(1),
        primary,
        secondary,
    }
}

/// Draws a chart whose values grow upwards. Returns where its legend begins.
fn upright(
    pen: &mut Pen<'_>,
    chart: &Chart,
    top: f32,
    (width, height): (f32, f32),
    full: f32,
) -> f32 {
    let top = top + if chart.labels { pen.line() } else { 0.0 };
    let mut plot = upright_plot(pen, chart, top, width);
    let across = chart
        .x_axis
        .as_ref()
        .filter(|_| chart.kind == ChartKind::Scatter)
        .map(|axis| Scale::new(axis, chart));
    let labels = match across {
        Some(_) => None,
        None => Some(CategoryLabels::fit(pen, &chart.categories, plot.slot())),
    };
    let x_title = chart
        .x_axis
        .as_ref()
        .and_then(|axis| axis.title.as_ref())
        .or(chart.category_title.as_ref());
    let lines = labels.as_ref().map_or(1, |labels| labels.lines);
    let below = lines as f32 * pen.line()
        + pen.size * 0.6
        + x_title.map_or(0.0, |_| pen.line() + pen.size * 0.2);
    plot.height = (height - top - below).max(height * 0.2);

    let mut taken = Labels::new(pen.size, (full, height));
    grid(pen, &plot);
    match &across {
        Some(scale) => {
            x_axis(pen, &plot, scale, full);
            points::scatter(pen, chart, &plot, scale, &mut taken);
        }
        None => plot::draw(pen, chart, &plot, &mut taken),
    }
    taken.interrupt_lines(pen);
    let (axis, base) = (pen.axis, plot.base(false));
    pen.line_between((plot.left, base), (plot.right(), base), 0.75, axis);
    if let Some(labels) = labels {
        labels.draw(pen, &plot, full);
    }
    second_axis(pen, chart, &plot, full);
    let end = plot.bottom() + below;
    title_below(pen, x_title, &plot, end);
    title_beside(pen, chart.value_axis.title.as_ref(), &plot, pen.size);
    end
}

/// Draws a chart whose values grow to the right. Returns where its legend begins.
fn horizontal(
    pen: &mut Pen<'_>,
    chart: &Chart,
    top: f32,
    (width, height): (f32, f32),
    full: f32,
) -> f32 {
    let primary = Scale::new(&chart.value_axis, chart);
    let title = chart
        .category_title
        .as_ref()
        .map_or(0.0, |_| pen.size * 1.55);
    let below = pen.line()
        + pen.size * 0.6
        + chart
            .value_axis
            .title
            .as_ref()
            .map_or(0.0, |_| pen.line() + pen.size * 0.2);
    let plot_height = (height - top - below).max(height * 0.2);
    let slots = chart.categories.len().max(1);
    let rows = RowLabels::fit(
        pen,
        &chart.categories,
        width * 0.4,
        plot_height / slots as f32,
    );
    let left = title + rows.width + pen.size * 0.6;
    // Half of the last tick's label is beyond the plot, or a whole label of a bar.
    let last = primary.ticks.last().map_or("", |(_, text)| text.as_str());
    let mut right = (pen.width(last) / 2.0).max(pen.size * 0.5);
    if chart.labels && !chart.kind.is_stacked() {
        let texts = chart.series.iter().flat_map(|series| &series.labels);
        right = right.max((widest(pen, texts.map(String::as_str)) * 0.6).min(width * 0.2));
    }
    let plot = Plot {
        left,
        top,
        width: (width - left - right).max(1.0),
        height: plot_height,
        horizontal: true,
        slots,
        primary,
        secondary: None,
    };
    let mut taken = Labels::new(pen.size, (full, height));
    let (grid, axis) = (pen.grid, pen.axis);
    for (value, _) in &plot.primary.ticks {
        let x = plot.at(*value, false);
        pen.line_between((x, plot.top), (x, plot.bottom()), 0.5, grid);
    }
    ticks_below(pen, &plot, &plot.primary, full);
    plot::draw(pen, chart, &plot, &mut taken);
    taken.interrupt_lines(pen);
    let base = plot.base(false);
    pen.line_between((base, plot.top), (base, plot.bottom()), 0.75, axis);
    rows.draw(pen, &plot);
    let end = plot.bottom() + below;
    title_below(pen, chart.value_axis.title.as_ref(), &plot, end);
    title_beside(pen, chart.category_title.as_ref(), &plot, pen.size);
    end
}

/// Draws grid lines at the ticks and their labels. Labels that would overlap are left out.
fn grid(pen: &mut Pen<'_>, plot: &Plot) {
    let (grid, muted) = (pen.grid, pen.muted);
    let mut last = f32::INFINITY;
    for (value, text) in &plot.primary.ticks {
        let y = plot.at(*value, false);
        pen.line_between((plot.left, y), (plot.right(), y), 0.5, grid);
        if last - y >= pen.size * 1.05 {
            let text = ellipsize(text, plot.left, &|text| pen.width(text));
            let (x, baseline) = (plot.left - pen.size * 0.5, y + pen.size * CAP_HEIGHT / 2.0);
            pen.label(x, baseline, text, muted, Anchor::End);
            last = y;
        }
    }
}

/// Draws the labels and the title of the second axis.
fn second_axis(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, width: f32) {
    let (Some(scale), Some(axis)) = (&plot.secondary, &chart.secondary_axis) else {
        return;
    };
    let muted = pen.muted;
    let mut last = f32::INFINITY;
    for (value, text) in &scale.ticks {
        let y = plot.at(*value, true);
        if last - y >= pen.size * 1.05 {
            let x = plot.right() + pen.size * 0.5;
            let text = ellipsize(text, width - x, &|text| pen.width(text));
            pen.label(
                x,
                y + pen.size * CAP_HEIGHT / 2.0,
                text,
                muted,
                Anchor::Start,
            );
            last = y;
        }
    }
    title_beside(pen, axis.title.as_ref(), plot, width - pen.size * 0.3);
}

/// Draws the grid lines and labels of a horizontal axis of values.
fn x_axis(pen: &mut Pen<'_>, plot: &Plot, scale: &Scale, width: f32) {
    let grid = pen.grid;
    for (value, _) in &scale.ticks {
        let x = plot.left + plot.width * scale.share(*value);
        pen.line_between((x, plot.top), (x, plot.bottom()), 0.5, grid);
    }
    ticks_below(pen, plot, scale, width);
}

/// Writes the ticks of an axis below the plot. Labels that would overlap are left out.
fn ticks_below(pen: &mut Pen<'_>, plot: &Plot, scale: &Scale, width: f32) {
    let muted = pen.muted;
    let mut free_from = f32::NEG_INFINITY;
    for (value, text) in &scale.ticks {
        let half = pen.width(text) / 2.0;
        let x = plot.left + plot.width * scale.share(*value);
        let x = x.min(width - half).max(half);
        if x - half >= free_from && half * 2.0 <= width {
            pen.label(
                x,
                plot.bottom() + pen.size * 1.3,
                text.as_str(),
                muted,
                Anchor::Middle,
            );
            free_from = x + half + pen.size * 0.4;
        }
    }
}

fn title_below(pen: &mut Pen<'_>, title: Option<&String>, plot: &Plot, end: f32) {
    if let Some(title) = title {
        let color = pen.text;
        let title = ellipsize(title, plot.width, &|text| pen.width(text));
        let x = plot.left + plot.width / 2.0;
        pen.label(x, end - pen.size * 0.3, title, color, Anchor::Middle);
    }
}

/// Writes the title of an axis that reads upwards, with its baseline at `x`.
fn title_beside(pen: &mut Pen<'_>, title: Option<&String>, plot: &Plot, x: f32) {
    if let Some(title) = title {
        let color = pen.text;
        let title = ellipsize(title, plot.height, &|text| pen.width(text));
        pen.rotated(
            x,
            plot.top + plot.height / 2.0,
            title,
            color,
            Anchor::Middle,
        );
    }
}

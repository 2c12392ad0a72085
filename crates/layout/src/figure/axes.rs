//! The frame of bar and line charts: title, axes, grid, tick and category labels, legend.

use platen_document::bound::Chart;

use super::{
    Anchor,
    legend::Below,
    pen::{CAP_HEIGHT, Pen, ellipsize, wrap},
    plot,
};

/// The area in which values are drawn.
pub(super) struct Plot {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
    minimum: f64,
    maximum: f64,
    /// Number of categories, at least 1.
    pub slots: usize,
}

impl Plot {
    /// The y coordinate of `value`, clamped to the plot.
    pub fn y(&self, value: f64) -> f32 {
        // Halved first: the difference of two huge values would overflow to infinity.
        let span = self.maximum / 2.0 - self.minimum / 2.0;
        let share = (value / 2.0 - self.minimum / 2.0) / span;
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.top + self.height * (1.0 - share as f32)
    }

    /// The y coordinate at which bars start.
    pub fn base(&self) -> f32 {
        self.y(0.0)
    }

    /// Width of a category.
    pub fn slot(&self) -> f32 {
        self.width / self.slots as f32
    }

    /// The x coordinate of the center of a category.
    pub fn middle(&self, category: usize) -> f32 {
        self.left + (category as f32 + 0.5) * self.slot()
    }

    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}

pub(super) fn draw(pen: &mut Pen<'_>, chart: &Chart, width: f32, height: f32) {
    let ticks = ticks(chart);
    let top =
        pen.title(chart.title.as_deref(), width) + if chart.labels { pen.line() } else { 0.0 };
    let tick_width = ticks
        .iter()
        .map(|(_, text)| pen.width(text))
        .fold(0.0, f32::max)
        .min(width * 0.4);
    let value_title = if chart.value_title.is_some() {
        pen.line() + pen.size * 0.3
    } else {
        0.0
    };
    let left = value_title + tick_width + pen.size * 0.6;
    let entries: Vec<_> = chart
        .series
        .iter()
        .filter(|_| chart.legend)
        .map(|series| (series.name.as_str(), series.color))
        .collect();
    let legend = Below::new(pen, &entries, width, height * 0.35);
    let mut plot = Plot {
        left,
        top,
        width: (width - left - pen.size * 0.5).max(1.0),
        height: 0.0,
        minimum: ticks[0].0,
        maximum: ticks[ticks.len() - 1].0,
        slots: chart.categories.len().max(1),
    };
    let labels = CategoryLabels::fit(pen, &chart.categories, plot.slot());
    let category_title = if chart.category_title.is_some() {
        pen.line() + pen.size * 0.2
    } else {
        0.0
    };
    let below = labels.lines as f32 * pen.line() + pen.size * 0.6 + category_title;
    plot.height = (height - top - below - legend.height(pen)).max(height * 0.2);

    grid(pen, &plot, &ticks);
    plot::draw(pen, chart, &plot);
    let (axis, base) = (pen.axis, plot.base());
    pen.line_between((left, base), (left + plot.width, base), 0.75, axis);
    labels.draw(pen, &plot, width);
    titles(pen, chart, &plot, plot.bottom() + below);
    legend.draw(pen, plot.bottom() + below);
}

/// The chart's ticks or, if it has none, the minimum and maximum of its values.
fn ticks(chart: &Chart) -> Vec<(f64, String)> {
    if chart.ticks.len() >= 2 {
        return chart.ticks.clone();
    }
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for value in chart
        .series
        .iter()
        .flat_map(|series| &series.values)
        .flatten()
    {
        low = low.min(*value);
        high = high.max(*value);
    }
    if low == high {
        high = low + 1.0;
    }
    vec![(low, format!("{low}")), (high, format!("{high}"))]
}

/// Draws grid lines at the ticks and their labels. Labels that would overlap are left out.
fn grid(pen: &mut Pen<'_>, plot: &Plot, ticks: &[(f64, String)]) {
    let (grid, muted) = (pen.grid, pen.muted);
    let mut last = f32::INFINITY;
    for (value, text) in ticks {
        let y = plot.y(*value);
        pen.line_between((plot.left, y), (plot.left + plot.width, y), 0.5, grid);
        if last - y >= pen.size * 1.05 {
            let text = ellipsize(text, plot.left, &|text| pen.width(text));
            let (x, baseline) = (plot.left - pen.size * 0.5, y + pen.size * CAP_HEIGHT / 2.0);
            pen.label(x, baseline, text, muted, Anchor::End);
            last = y;
        }
    }
}

fn titles(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, below: f32) {
    let color = pen.text;
    if let Some(title) = &chart.category_title {
        let title = ellipsize(title, plot.width, &|text| pen.width(text));
        let x = plot.left + plot.width / 2.0;
        pen.label(x, below - pen.size * 0.3, title, color, Anchor::Middle);
    }
    if let Some(title) = &chart.value_title {
        let title = ellipsize(title, plot.height, &|text| pen.width(text));
        let y = plot.top + plot.height / 2.0;
        pen.rotated(pen.size, y, title, color, Anchor::Middle);
    }
}

/// Category labels, wrapped or thinned out so that they never overlap.
struct CategoryLabels {
    /// Category index and the lines of its label.
    shown: Vec<(usize, Vec<String>)>,
    /// Number of lines of the tallest label.
    lines: usize,
}

impl CategoryLabels {
    fn fit(pen: &Pen<'_>, categories: &[String], slot: f32) -> Self {
        let measure = |text: &str| pen.width(text);
        let available = (slot - pen.size * 0.5).max(0.0);
        for most in 1..=3 {
            let shown: Vec<_> = categories
                .iter()
                .map(|text| wrap(text, available, most, &measure))
                .enumerate()
                .collect();
            let complete = shown.iter().zip(categories).all(|((_, lines), text)| {
                lines
                    .iter()
                    .map(|line| line.split_whitespace().count())
                    .sum::<usize>()
                    == text.split_whitespace().count()
                    && !lines.iter().any(|line| line.ends_with('…'))
            });
            if complete {
                let lines = shown
                    .iter()
                    .map(|(_, lines)| lines.len())
                    .max()
                    .unwrap_or(0);
                return Self { shown, lines };
            }
        }
        let widest = categories
            .iter()
            .map(|text| measure(text))
            .fold(0.0, f32::max);
        // Cutting a few long names is better than leaving most labels out.
        let widest = widest.min(pen.size * 9.0) + pen.size * 0.5;
        let every = (widest / slot.max(0.01)).ceil().max(1.0) as usize;
        let room = every as f32 * slot - pen.size * 0.5;
        let shown = categories
            .iter()
            .enumerate()
            .step_by(every)
            .map(|(index, text)| (index, vec![ellipsize(text, room, &measure)]))
            .collect();
        Self { shown, lines: 1 }
    }

    fn draw(self, pen: &mut Pen<'_>, plot: &Plot, width: f32) {
        let color = pen.muted;
        let mut free_from = f32::NEG_INFINITY;
        for (category, lines) in self.shown {
            let half = lines.iter().map(|line| pen.width(line)).fold(0.0, f32::max) / 2.0;
            let x = plot.middle(category).min(width - half).max(half);
            if x - half < free_from {
                continue;
            }
            free_from = x + half + pen.size * 0.25;
            let mut y = plot.bottom() + pen.size * 1.3;
            for line in lines {
                pen.label(x, y, line, color, Anchor::Middle);
                y += pen.line();
            }
        }
    }
}

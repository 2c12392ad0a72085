//! Names of categories, below a plot or beside its rows.

use super::{
    Anchor,
    area::Plot,
    pen::{CAP_HEIGHT, Pen, ellipsize, wrap},
};

/// Category labels, wrapped or thinned out so that they never overlap.
pub(super) struct CategoryLabels {
    /// Category index and the lines of its label.
    shown: Vec<(usize, Vec<String>)>,
    /// Number of lines of the tallest label.
    pub lines: usize,
}

impl CategoryLabels {
    pub fn fit(pen: &Pen<'_>, categories: &[String], slot: f32) -> Self {
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

    pub fn draw(self, pen: &mut Pen<'_>, plot: &Plot, width: f32) {
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

/// Names of categories beside horizontal bars, each in as many lines as its row has room for.
pub(super) struct RowLabels {
    /// Category index and the lines of its label.
    shown: Vec<(usize, Vec<String>)>,
    /// Width of the widest line, in points.
    pub width: f32,
}

impl RowLabels {
    /// Fits names into `most` points of width and `slot` points of height; where rows are too low
    /// for one line, some have no name.
    pub fn fit(pen: &Pen<'_>, categories: &[String], most: f32, slot: f32) -> Self {
        let measure = |text: &str| pen.width(text);
        let lines = ((slot / pen.line()) as usize).clamp(1, 3);
        let every = (pen.size * 1.05 / slot.max(0.01)).ceil().max(1.0) as usize;
        let shown: Vec<(usize, Vec<String>)> = categories
            .iter()
            .enumerate()
            .step_by(every)
            .map(|(index, text)| (index, wrap(text, most, lines, &measure)))
            .collect();
        let width = shown
            .iter()
            .flat_map(|(_, lines)| lines)
            .map(|line| measure(line))
            .fold(0.0, f32::max);
        Self { shown, width }
    }

    pub fn draw(self, pen: &mut Pen<'_>, plot: &Plot) {
        let color = pen.muted;
        let x = plot.left - pen.size * 0.5;
        for (category, lines) in self.shown {
            let above = (lines.len() as f32 - 1.0) / 2.0 * pen.line();
            let mut y = plot.middle(category) - above + pen.size * CAP_HEIGHT / 2.0;
            for line in lines {
                pen.label(x, y, line, color, Anchor::End);
                y += pen.line();
            }
        }
    }
}

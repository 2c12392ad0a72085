//! A chart with its values read, its axes divided and its texts written.

use super::{Inline, StyleId, ValueFormat};
use crate::Color;
pub use crate::template::{ChartKind, Mark};

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Kind of chart; a series of bars, lines or areas may differ from it.
    pub kind: ChartKind,
    /// Bars grow from the start of the line; categories are below each other.
    pub horizontal: bool,
    /// Title.
    pub title: Option<String>,
    /// Names of the categories.
    pub categories: Vec<String>,
    /// Title of the category axis.
    pub category_title: Option<String>,
    /// Series.
    pub series: Vec<Series>,
    /// Width in points; `None` fills the text width.
    pub width: Option<f32>,
    /// Height, in points.
    pub height: f32,
    /// Whether it has a legend.
    pub legend: bool,
    /// Whether values are labeled.
    pub labels: bool,
    /// Whether labels say shares of the sum, and not values.
    pub percent_labels: bool,
    /// Format of the labels.
    pub format: ValueFormat,
    /// The value axis. A pie and a doughnut do not use it.
    pub value_axis: Axis,
    /// The second value axis.
    pub secondary_axis: Option<Axis>,
    /// The horizontal axis of a scatter chart.
    pub x_axis: Option<Axis>,
    /// Lines at values to compare with.
    pub targets: Vec<Target>,
    /// Alternative text.
    pub alt: String,
    /// Font and size of its texts.
    pub text: StyleId,
    /// Color of its texts.
    pub text_color: Color,
    /// Caption below it.
    pub caption: Option<Vec<Inline>>,
}

impl Chart {
    /// Share of a value: of all slices in a pie and a doughnut, otherwise of its category, whose
    /// values count without their signs. `None` for a gap and where all values are zero.
    #[must_use]
    pub fn share(&self, series: usize, category: usize) -> Option<f64> {
        let value = self.series.get(series)?.value(category)?;
        let values: Vec<f64> = if self.kind.is_round() {
            let slices = self.series[series].values.iter().flatten().copied();
            slices
                .filter(|value| value.is_finite() && *value > 0.0)
                .collect()
        } else {
            let stacked = self
                .series
                .iter()
                .filter(|series| series.mark == self.kind.mark());
            let values = stacked.filter_map(|series| series.value(category));
            values.map(f64::abs).collect()
        };
        // Divided before they are added, because the sum of huge values would be infinite.
        let largest = values.iter().copied().fold(0.0, f64::max);
        let total: f64 = values.iter().map(|value| value / largest).sum();
        let share = value / largest / total;
        share.is_finite().then_some(share)
    }

    /// The value that is drawn: in a chart of percentages the share.
    #[must_use]
    pub fn drawn(&self, series: usize, category: usize) -> Option<f64> {
        if self.kind == ChartKind::PercentBar {
            self.share(series, category)
        } else {
            self.series.get(series)?.value(category)
        }
    }

    /// The axis of a series or target.
    #[must_use]
    pub fn axis(&self, secondary: bool) -> &Axis {
        self.secondary_axis
            .as_ref()
            .filter(|_| secondary)
            .unwrap_or(&self.value_axis)
    }
}

impl Series {
    /// The value of a category; `None` for a gap and for what is no finite number.
    #[must_use]
    pub fn value(&self, category: usize) -> Option<f64> {
        let value = self.values.get(category).copied().flatten();
        value.filter(|value| value.is_finite())
    }
}

/// An axis of values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Title.
    pub title: Option<String>,
    /// Format of the values.
    pub format: ValueFormat,
    /// Values with their labels in ascending order. At least two, of which the first and last bound
    /// the axis; all above zero if it is logarithmic. None for a chart without axes.
    pub ticks: Vec<(f64, String)>,
    /// Whether equal ratios are equally long.
    pub logarithmic: bool,
}

/// A series of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// One value per category; `None` leaves a gap.
    pub values: Vec<Option<f64>>,
    /// Positions on the horizontal axis of a scatter chart, parallel to `values`.
    pub positions: Vec<Option<f64>>,
    /// Written values, parallel to `values`.
    pub labels: Vec<String>,
    /// How it is drawn.
    pub mark: Mark,
    /// Whether its values are on the second axis.
    pub secondary: bool,
    /// Color. Slices use [`slice_color`] instead.
    pub color: Color,
}

/// A line at a value to compare with.
#[derive(Clone, Debug)]
pub struct Target {
    /// The value.
    pub value: f64,
    /// What it stands for.
    pub label: String,
    /// Whether the value is on the second axis.
    pub secondary: bool,
    /// Color.
    pub color: Color,
}

/// Color of the slice of a pie: the theme's chart colors in turn, each turn lighter than the one
/// before, so that no two of the first four turns are equal.
#[must_use]
pub fn slice_color(colors: &[Color], index: usize) -> Color {
    let Some(color) = colors.get(index % colors.len().max(1)) else {
        return Color::from_rgb(0x80_80_80);
    };
    let share = [0.0, 0.4, 0.2, 0.6][index / colors.len() % 4];
    let lighter = |channel: u8| {
        let channel = f32::from(channel);
        (channel + (255.0 - channel) * share) as u8
    };
    Color {
        red: lighter(color.red),
        green: lighter(color.green),
        blue: lighter(color.blue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_next_to_each_other_differ() {
        let colors = [0x1F_4E_79, 0xC5_5A_11, 0x54_82_35].map(Color::from_rgb);
        let slices: Vec<Color> = (0..12).map(|index| slice_color(&colors, index)).collect();
        for (index, slice) in slices.iter().enumerate() {
            assert!(!slices[index + 1..].contains(slice), "{index}");
        }
        assert_eq!(slice_color(&[], 3), Color::from_rgb(0x80_80_80));
    }
}

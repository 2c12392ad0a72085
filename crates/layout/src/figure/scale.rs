//! Where the values of an axis are.

use platen_document::bound::{Axis, Chart};

/// Maps the values of an axis to shares of its length.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// Values with their labels, ascending, at least two.
    pub ticks: Vec<(f64, String)>,
    minimum: f64,
    maximum: f64,
    logarithmic: bool,
}

impl Scale {
    pub fn new(axis: &Axis, chart: &Chart) -> Self {
        let ticks = if axis.ticks.len() >= 2 {
            axis.ticks.clone()
        } else {
            ends(chart)
        };
        let (minimum, maximum) = (ticks[0].0, ticks[ticks.len() - 1].0);
        Self {
            logarithmic: axis.logarithmic && minimum > 0.0,
            ticks,
            minimum,
            maximum,
        }
    }

    /// Share of the axis at which `value` is, clamped to 0 to 1.
    pub fn share(&self, value: f64) -> f32 {
        let place = |value: f64| {
            if self.logarithmic {
                value.max(f64::MIN_POSITIVE).ln()
            } else {
                // Halved: the difference of two huge values would overflow to infinity.
                value / 2.0
            }
        };
        let span = place(self.maximum) - place(self.minimum);
        let share = (place(value) - place(self.minimum)) / span;
        if share.is_finite() {
            share.clamp(0.0, 1.0) as f32
        } else {
            0.0
        }
    }

    /// Share at which bars and areas start: that of zero, or the end next to it.
    pub fn base(&self) -> f32 {
        if self.logarithmic {
            0.0
        } else {
            self.share(0.0)
        }
    }
}

/// Minimum and maximum of the chart's values.
fn ends(chart: &Chart) -> Vec<(f64, String)> {
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

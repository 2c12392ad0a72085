//! Axes of charts: where they begin and end, and their ticks.

use super::{Binder, rules::uses_secondary};
use crate::{
    bound::{self, Axis, ValueFormat},
    expression::Scope,
    template::{AxisScale, AxisSpec, Chart, ChartKind, Mark},
};

/// Most ticks of an axis.
const MAX_TICKS: usize = 24;

impl<'b> Binder<'b> {
    /// Divides the axes by the chart's values and its template.
    pub(super) fn chart_axes(
        &mut self,
        node: &'b Chart,
        chart: &mut bound::Chart,
        scope: &Scope<'_>,
    ) {
        let mut first = chart.value_axis.clone();
        if chart.kind == ChartKind::PercentBar {
            first.format = ValueFormat::Percent { decimals: 0 };
        }
        let title = first.title.take();
        let range = Range::of_values(chart, false);
        chart.value_axis =
            self.chart_axis("valueAxis", node.value_axis.as_ref(), first, range, scope);
        if chart.value_axis.title.is_none() {
            chart.value_axis.title = title;
        }
        let plain = Axis {
            title: None,
            format: chart.format.clone(),
            ticks: Vec::new(),
            logarithmic: false,
        };
        if uses_secondary(node) {
            let range = Range::of_values(chart, true);
            let spec = node.secondary_axis.as_ref();
            let axis = self.chart_axis("secondaryAxis", spec, plain.clone(), range, scope);
            chart.secondary_axis = Some(axis);
        }
        if chart.kind == ChartKind::Scatter {
            let range = Range::of_positions(chart);
            let plain = Axis {
                format: ValueFormat::Number { decimals: None },
                ..plain
            };
            let axis = self.chart_axis("xAxis", node.x_axis.as_ref(), plain, range, scope);
            chart.x_axis = Some(axis);
        }
    }

    fn chart_axis(
        &mut self,
        token: &str,
        spec: Option<&'b AxisSpec>,
        mut axis: Axis,
        range: Range,
        scope: &Scope<'_>,
    ) -> Axis {
        let default = AxisSpec::default();
        let spec = spec.unwrap_or(&default);
        let (mut low, mut high) = (None, None);
        self.below(token, |binder| {
            if let Some(title) = &spec.title {
                axis.title =
                    Some(binder.line_at("title", title, scope)).filter(|title| !title.is_empty());
            }
            if let Some(format) = &spec.format {
                axis.format = binder.value_format(format, scope);
            }
            let mut end = |token: &str, expression: &Option<_>| {
                expression
                    .as_ref()
                    .and_then(|expression| binder.chart_number(token, expression, scope))
            };
            (low, high) = (end("min", &spec.min), end("max", &spec.max));
        });
        axis.logarithmic = spec.scale == AxisScale::Logarithmic;
        let wrong = match (low, high) {
            (Some(low), Some(high)) if low >= high => Some("`min` must be below `max`"),
            (Some(end), _) | (_, Some(end)) if axis.logarithmic && end <= 0.0 => {
                Some("a logarithmic axis begins and ends above zero")
            }
            _ => None,
        };
        if let Some(reason) = wrong {
            self.below(token, |binder| {
                binder.mistake("invalid-chart", reason.to_owned(), scope);
            });
            (low, high) = (None, None);
        }
        let ticks = if axis.logarithmic {
            logarithmic_ticks(range, low, high)
        } else {
            linear_ticks(range, low, high)
        };
        axis.ticks = ticks
            .into_iter()
            .map(|tick| (tick, self.chart_label(tick, &axis.format)))
            .collect();
        axis
    }
}

/// Least and most value that an axis has to show.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    least: f64,
    most: f64,
    /// Whether a linear axis has to show zero, because lengths are compared.
    from_zero: bool,
}

impl Range {
    const EMPTY: Self = Self {
        least: f64::INFINITY,
        most: f64::NEG_INFINITY,
        from_zero: false,
    };

    fn see(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Values and targets of one of the two axes. What is stacked counts as a sum.
    fn of_values(chart: &bound::Chart, secondary: bool) -> Self {
        let mut range = Self::EMPTY;
        let length = chart.series.iter().map(|series| series.values.len()).max();
        for category in 0..length.unwrap_or(0) {
            let (mut below, mut above) = (0.0_f64, 0.0_f64);
            for (place, series) in chart.series.iter().enumerate() {
                if series.secondary != secondary {
                    continue;
                }
                let Some(value) = chart.drawn(place, category) else {
                    continue;
                };
                if chart.kind.is_stacked() && series.mark == chart.kind.mark() {
                    let sum = if value < 0.0 { &mut below } else { &mut above };
                    *sum += value;
                    range.see(below);
                    range.see(above);
                } else {
                    range.see(value);
                }
            }
        }
        range.from_zero = chart
            .series
            .iter()
            .any(|series| series.secondary == secondary && series.mark != Mark::Line);
        if chart.kind == ChartKind::PercentBar && range.most > range.least {
            range.least = if range.least < 0.0 { -1.0 } else { 0.0 };
            range.most = if range.most > 0.0 { 1.0 } else { 0.0 };
        }
        for target in &chart.targets {
            if target.secondary == secondary {
                range.see(target.value);
            }
        }
        range
    }

    fn of_positions(chart: &bound::Chart) -> Self {
        let mut range = Self::EMPTY;
        for series in &chart.series {
            for (place, position) in series.positions.iter().enumerate() {
                if let (Some(position), Some(_)) = (position, series.value(place)) {
                    range.see(*position);
                }
            }
        }
        range
    }
}

/// Ticks of a linear axis, which begins and ends at a round value unless the template says where.
fn linear_ticks(range: Range, low: Option<f64>, high: Option<f64>) -> Vec<f64> {
    let (mut least, mut most) = if range.least <= range.most {
        (range.least, range.most)
    } else {
        (0.0, 1.0)
    };
    // The axis need not include zero, unless zero is close or lengths are compared.
    let floats = !range.from_zero && least > 0.0 && least > (most - least) * 2.0;
    if !floats {
        (least, most) = (least.min(0.0), most.max(0.0));
    }
    let begin = low.unwrap_or(least.min(high.unwrap_or(least)));
    let end = high.unwrap_or(most.max(low.unwrap_or(most)));
    let round = nice_ticks(begin, end);
    clip(round, low, high)
}

/// Cuts ticks off at given ends and puts ticks at these ends.
fn clip(ticks: Vec<f64>, low: Option<f64>, high: Option<f64>) -> Vec<f64> {
    let step = match ticks.as_slice() {
        [first, second, ..] => second - first,
        _ => 0.0,
    };
    // A tick close to an end would be written over the end's own.
    let near = step * 0.4;
    let mut clipped: Vec<f64> = low.into_iter().collect();
    clipped.extend(ticks.into_iter().filter(|tick| {
        low.is_none_or(|low| *tick > low + near) && high.is_none_or(|high| *tick < high - near)
    }));
    clipped.extend(high);
    if clipped.len() < 2 {
        let only = clipped.first().copied().unwrap_or(0.0);
        let step = if step > 0.0 { step } else { 1.0 };
        clipped = if high.is_some() {
            vec![only - step, only]
        } else {
            vec![only, only + step]
        };
    }
    clipped
}

/// Round ticks that enclose `least` to `most`, in steps of 1, 2 or 5 times a power of ten.
fn nice_ticks(least: f64, most: f64) -> Vec<f64> {
    let span = most - least;
    let span = if span > 0.0 {
        span
    } else {
        least.abs().max(1.0)
    };
    let raw = span / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= raw * 0.999_999)
        .unwrap_or(10.0 * power);
    let (first, last) = ((least / step).floor(), (most / step).ceil());
    let last = if last > first { last } else { first + 1.0 };
    let count = (last - first).min(20.0) as usize;
    (0..=count)
        .map(|index| rounded((first + index as f64) * step))
        .collect()
}

/// Removes floating point noise: 0.30000000000000004 becomes 0.3.
fn rounded(tick: f64) -> f64 {
    format!("{tick:.12e}").parse().unwrap_or(tick)
}

/// Ticks of a logarithmic axis: powers of ten and, if there are few, their double and fivefold.
fn logarithmic_ticks(range: Range, low: Option<f64>, high: Option<f64>) -> Vec<f64> {
    let (least, most) = if range.least <= range.most {
        (range.least.max(f64::MIN_POSITIVE), range.most)
    } else {
        (1.0, 10.0)
    };
    let begin = low.unwrap_or(least.min(high.unwrap_or(least)));
    let end = high.unwrap_or(most.max(low.unwrap_or(most)));
    let first = begin.log10().floor() as i32;
    let last = (end.log10().ceil() as i32).max(first + 1);
    let decades = (last - first) as usize;
    let every = decades.div_ceil(10);
    let between: &[f64] = if decades <= 2 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let mut ticks: Vec<f64> = (first..last)
        .step_by(every)
        .flat_map(|decade| {
            between
                .iter()
                .map(move |factor| factor * 10_f64.powi(decade))
        })
        .map(rounded)
        .collect();
    let top = rounded(10_f64.powi(last));
    if top.is_finite() {
        ticks.push(top);
    }
    // Without given ends the axis begins and ends at the last ticks around the values.
    let begins = ticks.iter().rposition(|tick| *tick <= begin).unwrap_or(0);
    let ends = ticks
        .iter()
        .position(|tick| *tick >= end)
        .unwrap_or(ticks.len() - 1);
    let mut ticks = ticks[begins..=ends.max(begins)].to_vec();
    ticks.retain(|tick| {
        low.is_none_or(|low| *tick > low * 1.2) && high.is_none_or(|high| *tick < high / 1.2)
    });
    if let Some(low) = low {
        ticks.insert(0, low);
    }
    ticks.extend(high);
    if ticks.len() < 2 {
        let only = ticks.first().copied().unwrap_or(1.0);
        ticks = if high.is_some() {
            vec![only / 10.0, only]
        } else {
            vec![only, only * 10.0]
        };
    }
    ticks.truncate(MAX_TICKS);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(least: f64, most: f64) -> Range {
        Range {
            least,
            most,
            from_zero: true,
        }
    }

    #[test]
    fn ticks_are_round_and_bound_the_values() {
        assert_eq!(nice_ticks(0.0, 97.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(nice_ticks(-3.0, 3.0), [-4.0, -2.0, 0.0, 2.0, 4.0]);
        assert_eq!(nice_ticks(0.0, 0.9), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        for (least, most) in [(0.0, 0.0), (5.0, 5.0), (-1e300, 1e300), (1e-300, 2e-300)] {
            let ticks = nice_ticks(least, most);
            assert!(ticks.len() >= 2 && ticks.len() <= 22, "{ticks:?}");
            assert!(ticks.iter().all(|tick| tick.is_finite()), "{ticks:?}");
        }
    }

    #[test]
    fn given_ends_are_ticks() {
        let ticks = linear_ticks(range(0.0, 97.0), Some(15.0), Some(95.0));
        assert_eq!(ticks, [15.0, 40.0, 60.0, 80.0, 95.0]);
        let ticks = linear_ticks(range(0.0, 97.0), Some(200.0), None);
        assert_eq!(ticks[0], 200.0);
        assert!(ticks.len() >= 2 && ticks[1] > 200.0, "{ticks:?}");
        let ticks = linear_ticks(range(5.0, 97.0), None, Some(-10.0));
        assert!(
            ticks.len() >= 2 && ticks.last() == Some(&-10.0),
            "{ticks:?}"
        );
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        let ticks = logarithmic_ticks(range(3.0, 80_000.0), None, None);
        assert_eq!(ticks, [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        let ticks = logarithmic_ticks(range(3.0, 40.0), None, None);
        assert_eq!(ticks, [2.0, 5.0, 10.0, 20.0, 50.0]);
        for (least, most) in [(1e-300, 1e300), (7.0, 7.0), (1.0, 1.0), (10.0, 10.0)] {
            for (low, high) in [(None, None), (Some(2.0), None), (None, Some(0.5))] {
                let ticks = logarithmic_ticks(range(least, most), low, high);
                assert!(ticks.len() >= 2 && ticks.len() <= MAX_TICKS, "{ticks:?}");
                assert!(ticks.is_sorted() && ticks[0] > 0.0, "{ticks:?}");
            }
        }
    }
}

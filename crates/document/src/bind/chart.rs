//! Chart nodes: categories, values, and an axis with round ticks.

use super::Binder;
use crate::{
    bound::{self, BlockKind, Series, Value, ValueFormat},
    expression::{Entry, Failure, Scope},
    style_sheet::chart_color,
    template::{Chart, ChartKind},
};

/// Maximum number of categories in a chart.
const MAX_CATEGORIES: usize = 1_000;
/// Default height: 70 mm, in points.
const HEIGHT_POINTS: f32 = 198.425;

impl<'b> Binder<'b> {
    pub(super) fn chart(&mut self, node: &'b Chart, scope: &Scope<'_>) -> Option<BlockKind> {
        let rows = self.rows("rows", &node.rows, scope)?;
        let rows = rows.as_refs();
        if rows.len() > MAX_CATEGORIES {
            let message = format!("a chart has at most {MAX_CATEGORIES} categories");
            self.below("rows", |binder| {
                binder.mistake("too-many-categories", message, scope);
            });
            return None;
        }
        if rows.is_empty() {
            self.warn("empty-chart", "this chart has no categories");
        }
        let format = match &node.format {
            Some(format) => self.value_format(format, scope),
            None => ValueFormat::Number { decimals: None },
        };
        let mut categories = Vec::with_capacity(rows.len());
        let mut values = vec![Vec::with_capacity(rows.len()); node.series.len()];
        for (index, row) in rows.iter().enumerate() {
            let scope = scope.with("item", Entry::Json(row)).at(index, rows.len());
            categories.push(self.line_at("category", &node.category, &scope));
            for (place, series) in node.series.iter().enumerate() {
                let value = self.item("series", place, |binder| {
                    binder.chart_value(&series.value, node.chart, &scope)
                });
                values[place].push(value);
            }
        }
        let series = self.chart_series(node, values, &format, scope);
        let ticks = match node.chart {
            ChartKind::Pie => Vec::new(),
            kind => {
                let (least, most) = bounds(&series, kind);
                let ticks = nice_ticks(least, most).into_iter();
                ticks
                    .map(|tick| (tick, self.chart_label(tick, &format)))
                    .collect()
            }
        };
        let mut line = |token: &str, text: Option<&crate::template::Text>| {
            text.map(|text| self.line_at(token, text, scope))
                .filter(|text| !text.is_empty())
        };
        let title = line("title", node.title.as_ref());
        let category_title = line("categoryTitle", node.category_title.as_ref());
        let value_title = line("valueTitle", node.value_title.as_ref());
        let alt = line("alt", Some(&node.alt)).unwrap_or_default();
        let legend_helps = series.len() > 1 || node.chart == ChartKind::Pie;
        Some(BlockKind::Chart(Box::new(bound::Chart {
            kind: node.chart,
            title,
            categories,
            legend: node.legend.unwrap_or(legend_helps),
            series,
            width: node.width.map(|width| width.to_points()),
            height: node
                .height
                .map_or(HEIGHT_POINTS, |height| height.to_points()),
            format,
            category_title,
            value_title,
            labels: node.labels,
            ticks,
            alt,
        })))
    }

    fn chart_series(
        &mut self,
        node: &'b Chart,
        values: Vec<Vec<Option<f64>>>,
        format: &ValueFormat,
        scope: &Scope<'_>,
    ) -> Vec<Series> {
        let mut series = Vec::with_capacity(node.series.len());
        for (place, values) in values.into_iter().enumerate() {
            let spec = &node.series[place];
            let name = self.item("series", place, |binder| {
                binder.line_at("name", &spec.name, scope)
            });
            let write = |value: &Option<f64>| {
                value.map_or_else(String::new, |value| self.chart_label(value, format))
            };
            series.push(Series {
                name,
                labels: values.iter().map(write).collect(),
                color: spec
                    .color
                    .unwrap_or_else(|| chart_color(&self.compiled.parts.sheet.colors, place)),
                values,
            });
        }
        series
    }

    fn chart_value(
        &mut self,
        value: &crate::template::Expression,
        kind: ChartKind,
        scope: &Scope<'_>,
    ) -> Option<f64> {
        let compiled = self.compiled.expression(value)?;
        let made = compiled
            .evaluate(scope, &self.evaluation)
            .and_then(|value| value.to_number());
        let made = match made {
            Ok(Some(number)) if kind == ChartKind::Pie && number < 0.0 => Err(Failure::new(
                "negative-slice",
                "a pie cannot have negative slices",
            )),
            // Beyond this magnitude, differences between ticks would overflow.
            Ok(Some(number)) if number.abs() > 1e300 => Err(Failure::new(
                "number-too-large",
                "a value is too large for a chart",
            )),
            other => other,
        };
        match made {
            Ok(number) => number,
            // A row without the field leaves a gap, like null.
            Err(failure) if failure.missing.is_some() && compiled.is_path() => None,
            Err(failure) => {
                self.below("value", |binder| binder.report(failure, scope));
                None
            }
        }
    }

    fn chart_label(&self, value: f64, format: &ValueFormat) -> String {
        let locale = &self.evaluation.shared.locale;
        locale
            .format_value(Value::Number(value), format)
            .unwrap_or_else(|| locale.format_number(value, None))
    }
}

/// Minimum and maximum value that the axis must show. Bars always start at zero.
fn bounds(series: &[Series], kind: ChartKind) -> (f64, f64) {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut see = |value: f64| {
        least = least.min(value);
        most = most.max(value);
    };
    if kind == ChartKind::StackedBar {
        let length = series.iter().map(|series| series.values.len()).max();
        for index in 0..length.unwrap_or(0) {
            let (mut below, mut above) = (0.0_f64, 0.0_f64);
            for series in series {
                let value = series.values.get(index).copied().flatten().unwrap_or(0.0);
                if value < 0.0 {
                    below += value;
                } else {
                    above += value;
                }
            }
            see(below);
            see(above);
        }
    } else {
        for value in series
            .iter()
            .flat_map(|series| series.values.iter().flatten())
        {
            see(*value);
        }
    }
    if !least.is_finite() || !most.is_finite() {
        return (0.0, 1.0);
    }
    // The axis of a line chart need not include zero, unless zero is close.
    let floats = kind == ChartKind::Line && least > 0.0 && least > (most - least) * 2.0;
    if floats {
        (least, most)
    } else {
        (least.min(0.0), most.max(0.0))
    }
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
        .map(|index| {
            let tick = (first + index as f64) * step;
            // Removes floating point noise: 0.30000000000000004 becomes 0.3.
            format!("{tick:.12e}").parse().unwrap_or(tick)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

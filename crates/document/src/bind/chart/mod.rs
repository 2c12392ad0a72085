//! Chart nodes: categories, series, values, labels and target lines.

mod axis;
mod rules;

use super::Binder;
use crate::{
    Color,
    bound::{self, BlockKind, Counted, Series, StyleId, Target, Value, ValueFormat},
    expression::{Entry, Failure, Scope},
    style_sheet::chart_color,
    template::{AxisName, Chart, ChartKind, Expression, LabelContent, Text},
};

/// Maximum number of categories in a chart.
const MAX_CATEGORIES: usize = 1_000;
/// Maximum number of target lines in a chart.
const MAX_TARGETS: usize = 20;
/// Default height: 70 mm, in points.
const HEIGHT_POINTS: f32 = 198.425;

/// What is read for each series: values and, in a scatter chart, positions.
#[derive(Default)]
struct Points {
    values: Vec<Option<f64>>,
    positions: Vec<Option<f64>>,
}

impl<'b> Binder<'b> {
    pub(super) fn chart(&mut self, node: &'b Chart, scope: &Scope<'_>) -> Option<BlockKind> {
        self.chart_rules(node, scope)?;
        let format = match &node.format {
            Some(format) => self.value_format(format, scope),
            None => ValueFormat::Number { decimals: None },
        };
        let (categories, points) = self.chart_points(node, scope)?;
        let series = self.chart_series(node, points, scope);
        let targets = self.chart_targets(node, scope);
        let percent_labels = match node.label_content {
            Some(content) => content == LabelContent::Percent,
            None => node.chart == ChartKind::PercentBar,
        };
        let mut line = |token: &str, text: Option<&Text>| {
            text.map(|text| self.line_at(token, text, scope))
                .filter(|text| !text.is_empty())
        };
        let title = line("title", node.title.as_ref());
        let category_title = line("categoryTitle", node.category_title.as_ref());
        let value_title = line("valueTitle", node.value_title.as_ref());
        let alt = line("alt", Some(&node.alt)).unwrap_or_default();
        let caption = self.caption(node.caption.as_ref(), Counted::Figures, scope);
        let (text, text_color) = self.chart_text(node);
        let legend_helps = series.len() > 1 || node.chart.is_round();
        let mut chart = bound::Chart {
            kind: node.chart,
            horizontal: node.horizontal,
            title,
            categories,
            category_title,
            series,
            width: node.width.map(|width| width.to_points()),
            height: node
                .height
                .map_or(HEIGHT_POINTS, |height| height.to_points()),
            legend: node.legend.unwrap_or(legend_helps),
            labels: node.labels,
            percent_labels,
            format: format.clone(),
            value_axis: bound::Axis {
                title: value_title,
                format,
                ticks: Vec::new(),
                logarithmic: false,
            },
            secondary_axis: None,
            x_axis: None,
            targets,
            alt,
            text,
            text_color,
            caption,
        };
        if !chart.kind.is_round() {
            self.chart_axes(node, &mut chart, scope);
        }
        self.chart_labels(&mut chart);
        Some(BlockKind::Chart(Box::new(chart)))
    }

    /// Style and color of the texts: those of small text, changed by the node's own style.
    fn chart_text(&mut self, node: &Chart) -> (StyleId, Color) {
        let (small, theme) = (self.named_style("small"), self.sheet.colors.text);
        let Some(own) = &node.style else {
            return (small, theme);
        };
        let sheet = self.sheet;
        let text = self.changed_style(small, |style| sheet.overlay_ref(style, own));
        let color = self.styles[text].color;
        let kept = color == self.styles[small].color;
        (text, if kept { theme } else { color })
    }

    /// Evaluates categories and values of all rows.
    fn chart_points(
        &mut self,
        node: &'b Chart,
        scope: &Scope<'_>,
    ) -> Option<(Vec<String>, Vec<Points>)> {
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
        let mut categories = Vec::with_capacity(rows.len());
        let mut points: Vec<Points> = node.series.iter().map(|_| Points::default()).collect();
        for (index, row) in rows.iter().enumerate() {
            let scope = scope.with("item", Entry::Json(row)).at(index, rows.len());
            categories.push(self.line_at("category", &node.category, &scope));
            for (place, series) in node.series.iter().enumerate() {
                self.item("series", place, |binder| {
                    let value = binder.chart_number("value", &series.value, &scope);
                    let value = value
                        .filter(|value| binder.is_chart_value(node, series.axis, *value, &scope));
                    points[place].values.push(value);
                    if let Some(position) = &series.x {
                        let position = binder.chart_number("x", position, &scope);
                        points[place].positions.push(position);
                    }
                });
            }
        }
        Some((categories, points))
    }

    fn chart_series(
        &mut self,
        node: &'b Chart,
        points: Vec<Points>,
        scope: &Scope<'_>,
    ) -> Vec<Series> {
        let mut series = Vec::with_capacity(node.series.len());
        for (place, (points, spec)) in points.into_iter().zip(&node.series).enumerate() {
            let name = self.item("series", place, |binder| {
                binder.line_at("name", &spec.name, scope)
            });
            let colors = &self.sheet.colors;
            series.push(Series {
                name,
                labels: Vec::new(),
                mark: spec.mark.unwrap_or_else(|| node.chart.mark()),
                secondary: spec.axis == Some(AxisName::Secondary),
                color: spec.color.unwrap_or_else(|| chart_color(colors, place)),
                values: points.values,
                positions: points.positions,
            });
        }
        series
    }

    fn chart_targets(&mut self, node: &'b Chart, scope: &Scope<'_>) -> Vec<Target> {
        let text = self.sheet.colors.text;
        let mut targets = Vec::new();
        for (place, spec) in node.targets.iter().enumerate() {
            let target = self.item("targets", place, |binder| {
                let value = binder.chart_number("value", &spec.value, scope);
                let label = binder.line_at("label", &spec.label, scope);
                Some(Target {
                    value: value
                        .filter(|value| binder.is_chart_value(node, spec.axis, *value, scope))?,
                    label,
                    secondary: spec.axis == Some(AxisName::Secondary),
                    color: spec.color.unwrap_or(text),
                })
            });
            targets.extend(target);
        }
        targets
    }

    /// Writes the label of each value.
    fn chart_labels(&mut self, chart: &mut bound::Chart) {
        if chart.percent_labels {
            let decimals = match chart.format {
                ValueFormat::Percent { decimals } => decimals,
                _ => 0,
            };
            chart.format = ValueFormat::Percent { decimals };
        }
        for place in 0..chart.series.len() {
            let labels = (0..chart.series[place].values.len()).map(|category| {
                let value = if chart.percent_labels {
                    chart.share(place, category)
                } else {
                    chart.series[place].value(category)
                };
                value.map_or_else(String::new, |value| self.chart_label(value, &chart.format))
            });
            chart.series[place].labels = labels.collect();
        }
    }

    /// Evaluates a number. Null and, if the expression is a path, a missing field are none.
    fn chart_number(
        &mut self,
        token: &str,
        expression: &Expression,
        scope: &Scope<'_>,
    ) -> Option<f64> {
        let compiled = self.compiled.expression(expression)?;
        let made = compiled
            .evaluate(scope, &self.evaluation)
            .and_then(|value| value.to_number());
        let made = match made {
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
                self.below(token, |binder| binder.report(failure, scope));
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

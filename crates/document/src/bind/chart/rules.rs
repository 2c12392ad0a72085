//! Which properties of a chart go together.

use super::{Binder, MAX_TARGETS};
use crate::{
    expression::Scope,
    template::{AxisName, AxisScale, Chart, ChartKind, LabelContent, Mark, SeriesSpec},
};

impl<'b> Binder<'b> {
    /// Reports properties that contradict each other; `None` if there are any.
    pub(super) fn chart_rules(&mut self, node: &'b Chart, scope: &Scope<'_>) -> Option<()> {
        let mut sound = true;
        let mut refuse = |binder: &mut Self, token: &str, reason: &str| {
            sound = false;
            binder.below(token, |binder| {
                binder.mistake("invalid-chart", reason.to_owned(), scope);
            });
        };
        let is_bar = matches!(
            node.chart,
            ChartKind::Bar | ChartKind::StackedBar | ChartKind::PercentBar
        );
        if node.horizontal && !is_bar {
            refuse(self, "horizontal", "only bars can be horizontal");
        }
        if node.horizontal && uses_secondary(node) {
            let reason = "horizontal bars have one value axis; leave `secondary` out";
            refuse(self, "horizontal", reason);
        }
        if node.chart.is_round() {
            if !node.targets.is_empty() {
                refuse(self, "targets", "a chart of slices has no axis for targets");
            }
            for (token, axis) in [
                ("valueAxis", &node.value_axis),
                ("secondaryAxis", &node.secondary_axis),
            ] {
                if axis.is_some() {
                    refuse(self, token, "a chart of slices has no axes");
                }
            }
        }
        if node.x_axis.is_some() && node.chart != ChartKind::Scatter {
            let reason = "only `scatter` has a horizontal axis of values; others have categories";
            refuse(self, "xAxis", reason);
        }
        if node.secondary_axis.is_some() && !uses_secondary(node) && !node.chart.is_round() {
            let reason = "no series uses the second axis; give one `\"axis\": \"secondary\"`";
            refuse(self, "secondaryAxis", reason);
        }
        let logarithmic = |axis: &Option<crate::template::AxisSpec>| {
            axis.as_ref()
                .is_some_and(|axis| axis.scale == AxisScale::Logarithmic)
        };
        if node.chart.is_stacked()
            && (logarithmic(&node.value_axis) || logarithmic(&node.secondary_axis))
        {
            refuse(self, "valueAxis", "stacked values need a linear axis");
        }
        if node.label_content == Some(LabelContent::Percent)
            && !node.chart.is_round()
            && !matches!(node.chart, ChartKind::StackedBar | ChartKind::PercentBar)
        {
            let reason = "only slices and stacked bars are shares of a sum";
            refuse(self, "labelContent", reason);
        }
        if node.targets.len() > MAX_TARGETS {
            let reason = format!("a chart has at most {MAX_TARGETS} targets");
            refuse(self, "targets", &reason);
        }
        for (place, series) in node.series.iter().enumerate() {
            if let Some((token, reason)) = series_mistake(node, series) {
                self.item("series", place, |binder| refuse(binder, token, reason));
            }
        }
        sound.then_some(())
    }

    /// Whether a value can be drawn on its axis; reports it if not.
    pub(super) fn is_chart_value(
        &mut self,
        node: &'b Chart,
        axis: Option<AxisName>,
        value: f64,
        scope: &Scope<'_>,
    ) -> bool {
        let spec = match axis {
            Some(AxisName::Secondary) => &node.secondary_axis,
            _ => &node.value_axis,
        };
        let logarithmic = spec
            .as_ref()
            .is_some_and(|spec| spec.scale == AxisScale::Logarithmic);
        let (code, reason) = if node.chart.is_round() && value < 0.0 {
            ("negative-slice", "a pie cannot have negative slices")
        } else if logarithmic && value <= 0.0 {
            (
                "invalid-chart",
                "a logarithmic axis needs values above zero; make it null to leave a gap",
            )
        } else {
            return true;
        };
        self.below("value", |binder| {
            binder.mistake(code, reason.to_owned(), scope);
        });
        false
    }
}

/// Whether anything in the chart is on the second axis.
pub(super) fn uses_secondary(node: &Chart) -> bool {
    let is_second = |axis: Option<AxisName>| axis == Some(AxisName::Secondary);
    node.series.iter().any(|series| is_second(series.axis))
        || node.targets.iter().any(|target| is_second(target.axis))
}

/// What is wrong with a series: the property and the reason.
fn series_mistake(node: &Chart, series: &SeriesSpec) -> Option<(&'static str, &'static str)> {
    let own = node.chart.mark();
    if node.chart == ChartKind::Scatter {
        if series.x.is_none() {
            return Some((
                "x",
                "a series of `scatter` needs `x`, its horizontal position",
            ));
        }
        if series.mark.is_some() {
            return Some(("as", "all series of `scatter` are points"));
        }
    } else if series.x.is_some() {
        return Some((
            "x",
            "only series of `scatter` have `x`; others have categories",
        ));
    }
    let other = series.mark.is_some_and(|mark| mark != own);
    if other && (node.chart.is_round() || node.chart == ChartKind::PercentBar) {
        return Some(("as", "this kind of chart cannot be combined with others"));
    }
    if other && node.horizontal {
        return Some(("as", "horizontal charts have bars only"));
    }
    if other && node.chart.is_stacked() && series.mark != Some(Mark::Line) {
        return Some(("as", "stacked series can be combined with lines only"));
    }
    if series.axis == Some(AxisName::Secondary) {
        if node.chart.is_round() {
            return Some(("axis", "a chart of slices has no axes"));
        }
        if node.chart.is_stacked() && !other {
            return Some((
                "axis",
                "stacked series share the first axis; draw this one `\"as\": \"line\"`",
            ));
        }
    }
    None
}

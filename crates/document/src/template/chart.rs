//! Parts of chart nodes: kinds, series, axes and target lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expression, FormatSpec, Text};
use crate::Color;

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChartKind {
    /// Bars, with series side by side.
    Bar,
    /// Bars, with series stacked.
    StackedBar,
    /// Bars of 100 %, with series stacked as shares of their sum.
    PercentBar,
    /// Lines.
    Line,
    /// Lines with the area below them filled.
    Area,
    /// Areas, with series stacked.
    StackedArea,
    /// A pie that shows the first series.
    Pie,
    /// A ring that shows the first series.
    Doughnut,
    /// Points at `x` and `value`.
    Scatter,
}

impl ChartKind {
    /// True for pies and doughnuts, which have slices and no axes.
    #[must_use]
    pub fn is_round(self) -> bool {
        matches!(self, Self::Pie | Self::Doughnut)
    }

    /// True if the values of a category are put on top of each other.
    #[must_use]
    pub fn is_stacked(self) -> bool {
        matches!(
            self,
            Self::StackedBar | Self::PercentBar | Self::StackedArea
        )
    }

    /// How series are drawn that say nothing else.
    #[must_use]
    pub fn mark(self) -> Mark {
        match self {
            Self::Line | Self::Scatter => Mark::Line,
            Self::Area | Self::StackedArea => Mark::Area,
            Self::Bar | Self::StackedBar | Self::PercentBar | Self::Pie | Self::Doughnut => {
                Mark::Bar
            }
        }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Mark {
    /// Bars.
    Bar,
    /// A line.
    Line,
    /// A line with the area below it filled.
    Area,
}

/// One of the two value axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AxisName {
    /// The axis at the start of the lines.
    #[default]
    Primary,
    /// The axis on the other side.
    Secondary,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AxisScale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long, to base 10; values must be above zero.
    Logarithmic,
}

/// What the labels of a chart say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LabelContent {
    /// The value.
    Value,
    /// The share of the sum: of all slices, or of the category's series.
    Percent,
}

/// A series of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeriesSpec {
    /// Name in the legend.
    pub name: Text,
    /// Value of an element, which is `item`. Null or a missing field leaves a gap.
    pub value: Expression,
    /// Position of an element on the horizontal axis; for `scatter` only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub x: Option<Expression>,
    /// How the series is drawn, if not as the chart's kind says.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none", default)]
    pub mark: Option<Mark>,
    /// The axis of its values; `primary` by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub axis: Option<AxisName>,
    /// Color; by default the theme's next chart color.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<Color>,
}

/// A value axis, or the horizontal axis of a `scatter`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AxisSpec {
    /// Title.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<Text>,
    /// Value at which it begins; chosen by the data if it is left out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub min: Option<Expression>,
    /// Value at which it ends; chosen by the data if it is left out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max: Option<Expression>,
    /// Scale; `linear` by default.
    #[serde(default)]
    pub scale: AxisScale,
    /// Format of its values; by default the chart's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<FormatSpec>,
}

/// A line across the chart at a value to compare with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TargetSpec {
    /// The value; null leaves the line out.
    pub value: Expression,
    /// What the line stands for, written at its end.
    pub label: Text,
    /// The axis of the value; `primary` by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub axis: Option<AxisName>,
    /// Color; by default that of the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<Color>,
}

//! Parts of nodes: list items, columns side by side, pairs, series, and what drawings are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ColumnWidth, Content, Expression, FormatSpec, Node, StyleRef, Text};
use crate::Color;

/// An item of a list: inline content, or content with nodes below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ListItem {
    /// Inline content.
    Content(Content),
    /// Inline content with nodes below it, for nested lists.
    Full(Box<FullListItem>),
}

/// An item with nodes below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FullListItem {
    /// What it says.
    pub content: Content,
    /// Nodes below it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub body: Vec<Node>,
    /// Leaves the item out where false.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<Expression>,
}

/// One of several columns side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ColumnBox {
    /// Width; an equal share where absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width: Option<ColumnWidth>,
    /// The content.
    pub body: Vec<Node>,
    /// Style of the column's text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub style: Option<StyleRef>,
}

/// A label with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyValueItem {
    /// The label.
    pub key: Content,
    /// The value.
    pub value: Content,
    /// How the value is written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<FormatSpec>,
    /// Leaves the pair out where false.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<Expression>,
}

/// A style for bound rows of which an expression holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RowStyle {
    /// The condition; the row is `item` (or the table's `as`).
    pub when: Expression,
    /// The style.
    pub style: StyleRef,
}

/// How an image fits into width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Fit {
    /// As large as fits, nothing cut off.
    #[default]
    Contain,
    /// Stretched to both.
    Stretch,
}

/// Symbology of a barcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Symbology {
    /// QR Code, ISO/IEC 18004, error correction M.
    Qr,
    /// Code 128, ISO/IEC 15417.
    Code128,
    /// EAN-13, ISO/IEC 15420; 12 digits get their check digit.
    Ean13,
    /// Data Matrix ECC 200, ISO/IEC 16022.
    DataMatrix,
}

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChartKind {
    /// Vertical bars, series side by side.
    Bar,
    /// Vertical bars, series on top of each other.
    StackedBar,
    /// Lines.
    Line,
    /// A pie of the first series.
    Pie,
}

/// A series of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeriesSpec {
    /// Name in the legend.
    pub name: Text,
    /// Value of a row; the row is `item`. Null or missing leaves a gap.
    pub value: Expression,
    /// Colour; the theme's next where absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<Color>,
}

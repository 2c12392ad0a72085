//! Parts of nodes: list items, columns, pairs, chart series, kinds of drawings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ColumnWidth, Content, Expression, FormatSpec, Node, StyleRef, Text};
use crate::Color;

/// A list item: inline content, optionally with nodes below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ListItem {
    /// Inline content.
    Content(Content),
    /// Inline content with nodes below it, for instance a nested list.
    Full(Box<FullListItem>),
}

/// A list item with nodes below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FullListItem {
    /// Text of the item.
    pub content: Content,
    /// Nodes below it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub body: Vec<Node>,
    /// Condition; the item is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<Expression>,
}

/// One of several columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ColumnBox {
    /// Width; an equal share by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width: Option<ColumnWidth>,
    /// Content of the column.
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
    /// Format of the value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub format: Option<FormatSpec>,
    /// Condition; the pair is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<Expression>,
}

/// A conditional style for data rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RowStyle {
    /// Condition on the row, which is `item` (or the table's `as`).
    pub when: Expression,
    /// The style.
    pub style: StyleRef,
}

/// How an image fits the given width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Fit {
    /// As large as possible without cropping or distortion.
    #[default]
    Contain,
    /// Stretched to the given size.
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
    /// EAN-13, ISO/IEC 15420. A missing check digit is added to 12 digits.
    Ean13,
    /// Data Matrix ECC 200, ISO/IEC 16022.
    DataMatrix,
}

/// Kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChartKind {
    /// Vertical bars, with series side by side.
    Bar,
    /// Vertical bars, with series stacked.
    StackedBar,
    /// Lines.
    Line,
    /// A pie that shows the first series.
    Pie,
}

/// A series of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeriesSpec {
    /// Name in the legend.
    pub name: Text,
    /// Value of an element, which is `item`. Null or a missing field leaves a gap.
    pub value: Expression,
    /// Color; by default the theme's next chart color.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<Color>,
}

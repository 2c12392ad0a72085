//! Parts of nodes: list items, columns, pairs, chart series, kinds of drawings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ColumnWidth, Content, Expression, FormatSpec, Node, StyleRef, Text};

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
    /// Mark of the item instead of the list's, such as `checkedBox`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mark: Option<Text>,
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
    /// As small as possible to fill the given size; what reaches beyond it is cut off evenly.
    Cover,
}

/// What a table of contents lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ContentsOf {
    /// Headings.
    #[default]
    Headings,
    /// Captions of images.
    Figures,
    /// Captions of tables.
    Tables,
    /// Notes: they stand here instead of at the foot of pages.
    Notes,
    /// Terms, in alphabetical order.
    Index,
}

/// Symbology of a barcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Symbology {
    /// QR Code, ISO/IEC 18004.
    Qr,
    /// Code 128, ISO/IEC 15417.
    Code128,
    /// EAN-13, ISO/IEC 15420. A missing check digit is added to 12 digits.
    Ean13,
    /// Data Matrix ECC 200, ISO/IEC 16022.
    DataMatrix,
    /// GS1-128: application identifiers in parentheses, as `(01)09521234543213(10)ABC123`.
    #[serde(rename = "gs1-128")]
    Gs1128,
    /// GS1 DataMatrix: application identifiers in parentheses.
    Gs1DataMatrix,
    /// ITF-14, for outer packages. A missing check digit is added to 13 digits.
    Itf14,
    /// Code 39, ISO/IEC 16388.
    Code39,
    /// EAN-8, ISO/IEC 15420. A missing check digit is added to 7 digits.
    Ean8,
    /// UPC-A, ISO/IEC 15420. A missing check digit is added to 11 digits.
    UpcA,
    /// PDF417, ISO/IEC 15438.
    Pdf417,
    /// Aztec Code, ISO/IEC 24778.
    Aztec,
}

impl Symbology {
    /// True for codes of bars alone, false for codes of rows and columns.
    #[must_use]
    pub fn is_linear(self) -> bool {
        match self {
            Self::Code128
            | Self::Gs1128
            | Self::Code39
            | Self::Ean13
            | Self::Ean8
            | Self::UpcA
            | Self::Itf14 => true,
            Self::Qr | Self::DataMatrix | Self::Gs1DataMatrix | Self::Pdf417 | Self::Aztec => false,
        }
    }

    /// Name for readers.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Qr => "QR code",
            Self::Code128 => "Code 128",
            Self::Ean13 => "EAN-13",
            Self::DataMatrix => "Data Matrix",
            Self::Gs1128 => "GS1-128",
            Self::Gs1DataMatrix => "GS1 DataMatrix",
            Self::Itf14 => "ITF-14",
            Self::Code39 => "Code 39",
            Self::Ean8 => "EAN-8",
            Self::UpcA => "UPC-A",
            Self::Pdf417 => "PDF417",
            Self::Aztec => "Aztec code",
        }
    }
}

/// How much of a QR code may be damaged and still be read (ISO/IEC 18004, section 6.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ErrorCorrection {
    /// About 7 %.
    L,
    /// About 15 %.
    #[default]
    M,
    /// About 25 %.
    Q,
    /// About 30 %, so that a logo may cover the middle.
    H,
}

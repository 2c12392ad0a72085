//! Style properties, as a named style of the theme or on a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Color, Length};

/// The name of a theme style, several names (later ones win), or properties on the spot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StyleRef {
    /// Name of a style in `theme.styles` or of a built-in one.
    Name(String),
    /// Names, later ones win.
    Names(Vec<String>),
    /// Properties.
    Inline(Box<StyleSpec>),
}

/// Style properties; what is not given is inherited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StyleSpec {
    /// Name of a style to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Font family or families.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_family: Option<FontFamily>,
    /// Font size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_size: Option<Length>,
    /// Bold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bold: Option<bool>,
    /// Italic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub italic: Option<bool>,
    /// Underlined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub underline: Option<bool>,
    /// Struck through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strike: Option<bool>,
    /// Text colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Color>,
    /// Horizontal alignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// Vertical alignment in a table cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertical_align: Option<VerticalAlign>,
    /// Line height as a multiple of the font size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_height: Option<f32>,
    /// Extra space between letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letter_spacing: Option<Length>,
    /// Space above the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space_before: Option<Length>,
    /// Space below the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space_after: Option<Length>,
    /// Indent at the start side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indent_start: Option<Length>,
    /// Indent at the end side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indent_end: Option<Length>,
    /// Extra indent of the first line; negative hangs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indent_first_line: Option<Length>,
    /// Space between border and content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<Edges>,
    /// Borders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<BorderSpec>,
    /// Break words at line ends, by the locale's patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyphenate: Option<bool>,
    /// Stay on one page with the next block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_with_next: Option<bool>,
    /// Do not break over pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_together: Option<bool>,
    /// Lines of a paragraph that must stand together at a page's top; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widows: Option<u8>,
    /// Lines of a paragraph that must stand together at a page's bottom; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphans: Option<u8>,
}

/// One font family or several, first found first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FontFamily {
    /// One family.
    One(String),
    /// Several, first found first.
    Several(Vec<String>),
}

/// Horizontal alignment. `start` and `end` follow the text's direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Align {
    /// Where text starts.
    #[default]
    Start,
    /// Where text ends.
    End,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Centred.
    Center,
    /// Both sides flush.
    Justify,
}

/// Vertical alignment in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum VerticalAlign {
    /// Top.
    #[default]
    Top,
    /// Middle.
    Middle,
    /// Bottom.
    Bottom,
}

/// One length for all sides, or one a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Edges {
    /// The same on all sides.
    All(Length),
    /// One a side; none where absent.
    Sides {
        /// Top.
        #[serde(default)]
        top: Length,
        /// Right.
        #[serde(default)]
        right: Length,
        /// Bottom.
        #[serde(default)]
        bottom: Length,
        /// Left.
        #[serde(default)]
        left: Length,
    },
}

/// Borders: which sides, how wide, what colour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BorderSpec {
    /// Width; 0.75 pt where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<Length>,
    /// Colour; the theme's border colour where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Solid where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<LineStyle>,
    /// Sides that have the border; all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sides: Option<Vec<Side>>,
}

/// A side of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// Top.
    Top,
    /// Right.
    Right,
    /// Bottom.
    Bottom,
    /// Left.
    Left,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LineStyle {
    /// Unbroken.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
}

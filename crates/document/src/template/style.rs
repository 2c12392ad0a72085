//! Style properties of named styles and nodes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Color, Length};

/// Name of a style, properties, or several of these, of which later ones take precedence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StyleRef {
    /// Name of a style in `theme.styles`, or of a built-in style.
    Name(String),
    /// Names and properties; later ones take precedence.
    Several(Vec<StylePart>),
    /// Properties.
    Inline(Box<StyleSpec>),
}

/// One of several styles: a name, or properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum StylePart {
    /// Name of a style in `theme.styles`, or of a built-in style.
    Name(String),
    /// Properties.
    Inline(Box<StyleSpec>),
}

/// Style properties. Those not given are inherited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StyleSpec {
    /// Name of a style to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Font family, or several in order of preference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_family: Option<FontFamily>,
    /// Font size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_size: Option<Length>,
    /// Weight of the font, 1 to 1000: 400 is regular, 700 is bold. It takes precedence over `bold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub font_weight: Option<u16>,
    /// Width of the font in percent of its normal width, 50 to 200: 75 is condensed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 50, max = 200))]
    pub font_width: Option<u16>,
    /// OpenType features: names such as `smallCaps` and `oldStyleFigures`, or tags such as `ss01`,
    /// `ss01=2` or `-liga`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_features: Option<Vec<String>>,
    /// Positions on the axes of variable fonts by tag, such as `{"opsz": 14}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_axes: Option<BTreeMap<String, f32>>,
    /// BCP 47 tag of the language of the text, if it is not that of the document: for hyphens and
    /// for screen readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
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
    /// Text color.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Background color.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Color>,
    /// Horizontal alignment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<Align>,
    /// Vertical alignment in a table cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertical_align: Option<VerticalAlign>,
    /// In a table cell: turns the text by 90 degrees, to be read from the bottom up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turned: Option<bool>,
    /// Line height as a multiple of the font size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_height: Option<f32>,
    /// Additional space between letters.
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
    /// Additional indent of the first line; negative for a hanging indent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indent_first_line: Option<Length>,
    /// Where tabs of the text lead, in addition to a hanging indent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tabs: Option<Vec<TabStop>>,
    /// Space between border and content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<Edges>,
    /// Borders, or several of which later ones take precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<BorderSpecs>,
    /// Whether the block stands in one column of its section or spans all; one by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_span: Option<ColumnSpan>,
    /// Lets punctuation at the ends of lines hang beyond them, in part, so that the edges look
    /// straighter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hanging_punctuation: Option<bool>,
    /// Lets justified Arabic lines grow at the connections between letters (kashida), not between
    /// words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kashida: Option<bool>,
    /// Hyphenates words at line ends with the locale's patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyphenate: Option<bool>,
    /// Keeps the block on the page of the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_with_next: Option<bool>,
    /// Avoids page breaks inside the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_together: Option<bool>,
    /// Minimum number of lines of a paragraph at the top of a page; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widows: Option<u8>,
    /// Minimum number of lines of a paragraph at the bottom of a page; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphans: Option<u8>,
}

/// How many text columns of its section a block spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ColumnSpan {
    /// One.
    #[default]
    One,
    /// All.
    All,
}

/// A position to which a tab leads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TabStop {
    /// Distance from the start side of the column; one beyond its end means the end.
    pub position: Length,
    /// Which part of the text behind the tab stands there; its start by default.
    #[serde(default)]
    pub align: TabAlign,
    /// What fills the gap; nothing by default.
    #[serde(default)]
    pub leader: TabLeader,
}

/// The part of the text that stands at a tab stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TabAlign {
    /// Its start.
    #[default]
    Start,
    /// Its end.
    End,
    /// Its center.
    Center,
    /// The decimal separator of a number.
    Decimal,
}

/// What fills the gap before a tab stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TabLeader {
    /// Nothing.
    #[default]
    None,
    /// Dots on the baseline.
    Dots,
    /// Dashes.
    Dashes,
    /// A line on the baseline.
    Line,
}

/// A font family, or several in order of preference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FontFamily {
    /// One family.
    One(String),
    /// Several, in order of preference.
    Several(Vec<String>),
}

/// Horizontal alignment. `start` and `end` depend on the direction of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Align {
    /// The side where lines start.
    #[default]
    Start,
    /// The side where lines end.
    End,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Centered.
    Center,
    /// Both sides flush.
    Justify,
    /// Right, in a table with the decimal separators of the column below each other.
    Decimal,
}

/// Vertical alignment in a table cell.
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

/// One length for all sides, or one per side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Edges {
    /// The same on all sides.
    All(Length),
    /// One length per side; zero by default.
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

/// Borders of a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BorderSpecs {
    /// Sides with the same border.
    One(BorderSpec),
    /// Several; later ones take precedence.
    Several(Vec<BorderSpec>),
}

impl BorderSpecs {
    /// The borders in order.
    #[must_use]
    pub fn as_slice(&self) -> &[BorderSpec] {
        match self {
            Self::One(border) => std::slice::from_ref(border),
            Self::Several(borders) => borders,
        }
    }
}

/// Borders: sides, width, color and line style.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BorderSpec {
    /// Width; 0.75 pt by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<Length>,
    /// Color; by default the theme's border color.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Line style; solid by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<LineStyle>,
    /// Sides with a border; all by default.
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

/// Line style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LineStyle {
    /// A continuous line.
    #[default]
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
}

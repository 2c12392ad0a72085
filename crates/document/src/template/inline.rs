//! Inline content: text, or runs with properties.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expression, StyleRef, Text};
use crate::{Color, Length};

/// Inline content: text, or a list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// Text. Line feeds become line breaks.
    Text(Text),
    /// Runs, each a text or an object.
    Runs(Vec<Run>),
}

/// An inline run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Run {
    /// Text in the surrounding style.
    Text(Text),
    /// Text with properties, a line break or a footnote.
    Full(Box<FullRun>),
}

/// An inline run with properties.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FullRun {
    /// Text of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
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
    /// Uses the font of code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<bool>,
    /// Raised, in a smaller size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superscript: Option<bool>,
    /// Lowered, in a smaller size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscript: Option<bool>,
    /// Text color.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Font size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_size: Option<Length>,
    /// Named style, or properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
    /// Address to link to (`https:`, `http:`, `mailto:`, `tel:`), or the `#id` of a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Text>,
    /// Adds a line break after the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_break: Option<bool>,
    /// A footnote, referenced after the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footnote: Option<Box<Content>>,
    /// Term under which the index lists the page of the text; parts of terms follow semicolons, as
    /// in `printing; offset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Text>,
    /// Condition; the run is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
}

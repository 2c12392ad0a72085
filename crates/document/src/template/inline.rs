//! Inline content: text, or runs with properties.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expression, StyleRef, Text};
use crate::{Color, Length};

/// Inline content: text, or a list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// Text; line feeds break lines.
    Text(Text),
    /// Runs, each text or an object.
    Runs(Vec<Run>),
}

/// One inline run.
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
    /// The text.
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
    /// Set in the code font.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<bool>,
    /// Raised and smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superscript: Option<bool>,
    /// Lowered and smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscript: Option<bool>,
    /// Text colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Font size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_size: Option<Length>,
    /// Named style or properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRef>,
    /// Address (`https:`, `http:`, `mailto:`, `tel:`) or `#id` of a node that the text links to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Text>,
    /// A line break after the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_break: Option<bool>,
    /// A footnote, anchored after the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footnote: Option<Box<Content>>,
    /// Leaves the run out where false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
}

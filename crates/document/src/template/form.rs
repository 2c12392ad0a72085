//! Form fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expression, StyleRef, Text};
use crate::Length;

/// A field that readers of the document fill in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FormField {
    /// Id of the node, unique in the template: the target of `#id` links and of `ref('id')`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<Text>,
    /// Condition; the node is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<Expression>,
    /// Named style, or properties.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub style: Option<StyleRef>,
    /// Name of the form field, unique in the document.
    pub name: Text,
    /// What is filled in; text by default.
    #[serde(default)]
    pub kind: FieldKind,
    /// Text above the field, or beside a check box; the text on a button.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<Text>,
    /// What stands in it at first; of a drop-down or radio buttons the value of an option.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<Text>,
    /// Whether a check box is checked at first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub checked: Option<Expression>,
    /// What a drop-down or radio buttons offer.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub options: Vec<FieldOption>,
    /// Array of further options: texts, or objects with `value` and `label`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub each: Option<Expression>,
    /// Number of lines of text; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(range(min = 1, max = 100))]
    pub lines: Option<u8>,
    /// Maximum number of characters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(range(min = 1))]
    pub max_length: Option<u32>,
    /// Whether it must be filled in before the form is sent.
    #[serde(default)]
    pub required: bool,
    /// Whether readers cannot change it.
    #[serde(default)]
    pub read_only: bool,
    /// Where a button sends what was filled in; without it, a button clears the form.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub submit: Option<Text>,
    /// Width of the box; by default that of the column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width: Option<Length>,
    /// Height of the box; by default that of its lines.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub height: Option<Length>,
}

/// What is filled into a form field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FieldKind {
    /// Text.
    #[default]
    Text,
    /// A date.
    Date,
    /// Yes or no.
    CheckBox,
    /// One of the options, from a list that opens.
    DropDown,
    /// One of the options, each with a button.
    Radio,
    /// Nothing: a button that sends or clears the form.
    Button,
}

impl FieldKind {
    /// Whether it has options.
    #[must_use]
    pub fn has_options(self) -> bool {
        matches!(self, Self::DropDown | Self::Radio)
    }
}

/// An option of a drop-down or of radio buttons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FieldOption {
    /// A text that is value and label.
    Text(Text),
    /// Value and label.
    Full(FullFieldOption),
}

/// An option whose value and label differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FullFieldOption {
    /// What is sent.
    pub value: Text,
    /// What readers see.
    pub label: Text,
}

//! Rich text from data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expression, StyleRef, Text};

/// Text in Markdown or HTML, usually from data, as headings, paragraphs, lists and tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RichText {
    /// Id of its first block, unique in the template: the target of `#id` links and of `ref('id')`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<Text>,
    /// Condition; the node is omitted if it is false.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub when: Option<Expression>,
    /// Named style of the text, or properties.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub style: Option<StyleRef>,
    /// The text. Expressions in the data that it comes from are not evaluated.
    pub source: Text,
    /// How the text is written; Markdown by default.
    #[serde(default)]
    pub format: RichFormat,
    /// Level of the highest headings, from 1 to 6; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(range(min = 1, max = 6))]
    pub heading_level: Option<u8>,
    /// Styles of elements, on top of the usual ones: of `heading1` to `heading6`, `paragraph`,
    /// `list`, `quote`, `code`, `tableHeader`, `tableCell`, `link`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub styles: BTreeMap<String, StyleRef>,
}

impl RichText {
    /// The elements that [`RichText::styles`] knows.
    pub const ELEMENTS: [&'static str; 13] = [
        "paragraph",
        "heading1",
        "heading2",
        "heading3",
        "heading4",
        "heading5",
        "heading6",
        "list",
        "quote",
        "code",
        "tableHeader",
        "tableCell",
        "link",
    ];
}

/// How rich text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RichFormat {
    /// CommonMark with tables, strikethrough and task lists.
    #[default]
    Markdown,
    /// A safe part of HTML.
    Html,
}

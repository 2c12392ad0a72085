//! Imports of stored templates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version of a stored template that gives this one what it does not have itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Import {
    /// Key of the stored template.
    pub template: String,
    /// Its version; it never changes, and neither does what this template makes of it.
    #[schemars(range(min = 1))]
    pub version: u32,
    /// What to take; by default everything but `body` and `inputSchema`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub take: Option<Vec<ImportPart>>,
}

/// A part of a template that another can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ImportPart {
    /// Fonts, sizes, colors and named styles, each by itself; styles by property.
    Theme,
    /// Page setup, by property.
    Page,
    /// Numbering, by kind.
    Numbering,
    /// Macros, by name.
    Macros,
    /// Assets, by name.
    Assets,
    /// Messages, by locale and name.
    Messages,
    /// Document properties, by name.
    Metadata,
    /// `locale`, `timeZone` and `currency`.
    Locale,
    /// The body, if this template has none.
    Body,
    /// The schema of the data, if this template has none.
    InputSchema,
}

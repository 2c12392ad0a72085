//! The template format with `kind: "html"`, as authors write it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    pins::Pins,
    template::{Margins, Orientation, PaperSize},
};

/// An HTML template, printed by Chromium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HtmlTemplate {
    /// Address of the JSON Schema, for editors. Ignored.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none", default)]
    pub schema: Option<String>,
    /// Always `html`.
    pub kind: HtmlKind,
    /// Identifier: lower-case letters, digits, `-`, `_` and `.`, up to 128 characters.
    pub key: String,
    /// Display name.
    #[serde(default)]
    pub name: String,
    /// Purpose of the template.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// JSON Schema (2020-12) that validates the data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_schema: Option<Json>,
    /// BCP 47 locale for numbers and dates, such as `de-DE`.
    #[serde(default = "default_locale")]
    pub locale: String,
    /// IANA time zone for dates and times, such as `Europe/Berlin`.
    #[serde(default = "default_time_zone")]
    pub time_zone: String,
    /// Default currency of the `currency` filter: a three-letter ISO 4217 code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub currency: Option<String>,
    /// Messages by locale and name, used as `{{ t('name') }}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<String, BTreeMap<String, String>>,
    /// A JavaScript or TypeScript module of up to 1 MB. Its exports are functions for expressions,
    /// such as `{{ helpers.name(value) }}`, and run in a sandbox.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub helpers: Option<String>,
    /// The page, with expressions and statements.
    pub html: String,
    /// A style sheet, included unchanged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub css: Option<String>,
    /// Header of every sheet, with expressions and statements; `{{ pageNumber }}` and `{{ pageCount
    /// }}` are available. The page's styles do not apply to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub header: Option<String>,
    /// Footer of every sheet, like the header.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub footer: Option<String>,
    /// Files that the page may load, by name, each a base64 `data:` URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assets: BTreeMap<String, String>,
    /// The sheet of paper.
    #[serde(default)]
    pub page: HtmlPage,
    /// Runs the page's scripts.
    #[serde(default)]
    pub java_script: bool,
    /// Versions of stored assets that it keeps to.
    #[serde(skip)]
    pub pins: Pins,
}

fn default_locale() -> String {
    "en-US".to_owned()
}

fn default_time_zone() -> String {
    "UTC".to_owned()
}

/// Kind of the template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HtmlKind {
    /// An HTML page printed by Chromium.
    #[default]
    Html,
}

/// The sheet that HTML is printed on. An `@page` rule in the style sheet takes precedence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HtmlPage {
    /// Paper size; A4 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PaperSize>,
    /// Portrait by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orientation: Option<Orientation>,
    /// Margins; 20 mm by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margins: Option<Margins>,
    /// Prints background colors and images; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// Scale factor from 0.1 to 2; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 2.0))]
    pub scale: Option<f32>,
}

/// The JSON Schema (2020-12) of the template format.
#[must_use]
pub fn json_schema() -> Json {
    let mut schema = schemars::schema_for!(HtmlTemplate).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".into(), "Platen HTML template".into());
    }
    schema
}

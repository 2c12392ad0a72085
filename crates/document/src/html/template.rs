//! The template format, `kind: "html"`, as its author writes it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::template::{Margins, Orientation, PaperSize};

/// A template of HTML, printed by Chromium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HtmlTemplate {
    /// Address of the JSON Schema, for editors; ignored.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none", default)]
    pub schema: Option<String>,
    /// Always `html`.
    pub kind: HtmlKind,
    /// Identifier: lower-case letters, digits, `-`, `_` and `.`, up to 128 characters.
    pub key: String,
    /// Name for people.
    #[serde(default)]
    pub name: String,
    /// What the template is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// JSON Schema (2020-12) that the data must satisfy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_schema: Option<Json>,
    /// BCP 47 locale of numbers and dates, such as `de-DE`.
    #[serde(default = "default_locale")]
    pub locale: String,
    /// IANA time zone of dates and times, such as `Europe/Berlin`.
    #[serde(default = "default_time_zone")]
    pub time_zone: String,
    /// Three-letter ISO 4217 code used by `currency` where none is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub currency: Option<String>,
    /// Strings by locale, then by name; `{{ t('name') }}` picks one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<String, BTreeMap<String, String>>,
    /// A module in JavaScript or TypeScript, up to 1 MB. Its exports are functions of expressions,
    /// `{{ helpers.name(value) }}`, which run in a sandbox.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub helpers: Option<String>,
    /// The page, with expressions and statements.
    pub html: String,
    /// A style sheet, taken as it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub css: Option<String>,
    /// Top of every sheet, with expressions and statements; `{{ pageNumber }}` and
    /// `{{ pageCount }}` are filled in. Has styles of its own only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub header: Option<String>,
    /// Bottom of every sheet, as the header.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub footer: Option<String>,
    /// Files that the page may load, by name, each a `data:` URL with base64.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assets: BTreeMap<String, String>,
    /// The sheet.
    #[serde(default)]
    pub page: HtmlPage,
    /// Runs the scripts of the page.
    #[serde(default)]
    pub java_script: bool,
}

fn default_locale() -> String {
    "en-US".to_owned()
}

fn default_time_zone() -> String {
    "UTC".to_owned()
}

/// What a template of HTML makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HtmlKind {
    /// A page printed by Chromium.
    #[default]
    Html,
}

/// The sheet that HTML is printed on. `@page` of the style sheet wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HtmlPage {
    /// Paper; A4 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PaperSize>,
    /// Portrait by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orientation: Option<Orientation>,
    /// Margins; 20 mm by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margins: Option<Margins>,
    /// Prints colours and pictures of backgrounds; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// Size of everything, from 0.1 to 2; 1 by default.
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

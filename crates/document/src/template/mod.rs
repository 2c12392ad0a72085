//! The template format with `kind: "document"`, as authors write it. The published JSON Schema
//! ([`json_schema`]) is generated from these types.
//!
//! Strings of type [`Text`] may contain `{{ expressions }}`; strings of type [`Expression`] are a
//! single expression without braces.

mod any_node;
mod chart;
pub(crate) mod dynamic;
mod form;
mod import;
mod inline;
mod invoice;
mod macros;
mod node;
mod numbering;
mod page;
mod part;
mod published;
mod rich;
mod style;
mod table;
pub(crate) mod visit;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::dynamic::DynamicParts;
pub(crate) use self::page::default_margin;
pub use self::{
    any_node::Node,
    chart::*,
    form::*,
    import::{Import, ImportPart},
    inline::*,
    invoice::InvoiceSection,
    macros::Macro,
    node::*,
    numbering::Numbering,
    page::{
        Background, FoldMarks, Margins, Orientation, PageNumbers, PageSetup, PaperSize, StartOn,
        Watermark, WatermarkAlign,
    },
    part::*,
    published::editor_schema,
    rich::*,
    style::{
        Align, BorderSpec, BorderSpecs, ColumnSpan, Edges, FontFamily, LineStyle, Side, StylePart,
        StyleRef, StyleSpec, TabAlign, TabLeader, TabStop, VerticalAlign,
    },
    table::*,
};
use crate::{Color, Length, pins::Pins};

/// Text that may contain `{{ expressions }}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Text(pub String);

/// An expression without braces, such as `customer.name` or `items|sum('price') > 100`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Expression(pub String);

/// A document template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Template {
    /// Address of the JSON Schema, for editors. Ignored.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none", default)]
    pub schema: Option<String>,
    /// Always `document`.
    #[serde(default)]
    pub kind: Kind,
    /// Identifier: lower-case letters, digits, `-`, `_` and `.`, up to 128 characters.
    pub key: String,
    /// Display name.
    #[serde(default)]
    pub name: String,
    /// Purpose of the template.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Stored templates that give what this one does not have itself.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub imports: Vec<Import>,
    /// JSON Schema (2020-12) that validates the data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_schema: Option<Json>,
    /// Document properties such as title and author, written into the file.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// BCP 47 locale for texts, numbers and dates, such as `de-DE`.
    #[serde(default = "default_locale")]
    pub locale: String,
    /// IANA time zone for dates and times, such as `Europe/Berlin`.
    #[serde(default = "default_time_zone")]
    pub time_zone: String,
    /// Default currency of the `currency` filter: a three-letter ISO 4217 code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub currency: Option<String>,
    /// The e-invoice that PDF files carry and that format `xml` writes: a mapping of business terms
    /// of EN 16931. Expressions of the document find what it computes as `eInvoice`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub invoice: Option<InvoiceSection>,
    /// Messages by locale and name, used as `{{ t('name') }}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<String, BTreeMap<String, String>>,
    /// A JavaScript or TypeScript module of up to 1 MB. Its exports are functions for expressions,
    /// such as `{{ helpers.name(value) }}`, and run in a sandbox.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub helpers: Option<String>,
    /// Page setup; sections can override it.
    #[serde(default)]
    pub page: PageSetup,
    /// Fonts, colors and named styles.
    #[serde(default)]
    pub theme: Theme,
    /// Automatic numbers of headings, clauses and captions.
    #[serde(default, skip_serializing_if = "Numbering::is_empty")]
    pub numbering: Numbering,
    /// Macros by name: nodes that `use` nodes insert.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub macros: BTreeMap<String, Macro>,
    /// Images by name, each a base64 `data:` URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub assets: BTreeMap<String, String>,
    /// Content of the document.
    #[serde(default)]
    pub body: Vec<Node>,
    /// Properties with expressions that their types do not have.
    #[serde(skip)]
    pub(crate) dynamic: DynamicParts,
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

/// Kind of a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A document that Platen lays out.
    #[default]
    Document,
}

/// Document properties; all may contain expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Metadata {
    /// Title; by default the name of the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Text>,
    /// Author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<Text>,
    /// Subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Text>,
    /// Keywords.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Text>,
}

impl Metadata {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Fonts, colors and named styles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Theme {
    /// Font families.
    pub fonts: ThemeFonts,
    /// Font size of body text; 10 pt by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font_size: Option<Length>,
    /// Line height as a multiple of the font size; 1.35 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_height: Option<f32>,
    /// Colors.
    pub colors: ThemeColors,
    /// Named styles. The names `heading1` to `heading6`, `title`, `caption`, `code`, `link`,
    /// `tableHeader`, `tableCell`, `tableTotal`, `footnote`, `tocEntry`, `header` and `footer`
    /// modify the built-in styles.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub styles: BTreeMap<String, StyleSpec>,
}

/// Font families of a theme, each a name or a list of names in order of preference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ThemeFonts {
    /// Body text; `Liberation Sans` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<FontFamily>,
    /// Headings; by default as the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<FontFamily>,
    /// Code; `Liberation Mono` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mono: Option<FontFamily>,
}

/// Colors of a theme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ThemeColors {
    /// Body text; near black by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Color>,
    /// Headings, table headers and accents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Color>,
    /// Secondary text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub muted: Option<Color>,
    /// Rules and borders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<Color>,
    /// Background of panels and alternate table rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Color>,
    /// Series colors of charts, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chart: Vec<Color>,
}

/// The JSON Schema (2020-12) of the template format.
#[must_use]
pub fn json_schema() -> Json {
    let mut schema = schemars::schema_for!(Template).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".into(), "Platen document template".into());
    }
    schema
}

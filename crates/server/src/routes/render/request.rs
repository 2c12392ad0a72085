//! Render requests.

use platen_document::template::Template;
use platen_render::{DocumentOptions, Format, OptionsError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::async_job::WebhookRequest;
use crate::{problem::Problem, results::OutputRequest};

/// A document to render, with either `template` or `definition`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RenderRequest {
    /// Key of a stored template.
    pub(crate) template: Option<String>,
    /// An inline template, for this request only.
    #[schemars(with = "Option<Template>")]
    pub(crate) definition: Option<Box<RawValue>>,
    /// Version of the stored template; by default the current one.
    pub(crate) version: Option<u32>,
    /// The data; `{}` by default.
    #[schemars(with = "Option<Json>")]
    pub(crate) data: Option<Box<RawValue>>,
    /// Output format; by default the one from the path, else from `Accept`, else PDF.
    pub(crate) format: Option<FormatName>,
    /// Options that override the template.
    #[serde(default)]
    pub(crate) options: DocumentOptions,
    /// Validates without rendering.
    #[serde(default)]
    pub(crate) dry_run: bool,
    /// Delivery of the document; by default it is the response.
    pub(crate) output: Option<OutputRequest>,
    /// With `?async=true`: where to deliver the finished document.
    pub(crate) webhook: Option<WebhookRequest>,
}

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DocumentFormat")]
#[allow(missing_docs, reason = "the names say it")]
pub(crate) enum FormatName {
    Pdf,
    Html,
    Docx,
    Pptx,
    Xlsx,
    Csv,
    Xml,
    Png,
    Svg,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Pdf => Self::Pdf,
            FormatName::Html => Self::Html,
            FormatName::Docx => Self::Docx,
            FormatName::Pptx => Self::Pptx,
            FormatName::Xlsx => Self::Xlsx,
            FormatName::Csv => Self::Csv,
            FormatName::Xml => Self::Xml,
            FormatName::Png => Self::Png,
            FormatName::Svg => Self::Svg,
        }
    }
}

impl From<OptionsError> for Problem {
    fn from(error: OptionsError) -> Self {
        Self::new(error.code, error.message)
    }
}

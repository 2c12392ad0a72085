//! Render requests.

use platen_document::template::Template;
use platen_render::{DocumentOptions, Format, OptionsError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::async_job::WebhookRequest;
use crate::{problem::Problem, results::OutputRequest};

/// A document to make. Either `template` or `definition` is given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RenderRequest {
    /// Key of a stored template.
    pub(crate) template: Option<String>,
    /// A template, for this request only.
    #[schemars(with = "Option<Template>")]
    pub(crate) definition: Option<Box<RawValue>>,
    /// Version of the stored template; the current one where absent.
    pub(crate) version: Option<u32>,
    /// The data; `{}` where absent.
    #[schemars(with = "Option<Json>")]
    pub(crate) data: Option<Box<RawValue>>,
    /// Format; that of the address or of `Accept` where absent, else PDF.
    pub(crate) format: Option<FormatName>,
    /// What is made differently than the template says.
    #[serde(default)]
    pub(crate) options: DocumentOptions,
    /// Says only what is wrong; makes nothing.
    #[serde(default)]
    pub(crate) dry_run: bool,
    /// What is done with the document; it is sent where absent.
    pub(crate) output: Option<OutputRequest>,
    /// With `?async=true`: where the document is sent when it is made.
    pub(crate) webhook: Option<WebhookRequest>,
}

/// A format of documents.
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

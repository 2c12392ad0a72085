//! Documents that support an invoice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document that supports the invoice (BG-24), such as a time sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SupportingDocument {
    /// Its number or name (BT-122).
    pub reference: String,
    /// What it is (BT-123).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it is to be had (BT-124).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The document itself (BT-125).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<SupportingFile>,
}

/// The file of a supporting document (BT-125).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SupportingFile {
    /// Its name.
    pub name: String,
    /// Its media type: `application/pdf`, `image/png`, `image/jpeg`, `text/csv`, or that of XLSX or ODS.
    pub media_type: String,
    /// Its content, in base64.
    pub content: String,
}

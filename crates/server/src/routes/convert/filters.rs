//! The export filters of the LibreOffice in use.

use axum::{extract::State, response::Response};
use hyper::StatusCode;
use platen_office::{ExportFilter, ExportFilters};
use schemars::JsonSchema;
use serde::Serialize;

use super::ConvertApi;
use crate::{problem::Problem, respond::json};

/// Export filters.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportFilterList {
    /// Version of LibreOffice.
    libreoffice_version: String,
    /// Filters, sorted by name.
    filters: Vec<ExportFilterEntry>,
}

/// An export filter.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExportFilterEntry {
    /// Name, as in the parameter `filter`.
    name: String,
    /// Name for people.
    label: String,
    /// The kind of documents that it writes, such as `text document`.
    documents: String,
    /// Extension of its files.
    extension: String,
    /// Media type of its files.
    media_type: String,
}

impl From<&ExportFilter> for ExportFilterEntry {
    fn from(filter: &ExportFilter) -> Self {
        Self {
            name: filter.name.clone(),
            label: filter.label.clone(),
            documents: filter.family.name().to_owned(),
            extension: filter.format.extension.clone().into_owned(),
            media_type: filter.format.media_type.clone().into_owned(),
        }
    }
}

impl From<&ExportFilters> for ExportFilterList {
    fn from(filters: &ExportFilters) -> Self {
        Self {
            libreoffice_version: filters.version.clone(),
            filters: filters.all.iter().map(Into::into).collect(),
        }
    }
}

/// Lists the export filters.
pub(crate) async fn list_export_filters(
    State(api): State<ConvertApi>,
) -> Result<Response, Problem> {
    api.libreoffice.check_installed()?;
    let office = api.libreoffice.office().await?;
    let filters = office.export_filters(api.timeout).await?;
    Ok(json(StatusCode::OK, &ExportFilterList::from(&*filters)))
}

//! `/forms/libreoffice/convert`: Office files to PDF.

use axum::{extract::FromRequestParts, http::request::Parts, response::Response};
use platen_server::problem::Problem;

use crate::{
    api::FormApi,
    changes::Changes,
    form::FormRequest,
    office::{OfficeOptions, convert},
    office_fields::{self, NEW_NAMES},
    post_process::apply,
    stages::{Conversion, Stages},
};

/// Extractor that fails without LibreOffice. It precedes the form, so that the service rejects the
/// request before it reads the body.
pub(crate) struct Installed;

impl FromRequestParts<FormApi> for Installed {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, api: &FormApi) -> Result<Self, Problem> {
        api.libreoffice.check_installed().map(|()| Self)
    }
}

/// Converts Office files to PDF.
pub(crate) async fn convert_office(
    _: Installed,
    mut request: FormRequest,
) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.rename(&NEW_NAMES);
    let rewriting = OfficeOptions::rewriting(&form.values);
    let (options, is_final, archive) = office_fields::read(form);
    let mut changes = Changes::of(form);
    let stages = Stages::of_conversion(form, is_final || !changes.is_nothing(), Conversion::Files)?;
    form.values.refuse_restrictions()?;
    let files = form.take(office_fields::is_document, office_fields::no_document)?;
    if is_final && !changes.is_nothing_for(files.len()) {
        match rewriting {
            Some(options) => changes.rewrite(options)?,
            // An e-invoice has settled how.
            None => changes.operations.archive = changes.operations.archive.or(archive),
        }
    }
    let files = convert(&request.api, files, &options).await?;
    let files = apply(&request.api, files, changes).await?;
    stages.finish(request, files).await
}

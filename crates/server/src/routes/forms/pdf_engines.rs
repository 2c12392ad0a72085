//! `/forms/pdfengines/…`: PDF files put together, taken apart, made flat, and what they say of themselves.

use std::sync::Arc;

use axum::{body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode};
use platen_engine::pdf::{self, Limits, Metadata};

use super::{
    after::{After, answer, apply, of_pdf},
    form::Form,
    libreoffice::{Wish, convert},
};
use crate::{app::App, lane::Lane, middleware::Context, problem::Problem, respond::json};

/// Fields that change the result and are not made here.
const UNSUPPORTED: [&str; 8] = [
    "bookmarks",
    "autoIndexBookmarks",
    "userPassword",
    "ownerPassword",
    "watermarkSource",
    "stampSource",
    "rotateAngle",
    "downloadFrom",
];
/// Those that only some routes make.
const ARCHIVE: [&str; 2] = ["pdfa", "pdfua"];

type Extension = axum::Extension<Context>;

async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Form, Problem> {
    let mut form = Form::read(app, headers, body).await?;
    form.values.refuse(&UNSUPPORTED)?;
    Ok(form)
}

/// Several files as one, in the order of their names.
pub(crate) async fn merge_pdfs(
    State(app): State<Arc<App>>,
    axum::Extension(context): Extension,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut form = read(&app, &headers, body).await?;
    form.values.refuse(&ARCHIVE)?;
    let after = After {
        merge: true,
        ..After::of(&mut form.values)?
    };
    let files = apply(&app, form.take_files()?, after).await?;
    answer(&context, &headers, files)
}

/// Files in parts.
pub(crate) async fn split_pdfs(
    State(app): State<Arc<App>>,
    axum::Extension(context): Extension,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut form = read(&app, &headers, body).await?;
    form.values.refuse(&ARCHIVE)?;
    let after = After::of(&mut form.values)?;
    if after.split.is_none() {
        let detail = "the form field `splitMode` is needed";
        return Err(Problem::bad_request("form-invalid", detail));
    }
    let files = apply(&app, form.take_files()?, after).await?;
    answer(&context, &headers, files)
}

/// Files with annotations and form fields drawn on their pages.
pub(crate) async fn flatten_pdfs(
    State(app): State<Arc<App>>,
    axum::Extension(context): Extension,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut form = read(&app, &headers, body).await?;
    let after = After {
        flatten: true,
        ..After::default()
    };
    let files = apply(&app, form.take_files()?, after).await?;
    answer(&context, &headers, files)
}

/// Files as PDF/A or PDF/UA: LibreOffice opens them as drawings and writes them anew.
pub(crate) async fn convert_pdfs(
    State(app): State<Arc<App>>,
    axum::Extension(context): Extension,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    app.libreoffice.check_installed()?;
    let mut form = read(&app, &headers, body).await?;
    let mut wish = Wish::default();
    let is_archive = wish.take_archive(&mut form.values)?;
    if !is_archive {
        let detail = "the form field `pdfa` or `pdfua` is needed";
        return Err(Problem::bad_request("form-invalid", detail));
    }
    let files = form.take_files()?;
    for (name, bytes) in &files {
        if !bytes.starts_with(b"%PDF-") {
            let detail = format!("{name}: this is not a PDF file");
            return Err(Problem::bad_request("pdf-missing", detail));
        }
    }
    let files = convert(&app, files, &wish).await?;
    answer(&context, &headers, files)
}

/// What files say of themselves, by their names.
pub(crate) async fn read_pdf_metadata(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut form = read(&app, &headers, body).await?;
    let files = form.take_files()?;
    let work = move |_: &crate::lane::Ticket| {
        let mut all = Metadata::new();
        for (name, bytes) in files {
            let found = pdf::read_metadata(&bytes, &Limits::default());
            all.insert(name, found.map_err(|error| of_pdf(&error))?.into());
        }
        Ok(all)
    };
    let all = app.slots.run(Lane::Batch, work).await?;
    Ok(json(StatusCode::OK, &all))
}

/// Files with other metadata.
pub(crate) async fn write_pdf_metadata(
    State(app): State<Arc<App>>,
    axum::Extension(context): Extension,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let mut form = read(&app, &headers, body).await?;
    let after = After {
        metadata: form.values.json("metadata")?,
        ..After::default()
    };
    if after.metadata.is_empty() {
        let detail = "the form field `metadata` is needed";
        return Err(Problem::bad_request("form-invalid", detail));
    }
    let files = apply(&app, form.take_files()?, after).await?;
    answer(&context, &headers, files)
}

//! `/forms/pdfengines/…`: PDF files put together, taken apart, made flat, and what they say of themselves.

use axum::response::Response;
use hyper::StatusCode;
use platen_fault::Code;
use platen_pdf::{Limits, Metadata, Operations};
use platen_server::{
    intake::content::full,
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond::json,
};

use crate::{
    form::FormRequest,
    libreoffice::{Installed, OfficeOptions, convert},
    post_process::{apply, of_pdf, operations_of},
};

/// Fields that change the result and are not made here.
const UNSUPPORTED: [&str; 9] = [
    "optimizeImages",
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

/// Several files as one, in the order of their names.
pub(crate) async fn merge_pdfs(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.refuse(&UNSUPPORTED)?;
    form.values.refuse(&ARCHIVE)?;
    let operations = Operations {
        merge: true,
        ..operations_of(&mut form.values)?
    };
    let files = apply(&request.api, form.take_files()?, operations).await?;
    request.answer(files).await
}

/// Files in parts.
pub(crate) async fn split_pdfs(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.refuse(&UNSUPPORTED)?;
    form.values.refuse(&ARCHIVE)?;
    let operations = operations_of(&mut form.values)?;
    if operations.split.is_none() {
        let detail = "the form field `splitMode` is needed";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let files = apply(&request.api, form.take_files()?, operations).await?;
    request.answer(files).await
}

/// Files with annotations and form fields drawn on their pages.
pub(crate) async fn flatten_pdfs(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.refuse(&UNSUPPORTED)?;
    let operations = Operations {
        flatten: true,
        ..Operations::default()
    };
    let files = apply(&request.api, form.take_files()?, operations).await?;
    request.answer(files).await
}

/// Files as PDF/A or PDF/UA: LibreOffice opens them as drawings and writes them anew.
pub(crate) async fn convert_pdfs(
    _: Installed,
    mut request: FormRequest,
) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.refuse(&UNSUPPORTED)?;
    let mut options = OfficeOptions::default();
    let is_archive = options.take_archive(&mut form.values)?;
    if !is_archive {
        let detail = "the form field `pdfa` or `pdfua` is needed";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let files = form.take_files()?;
    for (name, content) in &files {
        if !content.starts_with(b"%PDF-") {
            let detail = format!("{name}: this is not a PDF file");
            return Err(Problem::new(Code::NotPdf, detail));
        }
    }
    let files = convert(&request.api, files, &options).await?;
    request.answer(files).await
}

/// What files say of themselves, by their names.
pub(crate) async fn read_pdf_metadata(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.refuse(&UNSUPPORTED)?;
    let files = form.take_files()?;
    let work = move |_: &Ticket| {
        let mut all = Metadata::new();
        for (name, content) in files {
            let bytes = content.read().map_err(|error| full(&error))?;
            let found = platen_pdf::read_metadata(&bytes, &Limits::default());
            all.insert(name, found.map_err(|error| of_pdf(&error))?.into());
        }
        Ok(all)
    };
    let all = request.api.slots.run(Lane::Batch, work).await?;
    Ok(json(StatusCode::OK, &all))
}

/// Files with other metadata.
pub(crate) async fn write_pdf_metadata(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    form.values.refuse(&UNSUPPORTED)?;
    let operations = Operations {
        metadata: form.values.json("metadata")?,
        ..Operations::default()
    };
    if operations.metadata.is_empty() {
        let detail = "the form field `metadata` is needed";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let files = apply(&request.api, form.take_files()?, operations).await?;
    request.answer(files).await
}

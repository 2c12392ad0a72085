//! `/forms/pdfengines/…`: merges, splits, flattens and converts PDF files, and reads and writes
//! their metadata.

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

/// Fields that would change the result and are not supported.
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
/// Fields that only some routes support.
const ARCHIVE: [&str; 2] = ["pdfa", "pdfua"];

/// Merges files in the order of their names.
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

/// Splits files.
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

/// Flattens annotations and form fields into the page content.
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

/// Converts files to PDF/A or PDF/UA: LibreOffice Draw opens and rewrites them.
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

/// Reads the metadata of files, by file name.
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

/// Writes the metadata of files.
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

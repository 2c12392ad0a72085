//! `/forms/pdfengines/…`: merges, splits, changes and converts PDF files, and reads what they say of
//! themselves.

use axum::response::Response;
use hyper::StatusCode;
use platen_fault::Code;
use platen_pdf::{Error, Limits};
use platen_server::{
    intake::content::full,
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond::json,
};
use serde_json::{Map, Value as Json};

use crate::{
    archival::NOT_SUPPORTED,
    changes::Changes,
    form::FormRequest,
    marking,
    office::{OfficeOptions, convert},
    post_process::{answer, apply, of_pdf},
    value::Values,
};

/// Changes files as the form asks; `needed` records what a route lacks.
async fn change(
    mut request: FormRequest,
    needed: impl FnOnce(&mut Changes, &mut Values) -> Result<(), Problem>,
) -> Result<Response, Problem> {
    let form = &mut request.form;
    let mut changes = Changes::of(form);
    form.values.refuse_restrictions()?;
    needed(&mut changes, &mut form.values)?;
    let files = form.take_pdfs()?;
    let files = apply(&request.api, files, changes).await?;
    answer(&request.context, &request.headers, files).await
}

/// Merges files in the order of their names.
pub(crate) async fn merge_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, _| {
        changes.operations.merge = true;
        Ok(())
    })
    .await
}

/// Splits files.
pub(crate) async fn split_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        if changes.operations.split.is_none() && values.is_sound() {
            values.missing("splitMode");
            if values.text("splitSpan").is_none() {
                values.missing("splitSpan");
            }
        }
        Ok(())
    })
    .await
}

/// Flattens annotations and form fields into the page content.
pub(crate) async fn flatten_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, _| {
        changes.operations.flatten = true;
        Ok(())
    })
    .await
}

/// Makes files smaller.
pub(crate) async fn optimize_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, _| {
        changes.operations.optimization = Some(changes.optimized.clone());
        Ok(())
    })
    .await
}

/// Turns pages.
pub(crate) async fn rotate_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        if changes.operations.rotation.is_none() {
            values.missing_once("rotateAngle");
        }
        Ok(())
    })
    .await
}

/// Draws below the content of pages.
pub(crate) async fn watermark_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        marked("watermark", changes, values)
    })
    .await
}

/// Draws above the content of pages.
pub(crate) async fn stamp_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| marked("stamp", changes, values)).await
}

fn marked(kind: &str, changes: &Changes, values: &mut Values) -> Result<(), Problem> {
    values.finish()?;
    match changes.markings.is_empty() {
        true => Err(marking::is_missing(kind)),
        false => Ok(()),
    }
}

/// Attaches files. Without any, files stay as they are.
pub(crate) async fn embed_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |_, _| Ok(())).await
}

/// Embeds the XML of an e-invoice.
pub(crate) async fn embed_invoice(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        if changes.invoice.is_none() {
            values.missing_once("facturxConformanceLevel");
        }
        Ok(())
    })
    .await
}

/// Encrypts files.
pub(crate) async fn encrypt_pdfs(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        if changes.operations.protection.is_none() {
            values.mistake("a 'userPassword' or 'ownerPassword' is required");
        }
        Ok(())
    })
    .await
}

/// Writes the bookmarks of files.
pub(crate) async fn write_pdf_bookmarks(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        if changes.operations.bookmarks.is_none() {
            values.missing_once("bookmarks");
        }
        Ok(())
    })
    .await
}

/// Writes the metadata of files.
pub(crate) async fn write_pdf_metadata(request: FormRequest) -> Result<Response, Problem> {
    change(request, |changes, values| {
        if changes.operations.metadata.is_empty() {
            values.missing_once("metadata");
        }
        Ok(())
    })
    .await
}

/// Reads the metadata of files, by file name.
pub(crate) async fn read_pdf_metadata(request: FormRequest) -> Result<Response, Problem> {
    read(request, |bytes| {
        let mut said = platen_pdf::read_metadata(bytes, &Limits::default())?;
        // ExifTool has both names.
        if let Some(date) = said.get("ModifyDate").cloned() {
            said.insert("ModDate".to_owned(), date);
        }
        Ok(Json::from(said))
    })
    .await
}

/// Reads the bookmarks of files, by file name.
pub(crate) async fn read_pdf_bookmarks(request: FormRequest) -> Result<Response, Problem> {
    read(request, |bytes| {
        let found = platen_pdf::read_bookmarks(bytes, &Limits::default())?;
        Ok(serde_json::to_value(found).unwrap_or_default())
    })
    .await
}

async fn read(
    mut request: FormRequest,
    what: fn(&[u8]) -> Result<Json, Error>,
) -> Result<Response, Problem> {
    let form = &mut request.form;
    let files = form.take_pdfs()?;
    let work = move |_: &Ticket| {
        let mut all = Map::new();
        for (name, content) in files {
            let bytes = content.read().map_err(|error| full(&error))?;
            all.insert(name, what(&bytes).map_err(|error| of_pdf(&error))?);
        }
        Ok(all)
    };
    let all = request.api.slots.run(Lane::Batch, work).await?;
    Ok(json(StatusCode::OK, &all))
}

/// Converts files to PDF/A or PDF/UA: as they are, where they can become that, and otherwise by
/// LibreOffice Draw, which opens and rewrites them.
pub(crate) async fn convert_pdfs(mut request: FormRequest) -> Result<Response, Problem> {
    let form = &mut request.form;
    let mut options = OfficeOptions::default();
    let (is_archive, archive) =
        options.take_archive(&mut form.values, |_| NOT_SUPPORTED.to_owned());
    if !is_archive && form.values.is_sound() {
        let mistake = "either 'pdfa' or 'pdfua' form fields must be provided";
        form.values.mistake(mistake);
    }
    form.values.refuse_restrictions()?;
    let files = form.take_pdfs()?;
    for (name, content) in &files {
        if !content.starts_with(b"%PDF-") {
            let detail = format!("{name}: this is not a PDF file");
            return Err(Problem::new(Code::NotPdf, detail));
        }
    }
    if archive.is_some() {
        let kept = files.clone();
        let mut changes = Changes::default();
        changes.operations.archive = archive;
        match apply(&request.api, kept, changes).await {
            Err(problem) if problem.code == Code::StandardNotMet => {}
            made => return answer(&request.context, &request.headers, made?).await,
        }
    }
    request.api.libreoffice.check_installed()?;
    let files = convert(&request.api, files, &options).await?;
    answer(&request.context, &request.headers, files).await
}

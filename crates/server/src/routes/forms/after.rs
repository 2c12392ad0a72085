//! What a form wants done with the PDF files, and the answer: one file, or several in a ZIP.

use std::io::{Cursor, Write};

use axum::response::Response;
use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use platen_engine::pdf::{self, Limits, Metadata, Split};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::value::Values;
use crate::{
    app::App,
    lane::Lane,
    middleware::Context,
    problem::{Problem, chain},
    respond::bytes_of,
    routes::render::response::file_headers,
};

/// What is done with PDF files, in this order.
#[derive(Clone, Debug, Default)]
pub(super) struct After {
    pub(super) merge: bool,
    pub(super) split: Option<Split>,
    pub(super) metadata: Metadata,
    pub(super) flatten: bool,
}

impl After {
    /// What the fields ask for.
    pub(super) fn of(values: &mut Values) -> Result<Self, Problem> {
        let unify = values.truth("splitUnify", false)?;
        let span = values.text("splitSpan");
        let split = match (values.text("splitMode").as_deref(), span) {
            (None, _) => None,
            (Some("intervals"), Some(span)) => match span.parse::<usize>() {
                Ok(count) if count > 0 => Some(Split::Every(count)),
                _ => {
                    return Err(invalid(
                        "the form field `splitSpan` is not a number above 0",
                    ));
                }
            },
            (Some("pages"), Some(span)) if unify => Some(Split::Only(span)),
            (Some("pages"), Some(span)) => Some(Split::Pages(span)),
            (Some("intervals" | "pages"), None) => {
                return Err(invalid("the form field `splitSpan` is needed"));
            }
            (Some(_), _) => {
                return Err(invalid(
                    "the form field `splitMode` is not intervals or pages",
                ));
            }
        };
        Ok(Self {
            merge: values.truth("merge", false)?,
            split,
            metadata: values.json("metadata")?,
            flatten: values.truth("flatten", false)?,
        })
    }

    /// Whether files stay as they are.
    pub(super) fn is_nothing(&self) -> bool {
        !self.merge && self.split.is_none() && self.metadata.is_empty() && !self.flatten
    }
}

fn invalid(detail: &str) -> Problem {
    Problem::bad_request("form-invalid", detail)
}

/// What a client is told when a PDF file is not worked on.
pub(super) fn of_pdf(error: &pdf::Error) -> Problem {
    let code = match error {
        pdf::Error::NotPdf | pdf::Error::Nothing => "pdf-missing",
        pdf::Error::Encrypted => "pdf-encrypted",
        pdf::Error::TooLarge { .. } => "pdf-too-large",
        pdf::Error::BadPages(_) => "pages-invalid",
        pdf::Error::BadMetadata { .. } => "metadata-invalid",
        pdf::Error::NoAppearance(_) => "field-without-appearance",
        pdf::Error::NotWritten(_) => return Problem::internal(chain(error)),
        _ => "pdf-damaged",
    };
    Problem::bad_request(code, error.to_string())
}

/// Does what is wanted with files, on a slot for rendering.
pub(super) async fn apply(
    app: &App,
    files: Vec<(String, Bytes)>,
    after: After,
) -> Result<Vec<(String, Bytes)>, Problem> {
    if after.is_nothing() {
        return Ok(files);
    }
    let work = move |_: &crate::lane::Ticket| {
        work(files, &after).map_err(|(name, error)| {
            let mut problem = of_pdf(&error);
            problem.detail = format!("{name}: {}", problem.detail);
            problem
        })
    };
    app.slots.run(Lane::Batch, work).await
}

type Named = (String, Bytes);

fn work(files: Vec<Named>, after: &After) -> Result<Vec<Named>, (String, pdf::Error)> {
    let limits = Limits::default();
    let mut files = files;
    if after.merge && files.len() > 1 {
        let all = files.iter().map(|(_, bytes)| &bytes[..]);
        let merged = pdf::merge(all, &limits).map_err(|error| ("the files".to_owned(), error))?;
        files = vec![("merged.pdf".to_owned(), merged.into())];
    }
    if let Some(how) = &after.split {
        let mut parts = Vec::new();
        for (name, bytes) in &files {
            let made = pdf::split(bytes, how, &limits);
            let made = made.map_err(|error| (name.clone(), error))?;
            let stem = name.strip_suffix(".pdf").unwrap_or(name);
            let named = made.into_iter().enumerate();
            parts.extend(named.map(|(at, part)| (format!("{stem}_{at}.pdf"), part.into())));
        }
        files = parts;
    }
    for (name, bytes) in &mut files {
        if after.flatten {
            let made = pdf::flatten(bytes, &limits);
            *bytes = made.map_err(|error| (name.clone(), error))?.into();
        }
        if !after.metadata.is_empty() {
            let made = pdf::write_metadata(bytes, &after.metadata, &limits);
            *bytes = made.map_err(|error| (name.clone(), error))?.into();
        }
    }
    Ok(files)
}

/// The name that the client wants, or the identifier of the request, with an extension.
pub(super) fn file_name(context: &Context, headers: &HeaderMap, extension: &str) -> String {
    let wanted = headers.get("gotenberg-output-filename");
    let name = wanted.and_then(|name| name.to_str().ok());
    let name = name.unwrap_or(&*context.request_id);
    let stem = name.strip_suffix(extension).unwrap_or(name);
    format!("{}.{extension}", stem.trim_end_matches('.'))
}

/// One file as it is, several in a ZIP.
pub(super) fn answer(
    context: &Context,
    headers: &HeaderMap,
    mut files: Vec<(String, Bytes)>,
) -> Result<Response, Problem> {
    let (bytes, extension, media_type) = match files.len() {
        1 => (files.remove(0).1, "pdf", "application/pdf"),
        _ => (zip_of(&files)?, "zip", "application/zip"),
    };
    let mut response = bytes_of(media_type, StatusCode::OK, bytes);
    file_headers(
        &mut response,
        &file_name(context, headers, extension),
        media_type,
    )?;
    Ok(response)
}

fn zip_of(files: &[(String, Bytes)]) -> Result<Bytes, Problem> {
    let broken = |error: &dyn std::error::Error| Problem::internal(format!("a ZIP: {error}"));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in files {
        let started = writer.start_file(name.as_str(), options);
        started.map_err(|error| broken(&error))?;
        writer.write_all(bytes).map_err(|error| broken(&error))?;
    }
    let made = writer.finish().map_err(|error| broken(&error))?;
    Ok(made.into_inner().into())
}

//! What a form wants done with the PDF files, and the answer: one file, or several in a ZIP.

use std::{fs::File, io::Write};

use axum::response::Response;
use bytes::Bytes;
use hyper::{
    HeaderMap,
    header::{CONTENT_LENGTH, HeaderValue},
};
use platen_fault::Code;
use platen_pdf::{Limits, Metadata, Split};
use platen_server::{
    intake::content::{Content, full},
    middleware::Context,
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond::file_headers,
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{api::FormApi, value::Values};

/// What is done with PDF files, in this order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PdfOperations {
    pub(crate) merge: bool,
    pub(crate) split: Option<Split>,
    pub(crate) metadata: Metadata,
    pub(crate) flatten: bool,
}

impl PdfOperations {
    /// What the fields ask for.
    pub(crate) fn of(values: &mut Values) -> Result<Self, Problem> {
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
    pub(crate) fn is_nothing(&self) -> bool {
        !self.merge && self.split.is_none() && self.metadata.is_empty() && !self.flatten
    }
}

fn invalid(detail: &str) -> Problem {
    Problem::new(Code::InvalidRequest, detail)
}

/// What a client is told when a PDF file is not worked on.
pub(crate) fn of_pdf(error: &platen_pdf::Error) -> Problem {
    Problem::of_error(error.code(), error)
}

/// Does what is wanted with files, on a slot for rendering.
pub(crate) async fn apply(
    api: &FormApi,
    files: Vec<(String, Content)>,
    operations: PdfOperations,
) -> Result<Vec<(String, Content)>, Problem> {
    if operations.is_nothing() {
        return Ok(files);
    }
    // PDF files are worked on in memory, which has its own bound.
    let size_bytes = files.iter().map(|(_, content)| content.size_bytes()).sum();
    let _permit = api.intake.reserve_bytes(size_bytes)?;
    let work = move |_: &Ticket| {
        let read = |(name, content): (String, Content)| Ok((name, content.read()?));
        let files: std::io::Result<Vec<Named>> = files.into_iter().map(read).collect();
        let files = files.map_err(|error| full(&error))?;
        let made = execute(files, &operations).map_err(|(name, error)| {
            let mut problem = of_pdf(&error);
            problem.detail = format!("{name}: {}", problem.detail);
            problem
        })?;
        let held = |(name, bytes)| (name, Content::Held(bytes));
        Ok(made.into_iter().map(held).collect())
    };
    api.slots.run(Lane::Batch, work).await
}

type Named = (String, Bytes);

fn execute(
    files: Vec<Named>,
    operations: &PdfOperations,
) -> Result<Vec<Named>, (String, platen_pdf::Error)> {
    let limits = Limits::default();
    let mut files = files;
    if let (true, [(name, bytes)]) = (operations.merge, files.as_slice()) {
        // Nothing to be put together, but what comes back says that it is a PDF.
        platen_pdf::page_count(bytes, &limits).map_err(|error| (name.clone(), error))?;
    }
    if operations.merge && files.len() > 1 {
        let all = files.iter().map(|(_, bytes)| &bytes[..]);
        let merged =
            platen_pdf::merge(all, &limits).map_err(|error| ("the files".to_owned(), error))?;
        files = vec![("merged.pdf".to_owned(), merged.into())];
    }
    if let Some(how) = &operations.split {
        let mut parts = Vec::new();
        for (name, bytes) in &files {
            let made = platen_pdf::split(bytes, how, &limits);
            let made = made.map_err(|error| (name.clone(), error))?;
            let stem = name.strip_suffix(".pdf").unwrap_or(name);
            let named = made.into_iter().enumerate();
            parts.extend(named.map(|(at, part)| (format!("{stem}_{at}.pdf"), part.into())));
        }
        files = parts;
    }
    for (name, bytes) in &mut files {
        if operations.flatten {
            let made = platen_pdf::flatten(bytes, &limits);
            *bytes = made.map_err(|error| (name.clone(), error))?.into();
        }
        if !operations.metadata.is_empty() {
            let made = platen_pdf::write_metadata(bytes, &operations.metadata, &limits);
            *bytes = made.map_err(|error| (name.clone(), error))?.into();
        }
    }
    Ok(files)
}

/// The name that the client wants, or the identifier of the request, with an extension.
pub(crate) fn file_name(context: &Context, headers: &HeaderMap, extension: &str) -> String {
    let wanted = headers.get("gotenberg-output-filename");
    let wanted = wanted.and_then(|name| std::str::from_utf8(name.as_bytes()).ok());
    let name = wanted
        .map(platen_render::plain_name)
        .filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| context.request_id.to_string());
    let stem = name.strip_suffix(extension).unwrap_or(&name);
    format!("{}.{extension}", stem.trim_end_matches('.'))
}

/// One file as it is, several in a ZIP.
pub(crate) async fn answer(
    context: &Context,
    headers: &HeaderMap,
    mut files: Vec<(String, Content)>,
) -> Result<Response, Problem> {
    let (content, extension, media_type) = match files.len() {
        1 => (files.remove(0).1, "pdf", "application/pdf"),
        _ => (zip_of(files).await?, "zip", "application/zip"),
    };
    let size_bytes = content.size_bytes();
    let mut response = platen_server::respond::delivered(content.into_body());
    let length = HeaderValue::from(size_bytes);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    file_headers(
        &mut response,
        &file_name(context, headers, extension),
        media_type,
    )?;
    Ok(response)
}

/// A ZIP, in a file without a name.
async fn zip_of(files: Vec<(String, Content)>) -> Result<Content, Problem> {
    let write = move || -> std::io::Result<File> {
        let mut writer = ZipWriter::new(tempfile::tempfile()?);
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (name, content) in files {
            writer.start_file(name.as_str(), options)?;
            writer.write_all(&content.read()?)?;
        }
        Ok(writer.finish()?)
    };
    let made = tokio::task::spawn_blocking(write).await;
    let made = made.map_err(std::io::Error::other).flatten();
    Content::of_file(made.map_err(|error| full(&error))?)
}

//! `POST /pdf/text`, `/pdf/images`, `/pdf/attachments` and `/pdf/pages`: what is in PDF files, and how
//! their pages look.

use std::sync::{Arc, atomic::AtomicBool};

use axum::{body::Body, extract::State, response::Response};
use bytes::Bytes;
use hyper::{
    HeaderMap,
    header::{CONTENT_LENGTH, HeaderValue},
};
use platen_document::work;
use platen_engine::{DEFAULT_DPI, Engine, PageImage};
use platen_fault::Code;
use platen_pdf::{
    Error, Limits, NamedFile, read_attachments, read_pictures, read_text, tell_apart,
};

use serde_json::{Value as Json, json};

use super::pdf::{Form, PdfApi, REPORT, read, report, say_of_each};
use crate::{
    archive::zip_of,
    intake::content::{self, Content},
    operation::{Kind, Route, Tag, binary, description, post},
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond,
};

/// The routes; `files` describes their field.
pub(super) fn routes(files: &Json) -> Vec<Route<PdfApi>> {
    let form = |properties: Json| {
        let schema = json!({"type": "object", "required": ["files"], "properties": properties});
        description("multipart/form-data", schema)
    };
    let pages = json!({"type": "string", "description": "Pages, as in `1-3,7`; default: all."});
    let some = json!({"files": files, "pages": pages});
    let dpi = json!({
        "type": "number", "minimum": 10, "maximum": 1200, "default": 150,
        "description": "Dots per inch.",
    });
    let drawn = json!({"files": files, "pages": pages, "dpi": dpi});
    vec![
        post("/pdf/text", read_texts)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Reads the text of PDF files, by name: that of each page, in reading order.")
            .body(form(some.clone()))
            .answer(
                200,
                description("application/json", json!({"type": "object"})),
            )
            .problems(&[413, 415, 422]),
        post("/pdf/images", read_images)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Takes the pictures out of PDF files: a ZIP of JPEG, PNG and other files.")
            .body(form(some))
            .answer(200, binary(&["application/zip"]))
            .problems(&[413, 415, 422]),
        post("/pdf/pages", draw_pages)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Draws pages of PDF files: a PNG, or a ZIP of several.")
            .body(form(drawn))
            .answer(200, binary(&["image/png", "application/zip"]))
            .problems(&[413, 415, 422]),
        post("/pdf/attachments", read_attached)
            .kind(Kind::Render)
            .tag(Tag::Render)
            .summary("Takes the attached files out of PDF files: a ZIP of them.")
            .body(form(json!({"files": files})))
            .answer(200, binary(&["application/zip"]))
            .problems(&[413, 415, 422]),
    ]
}

/// Reads the text of PDF files.
pub(crate) async fn read_texts(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    say_of_each(&api, &headers, body, |file, form| {
        let pages = form.pages.as_deref();
        let read = read_text(&file.bytes, pages, &Limits::default(), &work::look);
        read.map_err(|error| of(file, &error))
    })
    .await
}

/// Takes pictures out of PDF files.
pub(crate) async fn read_images(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (files, missing) = take_out(&api, &headers, body, |_, file, asked| {
        let pages = asked.pages.as_deref();
        let found = read_pictures(&file.bytes, pages, &Limits::default(), &work::look);
        let found = found.map_err(|error| of(file, &error))?;
        Ok((found.files, found.left_out))
    })
    .await?;
    zipped(files, &missing).await
}

/// Draws pages of PDF files.
pub(crate) async fn draw_pages(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (mut files, _) = take_out(&api, &headers, body, |engine, file, asked| {
        let dpi = asked.dpi.unwrap_or(DEFAULT_DPI);
        let pages = asked.pages.as_deref();
        let drawn = engine.draw_pages(&file.bytes, pages, dpi, Some(asked.stop));
        let drawn =
            drawn.map_err(|error| Problem::new(error.code(), format!("{}: {error}", file.name)))?;
        let named = |page: PageImage| NamedFile {
            name: platen_render::plain_name(&page.name(&file.name)),
            bytes: page.png,
        };
        Ok((drawn.into_iter().map(named).collect(), Vec::new()))
    })
    .await?;
    if files.len() > 1 {
        return zipped(files, &[]).await;
    }
    let Some((name, content)) = files.pop() else {
        return Err(Problem::new(Code::InternalError, "no page was drawn"));
    };
    answered(content, &name, "image/png")
}

/// Takes attached files out of PDF files.
pub(crate) async fn read_attached(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (files, missing) = take_out(&api, &headers, body, |_, file, _| {
        let found = read_attachments(&file.bytes, &Limits::default());
        let found = found.map_err(|error| of(file, &error))?;
        let files = found.into_iter().map(|file| NamedFile {
            // A hostile file names its attachments as it likes.
            name: match platen_render::plain_name(&file.name) {
                name if name.is_empty() => "attachment".to_owned(),
                name => name,
            },
            bytes: file.bytes,
        });
        Ok((files.collect(), Vec::new()))
    })
    .await?;
    zipped(files, &missing).await
}

fn of(file: &NamedFile<Bytes>, error: &Error) -> Problem {
    Problem::new(error.code(), format!("{}: {error}", file.name))
}

/// Files that were found in a file, and what was left out.
type Found = (Vec<NamedFile<Vec<u8>>>, Vec<String>);

/// What is asked of each file.
struct Asked<'a> {
    pages: Option<String>,
    /// Dots per inch.
    dpi: Option<f32>,
    /// Set when nobody waits for the answer anymore.
    stop: &'a Arc<AtomicBool>,
}

/// Finds files in a file.
type Find = fn(&Engine, &NamedFile<Bytes>, &Asked<'_>) -> Result<Found, Problem>;

/// What `find` finds in each file of a form, in a folder for each if there are several; and what was
/// left out.
async fn take_out(
    api: &PdfApi,
    headers: &HeaderMap,
    body: Body,
    find: Find,
) -> Result<(Vec<(String, Content)>, Vec<String>), Problem> {
    let form = Form::read(api, headers, body).await?;
    let _permit = api.intake.reserve_bytes(form.size_bytes())?;
    let engine = Arc::clone(&api.engine);
    let work = move |ticket: &Ticket| {
        let asked = Asked {
            pages: form.pages,
            dpi: form.dpi,
            stop: &ticket.stop,
        };
        let mut files = read(form.files)?;
        tell_apart(&mut files);
        let is_one = files.len() == 1;
        let (mut all, mut missing) = (Vec::new(), Vec::new());
        for file in &files {
            work::look();
            let (mut found, left_out) = find(&engine, file, &asked)?;
            tell_apart(&mut found);
            missing.extend(
                left_out
                    .into_iter()
                    .map(|what| format!("{}: {what}", file.name)),
            );
            let stem = file.name.strip_suffix(".pdf").unwrap_or(&file.name);
            all.extend(found.into_iter().map(|one| {
                let name = match is_one {
                    true => one.name,
                    false => format!("{}/{}", platen_render::plain_name(stem), one.name),
                };
                (name, Content::Held(one.bytes.into()))
            }));
        }
        Ok((all, missing))
    };
    api.slots.run(Lane::Batch, work).await
}

/// A ZIP of `files`, with what was left out.
async fn zipped(files: Vec<(String, Content)>, missing: &[String]) -> Result<Response, Problem> {
    let content = zip_of(files).await?;
    let mut response = answered(content, "files.zip", "application/zip")?;
    if let Some(report) = report(missing) {
        response.headers_mut().insert(REPORT, report);
    }
    Ok(response)
}

/// A file as the answer.
fn answered(content: Content, name: &str, media_type: &'static str) -> Result<Response, Problem> {
    let length = HeaderValue::from(content.size_bytes());
    let mut response = respond::delivered(content::body_of(content));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    respond::file_headers(&mut response, name, media_type)?;
    Ok(response)
}

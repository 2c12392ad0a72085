//! `POST /pdf/text`, `/pdf/images` and `/pdf/attachments`: what is in PDF files.

use axum::{body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap,
    header::{CONTENT_LENGTH, HeaderValue},
};
use platen_document::work;
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
    say_of_each(&api, &headers, body, |file, pages| {
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
    take_out(&api, &headers, body, |file, pages| {
        let found = read_pictures(&file.bytes, pages, &Limits::default(), &work::look)?;
        Ok((found.files, found.left_out))
    })
    .await
}

/// Takes attached files out of PDF files.
pub(crate) async fn read_attached(
    State(api): State<PdfApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    take_out(&api, &headers, body, |file, _| {
        let found = read_attachments(&file.bytes, &Limits::default())?;
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
    .await
}

fn of(file: &NamedFile<Vec<u8>>, error: &Error) -> Problem {
    Problem::new(error.code(), format!("{}: {error}", file.name))
}

/// Files that were found in a file, and what was left out.
type Found = (Vec<NamedFile<Vec<u8>>>, Vec<String>);

/// Finds files in a file, on some of its pages.
type Find = fn(&NamedFile<Vec<u8>>, Option<&str>) -> Result<Found, Error>;

/// A ZIP of what `find` finds; in a folder for each file if there are several.
async fn take_out(
    api: &PdfApi,
    headers: &HeaderMap,
    body: Body,
    find: Find,
) -> Result<Response, Problem> {
    let form = Form::read(api, headers, body).await?;
    let _permit = api.intake.reserve_bytes(form.size_bytes())?;
    let work = move |_: &Ticket| {
        let mut files = read(form.files)?;
        tell_apart(&mut files);
        let is_one = files.len() == 1;
        let (mut all, mut missing) = (Vec::new(), Vec::new());
        for file in &files {
            work::look();
            let found = find(file, form.pages.as_deref()).map_err(|error| of(file, &error))?;
            let (mut found, left_out) = found;
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
    let (files, missing) = api.slots.run(Lane::Batch, work).await?;
    let content = zip_of(files).await?;
    let length = HeaderValue::from(content.size_bytes());
    let mut response = respond::delivered(content::body_of(content));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    if let Some(report) = report(&missing) {
        response.headers_mut().insert(REPORT, report);
    }
    respond::file_headers(&mut response, "files.zip", "application/zip")?;
    Ok(response)
}

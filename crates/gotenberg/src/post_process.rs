//! PDF operations that a form requests, and the response: one file, or several in a ZIP.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use hyper::{
    HeaderMap,
    header::{CONTENT_LENGTH, HeaderValue},
};
use platen_document::work;
use platen_engine::media_type_of;
use platen_pdf::{Conditions, NamedFile};
use platen_server::{
    archive::zip_of,
    intake::content::{self, Content, full},
    middleware::Context,
    problem::Problem,
    rendering::slots::{Lane, Ticket},
    respond::file_headers,
};

use crate::{api::FormApi, changes::Changes, marking::options_of, office::convert};

/// Name of a file made of several, which has no name of its own.
const MERGED: &str = "merged.pdf";

/// Maps a failed PDF operation to a problem.
pub(crate) fn of_pdf(error: &platen_pdf::Error) -> Problem {
    Problem::of_error(error.code(), error)
}

/// Applies the changes to files. What LibreOffice rewrites gets its metadata afterwards, as it would
/// lose them.
pub(crate) async fn apply(
    api: &FormApi,
    files: Vec<(String, Content)>,
    mut changes: Changes,
) -> Result<Vec<(String, Content)>, Problem> {
    let Some(options) = changes.rewriting.take() else {
        return changed(api, files, changes).await;
    };
    api.libreoffice.check_installed()?;
    let mut afterwards = Changes::default();
    std::mem::swap(
        &mut changes.operations.metadata,
        &mut afterwards.operations.metadata,
    );
    let files = changed(api, files, changes).await?;
    let files = convert(api, files, &options).await?;
    changed(api, files, afterwards).await
}

/// Applies the changes to files on a render slot.
async fn changed(
    api: &FormApi,
    files: Vec<(String, Content)>,
    changes: Changes,
) -> Result<Vec<(String, Content)>, Problem> {
    if changes.is_nothing() {
        return Ok(files);
    }
    // PDF operations run in memory, which has a limit of its own.
    let size_bytes = files.iter().map(|(_, content)| content.size_bytes()).sum();
    let _permit = api.intake.reserve_bytes(size_bytes)?;
    let engine = Arc::clone(&api.renderer.engine);
    let work = move |ticket: &Ticket| {
        let operations = changes.into_operations(&engine, ticket)?;
        let read = |(name, content): (String, Content)| {
            let bytes = content.read()?;
            Ok(NamedFile { name, bytes })
        };
        let files: std::io::Result<Vec<NamedFile<Bytes>>> = files.into_iter().map(read).collect();
        let files = files.map_err(|error| full(&error))?;
        let options = options_of(ticket);
        let conditions = Conditions {
            part_name: |stem, index| format!("{stem}_{index}.pdf"),
            checkpoint: &work::look,
            set_text: &|text, line| engine.set_text(text, line, &options),
            ..Conditions::default()
        };
        let made = operations.apply(files, &conditions);
        let made = made.map_err(|error| Problem::of_error(error.error.code(), &error))?;
        let held = |file: NamedFile<Bytes>| (file.name, Content::Held(file.bytes));
        Ok(made.into_iter().map(held).collect())
    };
    api.slots.run(Lane::Batch, work).await
}

/// The file name that the client requested, or the request id, with an extension.
pub(crate) fn file_name(context: &Context, headers: &HeaderMap, extension: &str) -> String {
    let wanted = headers.get("gotenberg-output-filename");
    let wanted = wanted.and_then(|name| std::str::from_utf8(name.as_bytes()).ok());
    let name = wanted
        .map(platen_render::plain_name)
        .filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| context.request_id.to_string());
    let stem = name.strip_suffix(extension).unwrap_or(&name);
    let stem = stem.trim_end_matches('.');
    match extension.is_empty() {
        true => stem.to_owned(),
        false => format!("{stem}.{extension}"),
    }
}

/// Responds with a single file as it is, or with several files in a ZIP.
pub(crate) async fn answer(
    context: &Context,
    headers: &HeaderMap,
    mut files: Vec<(String, Content)>,
) -> Result<Response, Problem> {
    let own = own_name(headers, &files);
    let (content, extension, media_type) = match files.len() {
        1 => {
            let (name, content) = files.remove(0);
            // Stages may make other files than PDF.
            let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
            (content, extension.to_owned(), media_type_of(&name))
        }
        _ => (zip_of(files).await?, "zip".to_owned(), "application/zip"),
    };
    let size_bytes = content.size_bytes();
    let mut response = platen_server::respond::delivered(content::body_of(content));
    let length = HeaderValue::from(size_bytes);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    let name = own.unwrap_or_else(|| file_name(context, headers, &extension));
    file_headers(&mut response, &name, media_type)?;
    Ok(response)
}

/// The name of a single file that has one, unless the client requested another.
fn own_name(headers: &HeaderMap, files: &[(String, Content)]) -> Option<String> {
    let [(name, _)] = files else { return None };
    let requested = headers.contains_key("gotenberg-output-filename");
    (!requested && name != MERGED).then(|| name.clone())
}

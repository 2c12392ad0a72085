//! Documents over HTTP.

pub(crate) mod batch;
pub(crate) mod job;
mod package;
pub(crate) mod request;

use std::{fmt::Write, sync::Arc, time::Instant};

use axum::{
    Extension,
    body::Body,
    extract::{FromRequestParts, Path, State},
    http::request::Parts,
    response::Response,
};
use hyper::{
    HeaderMap, StatusCode,
    header::{ACCEPT, CONTENT_DISPOSITION, HeaderName, HeaderValue},
};
use platen_engine::{Diagnostic, Format};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use self::{
    job::{Done, Job},
    request::{Disposition, RenderRequest},
};
use crate::{
    app::App,
    body,
    lane::Lane,
    middleware::{Context, Note},
    problem::Problem,
    respond::{bytes_of, json},
    routes::templates::VERSION_HEADER,
};

/// Codes that `X-Render-Warnings` names.
const MAX_WARNING_CODES: usize = 20;
/// Longest file name, in characters.
const MAX_FILENAME: usize = 200;

/// What is known of a template and its data without rendering.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Validation {
    /// No finding is an error.
    valid: bool,
    /// Errors and warnings.
    diagnostics: Vec<Diagnostic>,
}

/// A format in the path.
pub(crate) struct PathFormat(pub(crate) Format);

impl<S: Sync + Send> FromRequestParts<S> for PathFormat {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.ok()
            .and_then(|name| name.parse().ok())
            .map(Self)
            .ok_or_else(|| {
                let detail = "the formats are pdf, html, docx, pptx, xlsx, csv, png and svg";
                Problem::new(StatusCode::NOT_FOUND, "format-unknown", detail)
            })
    }
}

/// Makes a document.
pub(crate) async fn create_render(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let bytes = body::read_json(&app.config, &headers, body).await?;
    let request: RenderRequest = body::parse(&bytes)?;
    let format = match request.format {
        Some(format) => format.into(),
        None => accepted(&headers)?,
    };
    respond(&app, &context, request, format).await
}

/// Makes a document of the format in the address.
pub(crate) async fn create_render_in_format(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Context>,
    PathFormat(format): PathFormat,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let bytes = body::read_json(&app.config, &headers, body).await?;
    let request: RenderRequest = body::parse(&bytes)?;
    check_format(&request, format)?;
    respond(&app, &context, request, format).await
}

/// Says what is wrong with template and data, without rendering.
pub(crate) async fn validate_render(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let bytes = body::read_json(&app.config, &headers, body).await?;
    let request: RenderRequest = body::parse(&bytes)?;
    validate(&app, request).await
}

fn check_format(request: &RenderRequest, format: Format) -> Result<(), Problem> {
    match request.format {
        Some(other) if Format::from(other) != format => Err(Problem::bad_request(
            "request-invalid",
            format!("`format` is not {format}, as the address says"),
        )),
        _ => Ok(()),
    }
}

async fn respond(
    app: &Arc<App>,
    context: &Context,
    request: RenderRequest,
    format: Format,
) -> Result<Response, Problem> {
    if request.dry_run {
        return validate(app, request).await;
    }
    let key = request.template.clone();
    let filename = request.options.filename.clone();
    let disposition = request.options.disposition;
    let job = job_of(app, request, format).await?;
    let done = job::run(app, Lane::Batch, job).await?;
    answer(
        done,
        key.as_deref(),
        filename.as_deref(),
        disposition,
        context,
    )
}

/// The job that a request asks for.
pub(crate) async fn job_of(
    app: &App,
    request: RenderRequest,
    format: Format,
) -> Result<Job, Problem> {
    let start = Instant::now();
    let found = match (&request.template, &request.definition) {
        (Some(key), None) => app.library.find(key, request.version).await?,
        (None, Some(definition)) => app.library.inline(definition.get()),
        _ => return Err(no_template()),
    };
    let load = start.elapsed();
    let (mut options, attachments) = request.options.into_engine()?;
    options.assets.clone_from(&app.config.assets_dir);
    Ok(Job {
        found,
        data: request
            .data
            .map(|data| String::from(Box::<str>::from(data)).into_boxed_str()),
        format,
        options,
        attachments,
        load,
    })
}

fn no_template() -> Problem {
    let detail = "give either `template`, the key of a stored one, or `definition`, a template";
    Problem::bad_request("request-invalid", detail)
}

async fn validate(app: &Arc<App>, request: RenderRequest) -> Result<Response, Problem> {
    let source: Arc<[u8]> = match (&request.template, &request.definition) {
        (Some(key), None) => app.library.source(key, request.version).await?.source,
        (None, Some(definition)) => definition.get().as_bytes().into(),
        _ => return Err(no_template()),
    };
    let data = request.data;
    let (_, attached) = request.options.into_engine()?;
    let validation = app
        .slots
        .run(Lane::Batch, move |_| {
            request::attachments(attached)?;
            let data = data_of(data.as_ref().map_or("{}", |data| data.get()))?;
            Ok(report(&source, Some(&data)))
        })
        .await?;
    Ok(json(StatusCode::OK, &validation))
}

/// Everything about a template, and about `data` where it is given.
pub(crate) fn report(source: &[u8], data: Option<&Json>) -> Validation {
    let diagnostics = platen_document::validate(source, data);
    Validation {
        valid: !diagnostics.iter().any(Diagnostic::is_error),
        diagnostics,
    }
}

/// The data of a request.
pub(crate) fn data_of(text: &str) -> Result<Json, Problem> {
    serde_json::from_str(text).map_err(|error| body::problem(&error, "`data`"))
}

/// The format that `Accept` prefers; PDF where it takes anything.
fn accepted(headers: &HeaderMap) -> Result<Format, Problem> {
    let accept = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("*/*");
    let mut best: Option<(f32, Format)> = None;
    for part in accept.split(',') {
        let mut pieces = part.split(';').map(str::trim);
        let range = pieces.next().unwrap_or_default();
        let quality = pieces
            .find_map(|piece| piece.strip_prefix("q=")?.parse::<f32>().ok())
            .unwrap_or(1.0);
        let format = match range {
            "*/*" | "application/*" | "" => Some(Format::Pdf),
            range => Format::ALL
                .into_iter()
                .find(|format| format.media_type().split(';').next() == Some(range)),
        };
        // What is named beats what is only allowed.
        let weight = if range.ends_with('*') {
            quality - 0.001
        } else {
            quality
        };
        let better = quality > 0.0 && best.is_none_or(|(other, _)| weight > other);
        if let Some(format) = format.filter(|_| better) {
            best = Some((weight, format));
        }
    }
    best.map(|(_, format)| format).ok_or_else(|| {
        let detail = "none of the media types in Accept is made here; leave it out for PDF";
        Problem::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", detail)
    })
}

/// A document with its headers.
pub(crate) fn answer(
    done: Done,
    key: Option<&str>,
    filename: Option<&str>,
    disposition: Option<Disposition>,
    context: &Context,
) -> Result<Response, Problem> {
    let rendered = done.rendered;
    let size = rendered.bytes.len();
    let format = rendered.format;
    let name = filename.map_or_else(
        || format!("{}.{format}", key.unwrap_or("document")),
        |name| with_extension(name, format),
    );
    let mut note = vec![
        ("format", Json::from(format.name())),
        ("template", key.into()),
    ];
    let mut response = bytes_of(format.media_type(), StatusCode::OK, rendered.bytes);
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: String| -> Result<(), Problem> {
        let value = HeaderValue::from_str(&value)
            .map_err(|_| Problem::internal(format!("the header {name} cannot be written")))?;
        headers.insert(HeaderName::from_static(name), value);
        Ok(())
    };
    let elapsed = context.start.elapsed().as_secs_f64() * 1e3;
    set("x-render-duration-ms", format!("{elapsed:.3}"))?;
    set("x-render-size-bytes", size.to_string())?;
    if let Some(pages) = rendered.pages {
        set("x-render-pages", pages.to_string())?;
        note.push(("pages", pages.into()));
    }
    if !rendered.warnings.is_empty() {
        set("x-render-warnings", warnings_header(&rendered.warnings))?;
        note.push(("warnings", rendered.warnings.len().into()));
    }
    set("server-timing", server_timing(&done.stages))?;
    if let Some(version) = done.version {
        headers.insert(VERSION_HEADER, HeaderValue::from(version));
        note.push(("version", version.into()));
    }
    headers.insert(
        CONTENT_DISPOSITION,
        content_disposition(&name, disposition)?,
    );
    // A document of a stranger's template must not act on this origin.
    headers.insert(
        hyper::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:",
        ),
    );
    response.extensions_mut().insert(Note(note));
    Ok(response)
}

/// `count=…;codes=…`, each code once.
pub(crate) fn warnings_header(warnings: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = warnings.iter().map(|warning| &*warning.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.truncate(MAX_WARNING_CODES);
    format!("count={};codes={}", warnings.len(), codes.join(","))
}

fn server_timing(stages: &[(&'static str, std::time::Duration)]) -> String {
    let mut text = String::new();
    for (name, duration) in stages {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}{name};dur={:.3}",
            duration.as_secs_f64() * 1e3
        );
    }
    text
}

/// A file name with the extension of its format, and no path.
pub(crate) fn with_extension(name: &str, format: Format) -> String {
    let plain = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = plain
        .chars()
        .filter(|symbol| !symbol.is_control())
        .take(MAX_FILENAME)
        .collect();
    let plain = plain.trim().trim_start_matches('.');
    let stem = if plain.is_empty() { "document" } else { plain };
    if Format::of_file_name(stem) == Some(format) {
        stem.to_owned()
    } else {
        format!("{stem}.{format}")
    }
}

/// RFC 6266, with `filename*` (RFC 8187) where the name is more than ASCII.
fn content_disposition(
    name: &str,
    disposition: Option<Disposition>,
) -> Result<HeaderValue, Problem> {
    let kind = match disposition {
        Some(Disposition::Attachment) => "attachment",
        Some(Disposition::Inline) | None => "inline",
    };
    let fallback: String = name
        .chars()
        .map(|symbol| match symbol {
            '"' | '\\' | '%' => '_',
            symbol if symbol.is_ascii_graphic() || symbol == ' ' => symbol,
            _ => '_',
        })
        .collect();
    let mut text = format!("{kind}; filename=\"{fallback}\"");
    if fallback != name {
        text.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                text.push(byte as char);
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    HeaderValue::from_str(&text)
        .map_err(|_| Problem::internal("Content-Disposition cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept_chooses_the_format() {
        let choose = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            accepted(&headers).ok()
        };
        assert_eq!(accepted(&HeaderMap::new()).ok(), Some(Format::Pdf));
        assert_eq!(
            choose("application/json, text/plain, */*"),
            Some(Format::Pdf)
        );
        assert_eq!(choose("text/html;q=0.5, text/csv"), Some(Format::Csv));
        assert_eq!(choose("*/*, image/png"), Some(Format::Png));
        assert_eq!(choose("audio/ogg"), None);
    }

    #[test]
    fn file_names_are_safe_and_whole() {
        let header = |name: &str| {
            let name = with_extension(name, Format::Pdf);
            let value = content_disposition(&name, Some(Disposition::Attachment)).unwrap();
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(header("a.pdf"), "attachment; filename=\"a.pdf\"");
        assert_eq!(
            header("../../etc/passwd"),
            "attachment; filename=\"passwd.pdf\""
        );
        assert_eq!(
            header("Größe\r\n\"x"),
            "attachment; filename=\"Gr__e_x.pdf\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%22x.pdf"
        );
    }
}

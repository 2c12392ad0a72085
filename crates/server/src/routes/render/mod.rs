//! Documents over HTTP.

pub(crate) mod batch;
pub(crate) mod beside;
pub(crate) mod html;
pub(crate) mod job;
pub(crate) mod later;
mod package;
pub(crate) mod printed;
pub(crate) mod request;
pub(crate) mod response;

use std::{sync::Arc, time::Instant};

use axum::{
    body::Body,
    extract::{FromRequestParts, Path, State},
    http::request::Parts,
    response::Response,
};
use hyper::{HeaderMap, StatusCode, header::ACCEPT};
use platen_document::Diagnostic;
use platen_render::Format;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use self::{
    job::{Job, Made},
    later::When,
    printed::PrintedBody,
    request::RenderRequest,
    response::answer,
};
use super::templates::Query;
use crate::{
    app::App,
    body,
    lane::{Lane, Ticket},
    problem::Problem,
    respond::json,
};

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
    Query(when): Query<When>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&app, &headers, body).await?;
    let request: RenderRequest = body::parse_long(bytes.clone()).await?;
    let format = match request.format {
        Some(format) => format.into(),
        None => accepted(&headers)?,
    };
    if when.later {
        return accept(&app, &headers, &bytes, request, format).await;
    }
    respond(&app, request, format).await
}

/// Makes a document of the format in the address.
pub(crate) async fn create_render_in_format(
    State(app): State<Arc<App>>,
    PathFormat(format): PathFormat,
    Query(when): Query<When>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&app, &headers, body).await?;
    let request: RenderRequest = body::parse_long(bytes.clone()).await?;
    check_format(&request, format)?;
    if when.later {
        return accept(&app, &headers, &bytes, request, format).await;
    }
    respond(&app, request, format).await
}

/// Accepts a render that is made later: what can be known to be wrong is told now.
async fn accept(
    app: &Arc<App>,
    headers: &HeaderMap,
    bytes: &[u8],
    request: RenderRequest,
    format: Format,
) -> Result<Response, Problem> {
    match (&request.template, &request.definition) {
        (Some(key), None) => drop(app.library.find(key, request.version).await?),
        (None, Some(_)) => {}
        _ => return Err(no_template()),
    }
    later::check_output(request.output)?;
    if request.dry_run {
        // Nothing is made, so nothing is accepted either.
        return validate(app, request).await;
    }
    request.options.into_engine()?;
    let whole = body::parse(bytes)?;
    later::render(app, headers, whole, format.name(), request.webhook).await
}

/// Says what is wrong with template and data, without rendering.
pub(crate) async fn validate_render(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&app, &headers, body).await?;
    let request: RenderRequest = body::parse_long(bytes).await?;
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
    request: RenderRequest,
    format: Format,
) -> Result<Response, Problem> {
    if request.webhook.is_some() {
        let detail = "`webhook` goes with `?async=true`";
        return Err(Problem::bad_request("request-invalid", detail));
    }
    let ttl_seconds = app.results.wish(request.output)?;
    if request.dry_run {
        return validate(app, request).await;
    }
    let key = request.template.clone();
    let filename = request.options.filename.clone();
    let disposition = request.options.disposition;
    let job = job_of(app, request, format).await?;
    let (key, filename) = (key.as_deref(), filename.as_deref());
    let made = match job::run_streamed(app, Lane::Batch, job).await? {
        Made::Whole(done) => answer(done, key, filename, disposition),
        Made::Stream(done, printed) => {
            let body = PrintedBody::pdf(app, printed, done.stages.clone());
            response::stream_answer(done, body, key, filename, disposition)
        }
    };
    app.results.keep(made?, ttl_seconds).await
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
    let shared = Arc::clone(app);
    let validation = app
        .slots
        .run(Lane::Batch, move |ticket| {
            platen_render::attachments(attached)?;
            let data = data.as_ref().map_or("{}", |data| data.get());
            report(&shared, &source, Some(data), ticket)
        })
        .await?;
    Ok(json(StatusCode::OK, &validation))
}

/// Everything about a template, and about the JSON in `data` where it is given.
pub(crate) fn report(
    app: &App,
    source: &[u8],
    data: Option<&str>,
    ticket: &Ticket,
) -> Result<Validation, Problem> {
    let found = app.engine.validate(source, data, Some(&ticket.stop));
    let diagnostics = found.map_err(|error| {
        let data = data.and_then(|data| job::data_problem(&error, data));
        data.unwrap_or_else(|| error.into())
    })?;
    Ok(Validation {
        valid: !diagnostics.iter().any(Diagnostic::is_error),
        diagnostics,
    })
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

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

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
}

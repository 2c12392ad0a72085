//! Renders a document from a template and data, inline or asynchronously.

use std::{sync::Arc, time::Instant};

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode, header::ACCEPT};
use platen_fault::Code;
use platen_render::Format;
use serde_json::Value as Json;

use super::{
    PathFormat, RenderApi,
    async_job::{self, Delivery},
    check_format,
    request::RenderRequest,
    response::{self, answer},
};
use crate::{
    accepted_run::own_idempotency_key,
    intake::body,
    middleware::Context,
    problem::Problem,
    rendering::{
        job::{self, Job, Made},
        slots::Lane,
    },
    respond::json,
    routes::extract::Query,
};

/// Renders a document.
pub(crate) async fn create_render(
    State(api): State<RenderApi>,
    Query(delivery): Query<Delivery>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: RenderRequest = body::parse_long(bytes.clone()).await?;
    let format = match request.format {
        Some(format) => format.into(),
        None => accepted(&headers)?,
    };
    if delivery.is_async {
        let key = own_idempotency_key(&headers, context.client)?;
        return accept(&api, key, &bytes, request, format).await;
    }
    respond(&api, request, format).await
}

/// Renders a document in the format of the path.
pub(crate) async fn create_render_in_format(
    State(api): State<RenderApi>,
    PathFormat(format): PathFormat,
    Query(delivery): Query<Delivery>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: RenderRequest = body::parse_long(bytes.clone()).await?;
    check_format(&request, format)?;
    if delivery.is_async {
        let key = own_idempotency_key(&headers, context.client)?;
        return accept(&api, key, &bytes, request, format).await;
    }
    respond(&api, request, format).await
}

/// Accepts an asynchronous render; reports detectable errors now.
async fn accept(
    api: &RenderApi,
    idempotency: Option<String>,
    bytes: &[u8],
    request: RenderRequest,
    format: Format,
) -> Result<Response, Problem> {
    match (&request.template, &request.definition) {
        (Some(key), None) => drop(api.renderer.templates.find(key, request.version).await?),
        (None, Some(_)) => {}
        _ => return Err(no_template()),
    }
    async_job::check_output(request.output)?;
    if request.dry_run {
        // A validation makes no document, so there is no run to accept.
        return validate(api, request).await;
    }
    request.options.into_engine()?;
    let mut whole: Json = body::parse(bytes)?;
    if let Some(definition) = &request.definition {
        // The step that renders it has no store to ask.
        let source = definition.get().as_bytes();
        let resolved = api.renderer.templates.with_imports(source).await?;
        if *resolved != *source {
            whole["definition"] = body::parse(&resolved)?;
        }
    }
    let (flows, format) = (&api.flows, format.name());
    async_job::render(flows, idempotency, whole, format, request.webhook).await
}

/// Validates template and data without rendering.
pub(crate) async fn validate_render(
    State(api): State<RenderApi>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, &headers, body).await?;
    let request: RenderRequest = body::parse_long(bytes).await?;
    validate(&api, request).await
}

async fn respond(
    api: &RenderApi,
    request: RenderRequest,
    format: Format,
) -> Result<Response, Problem> {
    if request.webhook.is_some() {
        let detail = "`webhook` requires `?async=true`";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let ttl_seconds = api.results.retention(request.output)?;
    if request.dry_run {
        return validate(api, request).await;
    }
    let key = request.template.clone();
    let filename = request.options.filename.clone();
    let disposition = request.options.disposition;
    let job = job_of(api, request, format).await?;
    let (key, filename) = (key.as_deref(), filename.as_deref());
    let made = match job::run_streamed(&api.renderer, Lane::Batch, job).await? {
        Made::Whole(done) => answer(done, key, filename, disposition),
        Made::Stream(streamed) => {
            let metrics = &api.renderer.metrics;
            response::stream_answer(metrics, *streamed, key, filename, disposition)
        }
    };
    api.results.keep(made?, ttl_seconds).await
}

/// Converts a request to a job.
pub(crate) async fn job_of(
    api: &RenderApi,
    request: RenderRequest,
    format: Format,
) -> Result<Job, Problem> {
    let start = Instant::now();
    let found = match (&request.template, &request.definition) {
        (Some(key), None) => api.renderer.templates.find(key, request.version).await?,
        (None, Some(definition)) => api.renderer.templates.inline(definition.get()).await?,
        _ => return Err(no_template()),
    };
    let load = start.elapsed();
    let (options, attachments) = request.options.into_engine()?;
    let options = api.renderer.with_assets(options);
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

pub(super) fn no_template() -> Problem {
    let detail = "give either `template`, the key of a stored one, or `definition`, a template";
    Problem::new(Code::InvalidRequest, detail)
}

async fn validate(api: &RenderApi, request: RenderRequest) -> Result<Response, Problem> {
    let source: Arc<[u8]> = match (&request.template, &request.definition) {
        (Some(key), None) => {
            api.renderer
                .templates
                .source(key, request.version)
                .await?
                .source
        }
        (None, Some(definition)) => {
            let source = definition.get().as_bytes();
            api.renderer.templates.with_imports(source).await?
        }
        _ => return Err(no_template()),
    };
    let data = request.data;
    let (_, attached) = request.options.into_engine()?;
    let renderer = Arc::clone(&api.renderer);
    let validation = api
        .renderer
        .slots
        .run(Lane::Batch, move |ticket| {
            platen_render::attachments(attached)?;
            let data = data.as_ref().map_or("{}", |data| data.get());
            renderer.validate(&source, Some(data), ticket)
        })
        .await?;
    Ok(json(StatusCode::OK, &validation))
}

/// The format that `Accept` prefers; PDF for `*/*`.
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
        // An exact media type takes precedence over a wildcard.
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
        let detail = "none of the media types in Accept is available; omit the header for PDF";
        Problem::new(Code::NotAcceptable, detail)
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

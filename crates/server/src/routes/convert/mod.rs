//! Converts Office files: the document in the body or in a form, the options in the query or in the
//! form.

pub(crate) mod declaration;
pub(crate) mod filters;

use std::{
    fmt::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::{
    HeaderMap,
    header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    header::{HeaderName, HeaderValue},
};
use platen_fault::Code;
use platen_office::{Document, Format, Job, Lane, Options, Source, Target, Times};
use serde_json::{Map, Value as Json};

use super::{
    extract::Query,
    render::{
        async_job::{self, WebhookRequest},
        response::POLICY,
    },
};
use crate::{
    accepted_run::{MAX_FILE_BYTES, own_idempotency_key},
    flows::Flows,
    intake::{
        Intake,
        content::{self, Content},
        multipart,
    },
    log::LogFields,
    metrics::Metrics,
    middleware::Context,
    problem::Problem,
    rendering::libreoffice::LibreOffice,
    respond::{content_disposition, is_active},
    results::{FileName, OutputRequest, Results},
};

/// State of the conversion handler.
#[derive(Clone)]
pub(crate) struct ConvertApi {
    pub(crate) libreoffice: Arc<LibreOffice>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) results: Arc<Results>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) metrics: Arc<Metrics>,
    /// Largest document, in bytes.
    pub(crate) max_body_bytes: u64,
    /// Longest conversion, including the wait for LibreOffice.
    pub(crate) timeout: Duration,
}

/// Options of a request besides the document.
#[derive(Debug, Default)]
struct ConvertParams {
    target: Option<Target>,
    options: Options,
    name: Option<String>,
    lane: Option<Lane>,
    /// True to keep timestamps and identifiers in the result.
    volatile: bool,
    /// True to convert asynchronously, with an optional webhook for the result.
    is_async: bool,
    webhook: Option<String>,
    /// True to store the result and respond with a link, and for how long.
    store: bool,
    ttl_seconds: Option<u64>,
    /// Options as the client sent them.
    given: Map<String, Json>,
}

impl ConvertParams {
    /// Sets a parameter from the query or the form.
    fn set(&mut self, name: &str, value: &str) -> Result<(), Problem> {
        let invalid = |detail: String| Problem::new(Code::InvalidOption, detail);
        match name {
            "to" => {
                let target = Target::from_extension(value.trim_start_matches('.'));
                let known: Vec<&str> = Target::all().map(Target::extension).collect();
                let none = || {
                    invalid(format!(
                        "`to` is `{value}`, which is not one of {}",
                        known.join(", ")
                    ))
                };
                self.target = Some(target.ok_or_else(none)?);
            }
            "filename" => self.name = Some(value.to_owned()),
            "lane" => {
                self.lane = Some(match value {
                    "interactive" => Lane::Interactive,
                    "batch" => Lane::Batch,
                    _ => return Err(invalid("`lane` must be interactive or batch".to_owned())),
                });
            }
            "async" => self.is_async = matches!(value, "true" | "1"),
            "store" => self.store = matches!(value, "true" | "1"),
            "ttlSeconds" => {
                let seconds = value.parse();
                let bad = |_| {
                    invalid(format!(
                        "`ttlSeconds` is `{value}`, which is not a number of seconds"
                    ))
                };
                self.ttl_seconds = Some(seconds.map_err(bad)?);
            }
            "webhookUrl" => self.webhook = Some(value.to_owned()),
            "stable" => self.volatile = matches!(value, "false" | "0"),
            _ => {
                let set = self.options.set(name, value);
                set?;
                self.given.insert(name.to_owned(), value.into());
            }
        }
        Ok(())
    }

    fn output(&self) -> OutputRequest {
        OutputRequest {
            store: self.store,
            ttl_seconds: self.ttl_seconds,
        }
    }
}

/// Converts an Office file.
pub(crate) async fn convert_document(
    State(api): State<ConvertApi>,
    Query(query): Query<Vec<(String, String)>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let begin = Instant::now();
    api.libreoffice.check_installed()?;
    let mut params = ConvertParams::default();
    for (name, value) in &query {
        params.set(name, value)?;
    }
    let (document, _room) = match multipart::boundary(&headers) {
        Some(boundary) => {
            let (fields, room) = multipart::read(&api.intake, &headers, body, &boundary).await?;
            (of_form(fields, &mut params).await?, Some(room))
        }
        None if multipart::is_form(&headers) => {
            let detail = "the form's Content-Type has no boundary";
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
        None => {
            let limit = (api.max_body_bytes, "OFFICE_MAX_BODY_BYTES");
            (
                content::read(&api.intake, &headers, body, limit).await?,
                None,
            )
        }
    };
    let received = begin.elapsed();
    if let (Some(to), Some(_)) = (params.target, &params.options.filter) {
        let detail = format!(
            "`to` is `{}`, but `filter` decides the format",
            to.extension()
        );
        return Err(Problem::new(Code::InvalidOption, detail));
    }
    let output = params.output();
    let ttl_seconds = api.results.retention(Some(output))?;
    let target = params.target.unwrap_or(Target::Pdf);
    if params.is_async {
        async_job::check_output(Some(output))?;
        let key = own_idempotency_key(&headers, context.client)?;
        return convert_later(&api.flows, key, document, target, params).await;
    }
    let label = match params.options.filter {
        Some(_) => "filter",
        None => target.extension(),
    };
    let mut job = Job::new(Source::Content(document.clone()), target);
    job.name.clone_from(&params.name);
    job.options = params.options;
    job.lane = params.lane.unwrap_or(Lane::Batch);
    job.deterministic = !params.volatile;
    job.timeout = api.timeout;
    let converted = api.libreoffice.convert(job).await;
    let outcome = converted
        .as_ref()
        .map_or_else(|problem| problem.code.name(), |_| "ok");
    api.metrics.rendered(label, outcome);
    let converted = converted?;
    drop(document);
    let made = answer(converted, params.name.as_deref(), received)?;
    api.results.keep(made, ttl_seconds).await
}

async fn convert_later(
    flows: &Flows,
    idempotency: Option<String>,
    document: Content,
    target: Target,
    params: ConvertParams,
) -> Result<Response, Problem> {
    let webhook = params.webhook.map(|url| WebhookRequest {
        url,
        headers: Map::new(),
    });
    if document.size_bytes() > MAX_FILE_BYTES {
        return Err(async_job::too_large());
    }
    let bytes = content::bytes(document).await?;
    let name = params.name.unwrap_or_default();
    let (file, to) = ((&*name, &*bytes), target.extension());
    async_job::convert(flows, idempotency, file, to, params.given, webhook).await
}

async fn of_form(
    fields: Vec<multipart::Field>,
    params: &mut ConvertParams,
) -> Result<Content, Problem> {
    let mut file = None;
    for field in fields {
        if let Some(name) = field.file_name.clone() {
            if file.is_some() {
                let detail = "the form has more than one file; send one request per file";
                return Err(Problem::new(Code::InvalidRequest, detail));
            }
            params.name.get_or_insert(name);
            file = Some(field.content);
        } else {
            params.set(&field.name, &field.text().await?)?;
        }
    }
    file.ok_or_else(|| Problem::new(Code::InvalidRequest, "the form has no file"))
}

fn answer(document: Document, name: Option<&str>, received: Duration) -> Result<Response, Problem> {
    let Document {
        body,
        size_bytes,
        format,
        times,
        ..
    } = document;
    let name = with_extension(name, &format);
    let mut response = crate::respond::delivered(content::body_of(body));
    let headers = response.headers_mut();
    let text = |text: String| {
        let value = HeaderValue::from_str(&text);
        value.map_err(|_| Problem::internal("a header cannot be written"))
    };
    headers.insert(CONTENT_TYPE, text(format.media_type.clone().into_owned())?);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size_bytes));
    headers.insert(CONTENT_DISPOSITION, content_disposition(&name, None)?);
    let elapsed = (received + times.total).as_secs_f64() * 1e3;
    for (name, value) in [
        ("x-render-duration-ms", format!("{elapsed:.3}")),
        ("x-render-size-bytes", size_bytes.to_string()),
        ("server-timing", server_timing(received, &times)),
    ] {
        headers.insert(HeaderName::from_static(name), text(value)?);
    }
    if is_active(&format.media_type) {
        // A document of an untrusted client must not run scripts in this origin.
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    let note = vec![("format", Json::from(&*format.extension))];
    response.extensions_mut().insert(LogFields(note));
    response.extensions_mut().insert(FileName(name));
    Ok(response)
}

fn with_extension(name: Option<&str>, format: &Format) -> String {
    let plain = name.unwrap_or("document");
    let plain = plain.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = plain.rsplit_once('.').map_or(plain, |(stem, _)| stem);
    let stem: String = stem
        .chars()
        .filter(|it| !it.is_control())
        .take(200)
        .collect();
    let stem = stem.trim().trim_start_matches('.');
    let stem = if stem.is_empty() { "document" } else { stem };
    format!("{stem}.{}", format.extension)
}

fn server_timing(received: Duration, times: &Times) -> String {
    let phases = times.phases;
    let mut text = String::new();
    for (name, duration) in [
        ("receive", received),
        ("detect", times.detect),
        ("queue", times.wait),
        ("put", phases.put),
        ("load", phases.load),
        ("store", phases.store),
        ("get", phases.get),
        ("close", phases.close),
        ("finish", times.finish),
    ] {
        let comma = if text.is_empty() { "" } else { ", " };
        let milliseconds = duration.as_secs_f64() * 1e3;
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}{name};dur={milliseconds:.3}");
    }
    text
}

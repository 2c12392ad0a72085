//! Batches: many documents in one request, with bounded concurrency. A failed item does not affect
//! the others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Extension, body::Body, extract::State, response::Response};
use hyper::HeaderMap;
use platen_fault::{Code, What};
use platen_render::{Disposition, Format};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::{
    PathFormat, RenderApi, check_format,
    create::job_of,
    package::{self, Item, ItemResult},
    request::RenderRequest,
};
use crate::{
    base_url,
    deferred::{Progress, Replay},
    intake::body,
    middleware::Context,
    problem::Problem,
    rendering::{
        job::{self, Done},
        slots::Lane,
    },
    results::{ResultLink, StoredResult},
};

/// Poll interval of a deferred batch that waits for its rate limit.
const RATE_INTERVAL: Duration = Duration::from_secs(1);

/// Documents to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BatchRequest {
    /// The documents, at most `BATCH_MAX_ITEMS` (1000).
    #[schemars(with = "Vec<RenderRequest>")]
    items: Vec<Box<RawValue>>,
    /// Packaging of the documents.
    #[serde(default)]
    packaging: Packaging,
}

/// Packaging of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Packaging {
    /// One JSON document.
    #[default]
    Json,
    /// One line of JSON per document, as soon as it is ready.
    Ndjson,
    /// A ZIP file with a `manifest.json`.
    Zip,
}

/// Renders a batch.
pub(crate) async fn create_render_batch(
    State(api): State<RenderApi>,
    Extension(context): Extension<Context>,
    replay: Option<Extension<Replay>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    create(&api, &context, replay, &headers, body, None).await
}

/// Renders a batch in the format of the path.
pub(crate) async fn create_render_batch_in_format(
    State(api): State<RenderApi>,
    Extension(context): Extension<Context>,
    replay: Option<Extension<Replay>>,
    PathFormat(format): PathFormat,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    create(&api, &context, replay, &headers, body, Some(format)).await
}

async fn create(
    api: &RenderApi,
    context: &Context,
    replay: Option<Extension<Replay>>,
    headers: &HeaderMap,
    body: Body,
    format: Option<Format>,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read_json(&api.intake, headers, body).await?;
    let request: BatchRequest = body::parse_long(bytes).await?;
    let count = request.items.len();
    let most = api.batches.max_items;
    if count == 0 || count > most {
        let detail = format!("a batch must have 1 to {most} items (BATCH_MAX_ITEMS), not {count}");
        let code = match count {
            0 => Code::InvalidRequest,
            _ => Code::TooLarge(What::Batch, most as u64),
        };
        return Err(Problem::new(code, detail));
    }
    let progress = replay.map(|Extension(replay)| replay.progress);
    if let Some(progress) = &progress {
        progress.begin(count);
    }
    while let Err(problem) = api.batches.rate.take(context.client, count as u32) {
        if progress.is_none() {
            api.renderer.metrics.rejected(problem.code.name());
            return Err(problem);
        }
        // Nobody waits for a deferred batch: it starts when the rate limit allows.
        tokio::time::sleep(RATE_INTERVAL).await;
    }
    // NDJSON streams and never holds all documents; the other packagings have a limit.
    let room = match request.packaging {
        Packaging::Ndjson => u64::MAX,
        Packaging::Json | Packaging::Zip => api.batches.max_bytes,
    };
    let items = start(api, context, request.items, format, room, progress);
    match request.packaging {
        Packaging::Json => package::json(items, count).await,
        Packaging::Ndjson => Ok(package::ndjson(items)),
        Packaging::Zip => package::zip(items, count).await,
    }
}

/// Starts the workers of a batch. They exit when the items are used up or the receiver is dropped.
fn start(
    api: &RenderApi,
    context: &Context,
    items: Vec<Box<RawValue>>,
    format: Option<Format>,
    room: u64,
    progress: Option<Arc<Progress>>,
) -> mpsc::Receiver<Item> {
    let workers = api.batches.concurrency.min(items.len());
    // Bounds the finished documents that wait for a slow client.
    let (sender, receiver) = mpsc::channel(workers);
    let queue = Arc::new(parking_lot::Mutex::new(items.into_iter().enumerate()));
    let room = Arc::new(AtomicU64::new(room));
    for _ in 0..workers {
        let (api, queue, room) = (api.clone(), Arc::clone(&queue), Arc::clone(&room));
        let (sender, request_id) = (sender.clone(), Arc::clone(&context.request_id));
        let progress = progress.clone();
        let work = async move {
            let next = || queue.lock().next();
            while let Some((index, raw)) = next() {
                let work = make(&api, index, &raw, format, &room, &request_id);
                let item = tokio::select! {
                    item = work => item,
                    () = sender.closed() => return,
                };
                if let Some(progress) = &progress {
                    progress.count(item.result.success);
                }
                if sender.send(item).await.is_err() {
                    return;
                }
            }
        };
        tokio::spawn(base_url::within(base_url::current(), work));
    }
    receiver
}

async fn make(
    api: &RenderApi,
    index: usize,
    raw: &RawValue,
    format: Option<Format>,
    room: &AtomicU64,
    request_id: &str,
) -> Item {
    match try_make(api, raw, format, room).await {
        Ok(Made {
            done,
            filename,
            stored,
            size_bytes,
        }) => Item {
            result: ItemResult {
                index,
                success: true,
                format: Some(done.rendered.format.name().to_owned()),
                content_type: Some(done.rendered.format.media_type().to_owned()),
                filename: Some(filename),
                template_version: done.version,
                size_bytes: Some(size_bytes),
                pages: done.rendered.pages,
                warnings: done.rendered.warnings,
                stored,
                ..ItemResult::default()
            },
            bytes: done.rendered.bytes,
        },
        Err(problem) => {
            if let Some(cause) = &problem.cause {
                tracing::error!(item = index, cause, "item failed");
            }
            Item {
                result: ItemResult {
                    index,
                    error: Some(problem.document(request_id)),
                    ..ItemResult::default()
                },
                bytes: Vec::new(),
            }
        }
    }
}

/// A document of a batch; without its bytes if it is stored.
struct Made {
    done: Done,
    filename: String,
    size_bytes: usize,
    stored: Option<StoredResult>,
}

async fn try_make(
    api: &RenderApi,
    raw: &RawValue,
    format: Option<Format>,
    room: &AtomicU64,
) -> Result<Made, Problem> {
    let request: RenderRequest = body::parse(raw.get().as_bytes())?;
    if let Some(format) = format {
        check_format(&request, format)?;
    }
    if request.dry_run {
        let detail = "`dryRun` is not available for items of a batch: use /render/validate";
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    let ttl_seconds = api.results.retention(request.output)?;
    let is_saved = request.options.disposition == Some(Disposition::Attachment);
    let format = format
        .or(request.format.map(Format::from))
        .unwrap_or(Format::Pdf);
    let name = request
        .options
        .filename
        .clone()
        .or(request.template.clone());
    let job = job_of(api, request, format).await?;
    let mut done = job::run(&api.renderer, Lane::Batch, job).await?;
    let filename = platen_render::file_name(name.as_deref().unwrap_or("document"), format);
    let size_bytes = done.rendered.bytes.len();
    if let Some(ttl_seconds) = ttl_seconds {
        let bytes = std::mem::take(&mut done.rendered.bytes).into();
        let link = ResultLink {
            name: filename.clone(),
            media_type: format.media_type().to_owned(),
            is_saved,
            ..ResultLink::default()
        };
        let pages = done.rendered.pages;
        let stored = api.results.store(bytes, link, ttl_seconds, pages).await?;
        return Ok(Made {
            done,
            filename,
            size_bytes,
            stored: Some(stored),
        });
    }
    let size = size_bytes as u64;
    let taken = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| {
        room.checked_sub(size)
    });
    if taken.is_err() {
        return Err(Problem::new(
            Code::TooLarge(What::Batch, api.batches.max_bytes),
            "the documents of the batch are larger than BATCH_MAX_BYTES; use packaging `ndjson`",
        ));
    }
    Ok(Made {
        done,
        filename,
        size_bytes,
        stored: None,
    })
}

//! Executes deferred requests by the routes of the service.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, extract::Request, http::response::Parts, response::Response};
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap,
    header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION},
};
use parking_lot::Mutex;
use platen_delivery::{Body as Delivered, FileBody};
use platen_fault::{Code, Stage};
use platen_flow::StepError;
use platen_runs::execution::{File, Limit, Replay as Replays};
use serde_json::{Map, Value as Json, json};
use tokio::runtime::Handle;
use tower_service::Service as _;
use tracing::Instrument as _;

use super::{
    Replay, RequestStore,
    progress::{Progress, ProgressRegistry},
    request_store::StoredRequest,
};
use crate::{
    accepted_run::MAX_FILE_BYTES,
    base_url,
    intake::{
        Intake,
        content::{self, Content, Sink},
    },
    problem::Problem,
    results::{FileName, OutputRequest, Results},
};

/// Longest JSON that is a value of its run; longer documents are files.
const MAX_JSON_BYTES: u64 = 1 << 20;
/// How long an execution waits for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// Headers of a response that its run keeps, beside those of renderings.
const DESCRIBING: [HeaderName; 3] = [CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, LOCATION];

/// Executes the requests of a store.
pub(crate) struct Replayer {
    store: Arc<RequestStore>,
    results: Arc<Results>,
    intake: Arc<Intake>,
    progress: Arc<ProgressRegistry>,
    runtime: Handle,
    /// The routes, without admission: these requests were admitted when they came. Absent before
    /// the start and after the end of the service, whose parts the routes hold.
    routes: Mutex<Option<Router>>,
}

impl Replayer {
    /// A replayer of `store` on the current runtime; [`Replayer::set_routes`] completes it.
    pub(crate) fn new(
        store: Arc<RequestStore>,
        results: Arc<Results>,
        intake: Arc<Intake>,
    ) -> Self {
        Self {
            store,
            results,
            intake,
            progress: Arc::default(),
            runtime: Handle::current(),
            routes: Mutex::default(),
        }
    }

    /// The requests that it executes.
    pub(crate) fn store(&self) -> &Arc<RequestStore> {
        &self.store
    }

    /// Progress of the requests that it executes.
    pub(crate) fn progress(&self) -> &Arc<ProgressRegistry> {
        &self.progress
    }

    /// Sets the routes, or drops them.
    pub(crate) fn set_routes(&self, routes: Option<Router>) {
        *self.routes.lock() = routes;
    }

    fn routes(&self) -> Result<Router, Problem> {
        let routes = self.routes.lock();
        let routes = routes.clone();
        routes.ok_or_else(|| Problem::internal("the service does not serve"))
    }

    async fn execute(&self, request: Request) -> Result<Json, Problem> {
        let mut routes = self.routes()?;
        let mut response = match routes.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        match response.extensions_mut().remove::<Problem>() {
            Some(problem) => Err(problem),
            None => self.output(response).await,
        }
    }

    /// The response as the output of a step: headers that describe it, and its body as JSON, a
    /// file, or the link to a large file.
    async fn output(&self, response: Response) -> Result<Json, Problem> {
        let (mut parts, mut body) = response.into_parts();
        let mut sink = Sink::new(self.intake.disk(), usize::MAX);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Problem::internal(format!("a result: {error}")))?;
            match frame.into_data() {
                Ok(piece) => sink.put(&piece).await?,
                // A streamed document ends with the number of its pages.
                Err(frame) => parts
                    .headers
                    .extend(frame.into_trailers().unwrap_or_default()),
            }
        }
        let content = sink.finish().await?;
        let headers = described(&parts.headers);
        let body = self.body(parts, content).await?;
        Ok(json!({"headers": headers, "body": body}))
    }

    async fn body(&self, parts: Parts, content: Content) -> Result<Json, Problem> {
        let size_bytes = content.size_bytes();
        let media_type = parts
            .headers
            .get(CONTENT_TYPE)
            .and_then(|it| it.to_str().ok());
        let media_type = media_type.unwrap_or("application/octet-stream");
        if size_bytes == 0 {
            return Ok(Json::Null);
        }
        if media_type == "application/json" && size_bytes <= MAX_JSON_BYTES {
            let value = serde_json::from_slice(&content::bytes(content).await?);
            return value.map_err(|error| Problem::internal(format!("a result: {error}")));
        }
        if size_bytes > MAX_FILE_BYTES {
            return self.link(parts, content).await;
        }
        let name = parts.extensions.get::<FileName>();
        let file = File {
            name: name.map_or_else(|| "document".to_owned(), |name| name.0.clone()),
            media_type: media_type.to_owned(),
            bytes: content::bytes(content).await?.to_vec(),
        };
        Ok(file.to_value())
    }

    /// Stores a large result and returns its link.
    async fn link(&self, parts: Parts, content: Content) -> Result<Json, Problem> {
        let stored = OutputRequest {
            store: true,
            ttl_seconds: None,
        };
        let ttl_seconds = self.results.retention(Some(stored))?;
        let response = Response::from_parts(parts, Body::new(content::body_of(content)));
        let stored = self.results.keep(response, ttl_seconds).await?;
        let body = stored.into_body().collect().await;
        let body = body.map_err(|error| Problem::internal(error.to_string()))?;
        serde_json::from_slice(&body.to_bytes())
            .map_err(|error| Problem::internal(error.to_string()))
    }

    /// Executes a request until `limit`; its routes are dropped then, and stop their work.
    async fn within(&self, request: Request, limit: &Limit) -> Result<Json, StepError> {
        let output = tokio::select! {
            output = self.execute(request) => output,
            cancelled = limit.cancelled() => return Err(cancelled),
            () = tokio::time::sleep(limit.left()) => {
                let detail = "the deferred request took too long";
                Err(Problem::new(Code::Timeout(Stage::Run), detail))
            }
        };
        output.map_err(|problem| {
            if let Some(cause) = &problem.cause {
                tracing::error!(cause, "request failed");
            }
            StepError::new(problem.code, problem.detail)
        })
    }
}

impl Replays for Replayer {
    fn replay(&self, name: &str, limit: &Limit) -> Result<Json, StepError> {
        let stored = self.store.get(name, limit.left().min(PATIENCE));
        let stored = stored.map_err(|problem| StepError::new(problem.code, problem.detail))?;
        let request_id = Arc::clone(&stored.head.context.request_id);
        let span = tracing::info_span!("deferred", requestId = &*request_id);
        let name: Arc<str> = name.into();
        let execution = self.progress.start(&name);
        let progress = Arc::clone(&execution.progress);
        let base_url = stored.head.context.base_url.clone();
        let request = request_of(Arc::clone(&name), progress, stored);
        // A panic of a route must not end the thread of the run.
        let work = AssertUnwindSafe(|| {
            let work = self.within(request, limit).instrument(span);
            self.runtime.block_on(base_url::within(base_url, work))
        });
        let output = catch_unwind(work).unwrap_or_else(|_| {
            let message = "the service panicked";
            Err(StepError::new(Code::InternalError, message))
        });
        // The run of a cancelled execution may have been given back: its request waits. One whose
        // time is over is not executed again.
        if !limit.cancel.is_cancelled() || limit.left().is_zero() {
            self.store.end(&name, output.is_err());
        }
        output
    }
}

fn request_of(name: Arc<str>, progress: Arc<Progress>, stored: StoredRequest) -> Request {
    let StoredRequest {
        head,
        file,
        offset,
        size_bytes,
    } = stored;
    let body = FileBody::range(Arc::new(file), offset, size_bytes);
    let mut request = Request::new(Body::new(Delivered::from(body)));
    *request.method_mut() = head.method;
    *request.uri_mut() = head.uri;
    *request.headers_mut() = head.headers;
    let extensions = request.extensions_mut();
    extensions.insert(Replay { name, progress });
    extensions.insert(head.context);
    request
}

/// The headers that describe a result beyond its media type.
fn described(headers: &HeaderMap) -> Map<String, Json> {
    let kept = headers
        .iter()
        .filter(|(name, _)| DESCRIBING.contains(name) || name.as_str().starts_with("x-render-"));
    kept.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())))
        .collect()
}

//! Health and metrics.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use hyper::{
    HeaderMap, StatusCode,
    header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use platen_render::chain;
use platen_storage::blobs::Bucket;
use platen_supervise::{ProcessGroup, gather};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    auth::{Access, Scope, Scopes},
    delivery::Origin,
    files,
    flows::Flows,
    log,
    metrics::Gauges,
    middleware::{Context, GOTENBERG_TRACE, gotenberg_trace},
    operation::{self, Kind, Route, get, text},
    pool_metrics::{write_pools, write_processes},
    readiness::Readiness,
    rendering::{Renderer, libreoffice::LibreOffice},
    respond::{bytes_of, json, moment},
    results::Results,
    sandbox::{Sandbox, SandboxHealth},
};

/// Timeout of the store's check: whoever asks for readiness gives up soon, too.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// State of the health and metrics handlers.
#[derive(Clone)]
pub(crate) struct HealthApi {
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) libreoffice: Arc<LibreOffice>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) results: Arc<Results>,
    /// The bucket, if files are in one.
    pub(crate) bucket: Option<Arc<Bucket>>,
    pub(crate) group: Option<ProcessGroup>,
    /// True if readiness requires Chromium (`CHROMIUM_WARM`).
    pub(crate) waits_for_chromium: bool,
    /// True if readiness requires LibreOffice (`LIBREOFFICE_WARM`).
    pub(crate) waits_for_libreoffice: bool,
}

impl HealthApi {
    fn gauges(&self) -> Gauges {
        let slots = &self.renderer.slots;
        let (cached_templates, cached_bytes) = self.renderer.templates.cached();
        Gauges {
            waiting: slots.waiting(),
            in_use: slots.in_use(),
            slots: slots.total(),
            cached_templates,
            cached_bytes,
            log_dropped: log::dropped(),
            ready: self.readiness.takes_requests(),
        }
    }
}

/// The routes of health and metrics.
pub(crate) fn routes() -> Vec<Route<HealthApi>> {
    vec![
        get("/health", get_health)
            .access(Access::Open)
            .kind(Kind::Probe)
            .summary("State of the service and its backends, in Gotenberg's format.")
            .answer(200, operation::json::<Overview>())
            .answer(503, operation::json::<Overview>())
            .answer_is("The service accepts no work at the moment."),
        // Which version runs helps an attacker; with Gotenberg, it needs the user's password.
        get("/version", get_version)
            .access(Access::AnyOf(Scopes::of(&Scope::ALL)))
            .summary("Returns the version of the service.")
            .answer(200, text(&["text/plain"])),
        get("/health/live", get_health_live)
            .access(Access::Open)
            .kind(Kind::Probe)
            .summary("Liveness: the process responds.")
            .answer(200, operation::json::<Health>()),
        get("/health/ready", get_health_ready)
            .access(Access::Open)
            .kind(Kind::Probe)
            .summary(
                "Readiness: the engine is warm, the store and the bucket respond; 503 otherwise.",
            )
            .answer(200, operation::json::<Health>())
            .answer(503, operation::json::<Health>())
            .answer_is("The service accepts no work at the moment; `checks` says why."),
        get("/metrics", get_metrics)
            .access(Access::Metrics)
            .kind(Kind::Probe)
            .summary("Metrics in the Prometheus text format.")
            .answer(200, text(&["text/plain"])),
    ]
}

/// Readiness of the service.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// `ok` or `unavailable`.
    pub(crate) status: &'static str,
    /// The checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub(crate) checks: Vec<Check>,
    /// Index of the worker process that responds, from 0; absent without worker processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<u32>,
    /// Sandbox for code. The service can be ready without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<SandboxHealth>,
}

/// One check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    /// Its name.
    pub(crate) name: &'static str,
    /// Whether the check passed.
    pub(crate) ok: bool,
}

/// Liveness: the process responds.
pub(crate) async fn get_health_live(State(api): State<HealthApi>) -> Response {
    let health = Health {
        status: "ok",
        checks: Vec::new(),
        worker: api.group.as_ref().map(|group| group.index),
        sandbox: None,
    };
    uncached(json(StatusCode::OK, &health))
}

/// State of the backends, as Gotenberg's clients read it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    /// `up` or `down`.
    pub(crate) status: &'static str,
    /// `chromium` and `libreoffice`, if installed.
    pub(crate) details: BTreeMap<&'static str, Part>,
}

/// One backend.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    /// `up` or `down`.
    pub(crate) status: &'static str,
    /// Time of the check, RFC 3339.
    pub(crate) timestamp: String,
}

/// State of the service and of its backends.
pub(crate) async fn get_health(
    State(api): State<HealthApi>,
    context: Option<Extension<Context>>,
    headers: HeaderMap,
) -> Response {
    let is_up = api.readiness.takes_requests();
    let (code, status) = if is_up {
        (StatusCode::OK, "up")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "down")
    };
    let timestamp = moment(jiff::Timestamp::now().as_millisecond());
    let mut details = BTreeMap::new();
    let parts = [
        ("chromium", api.renderer.chromium.is_installed()),
        ("libreoffice", api.libreoffice.check_installed().is_ok()),
    ];
    for (name, _) in parts.into_iter().filter(|(_, is_installed)| *is_installed) {
        let timestamp = timestamp.clone();
        details.insert(name, Part { status, timestamp });
    }
    let overview = serde_json::to_vec(&Overview { status, details }).unwrap_or_default();
    // Gotenberg names the character set, here only.
    let response = uncached(bytes_of("application/json; charset=utf-8", code, overview));
    traced(response, &headers, context)
}

/// The version of the service, as plain text.
pub(crate) async fn get_version(
    context: Option<Extension<Context>>,
    headers: HeaderMap,
) -> Response {
    let bytes = env!("CARGO_PKG_VERSION");
    let response = bytes_of("text/plain; charset=UTF-8", StatusCode::OK, bytes);
    traced(response, &headers, context)
}

/// With the header by which clients of Gotenberg know their request: theirs, or the request's ID.
fn traced(
    mut response: Response,
    headers: &HeaderMap,
    context: Option<Extension<Context>>,
) -> Response {
    let request_id = context.as_ref().map_or("", |context| &context.request_id);
    if let Some(trace) = gotenberg_trace(headers, request_id) {
        response.headers_mut().insert(GOTENBERG_TRACE, trace);
    }
    response
}

/// Readiness: the engine and the preloaded backends are warm, the store and the bucket respond, and
/// no shutdown has begun.
pub(crate) async fn get_health_ready(State(api): State<HealthApi>) -> Response {
    let store = api.renderer.templates.store();
    let asked = tokio::join!(
        tokio::time::timeout(STORE_TIMEOUT, store.check()),
        tokio::time::timeout(STORE_TIMEOUT, files::respond(api.bucket.as_ref())),
    );
    let late = || Some(format!("no answer within {} s", STORE_TIMEOUT.as_secs()));
    let cause = match asked.0 {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(chain(&error)),
        Err(_) => late(),
    };
    if let Some(cause) = &cause {
        tracing::error!(cause, "the store does not respond");
    }
    let bucket_cause = asked.1.map_or_else(|_| late(), Result::err);
    if let Some(cause) = &bucket_cause {
        tracing::error!(cause, "the bucket does not respond");
    }
    let check = |name, ok| Check { name, ok };
    let mut checks = vec![
        check("engine", api.readiness.is_engine_ready()),
        check("store", cause.is_none()),
        check("flows", api.flows.are_served(api.group.as_ref())),
        check("accepting", !api.readiness.is_draining()),
    ];
    if api.bucket.is_some() {
        checks.push(check("bucket", bucket_cause.is_none()));
    }
    let readiness = &api.readiness;
    if api.waits_for_chromium {
        checks.push(check("chromium", readiness.is_chromium_ready()));
    }
    if api.waits_for_libreoffice {
        checks.push(check("libreoffice", readiness.is_libreoffice_ready()));
    }
    let ready = checks.iter().all(|check| check.ok);
    let (status, word) = if ready {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    };
    let health = Health {
        status: word,
        checks,
        worker: api.group.as_ref().map(|group| group.index),
        sandbox: Some(api.sandbox.health()),
    };
    uncached(json(status, &health))
}

/// Metrics in the Prometheus text format.
pub(crate) async fn get_metrics(
    State(api): State<HealthApi>,
    origin: Option<Extension<Origin>>,
    headers: HeaderMap,
) -> Response {
    let mut text = api.renderer.metrics.to_text(api.gauges());
    let (chromium, libreoffice) = (api.renderer.chromium.status(), api.libreoffice.status());
    let mut pools = Vec::new();
    if let Some(status) = &chromium {
        pools.push(("chromium", &status.pages, status.isolation));
    }
    if let Some(status) = &libreoffice {
        pools.push(("libreoffice", &status.pool, status.isolation));
    }
    write_pools(&mut text, &pools);
    if let Some(status) = &chromium {
        write_processes(&mut text, &status.processes);
    }
    api.flows.write_metrics(&mut text);
    api.results.write_metrics(&mut text);
    if let Some(bucket) = &api.bucket {
        files::write_metrics(bucket, &mut text);
    }
    if let Some(group) = api.group.as_ref().filter(|_| origin.is_none()) {
        text = gather(group, text, headers.get(AUTHORIZATION)).await;
    }
    let media_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    uncached(([(CONTENT_TYPE, media_type)], text).into_response())
}

fn uncached(mut response: Response) -> Response {
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

//! Health and metrics.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use hyper::{
    StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    config::LogLevel,
    pool_metrics::{write_pool, write_processes},
    problem::chain,
    respond::json,
};

/// Whether the service can work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// `ok` or `unavailable`.
    pub(crate) status: &'static str,
    /// What was checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    /// Its name.
    pub(crate) name: &'static str,
    /// Passed or not.
    pub(crate) ok: bool,
}

/// The process answers.
pub(crate) async fn get_health_live() -> Response {
    let health = Health {
        status: "ok",
        checks: Vec::new(),
    };
    uncached(json(StatusCode::OK, &health))
}

/// As [`get_health_live`], where other systems have it.
pub(crate) async fn get_health() -> Response {
    get_health_live().await
}

/// The engine is warm, the store answers, no shutdown has begun.
pub(crate) async fn get_health_ready(State(app): State<Arc<App>>) -> Response {
    let store = match app.library.store().check().await {
        Ok(()) => true,
        Err(error) => {
            let fields = [("cause", chain(&error).into())];
            app.log
                .event(LogLevel::Error, "the store does not answer", &fields);
            false
        }
    };
    let check = |name, ok| Check { name, ok };
    let checks = vec![
        check("engine", app.is_warm()),
        check("store", store),
        check("accepting", !app.is_draining()),
    ];
    let ready = checks.iter().all(|check| check.ok);
    let (status, word) = if ready {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    };
    let health = Health {
        status: word,
        checks,
    };
    uncached(json(status, &health))
}

/// Measurements for Prometheus.
pub(crate) async fn get_metrics(State(app): State<Arc<App>>) -> Response {
    let mut text = app.metrics.to_text(app.gauges());
    if let Some(status) = app.chromium.status() {
        write_pool(&mut text, "chromium", &status.pages);
        write_processes(&mut text, &status.processes);
    }
    if let Some(status) = app.libreoffice.status() {
        write_pool(&mut text, "libreoffice", &status.pool);
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

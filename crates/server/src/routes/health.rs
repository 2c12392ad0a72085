//! Health and metrics.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse, Response},
};
use hyper::{
    HeaderMap, StatusCode,
    header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    config::LogLevel,
    delivery::Asked,
    pool_metrics::{write_isolation, write_pool, write_processes},
    problem::chain,
    respond::{bytes_of, json, moment},
    sandbox::SandboxHealth,
    team::gather::gather,
};

/// Whether the service can work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// `ok` or `unavailable`.
    pub(crate) status: &'static str,
    /// What was checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub(crate) checks: Vec<Check>,
    /// Which of several processes answers, from 0; nothing where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<u32>,
    /// How well code is shut in. The service is ready without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<SandboxHealth>,
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
pub(crate) async fn get_health_live(State(app): State<Arc<App>>) -> Response {
    let health = Health {
        status: "ok",
        checks: Vec::new(),
        worker: app.team.as_ref().map(|team| team.index),
        sandbox: None,
    };
    uncached(json(StatusCode::OK, &health))
}

/// The programs behind the service, as Gotenberg's clients read it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    /// `up` or `down`.
    pub(crate) status: &'static str,
    /// `chromium` and `libreoffice`, where they are installed.
    pub(crate) details: BTreeMap<&'static str, Part>,
}

/// One program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    /// `up` or `down`.
    pub(crate) status: &'static str,
    /// When it was looked at. RFC 3339.
    pub(crate) timestamp: String,
}

/// Whether the service takes work, and which programs are behind it.
pub(crate) async fn get_health(State(app): State<Arc<App>>) -> Response {
    let is_up = app.is_warm() && !app.is_draining();
    let (code, status) = if is_up {
        (StatusCode::OK, "up")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "down")
    };
    let timestamp = moment(jiff::Timestamp::now().as_millisecond());
    let mut details = BTreeMap::new();
    let parts = [
        ("chromium", app.chromium.is_installed()),
        ("libreoffice", app.libreoffice.check_installed().is_ok()),
    ];
    for (name, _) in parts.into_iter().filter(|(_, is_installed)| *is_installed) {
        let timestamp = timestamp.clone();
        details.insert(name, Part { status, timestamp });
    }
    uncached(json(code, &Overview { status, details }))
}

/// The version of the service, as plain text.
pub(crate) async fn get_version() -> Response {
    let bytes = env!("CARGO_PKG_VERSION");
    bytes_of("text/plain; charset=utf-8", StatusCode::OK, bytes)
}

/// The engine is warm, so are the programs that start with the service, the store answers, no
/// shutdown has begun.
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
    let mut checks = vec![
        check("engine", app.is_warm()),
        check("store", store),
        check("flows", app.has_flows()),
        check("accepting", !app.is_draining()),
    ];
    let [chromium, libreoffice] = app.children_are_warm();
    let demanded = [
        (app.config.chromium_warm, check("chromium", chromium)),
        (
            app.config.libreoffice_warm,
            check("libreoffice", libreoffice),
        ),
    ];
    let demanded = demanded.into_iter().filter(|(is_demanded, _)| *is_demanded);
    checks.extend(demanded.map(|(_, check)| check));
    let ready = checks.iter().all(|check| check.ok);
    let (status, word) = if ready {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    };
    let health = Health {
        status: word,
        checks,
        worker: app.team.as_ref().map(|team| team.index),
        sandbox: Some(app.sandbox.health()),
    };
    uncached(json(status, &health))
}

/// Measurements for Prometheus.
pub(crate) async fn get_metrics(
    State(app): State<Arc<App>>,
    asked: Option<Extension<Asked>>,
    headers: HeaderMap,
) -> Response {
    let mut text = app.metrics.to_text(app.gauges());
    if let Some(status) = app.chromium.status() {
        write_pool(&mut text, "chromium", &status.pages);
        write_processes(&mut text, &status.processes);
        write_isolation(&mut text, "chromium", status.isolation);
    }
    if let Some(status) = app.libreoffice.status() {
        write_pool(&mut text, "libreoffice", &status.pool);
        write_isolation(&mut text, "libreoffice", status.isolation);
    }
    app.flows.write_metrics(&mut text);
    app.results.write_metrics(&mut text);
    if let Some(team) = app.team.as_ref().filter(|_| asked.is_none()) {
        text = gather(team, text, headers.get(AUTHORIZATION)).await;
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

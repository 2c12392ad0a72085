//! Gotenberg's routes about the service itself: its front page and metrics, and the icon that browsers
//! ask for.

use std::fmt::Write as _;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use hyper::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};
use platen_browser::Snapshot;
use platen_server::{
    auth::{Access, Scope},
    middleware::{Context, GOTENBERG_TRACE, gotenberg_trace},
    operation::{Content, Kind, Route, get, text},
};

use crate::api::FormApi;

/// The routes. With Gotenberg's password, they ask for it.
pub(crate) fn routes(asks_for_password: bool) -> Vec<Route<FormApi>> {
    let access = match asks_for_password {
        true => Access::scope(Scope::Render),
        false => Access::Open,
    };
    vec![
        get("/prometheus/metrics", get_prometheus_metrics)
            .access(Access::Metrics)
            .kind(Kind::Probe)
            .summary("Metrics under the names that Gotenberg has; `/metrics` has more.")
            .answer(200, text(&["text/plain"])),
        get("/", get_front_page)
            .access(access)
            .summary("A page that leads to Studio and to the documentation.")
            .answer(200, text(&["text/html"])),
        get("/favicon.ico", get_favicon)
            .access(access)
            .summary("No icon: browsers that ask for one get nothing, and not an error.")
            .answer(204, Content::default()),
    ]
}

/// What people see who open the address of the service.
const FRONT_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Platen</title>\
    <h1>Platen</h1><p>This service makes documents.</p><ul>\
    <li><a href=\"/studio\">Studio</a>: templates, flows and runs</li>\
    <li><a href=\"/docs\">API documentation</a></li>\
    <li><a href=\"/health\">Health</a></li></ul></html>\n";

async fn get_front_page() -> Response {
    let kind = HeaderValue::from_static("text/html; charset=UTF-8");
    ([(CONTENT_TYPE, kind)], FRONT_PAGE).into_response()
}

async fn get_favicon() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Gives an answer the header by which clients of Gotenberg know their request: theirs, or the
/// request's ID.
pub(crate) async fn trace(request: Request, next: Next) -> Response {
    let context = request.extensions().get::<Context>();
    let request_id = context.map_or("", |context| &context.request_id);
    let trace = gotenberg_trace(request.headers(), request_id);
    let mut response = next.run(request).await;
    if let Some(trace) = trace {
        response.headers_mut().insert(GOTENBERG_TRACE, trace);
    }
    response
}

/// Queue and restarts of both backends, in Gotenberg's words.
async fn get_prometheus_metrics(State(api): State<FormApi>) -> Response {
    let (chromium, libreoffice) = (api.chromium.status(), api.libreoffice.status());
    let mut text = String::new();
    for (name, label, pool) in [
        (
            "chromium",
            "Chromium",
            chromium.as_ref().map(|it| &it.pages),
        ),
        (
            "libreoffice",
            "LibreOffice",
            libreoffice.as_ref().map(|it| &it.pool),
        ),
    ] {
        let waiting = pool.map_or(0, |pool| pool.waiting as u64);
        let restarts = pool.map_or(0, restarts);
        for (metric, value, about) in [
            (
                "requests_queue_size",
                waiting,
                "conversion requests waiting to be treated",
            ),
            ("restarts_count", restarts, "restarts"),
        ] {
            let metric = format!("gotenberg_{name}_{metric}");
            let _ = writeln!(text, "# HELP {metric} Current number of {label} {about}.");
            let _ = writeln!(text, "# TYPE {metric} gauge\n{metric} {value}");
        }
    }
    let kind =
        HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
    ([(CONTENT_TYPE, kind)], text).into_response()
}

/// How many processes were replaced.
fn restarts(pool: &Snapshot) -> u64 {
    pool.replaced.iter().map(|(_, count)| *count).sum()
}

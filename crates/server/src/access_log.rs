//! The line of the log, the metrics and the span of a request.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{body::Body, extract::Request, response::Response};
use http_body::Body as _;
use hyper::{HeaderMap, Method};
use platen_fault::Code;
use serde_json::Value as Json;
use tracing::{Span, field::Empty};

use crate::{log::LogFields, metrics::Metrics, operation::Operation, problem::Problem};

/// Logs and counts a request when dropped, even if the client disconnects before the response.
pub(crate) struct AccessLog {
    metrics: Arc<Metrics>,
    method: &'static str,
    route: &'static str,
    path: String,
    request_id: Arc<str>,
    trace_id: Option<String>,
    address: IpAddr,
    start: Instant,
    span: Span,
    done: bool,
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}

/// The caller's trace; two headers name none (W3C Trace Context, section 3.2).
fn caller(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(platen_trace::HEADER).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

impl AccessLog {
    pub(crate) fn begin(
        metrics: &Arc<Metrics>,
        request: &Request,
        route: Option<&Operation>,
        request_id: &Arc<str>,
        address: IpAddr,
    ) -> Self {
        let method = method_name(request.method());
        let route = route.map_or("none", |route| route.path);
        let path = request.uri().path().chars().take(512).collect::<String>();
        let path = without_secret(route, &path);
        // Log events below this span, including LibreOffice's and Chromium's, carry its
        // identifiers; the names of the other fields are OpenTelemetry's.
        let span = tracing::info_span!(
            "request",
            otel.name = format_args!("{method} {route}"),
            otel.kind = "server",
            traceparent = caller(request.headers()),
            requestId = &**request_id,
            traceId = Empty,
            error = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            url.path = path,
            client.address = %address,
        );
        let trace_id = platen_trace::context_of(&span).map(|trace| trace.trace_id_text());
        if let Some(trace_id) = &trace_id {
            span.record("traceId", trace_id);
        }
        Self {
            metrics: Arc::clone(metrics),
            method,
            route,
            path,
            request_id: Arc::clone(request_id),
            trace_id,
            address,
            start: Instant::now(),
            span,
            done: false,
        }
    }

    /// The span of the request.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    pub(crate) fn finish(
        &mut self,
        response: &Response<Body>,
        problem: Option<&Problem>,
        note: Option<LogFields>,
    ) {
        self.done = true;
        let status = response.status().as_u16();
        let elapsed = self.start.elapsed();
        self.metrics
            .answered(self.method, self.route, status, elapsed);
        if let Some(cause) = problem.and_then(|problem| problem.cause.as_deref()) {
            tracing::error!(
                requestId = &*self.request_id,
                traceId = self.trace_id.as_deref(),
                cause,
                "request failed"
            );
        }
        let mut more = note.unwrap_or_default().0;
        if let Some(size) = response.body().size_hint().exact() {
            more.push(("sizeBytes", Json::from(size)));
        }
        if let Some(problem) = problem {
            more.push(("code", Json::from(problem.code.name())));
        }
        self.write(status, elapsed, &more);
    }

    fn write(&self, status: u16, elapsed: Duration, more: &[(&'static str, Json)]) {
        let value = |name: &str| more.iter().find(|(known, _)| *known == name);
        let text = |name| value(name).and_then(|(_, value)| value.as_str());
        let number = |name| value(name).and_then(|(_, value)| value.as_u64());
        self.span.record("http.response.status_code", status);
        // Mistakes of the client are no errors of the server (OpenTelemetry's conventions for HTTP).
        if status >= 499 {
            self.span
                .record("error", text("code").unwrap_or("internal-error"));
        }
        // `tracing` needs the level of an event at compile time.
        macro_rules! line {
            ($level:ident) => {
                tracing::$level!(
                    requestId = &*self.request_id,
                    traceId = self.trace_id.as_deref(),
                    client = %self.address,
                    method = self.method,
                    path = self.path,
                    status,
                    durationMs = (elapsed.as_secs_f64() * 1e6).round() / 1e3,
                    format = text("format"),
                    template = text("template"),
                    version = number("version"),
                    pages = number("pages"),
                    warnings = number("warnings"),
                    stored = text("stored"),
                    sizeBytes = number("sizeBytes"),
                    code = text("code"),
                    "request"
                )
            };
        }
        if matches!(self.route, "/health/live" | "/health/ready" | "/metrics") {
            line!(debug);
        } else {
            line!(info);
        }
    }
}

/// The path for the log, without a segment that acts as a secret.
fn without_secret(route: &str, path: &str) -> String {
    let names = route.split('/');
    let parts = path.split('/').zip(names.chain(std::iter::repeat("")));
    let shown = parts.map(|(part, name)| if name == "{token}" { "***" } else { part });
    shown.collect::<Vec<_>>().join("/")
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        if !self.done {
            // 499 is nginx's status for a client that closes before the response.
            let elapsed = self.start.elapsed();
            self.metrics.answered(self.method, self.route, 499, elapsed);
            self.write(
                499,
                elapsed,
                &[("code", Json::from(Code::Cancelled.name()))],
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_in_paths_are_not_logged() {
        let route = "/runs/{id}/callback/{token}";
        assert_eq!(
            without_secret(route, "/runs/7/callback/secret"),
            "/runs/7/callback/***"
        );
        assert_eq!(without_secret("/runs/{id}", "/runs/7"), "/runs/7");
        assert_eq!(without_secret("unknown", "/a/b/c"), "/a/b/c");
    }
}

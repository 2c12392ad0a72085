//! Flows: kept like templates, published, started.

pub(crate) mod content;
pub(crate) mod run;
pub(crate) mod view;
pub(crate) mod webhook;
pub(crate) mod worker;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use hyper::StatusCode;
use platen_runs::Error;

use crate::{
    app::App,
    problem::{Problem, chain},
};

pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route(
            "/flows",
            get(content::list_flows).post(content::create_flow),
        )
        .route(
            "/flows/{key}",
            get(content::get_flow)
                .put(content::update_flow)
                .delete(content::delete_flow),
        )
        .route("/flows/{key}/versions", get(content::list_flow_versions))
        .route(
            "/flows/{key}/versions/{version}",
            get(content::get_flow_version),
        )
        .route(
            "/flows/{key}/publication",
            post(content::publish_flow).delete(content::unpublish_flow),
        )
        .route("/flows/{key}/runs", post(run::create_run))
        .route("/webhooks/{key}", post(webhook::start_flow))
        .route("/webhooks/{key}/sync", post(webhook::call_flow))
        .route("/runs", get(run::list_runs))
        .route("/runs/{id}", get(run::get_run))
        .route("/runs/{id}/output", get(run::get_run_output))
        .route("/runs/{id}/events", get(run::get_run_events))
        .route("/runs/{id}/cancel", post(run::cancel_run))
        .route("/runs/{id}/retry", post(run::retry_run))
        .route("/runs/{id}/callback/{token}", post(run::call_run_back))
        .route("/workers/connection", get(worker::connect_worker))
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::NotFound => Self::new(StatusCode::NOT_FOUND, "flow-or-run-not-found", text),
            Error::NotPublished => Self::new(
                StatusCode::NOT_FOUND,
                "flow-not-published",
                "the flow has no published version: POST /flows/{key}/publication",
            ),
            Error::Flow(diagnostics) => Self {
                detail: format!("the flow has {} mistakes", diagnostics.len()),
                ..Self::mistakes(diagnostics)
            },
            Error::Full { .. } => {
                let status = StatusCode::TOO_MANY_REQUESTS;
                Self::new(status, "runs-full", text).retry_after(1)
            }
            Error::Reused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency-key-reused",
                "this Idempotency-Key was sent with another request: take a new one",
            ),
            Error::Ended => Self::new(StatusCode::CONFLICT, "run-ended", text),
            Error::NotEnded => Self::new(StatusCode::CONFLICT, "run-not-ended", text),
            Error::Retry(_) => Self::bad_request("run-step", text),
            Error::Draining => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                Self::new(status, "draining", text).retry_after(5)
            }
            Error::Store(error) => error.into(),
            other => Self::internal(chain(&other)),
        }
    }
}

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
use platen_fault::Resource;
use platen_runs::Error;

use crate::{app::App, problem::Problem};

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
        let problem = Self::of_error(error.code(), &error);
        match error {
            Error::NotPublished => Self {
                detail: "the flow has no published version: POST /flows/{key}/publication"
                    .to_owned(),
                ..problem
            },
            Error::Flow(diagnostics) => Self {
                detail: format!("the flow has {} mistakes", diagnostics.len()),
                diagnostics,
                ..problem
            },
            Error::Reused => Self {
                detail: "this Idempotency-Key was sent with another request: take a new one"
                    .to_owned(),
                ..problem
            },
            Error::Draining => problem.retry_after(5),
            Error::Store(error) => Self::of_store(&error, Resource::Run),
            _ => problem,
        }
    }
}

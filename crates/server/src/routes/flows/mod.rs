//! Flows: kept like templates, published, started.

pub(crate) mod content;
pub(crate) mod declaration;
pub(crate) mod run;
pub(crate) mod view;
pub(crate) mod webhook;
pub(crate) mod worker;

use std::sync::Arc;

use hyper::StatusCode;
use platen_runs::Error;

use crate::{
    auth::Keys,
    flows::Flows,
    intake::Intake,
    log::Log,
    metrics::Metrics,
    problem::{Problem, chain},
    rendering::slots::Slots,
    sandbox::Sandbox,
    templates::TemplateRepository,
};

/// What the routes of flows and runs work with.
#[derive(Clone)]
pub(crate) struct FlowApi {
    pub(crate) flows: Arc<Flows>,
    /// Flows as they were stored.
    pub(crate) definitions: TemplateRepository,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Log,
    /// Longest wait of a caller for the answer of a run. Milliseconds.
    pub(crate) timeout_ms: u64,
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

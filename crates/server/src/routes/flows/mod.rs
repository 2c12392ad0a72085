//! Flows: versioned like templates, published, and started.

mod answer;
pub(crate) mod captured;
mod content;
pub(crate) mod declaration;
mod events;
pub(crate) mod run;
pub(crate) mod view;
pub(crate) mod webhook;
pub(crate) mod worker;

use std::sync::Arc;

use platen_fault::Resource;
use platen_runs::Error;

use crate::{
    auth::Keys, deferred::DeferredRequests, flows::Flows, intake::Intake, metrics::Metrics,
    problem::Problem, rendering::slots::Slots, sandbox::Sandbox, templates::TemplateRepository,
};

/// State of the handlers of flows and runs.
#[derive(Clone)]
pub(crate) struct FlowApi {
    pub(crate) flows: Arc<Flows>,
    pub(crate) deferred: Arc<DeferredRequests>,
    /// Repository of flow definitions.
    pub(crate) definitions: TemplateRepository,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) slots: Arc<Slots>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) metrics: Arc<Metrics>,
    /// `CORS_ALLOWED_ORIGINS`.
    pub(crate) origins: Arc<[String]>,
    /// Longest wait of a caller for the response of a run. Milliseconds.
    pub(crate) timeout_ms: u64,
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
                detail: format!("the flow has {} errors", diagnostics.len()),
                diagnostics,
                ..problem
            },
            Error::Reused => Self {
                detail: "this Idempotency-Key was used with a different request: use a new one"
                    .to_owned(),
                ..problem
            },
            Error::Draining => problem.retry_after(5),
            Error::Store(error) => Self::of_store(&error, Resource::Run),
            _ => problem,
        }
    }
}

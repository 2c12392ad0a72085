//! Deferred requests: the client gets its answer at once, and a durable run executes the request.
//!
//! `?async=true` asks for it on the routes that [`layer::handle`] wraps, and Gotenberg's webhook
//! headers on the forms. The request is stored (`RequestStore`); the run sends it through the
//! same routes again (`Replayer`), so that nothing of its options can be lost. A kill of the
//! service loses nothing: the run starts again, and its receiver may get a result twice.

pub mod layer;
mod progress;
mod replayer;
mod request_store;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{extract::Request as HttpRequest, response::Response};
use futures_core::future::BoxFuture;
use platen_fault::{Backend, Code, Facts, Resource, Stage, What};
use platen_runs::{Answer, DEFERRED_FLOW, FlowVersion, Lane, Request, Run, RunState};
use serde_json::{Value as Json, json};

use self::{progress::ProgressRegistry, request_store::RequestHead};
pub(crate) use self::{
    progress::{BatchProgress, Progress},
    replayer::Replayer,
    request_store::{RequestStore, limits},
};
use crate::{
    accepted_run::{self, idempotency_key},
    flows::Flows,
    intake::{Intake, content},
    middleware::Context,
    operation::{Route, query},
    problem::Problem,
};

/// Interval of sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(300);

/// Request extension: the request was deferred and is executed now.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Name of the request, the same in each attempt.
    pub name: Arc<str>,
    /// Counts the items of this attempt.
    pub(crate) progress: Arc<Progress>,
}

/// Accepts requests to be executed later.
pub struct DeferredRequests {
    pub(crate) flows: Arc<Flows>,
    pub(crate) store: Arc<RequestStore>,
    pub(crate) intake: Arc<Intake>,
    pub(crate) progress: Arc<ProgressRegistry>,
}

/// A run that will execute a request.
#[derive(Clone, Debug)]
pub struct Accepted {
    id: String,
    is_known: bool,
}

impl Accepted {
    /// 202 with the address of the run.
    #[must_use]
    pub fn into_response(self) -> Response {
        accepted_run::response(&self.id, self.is_known)
    }
}

impl DeferredRequests {
    /// Stores a request durably and queues a run that executes it within `timeout`. `limit` is the
    /// largest body, with the setting that says so.
    ///
    /// # Errors
    /// As reading its body; `overloaded requests` if too many requests wait.
    pub fn accept<'a>(
        &'a self,
        request: HttpRequest,
        limit: (u64, &'a str),
        timeout: Duration,
    ) -> BoxFuture<'a, Result<Accepted, Problem>> {
        Box::pin(async move {
            let arrived = Instant::now();
            let (mut parts, body) = request.into_parts();
            let context = parts.extensions.remove::<Context>();
            let idempotency = idempotency_key(&parts.headers)?;
            let body = content::read(&self.intake, &parts.headers, body, limit).await?;
            let head = RequestHead {
                method: parts.method,
                uri: parts.uri,
                headers: parts.headers,
                context: context.ok_or_else(|| Problem::internal("the request has no context"))?,
            };
            // Two forms of the same content differ, in their boundaries, so a repeated key is checked
            // against the address only.
            let same = json!({"method": head.method.as_str(), "uri": head.uri.to_string()});
            let path = head.uri.path().to_owned();
            let store = Arc::clone(&self.store);
            let stored = tokio::task::spawn_blocking(move || store.put(&head, &body)).await;
            let name = stored.map_err(|error| Problem::internal(error.to_string()))??;
            let trigger = json!({"request": name, "path": path}).to_string();
            let receipt = async {
                let request = Request {
                    flow: Arc::new(flow(timeout)?),
                    lane: Lane::Async,
                    idempotency: idempotency.map(|key| (key, same)),
                    trigger: Arc::from(trigger.into_bytes()),
                    queue_timeout_ms: None,
                    arrived,
                };
                self.flows
                    .dispatcher
                    .accept(request)
                    .await
                    .map_err(Problem::from)
            };
            let receipt = receipt.await;
            let is_unused = match &receipt {
                Ok(receipt) => receipt.known,
                // A store that did not answer may have the run: its request expires by itself.
                Err(problem) => !matches!(problem.code, Code::BackendUnavailable(_)),
            };
            if is_unused {
                let store = Arc::clone(&self.store);
                tokio::task::spawn_blocking(move || store.remove(&name));
            }
            receipt.map(|receipt| Accepted {
                id: receipt.id,
                is_known: receipt.known,
            })
        })
    }

    /// Waits until the run has executed the request.
    ///
    /// # Errors
    /// What the request met.
    pub fn end<'a>(&'a self, accepted: &'a Accepted) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            let answer = self.flows.dispatcher.wait(&accepted.id).await?.await;
            let answer = answer.map_err(|_| Problem::internal("the run has no answer"))?;
            match answer.state {
                RunState::Running | RunState::Succeeded => Ok(()),
                _ => Err(problem_of(&answer)),
            }
        })
    }

    /// Progress of the batch that a run executes now.
    pub(crate) fn progress(&self, run: &Run) -> Option<BatchProgress> {
        if run.flow != DEFERRED_FLOW || run.state != RunState::Running {
            return None;
        }
        let trigger: Json = serde_json::from_slice(&run.trigger).ok()?;
        self.progress.of(trigger["request"].as_str()?)
    }
}

/// The problem that a deferred request met, as its client would have got it.
pub(crate) fn problem_of(answer: &Answer) -> Problem {
    let details: Json = serde_json::from_slice(&answer.details).unwrap_or_default();
    let error = &details["error"];
    let word = |name: &str| error[name].as_str().unwrap_or_default();
    let facts = Facts {
        stage: Stage::parse(word("stage")),
        resource: Resource::parse(word("resource")),
        backend: Backend::parse(word("backend")),
        what: What::parse(word("what")),
        limit: error["limit"].as_u64(),
    };
    let code = Code::parse(word("code"), &facts);
    Problem::new(code.unwrap_or(Code::RunFailed), word("message"))
}

/// Removes requests whose retention has ended, until it is dropped.
pub(crate) async fn sweep_expired(store: Arc<RequestStore>) {
    let mut interval = tokio::time::interval(SWEEP_INTERVAL);
    loop {
        interval.tick().await;
        let store = Arc::clone(&store);
        let _ = tokio::task::spawn_blocking(move || store.sweep()).await;
    }
}

/// Declares `?async=true` of a route.
#[must_use]
pub fn declared<S>(route: Route<S>) -> Route<S> {
    let schema = json!({"type": "boolean", "default": false});
    let about =
        "Renders asynchronously: 202 with the location of a run, whose output is the document.";
    let route = route.parameter(query("async", schema, about));
    accepted_run::declared(
        route,
        "Accepted for asynchronous processing, because of `async`.",
    )
}

/// The flow of a run that executes a request.
fn flow(timeout: Duration) -> Result<FlowVersion, Problem> {
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let flow = json!({
        "kind": "flow", "key": DEFERRED_FLOW, "name": "Deferred request",
        "trigger": {"type": "manual"}, "timeoutMs": timeout_ms,
        "steps": [
            {"name": "request", "type": "piece", "piece": "request", "action": "replay",
                "input": {"request": "{{ trigger.request }}"}},
            {"name": "reply", "type": "respond",
                "headers": "{{ steps.request.output.headers }}",
                "body": "{{ steps.request.output.body }}"},
        ],
    });
    Ok(FlowVersion::read(
        Arc::from(flow.to_string().into_bytes()),
        0,
    )?)
}

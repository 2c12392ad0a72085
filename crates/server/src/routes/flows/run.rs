//! Runs: list, inspect, watch, cancel, retry, resume.

use std::{sync::Arc, time::Instant};

use axum::{
    body::Body,
    extract::{Path, State},
    response::Response,
};
use hyper::{HeaderMap, StatusCode};
use jiff::Timestamp;
use platen_fault::{Code, Resource};
use platen_runs::{Answer, DEFERRED_FLOW, Error, Lane, Request, Retry, Run, RunFilter, RunState};
use serde::Deserialize;
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use super::{
    super::extract::{KeyPath, MAX_PAGE, Query},
    FlowApi,
    answer::answer_of,
    captured::Capture,
    view::{Details, RunDocument, RunList, state},
    webhook::{checked, shallow},
};
use crate::{
    accepted_run::{idempotency_key, response as accepted},
    auth::{Access, Scope},
    deferred,
    intake::body,
    problem::Problem,
    respond::json,
};

/// Longest definition of a run that is read for the input of its steps, in bytes.
const MAX_REPLAYED: usize = 1 << 20;

/// Query with the version to run.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VersionQuery {
    version: Option<u32>,
}

/// Starts a flow manually, optionally an unpublished version. The body becomes `trigger`.
pub(crate) async fn create_run(
    State(api): State<FlowApi>,
    path: KeyPath,
    Query(query): Query<VersionQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let arrived = Instant::now();
    let dispatcher = &api.flows.dispatcher;
    let flow = match query.version {
        Some(version) => {
            // A version that is not published is not for everybody who may start flows.
            api.keys.check(&headers, Access::scope(Scope::Publish))?;
            dispatcher.version(&path.key, version).await?
        }
        None => dispatcher.flow(&path.key).await?,
    };
    let (bytes, room) = body::read(&api.intake, &headers, body).await?;
    let (bytes, _room) = body::weighed_trigger(&api.intake, bytes, room).await?;
    let trigger: Json = match bytes.is_empty() {
        true => Json::Null,
        false => body::parse(&bytes)?,
    };
    let trigger = checked(&api.slots, &flow, shallow(trigger)?).await?;
    let request = Request {
        flow,
        lane: Lane::Async,
        trigger: Arc::from(trigger.to_string().into_bytes()),
        idempotency: idempotency_key(&headers)?.map(|key| (key, trigger)),
        queue_timeout_ms: None,
        arrived,
    };
    let receipt = dispatcher.accept(request).await?;
    Ok(accepted(&receipt.id, receipt.known))
}

/// Filters of the list of runs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    limit: Option<u32>,
    after: Option<String>,
    flow: Option<String>,
    state: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

/// Lists runs, newest first.
pub(crate) async fn list_runs(
    State(api): State<FlowApi>,
    Query(query): Query<RunQuery>,
) -> Result<Response, Problem> {
    let invalid = |detail: String| Problem::new(Code::InvalidRequest, detail);
    let limit = query.limit.unwrap_or(50);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(invalid(format!("`limit` must be 1 to {MAX_PAGE}")));
    }
    let wanted = query
        .state
        .as_deref()
        .map(|of| state(of).ok_or_else(|| invalid(format!("unknown state `{of}`"))));
    let before = query.after.as_deref().map(str::parse).transpose();
    let before = before
        .map_err(|_| invalid("`after` must be the `next` of the previous page".to_owned()))?;
    let time = |name: &str, text: Option<String>| {
        let time = text.map(|text| text.parse::<Timestamp>()).transpose();
        let time = time.map_err(|_| {
            invalid(format!(
                "`{name}` must be RFC 3339, such as 2026-11-21T15:00:00Z"
            ))
        });
        time.map(|time| time.map(|time| u64::try_from(time.as_millisecond()).unwrap_or(0)))
    };
    let filter = RunFilter {
        flow: query.flow,
        state: wanted.transpose()?,
        since_ms: time("since", query.since)?,
        until_ms: time("until", query.until)?,
        before,
        limit,
    };
    let runs = api.flows.dispatcher.list(filter).await?;
    let next = runs.last().filter(|_| runs.len() == limit as usize);
    let list = RunList {
        next: next.map(|last| last.number.to_string()),
        runs: runs.iter().map(|run| document(&api, run, None)).collect(),
    };
    Ok(json(StatusCode::OK, &list))
}

/// Runs that are read with their outputs, and written as a response, at a time: they may have hundreds of
/// megabytes.
static READS: Semaphore = Semaphore::const_new(2);

/// Returns a run with its steps.
pub(crate) async fn get_run(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let _turn = READS.acquire().await;
    let run = api.flows.dispatcher.get(&id).await?;
    let records = api.flows.dispatcher.journal(&id).await?;
    // A run whose flow is not stored, or can no longer be read, is shown without what its steps got.
    let flow = match (run.version, &run.definition) {
        (0, _) => None,
        (_, Some(definition)) if definition.len() > MAX_REPLAYED => None,
        _ => api.flows.dispatcher.flow_of(&run).await.ok(),
    };
    let details = Details {
        records: &records,
        flow: flow.as_deref(),
    };
    Ok(json(StatusCode::OK, &document(&api, &run, Some(&details))))
}

/// A run, with the progress of its batch.
fn document(api: &FlowApi, run: &Run, details: Option<&Details<'_>>) -> RunDocument {
    let capture = Capture {
        // The token of its callback is for who the flow gives it to.
        mask: &api.flows.mask.with(&run.token),
        answers: &api.flows.mask,
    };
    RunDocument {
        progress: api.deferred.progress(run),
        ..RunDocument::new(run, &capture, details)
    }
}

/// Returns the response of a run as its original caller would have received it.
pub(crate) async fn get_run_output(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let _turn = READS.acquire().await;
    let run = api.flows.dispatcher.get(&id).await?;
    let Some(answer) = Answer::of(&run) else {
        let detail = format!("the run is {}; try again later", run.state.as_str());
        return Err(Problem::new(Code::RunNotEnded, detail).retry_after(1));
    };
    if run.flow == DEFERRED_FLOW && answer.state == RunState::Failed {
        return Err(deferred::problem_of(&answer));
    }
    answer_of(&answer, 0, Instant::now())
}

/// Cancels an unfinished run.
pub(crate) async fn cancel_run(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    api.flows.dispatcher.cancel(&id).await?;
    let run = api.flows.dispatcher.head(&id).await?;
    api.deferred.cancelled(&run).await;
    Ok(json(StatusCode::OK, &document(&api, &run, None)))
}

/// Which steps a retry executes: by default those that have not succeeded.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RetryRequest {
    /// A step at the flow's top level: it is executed, and all after it.
    from: Option<String>,
    /// A step at any depth, which is the only one that is executed; in a loop, for each item.
    /// Steps before it that the run has no output of are skipped.
    only: Option<String>,
    /// With `only`: the version of the flow whose step it is, such as a draft (with the scope
    /// `publish`); by default that of the run.
    version: Option<u32>,
}

impl RetryRequest {
    fn steps(&self) -> Result<Retry<'_>, Problem> {
        match (self.from.as_deref(), self.only.as_deref(), self.version) {
            (None, None, None) => Ok(Retry::Failed),
            (Some(step), None, None) => Ok(Retry::From(step)),
            (None, Some(step), version) => Ok(Retry::Only { step, version }),
            _ => Err(Problem::new(
                Code::InvalidRequest,
                "give either `from`, or `only` with or without `version`",
            )),
        }
    }
}

/// Retries a finished run as a new run, whose other steps keep their outputs.
pub(crate) async fn retry_run(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (bytes, _room) = body::read(&api.intake, &headers, body).await?;
    let wanted: RetryRequest = match bytes.is_empty() {
        true => RetryRequest::default(),
        false => body::parse(&bytes)?,
    };
    if wanted.version.is_some() {
        // A version that is not published is not for everybody who may retry runs.
        api.keys.check(&headers, Access::scope(Scope::Publish))?;
    }
    let retry = api.flows.dispatcher.retry(&id, wanted.steps()?);
    Ok(accepted(&retry.await?, false))
}

/// Query with the wait to end.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallbackQuery {
    step: Option<String>,
}

/// Ends a wait of a run from outside; the body becomes the output of the step.
pub(crate) async fn call_run_back(
    State(api): State<FlowApi>,
    Path((id, token)): Path<(String, String)>,
    Query(query): Query<CallbackQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    // Who was not given the callback takes no memory from other requests.
    if api.flows.dispatcher.head(&id).await?.token != token {
        return Err(Error::NotFound(Resource::Run).into());
    }
    let (bytes, room) = body::read(&api.intake, &headers, body).await?;
    let (bytes, _room) = body::weighed_trigger(&api.intake, bytes, room).await?;
    let payload: Json = match bytes.is_empty() {
        true => Json::Null,
        false => body::parse(&bytes)?,
    };
    api.flows
        .dispatcher
        .call_back(&id, &token, query.step, shallow(payload)?)
        .await?;
    Ok(accepted(&id, true))
}

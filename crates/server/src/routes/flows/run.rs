//! Runs: list, inspect, watch, cancel, retry, resume.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{Path, State},
    response::Response,
};
use bytes::Bytes;
use http_body::Frame;
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use jiff::Timestamp;
use platen_fault::Code;
use platen_runs::{
    Answer, DEFERRED_FLOW, Event, Lane, Mask, Record, Request, Retry, Run, RunFilter, RunState,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::{
    super::extract::{KeyPath, MAX_PAGE, Query},
    FlowApi,
    captured::Capture,
    view::{Details, RunDocument, RunList, state},
    webhook::{answer_of, checked},
};
use crate::{
    accepted_run::{idempotency_key, response as accepted},
    auth::{Access, Scope},
    deferred,
    intake::body,
    problem::Problem,
    respond::json,
};

/// Interval of keep-alive events, so that proxies do not close an idle connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

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
    let (bytes, _room) = body::read(&api.intake, &headers, body).await?;
    let trigger: Json = match bytes.is_empty() {
        true => Json::Null,
        false => body::parse(&bytes)?,
    };
    let trigger = checked(&api.slots, &flow, trigger).await?;
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

/// Returns a run with its steps.
pub(crate) async fn get_run(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
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
    let run = api.flows.dispatcher.get(&id).await?;
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
    let (bytes, _room) = body::read(&api.intake, &headers, body).await?;
    let payload: Json = match bytes.is_empty() {
        true => Json::Null,
        false => body::parse(&bytes)?,
    };
    api.flows
        .dispatcher
        .call_back(&id, &token, query.step, payload)
        .await?;
    Ok(accepted(&id, true))
}

/// Streams the events of a run as server-sent events. Source:
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
pub(crate) async fn get_run_events(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    // Subscribe before reading the journal, so that no event is lost in between.
    let events = api.flows.dispatcher.watch(&id);
    let run = api.flows.dispatcher.get(&id).await?;
    let records = api.flows.dispatcher.journal(&id).await?;
    let (sender, receiver) = mpsc::channel(16);
    let stream = EventStream {
        mask: api.flows.mask.with(&run.token),
        records,
    };
    let state = run.state;
    tokio::spawn(stream.send_all(sender, events, state.as_str(), state.is_end()));
    let mut response = Response::new(Body::new(Events(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn event(kind: &str, data: &Json) -> Bytes {
    Bytes::from(format!("event: {kind}\ndata: {data}\n\n"))
}

/// The records that a caller was sent, without secrets.
struct EventStream {
    mask: Mask,
    records: Vec<Record>,
}

impl EventStream {
    fn step(&self, record: &Record) -> Bytes {
        event("step", &self.mask.value(&json!(record)))
    }

    /// Sends the past events, then new ones, until the run finishes or the client disconnects.
    async fn send_all(
        mut self,
        sender: mpsc::Sender<Bytes>,
        mut events: mpsc::Receiver<Event>,
        state: &'static str,
        over: bool,
    ) {
        for record in &self.records {
            if sender.send(self.step(record)).await.is_err() {
                return;
            }
        }
        if sender
            .send(event("state", &json!({"state": state})))
            .await
            .is_err()
            || over
        {
            return;
        }
        loop {
            let next = tokio::time::timeout(HEARTBEAT, events.recv()).await;
            let (message, over) = match next {
                Err(_) => (Bytes::from_static(b": still here\n\n"), false),
                Ok(None) => return,
                Ok(Some(Event::State(state))) => {
                    let data = json!({"state": state.as_str()});
                    (event("state", &data), state.is_end())
                }
                Ok(Some(Event::Records(list))) => {
                    let list: Vec<Record> = serde_json::from_slice(&list).unwrap_or_default();
                    // A record may arrive by the read, by the subscription, and from another service.
                    let mut text = Vec::new();
                    for record in list {
                        if !self.records.contains(&record) {
                            text.extend_from_slice(&self.step(&record));
                            self.records.push(record);
                        }
                    }
                    if text.is_empty() {
                        continue;
                    }
                    (Bytes::from(text), false)
                }
            };
            if sender.send(message).await.is_err() || over {
                return;
            }
        }
    }
}

/// A body that streams events.
struct Events(mpsc::Receiver<Bytes>);

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.0.poll_recv(context);
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

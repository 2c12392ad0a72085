//! The events of a run as server-sent events. A caller may read slowly, and a run may have written hundreds of
//! megabytes: one list of the journal and two events are in memory for each caller.

use std::{
    collections::HashSet,
    hash::BuildHasher,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Path, State},
    response::Response,
};
use bytes::Bytes;
use http_body::Frame;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use platen_runs::{Event, Mask, Record, RunState};
use rustc_hash::FxBuildHasher;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use super::FlowApi;
use crate::{flows::Flows, problem::Problem};

/// Interval of keep-alive events, so that proxies do not close an idle connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Streams the events of a run as server-sent events. Source:
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
pub(crate) async fn get_run_events(
    State(api): State<FlowApi>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    // Subscribe before reading the journal, so that no event is lost in between.
    let events = api.flows.dispatcher.watch(&id);
    let run = api.flows.dispatcher.head(&id).await?;
    // One waits in the channel and one to enter it: a slow client holds no more.
    let (sender, receiver) = mpsc::channel(1);
    let stream = EventStream {
        mask: api.flows.mask.with(&run.token),
        flows: Arc::clone(&api.flows),
        id,
        position: 0,
        sent: HashSet::new(),
        sender,
    };
    tokio::spawn(stream.send_all(events, run.state));
    let mut response = Response::new(Body::new(Events(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn event(kind: &str, data: &Json) -> Bytes {
    Bytes::from(format!("event: {kind}\ndata: {data}\n\n"))
}

/// The events of a run for one caller, without secrets.
struct EventStream {
    mask: Mask,
    flows: Arc<Flows>,
    id: String,
    /// What was read of the journal in the store.
    position: i64,
    /// Hashes of the records that were sent: one may arrive by the store, by the subscription, and from another
    /// service.
    sent: HashSet<u64>,
    sender: mpsc::Sender<Bytes>,
}

/// The client has disconnected.
struct Gone;

impl EventStream {
    /// Sends the past events, then new ones, until the run finishes or the client disconnects.
    async fn send_all(mut self, mut events: mpsc::Receiver<Event>, state: RunState) {
        if self.send_written().await.is_ok() && self.send_state(state).await.is_ok() {
            while !matches!(self.send_next(&mut events).await, Ok(false) | Err(Gone)) {}
        }
    }

    /// Sends what happens next. False once there is no more.
    async fn send_next(&mut self, events: &mut mpsc::Receiver<Event>) -> Result<bool, Gone> {
        match tokio::time::timeout(HEARTBEAT, events.recv()).await {
            Err(_) => {
                self.send(Bytes::from_static(b": still here\n\n")).await?;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Ok(Some(Event::State(state))) => {
                if state.is_end() {
                    self.send_written().await?;
                }
                // The end was said by `send_state`.
                Ok(self.send_state(state).await.is_ok())
            }
            Ok(Some(Event::Records(list))) => {
                let list: Vec<Record> = serde_json::from_slice(&list).unwrap_or_default();
                self.send_steps(&list).await?;
                Ok(true)
            }
            Ok(Some(Event::Longer)) => {
                self.send_written().await?;
                Ok(true)
            }
        }
    }

    /// Sends what is in the store behind what was read of it, list by list.
    async fn send_written(&mut self) -> Result<(), Gone> {
        loop {
            let dispatcher = &self.flows.dispatcher;
            let next = dispatcher.journal_after(&self.id, self.position).await;
            let Ok(Some((position, list))) = next else {
                return Ok(());
            };
            self.position = position;
            self.send_steps(&list).await?;
        }
    }

    async fn send_steps(&mut self, list: &[Record]) -> Result<(), Gone> {
        for record in list {
            let record = json!(record);
            if self.sent.insert(FxBuildHasher.hash_one(record.to_string())) {
                self.send(event("step", &self.mask.value(&record))).await?;
            }
        }
        Ok(())
    }

    /// Sends a state; it is the last event if the run is over.
    async fn send_state(&self, state: RunState) -> Result<(), Gone> {
        self.send(event("state", &json!({"state": state.as_str()})))
            .await?;
        match state.is_end() {
            true => Err(Gone),
            false => Ok(()),
        }
    }

    async fn send(&self, message: Bytes) -> Result<(), Gone> {
        self.sender.send(message).await.map_err(|_| Gone)
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

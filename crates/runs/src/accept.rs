//! Accepts requests as runs: the row is durable before a slot sees the run.

use std::{sync::Arc, time::Instant};

use futures_core::future::BoxFuture;
use platen_storage::runs::{Accepted, Lane, NewRun, Queued};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::{
    Answer, Dispatcher, Error,
    clock::now_ms,
    fault,
    flow_cache::FlowVersion,
    identity::{name, token},
    ready_queue::{JustAccepted, ReadyRun},
};

/// A request for a run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The flow.
    pub flow: Arc<FlowVersion>,
    /// Whether the caller waits for the answer.
    pub lane: Lane,
    /// The payload of the trigger, JSON.
    pub trigger: Arc<[u8]>,
    /// Idempotency key, and the content that a repeated request must share.
    pub idempotency: Option<(String, Json)>,
    /// Time to wait for a slot, in milliseconds; the run expires after it. `None`: no limit.
    pub queue_timeout_ms: Option<u64>,
    /// When the request arrived.
    pub arrived: Instant,
}

/// A run that was accepted: it reaches an end, and its answer is stored.
#[derive(Debug)]
pub struct Receipt {
    /// Name of the run.
    pub id: String,
    /// The same request was accepted before; `id` names that run.
    pub known: bool,
    /// Receives the answer, in the synchronous lane.
    pub answer: Option<oneshot::Receiver<Answer>>,
    /// Time from the request's arrival until the row was durable, in microseconds.
    pub ingress_us: u64,
}

impl Dispatcher {
    /// Accepts a run. Once this returns, the run survives a crash of the process.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Reused`], [`Error::Draining`], failures of the store; then there
    /// is no run.
    pub fn accept(&self, request: Request) -> BoxFuture<'_, Result<Receipt, Error>> {
        Box::pin(async move {
            self.admit(request.lane).await?;
            let now_ms = now_ms();
            let id = name(now_ms);
            let token = token();
            let new = self.row(&request, &id, &token, now_ms);
            let (deadline_ms, trace) = (new.deadline_ms, new.trace.clone());
            let waiting = (request.lane == Lane::Sync).then(|| self.waiters.wait(&id));
            let reservation = self.ready.reserve(&id);
            fault::point("accepting");
            let accepted = self.store.accept(new).await?;
            fault::point("accepted");
            match accepted {
                Accepted::Known { same: false, .. } => return Err(Error::Reused),
                Accepted::Known { id, .. } => {
                    let answer = match request.lane {
                        Lane::Sync => Some(self.wait(&id).await?),
                        Lane::Async => None,
                    };
                    return Ok(Receipt {
                        id,
                        known: true,
                        answer,
                        ingress_us: 0,
                    });
                }
                Accepted::New => {}
            }
            let ingress_us = request.arrived.elapsed().as_micros() as u64;
            let queued = Queued {
                // The store assigns the number; slots do not need it.
                number: 0,
                id: id.clone(),
                flow: request.flow.loaded.flow().key.clone(),
                lane: request.lane,
                deadline_ms,
            };
            let just_accepted = JustAccepted {
                flow: request.flow,
                trace,
                trigger: request.trigger,
                created_ms: now_ms,
                token,
                ingress_us,
                accepted: Instant::now(),
            };
            let pushed = reservation.push(ReadyRun {
                queued,
                just_accepted: Some(just_accepted),
            });
            self.offer_if_it_waits(&id, pushed);
            fault::point("ready");
            Ok(Receipt {
                id,
                known: false,
                answer: waiting,
                ingress_us,
            })
        })
    }

    pub(crate) async fn admit(&self, lane: Lane) -> Result<(), Error> {
        if self.lifecycle.is_draining() {
            return Err(Error::Draining);
        }
        let depth = self.ready.depth();
        let waiting = depth.asynchronous + depth.parked_asynchronous;
        // In memory the lane is cut off at this length. Only then is the true length worth a query.
        let queued = match (lane, &self.fleet) {
            // Other services may have executed those that are held back here.
            (Lane::Async, Some(fleet)) => depth.asynchronous.max(fleet.queued()),
            (Lane::Async, None) if waiting >= self.settings.async_queue.min(4_096) => {
                self.store.counts().await?[0] as usize
            }
            _ => waiting,
        };
        match self.is_full(lane, queued) {
            Some(waiting) => Err(Error::Full { waiting }),
            None => Ok(()),
        }
    }

    fn row(&self, request: &Request, id: &str, token: &str, now_ms: u64) -> NewRun {
        let flow = &request.flow;
        let idempotency = request.idempotency.as_ref().map(|(key, same)| {
            let hash = Sha256::digest(same.to_string().as_bytes());
            (key.clone(), hash.to_vec())
        });
        NewRun {
            id: id.to_owned(),
            flow: flow.loaded.flow().key.clone(),
            version: flow.version,
            definition: (flow.version == 0).then(|| Arc::clone(&flow.source)),
            lane: request.lane,
            trigger: Arc::clone(&request.trigger),
            idempotency,
            deadline_ms: request.queue_timeout_ms.map(|timeout| now_ms + timeout),
            created_ms: now_ms,
            token: token.to_owned(),
            retry_of: None,
            trace: trace(),
            journal: None,
        }
    }
}

/// The trace of the request that starts a run, for the run's row: it may execute elsewhere, later.
pub(crate) fn trace() -> Option<String> {
    platen_trace::current().map(|trace| trace.to_string())
}

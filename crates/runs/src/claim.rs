//! Claims: a ready run becomes the assignment of a slot.

use std::time::Instant;

use platen_fault::{Code, Stage};
use platen_script::Cancellation;
use platen_storage::{
    Error as StoreError, Signal,
    runs::{Claimed, Lane, Lease, RunState, Write},
};

use crate::{
    Dispatcher, Error,
    answer::{Times, stopped},
    clock::now_ms,
    dispatcher::refused,
    fault,
    fleet::{self, Fleet},
    flow_cache::FlowVersion,
    journals::records,
    ready_queue::{JustAccepted, ReadyRun, Takes},
    waiters::Event,
    work::Assignment,
};

/// Why a ready run did not become an assignment.
enum Unclaimed {
    /// It is over, or it will be found again.
    Gone,
    /// Another service has it, or it is over.
    Taken,
    /// Its flow runs often enough.
    HeldBack(ReadyRun),
}

impl Dispatcher {
    /// Waits for the next run and claims it for a slot of `worker`; `None` once `stop` completes.
    pub(crate) async fn next(
        &self,
        worker: &str,
        takes: Takes,
        stop: impl Future<Output = ()>,
    ) -> Option<Assignment> {
        tokio::pin!(stop);
        loop {
            let limit = |flow: &str| self.flow_cache.limit(flow);
            // `stop` first, and nothing awaits between take and claim: a run that was taken is
            // always claimed.
            let run = tokio::select! {
                biased;
                () = &mut stop => return None,
                run = self.ready.take(takes, limit) => run,
            };
            if let Some(fleet) = &self.fleet {
                for id in self.ready.broken_promises() {
                    fleet.offer(&id);
                }
            }
            let flow = run.queued.flow.clone();
            let limit = self.flow_cache.limit(&flow).zip(self.fleet.as_ref());
            let claimed = match limit {
                Some((limit, fleet)) => self.claim_within(run, worker, fleet, limit).await,
                None => self.claim(run, worker).await,
            };
            match claimed {
                Ok(assignment) => return Some(assignment),
                Err(Unclaimed::Gone) => self.ready.done(&flow),
                Err(Unclaimed::Taken) => {
                    self.ready.done(&flow);
                    if let Some(fleet) = &self.fleet {
                        fleet.note_claim(true);
                        fleet::forget_taken(self, fleet, fleet::MAX_LOOK_AHEAD).await;
                    }
                }
                Err(Unclaimed::HeldBack(run)) => self.ready.hold_back(run),
            }
        }
    }

    fn lease(&self, worker: &str, now_ms: u64) -> Lease {
        Lease {
            worker: worker.to_owned(),
            now_ms,
            until_ms: now_ms + self.settings.lease.as_millis() as u64,
        }
    }

    /// Claims a run of a flow of which `limit` may run at once, in all services together.
    async fn claim_within(
        &self,
        run: ReadyRun,
        worker: &str,
        fleet: &Fleet,
        limit: u32,
    ) -> Result<Assignment, Unclaimed> {
        let now_ms = now_ms();
        let id = run.queued.id.clone();
        if run.queued.is_late(now_ms) {
            self.ready.claimed(&id);
            self.expire(&id).await;
            return Err(Unclaimed::Gone);
        }
        let lease = self.lease(worker, now_ms);
        let claim = fleet.peers.claim_within(id.clone(), lease, limit);
        self.ready.claimed(&id);
        match claim.await {
            Ok(Some(claimed)) => {
                self.waiters.notify(&id, &Event::State(RunState::Running));
                self.resume(claimed, now_ms).await
            }
            // A store that does not answer may do so at the next try.
            Ok(None) | Err(StoreError::Busy | StoreError::Unavailable(_)) => {
                Err(Unclaimed::HeldBack(run))
            }
            Err(_) => Err(Unclaimed::Gone),
        }
    }

    async fn claim(&self, run: ReadyRun, worker: &str) -> Result<Assignment, Unclaimed> {
        let now_ms = now_ms();
        let ReadyRun {
            queued,
            just_accepted,
        } = run;
        if queued.is_late(now_ms) {
            self.ready.claimed(&queued.id);
            self.expire(&queued.id).await;
            return Err(Unclaimed::Gone);
        }
        let lease = self.lease(worker, now_ms);
        let mut claim = self.store.claim(queued.id.clone(), lease);
        self.ready.claimed(&queued.id);
        fault::point("claimed");
        self.waiters
            .notify(&queued.id, &Event::State(RunState::Running));
        if let Some(just_accepted) = just_accepted {
            if refused(&mut claim) {
                self.enqueue(queued);
                return Err(Unclaimed::Gone);
            }
            // The claim is queued before all writes of this run. If it fails, those writes fail
            // with it.
            return Ok(self.assignment(queued.id, just_accepted));
        }
        let claimed = match claim.await {
            Err(StoreError::Busy) => {
                self.enqueue(queued);
                return Err(Unclaimed::Gone);
            }
            Err(StoreError::Fenced) => return Err(Unclaimed::Taken),
            other => other.map_err(|_| Unclaimed::Gone)?,
        };
        if let Some(fleet) = &self.fleet {
            fleet.note_claim(false);
        }
        self.resume(claimed, now_ms).await
    }

    /// The assignment of a claimed run, with its flow and its journal so far.
    async fn resume(&self, claimed: Claimed, now_ms: u64) -> Result<Assignment, Unclaimed> {
        let run = claimed.run;
        if let (Some(fleet), Lane::Sync) = (&self.fleet, run.lane)
            && !self.waiters.is_waited_for(&run.id)
        {
            fleet.expect_elsewhere(&run.id);
        }
        let flow = match self.flow_of(&run).await {
            Ok(flow) => flow,
            Err(Error::Store(cause)) if !matches!(cause, StoreError::Panicked) => {
                tracing::warn!(%cause, run = run.id, "the flow of a run was not read");
                // It may be read at the next poll.
                let write = Write {
                    id: run.id,
                    epoch: run.epoch,
                    now_ms: crate::clock::now_ms(),
                    records: None,
                };
                let _ = self.store.release(write).await;
                self.ready.look_again();
                return Err(Unclaimed::Gone);
            }
            Err(error) => {
                let message = format!("version {} cannot be run: {error}", run.version);
                let ending = stopped(RunState::Failed, Code::InvalidFlow, &message);
                let _ = self.stop(&run.id, ending).await;
                return Err(Unclaimed::Gone);
            }
        };
        let journal = records(&claimed.journal);
        let worked_ms = journal.iter().map(|record| record.worked_ms).max();
        Ok(Assignment {
            id: run.id,
            epoch: run.epoch,
            trigger: serde_json::from_slice(&run.trigger).unwrap_or_default(),
            journal: journal.into_iter().map(|record| record.entry).collect(),
            worked_ms: worked_ms.unwrap_or_default(),
            created_ms: run.created_ms,
            trace: run.trace,
            token: run.token,
            secrets: self.secrets(&flow),
            flow,
            times: Times {
                queue_us: now_ms.saturating_sub(run.created_ms) * 1_000,
                ..Times::default()
            },
            suspend_after: self.settings.suspend_after,
            cancel: Cancellation::default(),
            taken: Instant::now(),
        })
    }

    fn assignment(&self, id: String, just_accepted: JustAccepted) -> Assignment {
        Assignment {
            id,
            epoch: 1,
            trigger: serde_json::from_slice(&just_accepted.trigger).unwrap_or_default(),
            journal: Vec::new(),
            worked_ms: 0,
            created_ms: just_accepted.created_ms,
            trace: just_accepted.trace,
            token: just_accepted.token,
            secrets: self.secrets(&just_accepted.flow),
            flow: just_accepted.flow,
            times: Times {
                ingress_us: just_accepted.ingress_us,
                queue_us: just_accepted.accepted.elapsed().as_micros() as u64,
                ..Times::default()
            },
            suspend_after: self.settings.suspend_after,
            cancel: Cancellation::default(),
            taken: Instant::now(),
        }
    }

    fn secrets(&self, flow: &FlowVersion) -> std::collections::BTreeMap<String, String> {
        let named = flow.loaded.flow().secrets.iter();
        named
            .filter_map(|name| Some((name.clone(), self.settings.secrets.get(name)?.clone())))
            .collect()
    }

    /// Ends a run whose queue timeout passed.
    async fn expire(&self, id: &str) {
        let message = "run expired: no slot became free within its queue timeout";
        let ending = stopped(RunState::TimedOut, Code::Timeout(Stage::Queue), message);
        let expire = self.store.expire(id.to_owned(), ending.clone(), now_ms());
        if matches!(expire.await, Ok(true)) {
            self.publish_end(id, &ending);
            if let Some(fleet) = &self.fleet {
                fleet.peers.notify(Signal::Answered(id.to_owned()));
            }
        }
    }
}

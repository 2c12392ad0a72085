//! Runs that are ready for a slot: lanes in memory. An entry may be lost, because the rows are
//! the truth and maintenance finds queued rows again.

use std::collections::{HashMap, HashSet, VecDeque};

use parking_lot::{Mutex, MutexGuard};
use platen_storage::runs::{Lane, Queued};
use tokio::sync::Notify;

use crate::flow_cache::FlowVersion;

/// Entries of the asynchronous lane held in memory. The rest stay in the store until half of these
/// are gone, so a long backlog costs no memory.
const MAX_ASYNC_READY: usize = 4_096;
/// Every so many takes, the asynchronous lane goes first: a steady synchronous load must not starve it.
const ASYNC_SHARE: u32 = 4;

/// Key of the flow that executes requests which the service deferred. Only the process that has
/// the routes can, so these runs have a lane and slots of their own. Users cannot store a flow with
/// this key.
pub const DEFERRED_FLOW: &str = "deferred-request";

/// Which runs a slot takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Synchronous and asynchronous runs of flows.
    Flows,
    /// Synchronous runs of flows only.
    Synchronous,
    /// Deferred requests only.
    Deferred,
}

/// A run that a slot can claim.
#[derive(Clone, Debug)]
pub(crate) struct ReadyRun {
    pub queued: Queued,
    /// Set for a run that was just accepted: a slot starts it without reading the store.
    pub just_accepted: Option<JustAccepted>,
}

/// What a slot needs to start a run that was just accepted.
#[derive(Clone, Debug)]
pub(crate) struct JustAccepted {
    pub flow: std::sync::Arc<FlowVersion>,
    pub trace: Option<String>,
    pub trigger: std::sync::Arc<[u8]>,
    pub created_ms: u64,
    pub token: String,
    pub ingress_us: u64,
    pub accepted: std::time::Instant,
}

/// Number of runs that wait for a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// Synchronous: a caller holds a connection open.
    pub sync: usize,
    /// Asynchronous, without those that are only in the store.
    pub asynchronous: usize,
    /// Held back by the concurrency limit of their flow.
    pub parked: usize,
}

#[derive(Default)]
struct State {
    sync: VecDeque<ReadyRun>,
    asynchronous: VecDeque<ReadyRun>,
    deferred: VecDeque<ReadyRun>,
    /// Names of all runs that are in a lane, parked or reserved: a run is queued once.
    ids: HashSet<String>,
    /// For flows with a concurrency limit: how many run, and the runs that wait for one to end.
    running: HashMap<String, u32>,
    parked: HashMap<String, VecDeque<ReadyRun>>,
    takes: u32,
    /// The store has queued runs that are not in memory.
    overflowed: bool,
    /// The store may have a run whose client disconnected while it was accepted.
    abandoned: bool,
}

/// All lanes, with the waiting slots.
#[derive(Default)]
pub(crate) struct ReadyQueue {
    state: Mutex<State>,
    any: Notify,
    sync: Notify,
    deferred: Notify,
}

impl ReadyQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Reserves the name of a run that is about to be accepted: a refill from the store must not
    /// queue it a second time, because a slot starts it without claiming it first.
    pub fn reserve(&self, id: &str) -> Reservation<'_> {
        self.state().ids.insert(id.to_owned());
        Reservation {
            queue: self,
            id: id.to_owned(),
            is_pushed: false,
        }
    }

    /// Queues a run, unless it is queued already.
    pub fn push(&self, run: ReadyRun) {
        if self.state().add(run) {
            self.wake();
        }
    }

    fn wake(&self) {
        self.any.notify_one();
        self.sync.notify_one();
        self.deferred.notify_one();
    }

    /// Whether runs should be loaded from the store. Resets the flags that say so.
    pub fn needs_refill(&self) -> bool {
        let mut state = self.state();
        let has_room = state.asynchronous.len() < MAX_ASYNC_READY / 2;
        let needs_refill = has_room && (state.overflowed || state.abandoned);
        if needs_refill {
            state.overflowed = false;
            state.abandoned = false;
        }
        needs_refill
    }

    /// Waits for the next run. The slot calls [`ReadyQueue::claimed`] once the claim is under way
    /// and [`ReadyQueue::done`] when the run has left it. `limit` gives the concurrency limit of a
    /// flow.
    pub async fn take(&self, takes: Takes, limit: impl Fn(&str) -> Option<u32>) -> ReadyRun {
        loop {
            let notified = match takes {
                Takes::Flows => &self.any,
                Takes::Synchronous => &self.sync,
                Takes::Deferred => &self.deferred,
            };
            // Registered before the look at the lanes, so that no push in between is missed.
            let notified = notified.notified();
            if let Some(run) = self.state().next(takes, &limit) {
                return run;
            }
            notified.await;
        }
    }

    /// The claim of a run is under way: from now on the run may be queued again.
    pub fn claimed(&self, id: &str) {
        self.state().ids.remove(id);
    }

    /// A run of `flow` has left its slot. Frees one run that the flow's limit held back.
    pub fn done(&self, flow: &str) {
        let mut state = self.state();
        if let Some(count) = state.running.get_mut(flow) {
            *count -= 1;
            if *count == 0 {
                state.running.remove(flow);
            }
        }
        if let Some(parked) = state.parked.get_mut(flow) {
            let freed = parked.pop_front();
            if parked.is_empty() {
                state.parked.remove(flow);
            }
            if let Some(run) = freed {
                state.lane(&run.queued).push_front(run);
                drop(state);
                self.wake();
            }
        }
    }

    pub fn depth(&self) -> Depth {
        let state = self.state();
        Depth {
            sync: state.sync.len(),
            asynchronous: state.asynchronous.len() + state.deferred.len(),
            parked: state.parked.values().map(VecDeque::len).sum(),
        }
    }
}

/// A run that is being accepted. When it is dropped without [`Reservation::push`] (the run was not
/// accepted, or its client disconnected), the next poll looks for the run in the store.
pub(crate) struct Reservation<'a> {
    queue: &'a ReadyQueue,
    id: String,
    is_pushed: bool,
}

impl Reservation<'_> {
    /// Queues the run, which is durable now.
    pub fn push(mut self, run: ReadyRun) {
        // One lock for both, so that a refill cannot queue the run in between.
        self.is_pushed = {
            let mut state = self.queue.state();
            state.ids.remove(&self.id);
            state.add(run)
        };
        if self.is_pushed {
            self.queue.wake();
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.is_pushed {
            let mut state = self.queue.state();
            state.ids.remove(&self.id);
            state.abandoned = true;
        }
    }
}

impl State {
    /// Whether the run was added.
    fn add(&mut self, run: ReadyRun) -> bool {
        if run.queued.lane == Lane::Async
            && (self.lane(&run.queued).len() >= MAX_ASYNC_READY
                || self.overflowed && run.just_accepted.is_some())
        {
            // While the store has a backlog, later runs join it: a run that overtakes the backlog
            // could keep it waiting for ever.
            self.overflowed = true;
            return false;
        }
        if !self.ids.insert(run.queued.id.clone()) {
            return false;
        }
        self.lane(&run.queued).push_back(run);
        true
    }

    fn lane(&mut self, run: &Queued) -> &mut VecDeque<ReadyRun> {
        match run.lane {
            _ if run.flow == DEFERRED_FLOW => &mut self.deferred,
            Lane::Sync => &mut self.sync,
            Lane::Async => &mut self.asynchronous,
        }
    }

    fn next(&mut self, takes: Takes, limit: &impl Fn(&str) -> Option<u32>) -> Option<ReadyRun> {
        loop {
            self.takes = self.takes.wrapping_add(1);
            let async_first = self.takes.is_multiple_of(ASYNC_SHARE);
            let run = match (takes, async_first) {
                (Takes::Deferred, _) => self.deferred.pop_front(),
                (Takes::Synchronous, _) => self.sync.pop_front(),
                (Takes::Flows, true) => self
                    .asynchronous
                    .pop_front()
                    .or_else(|| self.sync.pop_front()),
                (Takes::Flows, false) => self
                    .sync
                    .pop_front()
                    .or_else(|| self.asynchronous.pop_front()),
            }?;
            let flow = &run.queued.flow;
            let Some(limit) = limit(flow) else {
                return Some(run);
            };
            let running = self.running.entry(flow.clone()).or_default();
            if *running < limit {
                *running += 1;
                return Some(run);
            }
            self.parked.entry(flow.clone()).or_default().push_back(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str) -> ReadyRun {
        ReadyRun {
            queued: Queued {
                number: 0,
                id: id.to_owned(),
                flow: "f".to_owned(),
                lane: Lane::Async,
                deadline_ms: None,
            },
            just_accepted: None,
        }
    }

    #[test]
    fn a_reserved_run_is_queued_by_its_acceptor_only() {
        let queue = ReadyQueue::default();
        let reservation = queue.reserve("a");
        // The row is durable, and a refill reads it before the acceptor goes on.
        queue.push(run("a"));
        assert_eq!(queue.depth().asynchronous, 0);
        reservation.push(run("a"));
        queue.push(run("a"));
        assert_eq!(queue.depth().asynchronous, 1);
        assert!(!queue.needs_refill());
    }

    #[test]
    fn deferred_requests_go_to_their_own_slots() {
        let queue = ReadyQueue::default();
        let mut deferred = run("a");
        deferred.queued.flow = DEFERRED_FLOW.to_owned();
        queue.push(deferred);
        let next = |takes| queue.state().next(takes, &|_: &str| None);
        assert!(next(Takes::Flows).is_none() && next(Takes::Synchronous).is_none());
        queue.push(run("b"));
        assert_eq!(next(Takes::Deferred).unwrap().queued.id, "a");
        assert!(next(Takes::Deferred).is_none());
        assert_eq!(next(Takes::Flows).unwrap().queued.id, "b");
    }

    #[test]
    fn a_run_whose_client_disconnected_is_looked_for_in_the_store() {
        let queue = ReadyQueue::default();
        drop(queue.reserve("a"));
        assert!(queue.needs_refill() && !queue.needs_refill());
        queue.push(run("a"));
        assert_eq!(queue.depth().asynchronous, 1);
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Those of them that nobody waits for.
    pub parked_asynchronous: usize,
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
    parked_asynchronous: usize,
    takes: u32,
    /// The store has queued runs that are not in memory.
    overflowed: bool,
    /// The store may have a run that is in no lane, such as one whose client disconnected while it
    /// was accepted.
    abandoned: bool,
    /// Slots that wait for a run, by what they take.
    idle: HashMap<Takes, usize>,
    /// Other services may claim these runs.
    is_shared: bool,
    /// Runs that were not offered to them, because a slot was waiting.
    promised: HashSet<String>,
}

/// All lanes, with the waiting slots.
#[derive(Default)]
pub(crate) struct ReadyQueue {
    state: Mutex<State>,
    any: Notify,
    sync: Notify,
    deferred: Notify,
    /// Notified when a slot begins to wait.
    slot_idle: Notify,
}

/// What became of a run that was to be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// A slot is waiting for it.
    Taken,
    /// It waits until a slot is free.
    Waits,
    /// It is in memory already, or stays in the store.
    NotAdded,
}

impl ReadyQueue {
    /// An empty queue; `is_shared` if other services take runs from the same store.
    pub fn new(is_shared: bool) -> Self {
        let queue = Self::default();
        queue.state().is_shared = is_shared;
        queue
    }

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
    pub fn push(&self, run: ReadyRun) -> Pushed {
        let pushed = self.state().add(run);
        if pushed != Pushed::NotAdded {
            self.wake();
        }
        pushed
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

    /// The store has more queued runs than were pushed.
    pub fn expect_more(&self) {
        self.state().overflowed = true;
    }

    /// The store may have a queued run that is not in memory.
    pub fn look_again(&self) {
        self.state().abandoned = true;
    }

    /// Whether the asynchronous lane takes runs from the store.
    pub fn has_room(&self) -> bool {
        self.state().asynchronous.len() < MAX_ASYNC_READY
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
            let _idle = {
                let mut state = self.state();
                if let Some(run) = state.next(takes, &limit) {
                    state.promised.remove(&run.queued.id);
                    return run;
                }
                *state.idle.entry(takes).or_default() += 1;
                Idle { queue: self, takes }
            };
            self.slot_idle.notify_one();
            notified.await;
        }
    }

    /// Runs to be offered to other services after all: the slot that waited for one of them has
    /// taken a run that came later, in the other lane.
    pub fn broken_promises(&self) -> Vec<String> {
        let mut state = self.state();
        let state = &mut *state;
        let idle = |takes| state.idle.get(&takes).copied().unwrap_or_default();
        if state.promised.len() <= idle(Takes::Flows) + idle(Takes::Synchronous) {
            return Vec::new();
        }
        let broken = std::mem::take(&mut state.promised);
        for run in state.sync.iter_mut().chain(&mut state.asynchronous) {
            if broken.contains(&run.queued.id) {
                run.just_accepted = None;
            }
        }
        broken.into_iter().collect()
    }

    /// Completes when a slot has begun to wait since the last call.
    pub async fn slot_idle(&self) {
        self.slot_idle.notified().await;
    }

    /// How many more runs of flows would start at once.
    pub fn free_slots(&self) -> usize {
        let state = self.state();
        state.free(Lane::Sync).max(state.free_deferred())
    }

    /// Runs in memory that no slot has taken, at most `limit`.
    pub fn waiting(&self, limit: usize) -> Vec<String> {
        let state = self.state();
        let lanes = state.sync.iter().chain(&state.asynchronous);
        let waiting = lanes.chain(&state.deferred).map(|run| &run.queued.id);
        waiting.take(limit).cloned().collect()
    }

    /// Forgets runs that somebody else has taken.
    pub fn forget(&self, taken: &HashSet<String>) {
        let mut state = self.state();
        let state = &mut *state;
        for lane in [
            &mut state.sync,
            &mut state.asynchronous,
            &mut state.deferred,
        ] {
            lane.retain(|run| {
                let is_taken = taken.contains(&run.queued.id);
                if is_taken {
                    state.ids.remove(&run.queued.id);
                }
                !is_taken
            });
        }
    }

    /// Puts back a run that was taken, because its flow runs often enough elsewhere. It waits for
    /// [`ReadyQueue::done`] or [`ReadyQueue::retry_parked`].
    pub fn hold_back(&self, run: ReadyRun) {
        let mut state = self.state();
        let flow = run.queued.flow.clone();
        state.left(&flow);
        if state.ids.insert(run.queued.id.clone()) {
            state.park(run, VecDeque::push_front);
        }
    }

    /// Lets runs try again that the limit of their flow held back, as many as the limit allows.
    pub fn retry_parked(&self, limit: impl Fn(&str) -> Option<u32>) {
        let mut state = self.state();
        let flows: Vec<String> = state.parked.keys().cloned().collect();
        for flow in flows {
            let running = state.running.get(&flow).copied().unwrap_or_default();
            let free =
                limit(&flow).map_or(usize::MAX, |limit| limit.saturating_sub(running) as usize);
            for _ in 0..free {
                let Some(run) = state.unpark(&flow) else {
                    break;
                };
                state.lane(&run.queued).push_back(run);
                self.wake();
            }
        }
    }

    /// The claim of a run is under way: from now on the run may be queued again.
    pub fn claimed(&self, id: &str) {
        self.state().ids.remove(id);
    }

    /// A run of `flow` has left its slot. Frees one run that the flow's limit held back.
    pub fn done(&self, flow: &str) {
        let mut state = self.state();
        state.left(flow);
        if let Some(run) = state.unpark(flow) {
            state.lane(&run.queued).push_front(run);
            drop(state);
            self.wake();
        }
    }

    pub fn depth(&self) -> Depth {
        let state = self.state();
        Depth {
            sync: state.sync.len(),
            asynchronous: state.asynchronous.len() + state.deferred.len(),
            parked: state.parked.values().map(VecDeque::len).sum(),
            parked_asynchronous: state.parked_asynchronous,
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
    pub fn push(mut self, run: ReadyRun) -> Pushed {
        // One lock for both, so that a refill cannot queue the run in between.
        let pushed = {
            let mut state = self.queue.state();
            state.ids.remove(&self.id);
            state.add(run)
        };
        self.is_pushed = pushed != Pushed::NotAdded;
        if self.is_pushed {
            self.queue.wake();
        }
        pushed
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

/// A slot that waits.
struct Idle<'a> {
    queue: &'a ReadyQueue,
    takes: Takes,
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        if let Some(count) = self.queue.state().idle.get_mut(&self.takes) {
            *count -= 1;
        }
    }
}

impl State {
    fn add(&mut self, mut run: ReadyRun) -> Pushed {
        if run.queued.lane == Lane::Async
            && (self.lane(&run.queued).len() >= MAX_ASYNC_READY
                || self.overflowed && run.just_accepted.is_some())
        {
            // While the store has a backlog, later runs join it: a run that overtakes the backlog
            // could keep it waiting for ever.
            self.overflowed = true;
            return Pushed::NotAdded;
        }
        if !self.ids.insert(run.queued.id.clone()) {
            return Pushed::NotAdded;
        }
        let free = match run.queued.flow == DEFERRED_FLOW {
            true => self.free_deferred(),
            false => self.free(run.queued.lane),
        };
        let pushed = match free {
            0 => Pushed::Waits,
            _ => Pushed::Taken,
        };
        if self.is_shared && run.queued.flow != DEFERRED_FLOW {
            match pushed {
                Pushed::Taken => drop(self.promised.insert(run.queued.id.clone())),
                // Its slot has to wait for the claim: another service may have been quicker.
                _ => run.just_accepted = None,
            }
        }
        self.lane(&run.queued).push_back(run);
        pushed
    }

    /// How many more runs of flows of this lane would be taken at once.
    fn free(&self, lane: Lane) -> usize {
        let idle = |takes| self.idle.get(&takes).copied().unwrap_or_default();
        let (idle, waiting) = match lane {
            Lane::Sync => (
                idle(Takes::Flows) + idle(Takes::Synchronous),
                self.sync.len(),
            ),
            Lane::Async => (
                idle(Takes::Flows),
                self.sync.len() + self.asynchronous.len(),
            ),
        };
        idle.saturating_sub(waiting)
    }

    /// The same of deferred requests.
    fn free_deferred(&self) -> usize {
        let idle = self.idle.get(&Takes::Deferred).copied();
        idle.unwrap_or_default().saturating_sub(self.deferred.len())
    }

    /// A run of `flow` has left its slot.
    fn left(&mut self, flow: &str) {
        if let Some(count) = self.running.get_mut(flow) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(flow);
            }
        }
    }

    /// Holds a run back. Its payload may wait for long, so it stays in the store alone.
    fn park(&mut self, run: ReadyRun, add: fn(&mut VecDeque<ReadyRun>, ReadyRun)) {
        if run.queued.lane == Lane::Async {
            self.parked_asynchronous += 1;
        }
        let run = ReadyRun {
            just_accepted: None,
            ..run
        };
        add(self.parked.entry(run.queued.flow.clone()).or_default(), run);
    }

    fn unpark(&mut self, flow: &str) -> Option<ReadyRun> {
        let parked = self.parked.get_mut(flow)?;
        let run = parked.pop_front()?;
        if parked.is_empty() {
            self.parked.remove(flow);
        }
        if run.queued.lane == Lane::Async {
            self.parked_asynchronous -= 1;
        }
        Some(run)
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
            self.park(run, VecDeque::push_back);
        }
    }
}

#[cfg(test)]
mod tests;

//! Hints that runs wait: two lanes in memory. They may be lost; the rows are the truth.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use platen_storage::runs::{Lane, Queued};
use tokio::sync::Notify;

use crate::catalogue::Catalogued;

/// Hints of the lane that nobody waits for; more stay in the store until these are fewer.
const MAX_ASYNC_HINTS: usize = 4_096;
/// One of so many slots' turns is the other lane's.
const TURN: u32 = 4;

/// What a slot is told.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    pub queued: Queued,
    /// Of a run that was just accepted: it can begin without asking the store.
    pub fresh: Option<Fresh>,
}

/// A run that was just accepted.
#[derive(Clone, Debug)]
pub(crate) struct Fresh {
    pub flow: std::sync::Arc<Catalogued>,
    pub trigger: std::sync::Arc<[u8]>,
    pub created_ms: u64,
    pub token: String,
    pub ingress_us: u64,
    pub accepted: std::time::Instant,
}

/// How many runs wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    /// While somebody holds a connection.
    pub sync: usize,
    /// While nobody does; those that only the store knows of are not among them.
    pub asynchronous: usize,
    /// Because their flow has as many runs at a time as it allows.
    pub parked: usize,
}

#[derive(Default)]
struct State {
    sync: VecDeque<Hint>,
    asynchronous: VecDeque<Hint>,
    /// Names of all runs that are hinted at.
    known: HashSet<String>,
    /// Of flows that have a limit: how many run, and what waits for one of them to end.
    running: HashMap<String, u32>,
    parked: HashMap<String, VecDeque<Hint>>,
    turn: u32,
    /// The store has queued runs that are not hinted at.
    overflown: bool,
    /// The store may have one, whose client went away while it was accepted.
    abandoned: bool,
}

/// Both lanes.
#[derive(Default)]
pub(crate) struct Hints {
    state: Mutex<State>,
    any: Notify,
    sync: Notify,
}

impl Hints {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a run that is about to be accepted from being hinted at by anybody else: who does not
    /// ask the store must be the only one that begins it.
    pub fn reserve(&self, id: &str) -> Reservation<'_> {
        self.state().known.insert(id.to_owned());
        Reservation {
            hints: self,
            id: id.to_owned(),
            is_pushed: false,
        }
    }

    /// Tells a slot of a run, once.
    pub fn push(&self, hint: Hint) {
        if self.state().add(hint) {
            self.wake();
        }
    }

    fn wake(&self) {
        self.any.notify_one();
        self.sync.notify_one();
    }

    /// Whether the store should be asked for more.
    pub fn wants(&self) -> bool {
        let mut state = self.state();
        let has_room = state.asynchronous.len() < MAX_ASYNC_HINTS / 2;
        let wants = has_room && (state.overflown || state.abandoned);
        if wants {
            state.overflown = false;
            state.abandoned = false;
        }
        wants
    }

    /// The next run for a slot, which is to call [`Hints::claimed`] once the claim is under way, and
    /// [`Hints::done`] when the run has left it. `limit` tells how many runs of a flow may run.
    pub async fn take(&self, sync_only: bool, limit: impl Fn(&str) -> Option<u32>) -> Hint {
        loop {
            let notified = if sync_only { &self.sync } else { &self.any };
            let notified = notified.notified();
            if let Some(hint) = self.state().next(sync_only, &limit) {
                return hint;
            }
            notified.await;
        }
    }

    /// The claim of a hinted run is under way: it may be hinted at again.
    pub fn claimed(&self, id: &str) {
        self.state().known.remove(id);
    }

    /// A run of `flow` has left its slot.
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
            if let Some(hint) = freed {
                state.lane(hint.queued.lane).push_front(hint);
                drop(state);
                self.wake();
            }
        }
    }

    pub fn depth(&self) -> Depth {
        let state = self.state();
        Depth {
            sync: state.sync.len(),
            asynchronous: state.asynchronous.len(),
            parked: state.parked.values().map(VecDeque::len).sum(),
        }
    }
}

/// A run that is being accepted. Dropped without [`Reservation::push`], because it was not accepted
/// or its client went away, it may be hinted at again, and the store is asked for it soon.
pub(crate) struct Reservation<'a> {
    hints: &'a Hints,
    id: String,
    is_pushed: bool,
}

impl Reservation<'_> {
    /// Tells a slot of the run, which is durable now.
    pub fn push(mut self, hint: Hint) {
        // Under one lock, so that nobody hints at it in between.
        self.is_pushed = {
            let mut state = self.hints.state();
            state.known.remove(&self.id);
            state.add(hint)
        };
        if self.is_pushed {
            self.hints.wake();
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.is_pushed {
            let mut state = self.hints.state();
            state.known.remove(&self.id);
            state.abandoned = true;
        }
    }
}

impl State {
    /// Whether the hint was taken.
    fn add(&mut self, hint: Hint) -> bool {
        if hint.queued.lane == Lane::Async
            && (self.asynchronous.len() >= MAX_ASYNC_HINTS
                || self.overflown && hint.fresh.is_some())
        {
            // In the order of the store, so that none waits for ever.
            self.overflown = true;
            return false;
        }
        if !self.known.insert(hint.queued.id.clone()) {
            return false;
        }
        self.lane(hint.queued.lane).push_back(hint);
        true
    }

    fn lane(&mut self, lane: Lane) -> &mut VecDeque<Hint> {
        match lane {
            Lane::Sync => &mut self.sync,
            Lane::Async => &mut self.asynchronous,
        }
    }

    fn next(&mut self, sync_only: bool, limit: &impl Fn(&str) -> Option<u32>) -> Option<Hint> {
        loop {
            self.turn = self.turn.wrapping_add(1);
            let other = !sync_only && self.turn.is_multiple_of(TURN);
            let hint = match (sync_only, other) {
                (true, _) => self.sync.pop_front(),
                (_, true) => self
                    .asynchronous
                    .pop_front()
                    .or_else(|| self.sync.pop_front()),
                (_, false) => self
                    .sync
                    .pop_front()
                    .or_else(|| self.asynchronous.pop_front()),
            }?;
            let flow = &hint.queued.flow;
            let Some(limit) = limit(flow) else {
                return Some(hint);
            };
            let running = self.running.entry(flow.clone()).or_default();
            if *running < limit {
                *running += 1;
                return Some(hint);
            }
            self.parked.entry(flow.clone()).or_default().push_back(hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(id: &str) -> Hint {
        Hint {
            queued: Queued {
                number: 0,
                id: id.to_owned(),
                flow: "f".to_owned(),
                lane: Lane::Async,
                deadline_ms: None,
            },
            fresh: None,
        }
    }

    #[test]
    fn a_run_that_is_being_accepted_is_hinted_at_by_its_acceptor_only() {
        let hints = Hints::default();
        let reservation = hints.reserve("a");
        // Its row is durable, and the store was asked before the acceptor went on.
        hints.push(hint("a"));
        assert_eq!(hints.depth().asynchronous, 0);
        reservation.push(hint("a"));
        hints.push(hint("a"));
        assert_eq!(hints.depth().asynchronous, 1);
        assert!(!hints.wants());
    }

    #[test]
    fn a_run_whose_client_went_away_is_asked_for() {
        let hints = Hints::default();
        drop(hints.reserve("a"));
        assert!(hints.wants() && !hints.wants());
        hints.push(hint("a"));
        assert_eq!(hints.depth().asynchronous, 1);
    }
}

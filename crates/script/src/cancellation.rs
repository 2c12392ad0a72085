//! Cancellation: kills the cells of a run and ends its pauses.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use platen_jail::Killer;

/// Cancels a run's work. Clones cancel the same work.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    next: u64,
    cells: HashMap<u64, Killer>,
}

impl Cancellation {
    /// Kills the cells of this work, and any that it starts later.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        for killer in state.cells.values() {
            killer.kill();
        }
        self.shared.changed.notify_all();
    }

    /// Whether the work was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Sleeps for `pause`, or until the work is cancelled.
    pub fn sleep(&self, pause: Duration) {
        let end = Instant::now() + pause;
        let mut state = self.state();
        while !state.cancelled {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let woken = self.shared.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Registers a cell to be killed on cancellation, as long as the guard lives.
    pub(crate) fn watch(&self, killer: Killer) -> Watched<'_> {
        let mut state = self.state();
        if state.cancelled {
            killer.kill();
        }
        let number = state.next;
        state.next += 1;
        state.cells.insert(number, killer);
        Watched {
            cancellation: self,
            number,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.shared.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A registered cell.
pub(crate) struct Watched<'a> {
    cancellation: &'a Cancellation,
    number: u64,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.cancellation.state().cells.remove(&self.number);
    }
}

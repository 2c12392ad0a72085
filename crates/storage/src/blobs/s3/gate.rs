//! Bounds on the requests to the bucket that are under way, each of which blocks a thread.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Most requests at once.
const MAX_ACTIVE: usize = 64;
/// Most requests that wait for one of these to end.
const MAX_WAITING: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    active: usize,
    waiting: usize,
}

impl Gate {
    /// Waits for room until `deadline`; `None` if there is none, or too many wait.
    pub(super) fn enter(&self, deadline: Instant) -> Option<Permit<'_>> {
        let mut state = self.state();
        if state.active >= MAX_ACTIVE {
            if state.waiting >= MAX_WAITING {
                return None;
            }
            state.waiting += 1;
            let left = deadline.saturating_duration_since(Instant::now());
            let is_full = |state: &mut State| state.active >= MAX_ACTIVE;
            let (mut after, _) = self
                .freed
                .wait_timeout_while(state, left, is_full)
                .unwrap_or_else(PoisonError::into_inner);
            after.waiting -= 1;
            if after.active >= MAX_ACTIVE {
                return None;
            }
            state = after;
        }
        state.active += 1;
        Some(Permit(self))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one request.
pub(super) struct Permit<'g>(&'g Gate);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.state().active -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn those_above_the_bound_wait_their_turn() {
        let gate = Gate::default();
        let soon = || Instant::now() + Duration::from_millis(5);
        let later = || Instant::now() + Duration::from_secs(60);
        let mut held: Vec<_> = (0..MAX_ACTIVE).filter_map(|_| gate.enter(soon())).collect();
        assert_eq!(held.len(), MAX_ACTIVE);
        assert!(gate.enter(soon()).is_none(), "it gives up in time");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.enter(later()).is_some());
            while gate.state().waiting == 0 {
                std::thread::yield_now();
            }
            held.pop();
            assert!(waiting.join().unwrap());
        });
        gate.state().waiting = MAX_WAITING;
        assert_eq!(gate.state().active, MAX_ACTIVE - 1);
        held.extend(gate.enter(soon()));
        assert!(gate.enter(later()).is_none(), "too many wait: at once");
    }
}

//! Lines of the log that strangers cause, at most one a second.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

/// Lets one line a second pass, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    left_out: u64,
}

impl Throttle {
    /// Whether a line may be written at `now`: with the number of lines left out before it.
    pub(crate) fn pass(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock();
        let is_early = |last| now.saturating_duration_since(last) < PAUSE;
        if state.last.is_some_and(is_early) {
            state.left_out += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_says_how_many_it_stands_for() {
        let throttle = Throttle::default();
        let start = Instant::now();
        let pass = |ms| throttle.pass(start + Duration::from_millis(ms));
        assert_eq!(pass(0), Some(0));
        assert_eq!((pass(1), pass(500), pass(999)), (None, None, None));
        assert_eq!(pass(1_000), Some(3));
        assert_eq!(pass(1_500), None);
        assert_eq!(pass(9_000), Some(1));
    }
}

//! Waiting for events that nothing announces.

use std::time::{Duration, Instant};

/// Longer than any event takes, on any machine.
const LONG: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits until `look` finds something. Else it says what it saw instead.
#[track_caller]
pub fn wait_for<T>(mut look: impl FnMut() -> Result<T, String>) -> T {
    let until = Instant::now() + LONG;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < until, "never: {seen}"),
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Waits until `is_so`, which `what` describes.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    wait_for(|| match is_so() {
        true => Ok(()),
        false => Err(what.to_owned()),
    });
}

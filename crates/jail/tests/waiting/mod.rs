//! Waiting for events that nothing announces.

use std::time::{Duration, Instant};

/// Waits until `is_so`, which `what` describes. The time limit is only a safety net.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

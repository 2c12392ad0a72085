//! The clock of runs: that of the store, which services and workers share.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

/// Where steady time begins.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// The store's time at the origin, in milliseconds since 1970; 0 before it is known.
static BASE_MS: AtomicI64 = AtomicI64::new(0);

/// Time since 1970.
pub(crate) fn now() -> Duration {
    match BASE_MS.load(Ordering::Relaxed) {
        0 => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
        base_ms => {
            let base_ms = u64::try_from(base_ms).unwrap_or_default();
            Duration::from_millis(base_ms) + ORIGIN.elapsed()
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    now().as_millis() as u64
}

/// From now on, time goes by the clock of the store, which reads `now_ms`. It is one for the process:
/// a process is a service or a worker of one store.
pub(crate) fn follow(now_ms: u64) {
    let elapsed_ms = ORIGIN.elapsed().as_millis() as u64;
    let base_ms = i64::try_from(now_ms.saturating_sub(elapsed_ms)).unwrap_or(i64::MAX);
    BASE_MS.store(base_ms.max(1), Ordering::Relaxed);
}

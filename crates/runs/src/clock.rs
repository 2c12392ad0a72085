//! The clock of runs: this machine's, or the one that services and workers of a fleet share.

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
/// The shared time at the origin, in milliseconds since 1970; 0 while this machine's clock counts.
static BASE_MS: AtomicI64 = AtomicI64::new(0);

/// Time since 1970. Follows steps of this machine's clock only while no shared clock is known.
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

/// From now on, time goes by the shared clock, which reads `now_ms`. It is one for the process: a
/// process is a service or a worker of one fleet.
pub(crate) fn follow(now_ms: u64) {
    let elapsed_ms = ORIGIN.elapsed().as_millis() as u64;
    let base_ms = i64::try_from(now_ms.saturating_sub(elapsed_ms)).unwrap_or(i64::MAX);
    BASE_MS.store(base_ms.max(1), Ordering::Relaxed);
}

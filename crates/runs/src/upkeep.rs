//! What has to be looked at from time to time: lapsed leases, sleepers, signs of life, old runs.

use std::{sync::Arc, time::Duration};

use crate::{Dispatcher, dispatcher::Holder, identity::now_ms};

/// How often is looked.
const LOOK: Duration = Duration::from_millis(500);
/// Looks between two sweeps of what is old.
const SWEEP: u32 = 120;

/// Looks after runs until the process ends.
pub(crate) async fn run(dispatcher: Arc<Dispatcher>) {
    let mut looks = 0_u32;
    let beats = (dispatcher.settings.beat.as_millis() / LOOK.as_millis()).max(1) as u32;
    loop {
        tokio::time::sleep(LOOK).await;
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(beats) {
            beat(&dispatcher).await;
        }
        // A store that fails now may do it the next time.
        let _ = dispatcher.look_after().await;
        let is_sweep = looks.is_multiple_of(SWEEP);
        // What lost its hint, whatever took it, is found by the next sweep.
        if dispatcher.hints.wants() || is_sweep {
            let _ = dispatcher.refill().await;
        }
        if is_sweep {
            dispatcher.feed.sweep();
            let kept_ms = dispatcher.settings.retention.as_millis() as u64;
            let before_ms = now_ms().saturating_sub(kept_ms);
            let _ = dispatcher.store.prune(before_ms, 1_000).await;
        }
    }
}

/// A sign of life for the runs in this process.
async fn beat(dispatcher: &Dispatcher) {
    let here: Vec<(String, u32)> = {
        let held = dispatcher.held();
        held.iter()
            .filter(|(_, (_, holder))| matches!(holder, Holder::Here(_)))
            .map(|(id, (epoch, _))| (id.clone(), *epoch))
            .collect()
    };
    if here.is_empty() {
        return;
    }
    let now_ms = now_ms();
    let until_ms = now_ms + dispatcher.settings.lease.as_millis() as u64;
    if let Ok(lost) = dispatcher.store.beat(here, now_ms, until_ms).await {
        for (id, _) in lost {
            // Perhaps it has just ended; then nobody is told.
            dispatcher.let_go(&id);
        }
    }
}

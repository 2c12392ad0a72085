//! Periodic maintenance: heartbeats, expired leases, runs to wake, lost queue entries, retention.

use std::{sync::Arc, time::Duration};

use crate::{
    Dispatcher,
    clock::{self, now_ms},
    dispatcher::Holder,
    fleet,
};

/// Interval between polls of the store. An expired lease or a sleep that is over waits at most this
/// long; each poll costs two indexed queries.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Polls between two sweeps: once a minute, as sweeps read more rows.
const POLLS_PER_SWEEP: u32 = 120;
/// Interval between two looks for runs that are kept no longer.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);

/// Extends the leases of this process until the dispatcher closes. A task of its own: no other work
/// may delay it, as runs whose lease ends are executed a second time.
pub(crate) async fn keep_leases(dispatcher: Arc<Dispatcher>) {
    let interval = dispatcher.settings.heartbeat.max(POLL_INTERVAL);
    loop {
        tokio::time::sleep(interval).await;
        heartbeat(&dispatcher).await;
    }
}

/// Deletes old runs until the dispatcher closes. A task of its own, as it may have much to do.
pub(crate) async fn keep_retention(dispatcher: Arc<Dispatcher>) {
    loop {
        tokio::time::sleep(RETENTION_INTERVAL).await;
        let has_turn = match &dispatcher.fleet {
            Some(fleet) => fleet.has_retention().await,
            None => true,
        };
        if has_turn {
            dispatcher.prune().await;
        }
    }
}

/// Runs until the dispatcher closes.
pub(crate) async fn run(dispatcher: Arc<Dispatcher>) {
    let mut polls = 0_u32;
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        polls = polls.wrapping_add(1);
        let is_sweep = polls.is_multiple_of(POLLS_PER_SWEEP);
        match &dispatcher.fleet {
            Some(fleet) => fleet::poll(&dispatcher, fleet, polls).await,
            None => poll(&dispatcher, is_sweep).await,
        }
        if is_sweep {
            dispatcher.waiters.sweep();
        }
    }
}

/// Periodic work of a service that has the store alone.
async fn poll(dispatcher: &Dispatcher, is_sweep: bool) {
    clock::follow(dispatcher.store.now_ms());
    // A store that fails now may recover before the next poll.
    let _ = dispatcher.reconcile().await;
    // The sweep finds queued rows whose entry in memory was lost, for whatever reason.
    if dispatcher.ready.needs_refill() || is_sweep {
        let _ = dispatcher.refill().await;
    }
}

/// Extends the leases of the runs of this process.
async fn heartbeat(dispatcher: &Dispatcher) {
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
    if let Ok(lost) = dispatcher.store.heartbeat(here, now_ms, until_ms).await {
        for (id, epoch) in lost {
            // The run may have just ended; then nobody listens.
            dispatcher.signal_lost(&id, epoch);
        }
    }
}

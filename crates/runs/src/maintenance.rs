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

/// Runs until the dispatcher closes.
pub(crate) async fn run(dispatcher: Arc<Dispatcher>) {
    let mut polls = 0_u32;
    let polls_per_heartbeat =
        (dispatcher.settings.heartbeat.as_millis() / POLL_INTERVAL.as_millis()).max(1) as u32;
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        polls = polls.wrapping_add(1);
        if polls.is_multiple_of(polls_per_heartbeat) {
            heartbeat(&dispatcher).await;
        }
        let is_sweep = polls.is_multiple_of(POLLS_PER_SWEEP);
        match &dispatcher.fleet {
            Some(fleet) => fleet::poll(&dispatcher, fleet, polls, is_sweep).await,
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
    if is_sweep {
        dispatcher.prune().await;
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

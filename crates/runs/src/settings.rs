//! Limits and intervals of runs.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use platen_outbound::Outbound;
use platen_storage::Peers;

/// A service among others on the same store.
#[derive(Clone)]
pub struct Fleet {
    /// The others.
    pub peers: Arc<dyn Peers>,
    /// Name of this one, unique and kept over restarts: it takes up the runs that it left.
    pub name: String,
}

/// Limits and intervals of runs.
#[derive(Clone)]
pub struct Settings {
    /// Runs that may wait for a slot in the synchronous lane.
    pub sync_queue: usize,
    /// Runs that may wait for a slot in the asynchronous lane.
    pub async_queue: usize,
    /// How long a lease lasts without a heartbeat.
    pub lease: Duration,
    /// Interval between heartbeats; several must fit into a lease.
    pub heartbeat: Duration,
    /// Lost workers after which a run is dead-lettered.
    pub max_worker_losses: u32,
    /// A longer wait releases the slot.
    pub suspend_after: Duration,
    /// How long ended runs are kept.
    pub retention: Duration,
    /// Sends the requests of poll triggers; without it they do not start runs.
    pub outbound: Option<Arc<Outbound>>,
    /// Secrets by name; a run receives those that its flow names.
    pub secrets: BTreeMap<String, String>,
    /// The service among others; `None` if it has the store alone.
    pub fleet: Option<Fleet>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sync_queue: 1_024,
            async_queue: 100_000,
            lease: Duration::from_secs(10),
            heartbeat: Duration::from_secs(3),
            max_worker_losses: 2,
            suspend_after: Duration::from_secs(2),
            retention: Duration::from_secs(7 * 24 * 3600),
            outbound: None,
            secrets: BTreeMap::new(),
            fleet: None,
        }
    }
}

//! How runs are taken on and looked after.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use platen_outbound::Outbound;

/// How runs are taken on and looked after.
#[derive(Clone)]
pub struct Settings {
    /// Runs that may wait for a slot while somebody holds a connection.
    pub sync_queue: usize,
    /// Runs that may wait for a slot while nobody does.
    pub async_queue: usize,
    /// How long a lease lasts without a sign of life.
    pub lease: Duration,
    /// How often a worker gives a sign of life.
    pub beat: Duration,
    /// Workers that may die of a run before it is not tried again.
    pub max_deaths: u32,
    /// A wait that is longer gives its slot back.
    pub suspend_after: Duration,
    /// How long runs that have ended are kept.
    pub retention: Duration,
    /// Asks for the news of polls; there are none where it is absent.
    pub outbound: Option<Arc<Outbound>>,
    /// Secrets by name; a run gets those that its flow names.
    pub secrets: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sync_queue: 1_024,
            async_queue: 100_000,
            lease: Duration::from_secs(10),
            beat: Duration::from_secs(3),
            max_deaths: 2,
            suspend_after: Duration::from_secs(2),
            retention: Duration::from_secs(7 * 24 * 3600),
            outbound: None,
            secrets: BTreeMap::new(),
        }
    }
}

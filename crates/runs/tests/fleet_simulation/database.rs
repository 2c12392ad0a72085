//! The database as a queueing model: cores that execute statements, and a flush for each commit.
//!
//! Processor times are chosen so that the life of a run costs what 0013 measured: 270 µs for
//! accept, claim, journal and end. What a sweep costs grows with the rows that it reads.

use std::{collections::BTreeMap, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::tables::Tables;

/// Processor time of BEGIN and COMMIT, in microseconds.
pub const TRANSACTION: f64 = 120.0;
/// Processor time of a row that is written.
pub const WRITE: f64 = 60.0;
/// Processor time of a statement that reads, without its rows.
pub const READ: f64 = 60.0;
/// Processor time of a row that is found by its id.
pub const ROW: f64 = 5.0;
/// Processor time of an open run that a sweep looks at.
pub const SCAN: f64 = 0.3;
/// Processor time of a message to one listener.
pub const MESSAGE: f64 = 15.0;
/// From the end of a transaction until it is durable and its client knows.
pub const FLUSH: Duration = Duration::from_millis(2);
/// There and back.
pub const NETWORK: Duration = Duration::from_micros(400);

/// What everybody shares: the tables and the processor of their server.
pub struct Database {
    pub tables: Mutex<Tables>,
    /// When each core has finished what it was given.
    cores: Mutex<Vec<Instant>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    /// Processor time given away since the counts began.
    worked: Mutex<Duration>,
}

impl Database {
    pub fn new(cores: usize) -> Self {
        Self {
            tables: Mutex::default(),
            cores: Mutex::new(vec![Instant::now(); cores]),
            counts: Mutex::default(),
            worked: Mutex::default(),
        }
    }

    /// Gives a statement to the core that is free first; returns when it ends.
    pub fn work(&self, microseconds: f64) -> Instant {
        let time = Duration::from_nanos((microseconds * 1_000.0) as u64);
        *self.worked.lock() += time;
        let mut cores = self.cores.lock();
        let first = cores.iter_mut().min().expect("a database has cores");
        *first = (*first).max(Instant::now()) + time;
        *first
    }

    pub fn count(&self, what: &'static str) {
        self.count_many(what, 1);
    }

    pub fn count_many(&self, what: &'static str, count: u64) {
        *self.counts.lock().entry(what).or_default() += count;
    }

    /// Counts since the last call, and the processor time that they took.
    pub fn take_counts(&self) -> (BTreeMap<&'static str, u64>, Duration) {
        let counts = std::mem::take(&mut *self.counts.lock());
        (counts, std::mem::take(&mut *self.worked.lock()))
    }
}

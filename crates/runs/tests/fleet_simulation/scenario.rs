//! What is simulated.

use std::time::Duration;

/// Where requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// At all services alike.
    Even,
    /// At the first one.
    One,
}

/// A fleet and its load.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub apps: usize,
    /// With one slot each, connected to the services in turn.
    pub workers: usize,
    /// The share of the workers' capacity that is asked for.
    pub load: f64,
    /// Mean time of a run; times are distributed exponentially.
    pub service: Duration,
    pub arrivals: Arrivals,
    /// The share of messages between services that arrive.
    pub signals: f64,
    /// The share of runs whose caller waits.
    pub synchronous: f64,
    /// Cores of the database.
    pub cores: usize,
    pub seed: u64,
    /// How long figures are taken, after the fleet has settled.
    pub measured: Duration,
}

impl Scenario {
    pub fn new(apps: usize, workers: usize, load: f64) -> Self {
        Self {
            apps,
            workers,
            load,
            service: Duration::from_secs(1),
            arrivals: Arrivals::Even,
            signals: 1.0,
            synchronous: 0.5,
            cores: 4,
            seed: 1,
            // Few workers see few runs.
            measured: Duration::from_secs(match workers {
                0..10 => 300,
                10..500 => 60,
                _ => 20,
            }),
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Runs per second that the workers can execute.
    pub fn capacity(&self) -> f64 {
        self.workers as f64 / self.service.as_secs_f64()
    }

    /// Its row in a table.
    pub fn name(&self) -> String {
        let mut name = format!(
            "{} / {} | {:.0} %",
            self.apps,
            self.workers,
            100.0 * self.load
        );
        if self.arrivals == Arrivals::One {
            name += ", all at one";
        }
        if self.signals < 1.0 {
            name += &format!(", {:.0} % of signals", 100.0 * self.signals);
        }
        if self.service != Duration::from_secs(1) {
            name += &format!(", runs of {} ms", self.service.as_millis());
        }
        name
    }

    /// Requests per second.
    pub fn rate(&self) -> f64 {
        self.capacity() * self.load
    }
}

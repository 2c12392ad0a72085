//! What a simulation measures.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::world::World;

/// How long the fleet runs before figures are taken.
const SETTLING: Duration = Duration::from_secs(5);
/// How often a waiting run is looked for that an idle worker could take.
const SAMPLE: Duration = Duration::from_millis(50);
/// How long all runs may take to end after the last request.
const DRAIN: Duration = Duration::from_secs(600);

/// Figures of a simulation.
pub struct Figures {
    name: String,
    measured: f64,
    capacity: f64,
    /// Runs that ended per second.
    pub throughput: f64,
    /// From the accepted row until a worker starts, in milliseconds, sorted.
    waits: Vec<f64>,
    /// Time until a caller's answer, without the run's own, in milliseconds, sorted.
    overheads: Vec<f64>,
    /// Calls of each kind per second.
    rates: BTreeMap<&'static str, f64>,
    /// The share of the database's cores that is used.
    pub database: f64,
    /// The shares of time that the least and the most busy worker work.
    pub busy: (f64, f64),
    /// The longest time for which a run waited beside an idle worker, in milliseconds.
    pub idle: f64,
    full: u64,
    refused: u64,
}

/// The value that this share of sorted values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() as f64 * share) as usize;
    let value = sorted.get(place.min(sorted.len().saturating_sub(1)));
    value.copied().unwrap_or_default()
}

impl Figures {
    /// Runs a fleet under its load, and then until all runs have ended.
    pub async fn of(world: &mut World) -> Self {
        world.send_requests(SETTLING).await;
        let idle: Arc<Mutex<Duration>> = Arc::default();
        let sampling = tokio::spawn(sample(world.idle_time(), Arc::clone(&idle)));
        world.database.take_counts();
        world.observer.take_busy();
        world.calls.overheads.lock().clear();
        let first = world.database.tables.lock().rows.len();
        let begun = Instant::now();
        world.send_requests(world.scenario.measured).await;
        let ended = Instant::now();
        let (counts, worked) = world.database.take_counts();
        let last = world.database.tables.lock().rows.len();
        let busy = world.observer.take_busy();
        sampling.abort();
        world.drain(DRAIN).await;
        let seconds = (ended - begun).as_secs_f64();
        let rates = counts.into_iter();
        let mut figures = Self {
            name: world.scenario.name(),
            measured: seconds,
            capacity: world.scenario.capacity(),
            throughput: world.ended_between(begun, ended) as f64 / seconds,
            waits: world.waits(first..last),
            overheads: std::mem::take(&mut *world.calls.overheads.lock()),
            rates: rates
                .map(|(kind, count)| (kind, count as f64 / seconds))
                .collect(),
            database: worked.as_secs_f64() / seconds / world.scenario.cores as f64,
            busy: (0.0, 0.0),
            idle: idle.lock().as_secs_f64() * 1_000.0,
            full: world.calls.full.load(Ordering::Relaxed),
            refused: world.observer.refusals(),
        };
        let shares = (0..world.scenario.workers).map(|worker| {
            let busy = busy.get(&worker).copied().unwrap_or_default();
            busy.as_secs_f64() / seconds
        });
        let shares: Vec<f64> = shares.collect();
        figures.busy = (
            shares.iter().copied().fold(f64::INFINITY, f64::min),
            shares.iter().copied().fold(0.0, f64::max),
        );
        figures.waits.sort_by(f64::total_cmp);
        figures.overheads.sort_by(f64::total_cmp);
        figures
    }

    /// Calls of a kind per second.
    pub fn rate(&self, kind: &str) -> f64 {
        self.rates.get(kind).copied().unwrap_or_default()
    }

    /// The wait that this share of the runs does not exceed, in milliseconds.
    pub fn wait(&self, share: f64) -> f64 {
        quantile(&self.waits, share)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "| {} | {:.1} ({:.0} %) | {:.0} / {:.0} / {:.0} | {:.0} / {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.1} % | {:.0}–{:.0} % | {:.0} |",
            self.name,
            self.throughput,
            100.0 * self.throughput / self.capacity,
            self.wait(0.5),
            self.wait(0.99),
            self.wait(1.0),
            quantile(&self.overheads, 0.5),
            quantile(&self.overheads, 0.99),
            self.rate("claim"),
            self.rate("refused claim"),
            self.rate("transactions"),
            self.rate("signals"),
            100.0 * self.database,
            100.0 * self.busy.0,
            100.0 * self.busy.1,
            self.idle,
        )?;
        let rates = self.rates.iter();
        let rates = rates.map(|(kind, rate)| format!("{kind} {rate:.1}"));
        let rates: Vec<String> = rates.collect();
        write!(
            out,
            "  per second: {}; over {:.0} s; full {}; in vain {}",
            rates.join(", "),
            self.measured,
            self.full,
            self.refused
        )
    }
}

/// Notes the longest time for which one run waited while one worker was idle.
async fn sample(idle_time: impl Fn() -> Duration, longest: Arc<Mutex<Duration>>) {
    loop {
        sleep(SAMPLE).await;
        let mut longest = longest.lock();
        *longest = idle_time().max(*longest);
    }
}

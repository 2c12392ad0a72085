//! A cell: one thing measured under one load, with every figure that a table may show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Name, Times,
    histogram::median,
    interval::{Basis, Interval},
    load::{Load, Mode, Run, Sample},
};

/// What created the load of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoadMode {
    /// The harness's client in a closed loop.
    Closed,
    /// The harness's client in strict batches.
    Batches,
    /// The harness's client at a fixed rate.
    Open,
    /// wrk.
    Wrk,
    /// The harness's client for a fixed time.
    OwnClient,
}

impl LoadMode {
    /// Text of tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Batches => "batches",
            Self::Open => "open",
            Self::Wrk => "wrk",
            Self::OwnClient => "own client",
        }
    }
}

/// One thing measured under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cell {
    /// What was measured.
    pub name: Name,
    /// What created the load.
    pub mode: LoadMode,
    /// Number of clients.
    pub concurrency: usize,
    /// Requests sent per second, if the rate was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Number of requests measured.
    pub requests: u64,
    /// Number of requests that failed; any failure voids the cell.
    pub failures: u64,
    /// Number of failures by HTTP status; 0 means that there was no response.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, u64>,
    /// Successful responses per second.
    pub rps: f64,
    /// Duration of the measured load, in seconds.
    pub seconds: f64,
    /// Times measured by the clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Times>,
    /// Times reported by the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Times>,
    /// Medians of the phases reported by the service, in milliseconds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, f64>,
    /// Number of pages of the last document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// Size of the last body, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Processor time of the service and its child processes, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_seconds: Option<f64>,
    /// Processor time of the clients, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_seconds: Option<f64>,
    /// Values added by a section, such as a predicted rate.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
    /// The interval of its median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The interleaved rounds in which it was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// One round of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Round {
    /// Successful responses per second.
    pub rps: f64,
    /// The client's median, in milliseconds.
    pub p50: f64,
    /// Number of requests in the round.
    pub requests: u64,
    /// Processor time of the service in the round, in seconds.
    pub server_cpu_seconds: f64,
}

impl Cell {
    /// A cell without measurements.
    #[must_use]
    pub fn new(name: impl Into<Name>, load: &Load) -> Self {
        let (mode, rate) = match load.mode {
            Mode::Closed => (LoadMode::Closed, None),
            Mode::Batches => (LoadMode::Batches, None),
            Mode::Open(rate) => (LoadMode::Open, Some(rate)),
        };
        Self {
            name: name.into(),
            mode,
            concurrency: load.concurrency,
            rate,
            requests: 0,
            failures: 0,
            failed: BTreeMap::new(),
            rps: 0.0,
            seconds: 0.0,
            client: None,
            server: None,
            phases: BTreeMap::new(),
            pages: None,
            size_bytes: None,
            server_cpu_seconds: None,
            client_cpu_seconds: None,
            values: BTreeMap::new(),
            interval: None,
            rounds: Vec::new(),
        }
    }

    /// Name and number of clients in one line, for messages.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{} c{}", self.name, self.concurrency)
    }

    /// Whether the figures do not count, because a request failed or none was sent.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.failures > 0 || self.requests == 0
    }

    /// Computes the figures from all rounds; `basis` says of what the interval is.
    pub fn take(&mut self, runs: &[Run], basis: Basis) {
        let samples = || runs.iter().flat_map(|run| &run.samples);
        let good = || samples().filter(|sample| sample.outcome.is_good);
        self.requests = samples().count() as u64;
        self.failures = self.requests - good().count() as u64;
        self.failed = BTreeMap::new();
        for sample in samples().filter(|sample| !sample.outcome.is_good) {
            let status = sample.outcome.status.to_string();
            *self.failed.entry(status).or_default() += 1;
        }
        self.seconds = runs.iter().map(|run| run.elapsed.as_secs_f64()).sum();
        self.rps = rate(good().count(), self.seconds);
        self.client = Times::of(good().map(|sample| sample.client_us));
        self.server = Times::of(good().filter_map(|sample| sample.outcome.server_us));
        self.phases = phases(good());
        let last = good().next_back().map(|sample| &sample.outcome);
        self.pages = last.and_then(|outcome| outcome.pages);
        self.size_bytes = last.map(|outcome| outcome.size_bytes);
        let round = |(index, run): (usize, &Run)| {
            let good = run.samples.iter().filter(|sample| sample.outcome.is_good);
            let times = Times::of(good.clone().map(|sample| sample.client_us));
            let known = self.rounds.get(index).copied().unwrap_or_default();
            Round {
                rps: rate(good.count(), run.elapsed.as_secs_f64()),
                p50: times.map_or(0.0, |times| times.p50),
                requests: run.samples.len() as u64,
                ..known
            }
        };
        self.rounds = runs.iter().enumerate().map(round).collect();
        self.interval = interval(runs, basis);
    }

    /// Processor time of the service per request, in milliseconds.
    #[must_use]
    pub fn server_cpu_ms(&self) -> Option<f64> {
        let seconds = self.server_cpu_seconds?;
        (self.requests > 0).then(|| seconds * 1e3 / self.requests as f64)
    }

    /// Processor time of the clients per request, in milliseconds.
    #[must_use]
    pub fn client_cpu_ms(&self) -> Option<f64> {
        let seconds = self.client_cpu_seconds?;
        (self.requests > 0).then(|| seconds * 1e3 / self.requests as f64)
    }

    /// `3/500`, followed by the reasons: `3/500 (503: 3)`.
    #[must_use]
    pub fn failures_of_requests(&self) -> String {
        let failed: Vec<String> = self
            .failed
            .iter()
            .map(|(status, count)| format!("{status}: {count}"))
            .collect();
        match failed.is_empty() {
            true => format!("{}/{}", self.failures, self.requests),
            false => format!(
                "{}/{} ({})",
                self.failures,
                self.requests,
                failed.join(", ")
            ),
        }
    }

    /// Median of the rounds' rates.
    #[must_use]
    pub fn median_rps(&self) -> f64 {
        let all: Vec<f64> = self.rounds.iter().map(|round| round.rps).collect();
        median(&all).unwrap_or(self.rps)
    }
}

/// The interval of the median over all good requests, or over the rounds.
pub(crate) fn interval(runs: &[Run], basis: Basis) -> Option<Interval> {
    let times = |run: &Run| -> Vec<f64> {
        let good = run.samples.iter().filter(|sample| sample.outcome.is_good);
        good.map(|sample| sample.client_us as f64 / 1e3).collect()
    };
    let rate_of = |run: &Run| {
        let good = run.samples.iter().filter(|sample| sample.outcome.is_good);
        rate(good.count(), run.elapsed.as_secs_f64())
    };
    let values: Vec<f64> = match basis {
        Basis::Requests => runs.iter().flat_map(times).collect(),
        Basis::RoundTimes => runs.iter().filter_map(|run| median(&times(run))).collect(),
        Basis::RoundRates => runs.iter().map(rate_of).collect(),
    };
    Interval::of(basis, &values)
}

fn rate(count: usize, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

fn phases<'a>(samples: impl Iterator<Item = &'a Sample>) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        for (name, ms) in &sample.outcome.phases {
            all.entry(name).or_default().push(*ms);
        }
    }
    let medians = all
        .into_iter()
        .filter_map(|(name, values)| Some((name.to_owned(), median(&values)?)));
    medians.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Outcome,
        name::{Document, RenderName},
    };

    #[test]
    fn a_failure_voids_the_cell_and_is_in_no_figure() {
        let load = Load::closed(1, 0, 4);
        let mut cell = Cell::new(
            RenderName::Cells {
                document: Document::Pdf1p,
            },
            &load,
        );
        assert!(cell.is_void(), "nothing was measured");
        let calls = std::sync::atomic::AtomicU64::new(0);
        let run = load
            .run(|| {
                Ok(|| Outcome {
                    is_good: calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) != 2,
                    server_us: Some(1_000),
                    phases: vec![("a".to_owned(), 2.0)],
                    ..Outcome::default()
                })
            })
            .unwrap();
        cell.take(std::slice::from_ref(&run), Basis::Requests);
        assert_eq!((cell.requests, cell.failures), (4, 1));
        assert_eq!(cell.failures_of_requests(), "1/4 (0: 1)");
        assert!(cell.is_void());
        assert_eq!(cell.server.as_ref().map(|it| it.p50), Some(1.0));
        assert_eq!(cell.phases["a"], 2.0);
        assert_eq!(cell.rounds.len(), 1);
    }
}

//! A cell: one thing measured under one load, with every figure that a table may show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Times,
    histogram::median,
    load::{Load, Mode, Run, Sample},
};

/// One thing measured under one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cell {
    /// Section of the pack.
    pub section: String,
    /// Name within the section.
    pub name: String,
    /// Other properties that distinguish it, such as a server or a number of slots.
    pub labels: BTreeMap<String, String>,
    /// `closed`, `batches`, `open`, or the name of the program that created the load.
    pub mode: String,
    /// Number of clients.
    pub concurrency: usize,
    /// Requests sent per second, if the rate was fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Number of requests measured.
    pub requests: u64,
    /// Number of requests that failed; any failure voids the cell.
    pub failures: u64,
    /// Number of failures by HTTP status; 0 means that there was no response.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, u64>,
    /// Successful responses per second.
    pub rps: f64,
    /// Duration of the measured load, in seconds.
    pub seconds: f64,
    /// Times measured by the clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Times>,
    /// Times reported by the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Times>,
    /// Medians of the phases reported by the service, in milliseconds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, f64>,
    /// Number of pages of the last document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<u32>,
    /// Size of the last body, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Processor time of the service and its child processes, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_seconds: Option<f64>,
    /// Processor time of the clients, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpu_seconds: Option<f64>,
    /// Values added by a section, such as a predicted rate.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
    /// The interleaved rounds in which it was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
    pub fn new(section: &str, name: &str, load: &Load) -> Self {
        let (mode, rate) = match load.mode {
            Mode::Closed => ("closed", None),
            Mode::Batches => ("batches", None),
            Mode::Open(rate) => ("open", Some(rate)),
        };
        Self {
            section: section.to_owned(),
            name: name.to_owned(),
            mode: mode.to_owned(),
            concurrency: load.concurrency,
            rate,
            ..Self::default()
        }
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, name: &str, value: impl ToString) -> Self {
        self.labels.insert(name.to_owned(), value.to_string());
        self
    }

    /// The label `name`; empty if there is none.
    #[must_use]
    pub fn of(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// Section, name and labels in one line; the same as in the raw rows.
    #[must_use]
    pub fn id(&self) -> String {
        let labels: String = self
            .labels
            .iter()
            .map(|(name, value)| format!(" {name}={value}"))
            .collect();
        format!(
            "{}/{}{labels} c{}",
            self.section, self.name, self.concurrency
        )
    }

    /// Whether the figures do not count, because a request failed or none was sent.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.failures > 0 || self.requests == 0
    }

    /// Computes the figures from all rounds.
    pub fn take(&mut self, runs: &[Run]) {
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
    }

    /// Processor time of the service per request, in milliseconds.
    #[must_use]
    pub fn server_cpu_ms(&self) -> Option<f64> {
        let seconds = self.server_cpu_seconds?;
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
    use crate::Outcome;

    #[test]
    fn a_failure_voids_the_cell_and_is_in_no_figure() {
        let load = Load::closed(1, 0, 4);
        let mut cell = Cell::new("cells", "x", &load);
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
        cell.take(std::slice::from_ref(&run));
        assert_eq!((cell.requests, cell.failures), (4, 1));
        assert_eq!(cell.failures_of_requests(), "1/4 (0: 1)");
        assert!(cell.is_void());
        assert_eq!(cell.server.as_ref().map(|it| it.p50), Some(1.0));
        assert_eq!(cell.phases["a"], 2.0);
        assert_eq!(cell.rounds.len(), 1);
    }

    #[test]
    fn labels_are_in_the_name() {
        let cell = Cell::new("replicas", "pdf-10p", &Load::closed(5, 0, 1)).label("replicas", 2);
        assert_eq!(cell.id(), "replicas/pdf-10p replicas=2 c5");
        assert_eq!((cell.of("replicas"), cell.of("none")), ("2", ""));
    }
}

//! Closed loops and what they measure.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use crate::report::Failure;

/// What one rendering says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Size of the document.
    pub size_bytes: usize,
    /// Its pages.
    pub pages: Option<u32>,
    /// Time in the service.
    pub server_ms: Option<f64>,
}

/// All renderings of a cell.
#[derive(Debug, Default)]
pub struct Run {
    durations_ms: Vec<f64>,
    server_ms: Vec<f64>,
    last: Option<Sample>,
    failures: usize,
    elapsed: Duration,
}

/// Runs `samples` renderings on `concurrency` threads after `warmup` ones. Each thread makes its
/// renderer by `connect`; a renderer answers `None` for a failure.
///
/// # Errors
/// Where a thread cannot make its renderer.
pub fn closed_loop<R: FnMut() -> Option<Sample>>(
    concurrency: usize,
    warmup: usize,
    samples: usize,
    connect: impl Fn() -> Result<R, Failure> + Sync,
) -> Result<Run, Failure> {
    let run = Mutex::new(Run::default());
    let failure = Mutex::new(None);
    for (count, measured) in [(warmup, false), (samples, true)] {
        let next = AtomicUsize::new(0);
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..concurrency {
                scope.spawn(|| {
                    let mut render = match connect() {
                        Ok(render) => render,
                        Err(error) => {
                            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                            return;
                        }
                    };
                    while next.fetch_add(1, Ordering::Relaxed) < count {
                        let begun = Instant::now();
                        let sample = render();
                        let elapsed = begun.elapsed();
                        if measured {
                            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
                            run.add(sample, elapsed);
                        }
                    }
                });
            }
        });
        if let Some(error) = failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            return Err(error);
        }
        run.lock().unwrap_or_else(PoisonError::into_inner).elapsed = start.elapsed();
    }
    Ok(run.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Run {
    fn add(&mut self, sample: Option<Sample>, elapsed: Duration) {
        let Some(sample) = sample else {
            self.failures += 1;
            return;
        };
        self.durations_ms.push(elapsed.as_secs_f64() * 1e3);
        self.server_ms.extend(sample.server_ms);
        self.last = Some(sample);
    }
}

/// A cell with its percentiles.
#[derive(Debug)]
pub struct Cell {
    name: &'static str,
    rps: f64,
    client_ms: [f64; 3],
    server_ms: Option<f64>,
    sample: Option<Sample>,
    count: usize,
    /// Renderings that failed; any voids the cell.
    pub failures: usize,
}

/// Head of the table of cells.
pub const HEADER: &str = "\
| Cell | RPS | p50 | p95 | p99 | Server p50 | Pages | Output | Failures |
|---|---|---|---|---|---|---|---|---|";

impl Cell {
    /// The percentiles of a run.
    pub fn new(name: &'static str, mut run: Run) -> Self {
        run.durations_ms.sort_by(f64::total_cmp);
        run.server_ms.sort_by(f64::total_cmp);
        Self {
            name,
            rps: run.durations_ms.len() as f64 / run.elapsed.as_secs_f64().max(1e-9),
            client_ms: [0.50, 0.95, 0.99].map(|share| percentile(&run.durations_ms, share)),
            server_ms: (!run.server_ms.is_empty()).then(|| percentile(&run.server_ms, 0.5)),
            sample: run.last,
            count: run.durations_ms.len() + run.failures,
            failures: run.failures,
        }
    }

    /// A row of the table.
    pub fn to_row(&self) -> String {
        let [p50, p95, p99] = self.client_ms;
        let server = self
            .server_ms
            .map_or("-".to_owned(), |ms| format!("{ms:.1} ms"));
        let pages = self.sample.and_then(|sample| sample.pages);
        let pages = pages.map_or("-".to_owned(), |pages| pages.to_string());
        let size = self.sample.map_or(0, |sample| sample.size_bytes) as f64 / 1000.0;
        format!(
            "| {} | {:.1} | {p50:.2} ms | {p95:.2} ms | {p99:.2} ms | {server} | {pages} | {size:.1} kB | {}/{} |",
            self.name, self.rps, self.failures, self.count
        )
    }

    /// The same as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "cell": self.name,
            "requestsPerSecond": self.rps,
            "p50Ms": self.client_ms[0],
            "p95Ms": self.client_ms[1],
            "p99Ms": self.client_ms[2],
            "serverP50Ms": self.server_ms,
            "pages": self.sample.and_then(|sample| sample.pages),
            "sizeBytes": self.sample.map(|sample| sample.size_bytes),
            "failures": self.failures,
            "samples": self.count,
        })
    }
}

/// The value that `share` of the sorted values do not exceed; nearest rank.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(percentile(&values, 0.5), 50.0);
        assert_eq!(percentile(&values, 0.99), 99.0);
        assert_eq!(percentile(&[7.0], 0.95), 7.0);
    }

    #[test]
    fn every_sample_is_counted_once() {
        let run = closed_loop(4, 3, 50, || {
            Ok(|| {
                Some(Sample {
                    size_bytes: 1,
                    pages: None,
                    server_ms: None,
                })
            })
        })
        .unwrap();
        let cell = Cell::new("x", run);
        assert_eq!((cell.count, cell.failures), (50, 0));
    }
}

//! Load modes, and the record of each request.

mod batches;
mod closed;
mod open;

use std::time::{Duration, Instant};

pub use self::{batches::strict_batches, closed::closed_loop, open::open_loop};
use crate::Error;

/// Result of one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether it is the expected response.
    pub is_good: bool,
    /// HTTP status; 0 if there was no response.
    pub status: u16,
    /// Size of the body, in bytes.
    pub size_bytes: u64,
    /// Number of pages, if reported.
    pub pages: Option<u32>,
    /// Time in the service in microseconds, if reported.
    pub server_us: Option<u64>,
    /// Phases in the service in milliseconds, if reported.
    pub phases: Vec<(String, f64)>,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When it was sent, or should have been sent, in microseconds since the load started.
    pub start_us: u64,
    /// Time from then to the end of the response, in microseconds.
    pub client_us: u64,
    /// The result.
    pub outcome: Outcome,
}

/// All requests of a load, in the order of their start, and the total duration.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The requests.
    pub samples: Vec<Sample>,
    /// From the first start to the last end.
    pub elapsed: Duration,
}

/// How requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Each of `concurrency` clients sends the next request when it has received the response.
    Closed,
    /// `concurrency` requests at once; the next batch when all of them are answered.
    Batches,
    /// This many requests per second, regardless of earlier ones; times count from when a request
    /// should have been sent.
    Open(f64),
}

/// A load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The mode.
    pub mode: Mode,
    /// Number of clients.
    pub concurrency: usize,
    /// Number of requests before measuring.
    pub warmup: usize,
    /// Number of requests measured.
    pub samples: usize,
}

/// Maximum number of clients, which bounds memory.
pub const MAX_CONCURRENCY: usize = 1_024;
/// Maximum number of requests of a load, which bounds memory.
pub const MAX_SAMPLES: usize = 1_000_000;

impl Load {
    /// A closed loop.
    #[must_use]
    pub fn closed(concurrency: usize, warmup: usize, samples: usize) -> Self {
        Self {
            mode: Mode::Closed,
            concurrency,
            warmup,
            samples,
        }
    }

    /// The same load in another mode.
    #[must_use]
    pub fn with(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sends the warm-up requests, then the measured ones. Each client is created by `connect`, on
    /// its own thread.
    ///
    /// # Errors
    /// A client cannot be created, or the load exceeds a limit.
    pub fn run<C>(&self, connect: impl Fn() -> Result<C, Error> + Sync) -> Result<Run, Error>
    where
        C: FnMut() -> Outcome,
    {
        let fits = (1..=MAX_CONCURRENCY).contains(&self.concurrency)
            && self.samples <= MAX_SAMPLES
            && self.warmup <= MAX_SAMPLES;
        if !fits {
            return Err(Error::argument(
                format!("{} requests by {} clients", self.samples, self.concurrency),
                format!("clients: 1 to {MAX_CONCURRENCY}; requests: at most {MAX_SAMPLES}"),
            ));
        }
        if self.warmup > 0 {
            closed_loop(self.concurrency, self.warmup, &connect)?;
        }
        match self.mode {
            Mode::Closed => closed_loop(self.concurrency, self.samples, connect),
            Mode::Batches => strict_batches(self.concurrency, self.samples, connect),
            Mode::Open(rate) => open_loop(rate, self.concurrency, self.samples, connect),
        }
    }
}

/// Collects the measurements of all client threads.
fn gather(
    start: Instant,
    threads: impl IntoIterator<Item = Result<Vec<Sample>, Error>>,
) -> Result<Run, Error> {
    let elapsed = start.elapsed();
    let mut samples = Vec::new();
    for thread in threads {
        samples.extend(thread?);
    }
    samples.sort_by_key(|sample| sample.start_us);
    Ok(Run { samples, elapsed })
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The result of a client's thread; an error if it has panicked.
fn joined(
    thread: std::thread::ScopedJoinHandle<'_, Result<Vec<Sample>, Error>>,
) -> Result<Vec<Sample>, Error> {
    let result = thread.join();
    result.unwrap_or_else(|_| Err(Error::program("client", "a client panicked")))
}

//! Ways of putting load on something, and what each request says of itself.

mod batches;
mod closed;
mod open;

use std::time::{Duration, Instant};

pub use self::{batches::strict_batches, closed::closed_loop, open::open_loop};
use crate::Error;

/// What one request came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether it is what was asked for.
    pub is_good: bool,
    /// HTTP status; 0 where there was no answer.
    pub status: u16,
    /// Bytes of the body.
    pub size_bytes: u64,
    /// Pages, where the service says.
    pub pages: Option<u32>,
    /// Time in the service, where it says.
    pub server_us: Option<u64>,
    /// Phases in the service with their milliseconds, where it says.
    pub phases: Vec<(String, f64)>,
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Since the load began: when it was, or should have been, sent.
    pub start_us: u64,
    /// From then to the end of the answer.
    pub client_us: u64,
    /// What it came to.
    pub outcome: Outcome,
}

/// Every request of a load, in the order of their starts, and how long all took.
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
    /// Each of `concurrency` clients sends the next request when it has its answer.
    Closed,
    /// `concurrency` requests at once, the next as many when all of them are answered.
    Batches,
    /// So many requests a second, whatever becomes of those before; times count from when a request
    /// should have been sent.
    Open(f64),
}

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// How.
    pub mode: Mode,
    /// Clients.
    pub concurrency: usize,
    /// Requests before measuring.
    pub warmup: usize,
    /// Requests measured.
    pub samples: usize,
}

/// The most clients, and the most requests of a load: memory stays bounded.
pub const MAX_CONCURRENCY: usize = 1_024;
/// See [`MAX_CONCURRENCY`].
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

    /// The same load sent another way.
    #[must_use]
    pub fn with(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sends the requests that warm up, then those that are measured. Each client is made by
    /// `connect`, which is called from its own thread.
    ///
    /// # Errors
    /// Where a client cannot be made, and for loads beyond the bounds.
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

/// Gathers what each client's thread measured.
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

/// The result of a client's thread; one that panicked has none.
fn joined(
    thread: std::thread::ScopedJoinHandle<'_, Result<Vec<Sample>, Error>>,
) -> Result<Vec<Sample>, Error> {
    let result = thread.join();
    result.unwrap_or_else(|_| Err(Error::program("client", "a client panicked")))
}

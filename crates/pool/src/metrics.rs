//! Metrics of a pool: plain atomics, and a snapshot of them.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Upper bounds of the histogram buckets, in seconds.
pub const BOUNDS_SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// Why a child was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its process exited, or its connection broke.
    Crashed,
    /// Its job timed out.
    Deadline,
    /// It reached `max_jobs`.
    RecycledJobs,
    /// It held more than `recycle_memory_bytes` after a job.
    RecycledMemory,
    /// It exceeded `kill_memory_bytes` during a job and was killed.
    MemoryExceeded,
    /// It failed a health check.
    Unhealthy,
    /// The future of its job was dropped: its client disconnected.
    Cancelled,
    /// Its job or its driver asked for the replacement.
    Asked,
    /// It was surplus and idle for longer than `idle_timeout`.
    Idle,
    /// The pool shut down.
    ShutDown,
}

impl Reason {
    /// All reasons, in the order of their counters.
    pub const ALL: [Self; 10] = [
        Self::Crashed,
        Self::Deadline,
        Self::RecycledJobs,
        Self::RecycledMemory,
        Self::MemoryExceeded,
        Self::Unhealthy,
        Self::Cancelled,
        Self::Asked,
        Self::Idle,
        Self::ShutDown,
    ];

    /// The label in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Crashed => "crashed",
            Self::Deadline => "deadline",
            Self::RecycledJobs => "recycled-jobs",
            Self::RecycledMemory => "recycled-memory",
            Self::MemoryExceeded => "memory-exceeded",
            Self::Unhealthy => "unhealthy",
            Self::Cancelled => "cancelled",
            Self::Asked => "asked",
            Self::Idle => "idle",
            Self::ShutDown => "shut-down",
        }
    }
}

/// Why a job was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The queue was full.
    QueueFull,
    /// The deadline passed, in the queue or during the job.
    Deadline,
    /// The input had crashed too many processes.
    Poisonous,
    /// No child could be started.
    CannotStart,
    /// The pool is shutting down.
    ShuttingDown,
}

impl Refusal {
    /// All refusals, in the order of their counters.
    pub const ALL: [Self; 5] = [
        Self::QueueFull,
        Self::Deadline,
        Self::Poisonous,
        Self::CannotStart,
        Self::ShuttingDown,
    ];

    /// The label in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::Deadline => "deadline",
            Self::Poisonous => "poisonous",
            Self::CannotStart => "cannot-start",
            Self::ShuttingDown => "shutting-down",
        }
    }
}

/// A histogram of durations over [`BOUNDS_SECONDS`].
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS_SECONDS.len()],
    count: AtomicU64,
    sum_micros: AtomicU64,
}

impl Histogram {
    pub(crate) fn add(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        if let Some(index) = BOUNDS_SECONDS.iter().position(|bound| seconds <= *bound) {
            self.buckets[index].fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn mean(&self) -> Duration {
        let count = self.count.load(Ordering::Relaxed).max(1);
        Duration::from_micros(self.sum_micros.load(Ordering::Relaxed) / count)
    }

    fn snapshot(&self) -> HistogramSnapshot {
        HistogramSnapshot {
            buckets: std::array::from_fn(|index| self.buckets[index].load(Ordering::Relaxed)),
            count: self.count.load(Ordering::Relaxed),
            sum: Duration::from_micros(self.sum_micros.load(Ordering::Relaxed)),
        }
    }
}

/// A histogram at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HistogramSnapshot {
    /// Durations in each bucket of [`BOUNDS_SECONDS`], not cumulative. Longer ones are only in
    /// `count`.
    pub buckets: [u64; BOUNDS_SECONDS.len()],
    /// Number of durations.
    pub count: u64,
    /// Their sum.
    pub sum: Duration,
}

/// Counters of a pool. Relaxed atomics: a snapshot need not be consistent across counters.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) starts: AtomicU64,
    pub(crate) start_failures: AtomicU64,
    pub(crate) start_time: Histogram,
    pub(crate) retries: AtomicU64,
    pub(crate) waits: Histogram,
    pub(crate) jobs: Histogram,
    replaced: [AtomicU64; Reason::ALL.len()],
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Metrics {
    pub(crate) fn replaced(&self, reason: Reason) {
        self.replaced[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refused[refusal as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_to(&self, snapshot: &mut Snapshot) {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        snapshot.starts = load(&self.starts);
        snapshot.start_failures = load(&self.start_failures);
        snapshot.retries = load(&self.retries);
        snapshot.start_time = self.start_time.snapshot();
        snapshot.waits = self.waits.snapshot();
        snapshot.jobs = self.jobs.snapshot();
        snapshot.replaced =
            Reason::ALL.map(|reason| (reason, load(&self.replaced[reason as usize])));
        snapshot.refused =
            Refusal::ALL.map(|refusal| (refusal, load(&self.refused[refusal as usize])));
    }
}

/// State and counters of a pool at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Jobs waiting for a slot.
    pub waiting: usize,
    /// Slots in use.
    pub in_use: usize,
    /// Slots of both lanes.
    pub slots: usize,
    /// Idle child processes.
    pub idle: usize,
    /// Child processes being started.
    pub starting: usize,
    /// All children, including those starting and stopping.
    pub children: usize,
    /// Memory of all children at the last measurement, in bytes.
    pub memory_bytes: u64,
    /// Children started.
    pub starts: u64,
    /// Failed starts.
    pub start_failures: u64,
    /// Jobs retried because their child crashed.
    pub retries: u64,
    /// Duration of starts.
    pub start_time: HistogramSnapshot,
    /// Time that jobs waited for a slot and a child.
    pub waits: HistogramSnapshot,
    /// Duration of jobs on their child.
    pub jobs: HistogramSnapshot,
    /// Replaced children by reason.
    pub replaced: [(Reason, u64); Reason::ALL.len()],
    /// Refused jobs by reason.
    pub refused: [(Refusal, u64); Refusal::ALL.len()],
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            waiting: 0,
            in_use: 0,
            slots: 0,
            idle: 0,
            starting: 0,
            children: 0,
            memory_bytes: 0,
            starts: 0,
            start_failures: 0,
            retries: 0,
            start_time: HistogramSnapshot::default(),
            waits: HistogramSnapshot::default(),
            jobs: HistogramSnapshot::default(),
            replaced: Reason::ALL.map(|reason| (reason, 0)),
            refused: Refusal::ALL.map(|refusal| (refusal, 0)),
        }
    }
}

impl Snapshot {
    /// Children replaced for this reason.
    #[must_use]
    pub fn replaced(&self, reason: Reason) -> u64 {
        self.replaced[reason as usize].1
    }

    /// Jobs refused for this reason.
    #[must_use]
    pub fn refused(&self, refusal: Refusal) -> u64 {
        self.refused[refusal as usize].1
    }
}

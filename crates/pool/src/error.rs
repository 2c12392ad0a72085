//! Errors of starts and jobs, and what the end of a job means for its child.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error + 'static> {
    /// The queue is full.
    #[error("queue full; retry in {} s", .retry_after.as_secs().max(1))]
    QueueFull {
        /// When to try again.
        retry_after: Duration,
    },
    /// The job timed out. The wait for a slot counts.
    #[error("timed out after {} ms, {} ms of them in the queue", .timeout.as_millis(), .waited.as_millis())]
    DeadlinePassed {
        /// The timeout.
        timeout: Duration,
        /// Time spent waiting for a slot and a child.
        waited: Duration,
    },
    /// This input crashed processes before, so it is refused for a while.
    #[error("input refused: the process crashed on it {crashes} times")]
    Poisonous {
        /// Number of crashes.
        crashes: u32,
    },
    /// The process exited after part of the result had been delivered, so the job cannot be
    /// retried.
    #[error("process exited mid-response")]
    CrashedMidway(#[source] Option<E>),
    /// The job exceeded its memory limit.
    #[error("memory limit of {limit_bytes} bytes exceeded")]
    MemoryExceeded {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// No process could be started.
    #[error("{kind} cannot be started")]
    CannotStart {
        /// [`Driver::name`](crate::Driver::name) of the pool.
        kind: &'static str,
        /// When to try again.
        retry_after: Duration,
        /// Why.
        #[source]
        source: Arc<StartError>,
    },
    /// The pool is shutting down.
    #[error("shutting down")]
    ShuttingDown,
    /// The job's own error.
    #[error(transparent)]
    Job(E),
}

/// Why a child did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program is not installed.
    #[error("{program} is not installed: {hint}")]
    NotInstalled {
        /// What was looked for.
        program: String,
        /// How to install it.
        hint: String,
    },
    /// The operating system refused to start it.
    #[error("{program} could not be started")]
    Spawn {
        /// The program, as given to [`Command::new`](crate::Command::new).
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The child's folder could not be created.
    #[error("{path} could not be prepared")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The program exited before it was ready.
    #[error("process exited before it was ready ({status}): {stderr}")]
    Ended {
        /// Exit status or signal.
        status: String,
        /// The last bytes of its standard error.
        stderr: String,
    },
    /// The program was not ready in time.
    #[error("start timed out after {} ms", .after.as_millis())]
    TimedOut {
        /// The timeout.
        after: Duration,
    },
    /// The program started but is unusable.
    #[error("{0}")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StartError {
    /// True if retrying is pointless until somebody intervenes.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::NotInstalled { .. })
    }
}

/// What the end of a job means for its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The child is healthy and takes the next job.
    Sound,
    /// The child is replaced; the error is the result.
    Replace,
    /// The child crashed or its connection broke. The job is retried once on a fresh child.
    Crashed,
    /// Like `Crashed`, but part of the result was delivered, so the job cannot be retried.
    CrashedMidway,
}

/// A failed job: the error and what it means for the child.
#[derive(Debug)]
pub struct JobError<E> {
    /// What went wrong.
    pub error: E,
    /// What it means for the child.
    pub verdict: Verdict,
}

impl<E> JobError<E> {
    /// The job failed; the child is healthy.
    pub fn sound(error: E) -> Self {
        let verdict = Verdict::Sound;
        Self { error, verdict }
    }

    /// The job failed and the child must be replaced.
    pub fn replace(error: E) -> Self {
        let verdict = Verdict::Replace;
        Self { error, verdict }
    }

    /// The child crashed during the job.
    pub fn crashed(error: E) -> Self {
        let verdict = Verdict::Crashed;
        Self { error, verdict }
    }

    /// The child crashed after part of the result was delivered.
    pub fn crashed_midway(error: E) -> Self {
        let verdict = Verdict::CrashedMidway;
        Self { error, verdict }
    }
}

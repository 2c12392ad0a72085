//! Why a child did not start, why a job failed, and what its end means for the child.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

/// Why a job did not give a result.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error + 'static> {
    /// The queue is full.
    #[error("too many jobs wait already; try again in {} s", .retry_after.as_secs().max(1))]
    QueueFull {
        /// When to try again.
        retry_after: Duration,
    },
    /// The deadline passed; the wait for a slot counts.
    #[error("not done within {} ms, of which {} ms were spent waiting", .timeout.as_millis(), .waited.as_millis())]
    DeadlinePassed {
        /// The time that was given.
        timeout: Duration,
        /// How much of it went into waiting for a slot and a child.
        waited: Duration,
    },
    /// The processes that worked on this input died, so it is not tried again for a while.
    #[error("the process that worked on this input died {deaths} times, so the input is refused")]
    Poisonous {
        /// Processes that died.
        deaths: u32,
    },
    /// The process died when part of the result had been delivered, so the job cannot be repeated.
    #[error("the process died when part of the result had been delivered")]
    DiedMidway(#[source] Option<E>),
    /// The job needed more memory than it may have.
    #[error("the job needed more than {limit_bytes} bytes of memory")]
    MemoryExceeded {
        /// The bound. Bytes.
        limit_bytes: u64,
    },
    /// No child could be started.
    #[error("{kind} cannot be started")]
    CannotStart {
        /// The kind of child.
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
    /// What the job itself says.
    #[error(transparent)]
    Job(E),
}

/// Why a child did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program is not on this machine.
    #[error("{program} is not installed: {hint}")]
    NotInstalled {
        /// What was looked for.
        program: String,
        /// How to install it.
        hint: String,
    },
    /// The operating system refused.
    #[error("{program} could not be started")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The child's folder could not be made.
    #[error("{path} could not be prepared")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The program ended before it was ready.
    #[error("it ended before it was ready ({status}): {stderr}")]
    Ended {
        /// How it ended.
        status: String,
        /// The end of what it wrote to its standard error.
        stderr: String,
    },
    /// The program was not ready in time.
    #[error("it was not ready within {} ms", .after.as_millis())]
    TimedOut {
        /// The time that was given.
        after: Duration,
    },
    /// It started, but does not do what it should.
    #[error("{0}")]
    Unusable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StartError {
    /// True where trying again soon is of no use.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::NotInstalled { .. })
    }
}

/// What the end of a job means for its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The child is sound and takes the next job.
    Sound,
    /// The child must be replaced; the error is the answer.
    Replace,
    /// The child died, or its connection broke, and it was not the job's doing alone: the job is
    /// repeated once on another child.
    Died,
    /// As `Died`, but part of the result has been delivered, so the job cannot be repeated.
    DiedMidway,
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
    /// The child is sound, the job is not.
    pub fn sound(error: E) -> Self {
        let verdict = Verdict::Sound;
        Self { error, verdict }
    }

    /// The child must be replaced.
    pub fn replace(error: E) -> Self {
        let verdict = Verdict::Replace;
        Self { error, verdict }
    }

    /// The child died under the job.
    pub fn died(error: E) -> Self {
        let verdict = Verdict::Died;
        Self { error, verdict }
    }

    /// The child died when part of the result had been delivered.
    pub fn died_midway(error: E) -> Self {
        let verdict = Verdict::DiedMidway;
        Self { error, verdict }
    }
}

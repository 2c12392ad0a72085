//! Why a page was not printed.

use std::{sync::Arc, time::Duration};

use platen_pool::StartError;

/// Why a page was not printed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Chromium is not on this machine.
    #[error("{0}")]
    NotInstalled(Arc<StartError>),
    /// Chromium is there but does not start.
    #[error("Chromium cannot be started")]
    CannotStart {
        /// When to try again.
        retry_after: Duration,
        /// Why.
        #[source]
        source: Arc<StartError>,
    },
    /// Too many pages wait already.
    #[error("too many pages wait already; try again in {} s", .retry_after.as_secs().max(1))]
    QueueFull {
        /// When to try again.
        retry_after: Duration,
    },
    /// The page was not ready and printed in time.
    #[error("the page was not printed within {} ms; last it {stage}", .timeout.as_millis())]
    Timeout {
        /// The time that was given, the wait for a slot included.
        timeout: Duration,
        /// What it was doing.
        stage: &'static str,
    },
    /// The page crashed, twice where it could be tried twice.
    #[error("the page crashed Chromium {deaths} times, so it is refused")]
    Crashed {
        /// Crashes.
        deaths: u32,
    },
    /// Chromium died when part of the result had been delivered.
    #[error("Chromium died when part of the result had been delivered")]
    DiedMidway,
    /// The page needed too much memory.
    #[error("the page needed more than {limit_bytes} bytes of memory")]
    MemoryExceeded {
        /// The bound. Bytes.
        limit_bytes: u64,
    },
    /// The result is larger than it may be.
    #[error("the result is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The bound. Bytes.
        limit_bytes: u64,
    },
    /// The page asked for what it may not have; only where the job wants that to be an error, or
    /// where it is the page itself.
    #[error("the page may not load {}", .0.join(", "))]
    RequestDenied(Vec<String>),
    /// The page could not be loaded.
    #[error("the page could not be loaded: {0}")]
    NotLoaded(String),
    /// The page threw exceptions, and the job wants that to be an error.
    #[error("the page threw: {}", .0.join("; "))]
    Exceptions(Vec<String>),
    /// An option has a value that it cannot have.
    #[error("{option}: {problem}")]
    BadOption {
        /// The option, as in JSON.
        option: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Chromium refused a command.
    #[error("Chromium refused {method}: {message}")]
    Refused {
        /// The command.
        method: &'static str,
        /// Its words.
        message: String,
    },
    /// The connection to Chromium broke.
    #[error("the connection to Chromium broke")]
    Disconnected,
    /// The page itself crashed.
    #[error("the page crashed")]
    PageCrashed,
    /// The service shuts down.
    #[error("shutting down")]
    ShuttingDown,
}

impl Error {
    pub(crate) fn bad_option(option: &'static str, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self::BadOption { option, problem }
    }

    /// A stable name for callers.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotInstalled(_) => "chromium-not-installed",
            Self::CannotStart { .. } => "chromium-unavailable",
            Self::QueueFull { .. } => "queue-full",
            Self::ShuttingDown => "shutting-down",
            Self::Timeout { .. } => "deadline-passed",
            Self::BadOption { .. } => "request-invalid",
            Self::Crashed { .. } => "page-crashed",
            Self::MemoryExceeded { .. } => "page-memory",
            Self::TooLarge { .. } => "page-too-large",
            Self::RequestDenied(_) => "request-denied",
            Self::NotLoaded(_) => "page-not-loaded",
            Self::Exceptions(_) => "page-exception",
            Self::DiedMidway | Self::Refused { .. } | Self::Disconnected | Self::PageCrashed => {
                "chromium-failed"
            }
        }
    }

    /// What the pool says, in words of pages.
    pub(crate) fn of_pool(error: platen_pool::Error<Self>, stage: &'static str) -> Self {
        use platen_pool::Error as Pool;
        match error {
            Pool::QueueFull { retry_after } => Self::QueueFull { retry_after },
            Pool::DeadlinePassed { timeout, .. } => Self::Timeout { timeout, stage },
            Pool::Poisonous { deaths } => Self::Crashed { deaths },
            Pool::DiedMidway(_) => Self::DiedMidway,
            Pool::MemoryExceeded { limit_bytes } => Self::MemoryExceeded { limit_bytes },
            Pool::CannotStart { source, .. } if source.is_permanent() => Self::NotInstalled(source),
            Pool::CannotStart {
                retry_after,
                source,
                ..
            } => Self::CannotStart {
                retry_after,
                source,
            },
            Pool::ShuttingDown => Self::ShuttingDown,
            Pool::Job(error) => error,
        }
    }
}

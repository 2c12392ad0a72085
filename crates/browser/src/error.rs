//! Errors of printing.

use std::{sync::Arc, time::Duration};

use platen_fault::{Backend, Code, Stage, What};
use platen_pool::StartError;

/// Why a page was not printed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Chromium is not installed.
    #[error("{0}")]
    NotInstalled(Arc<StartError>),
    /// Chromium is installed but fails to start.
    #[error("Chromium failed to start")]
    CannotStart {
        /// When to try again.
        retry_after: Duration,
        /// The cause.
        #[source]
        source: Arc<StartError>,
    },
    /// The queue is full.
    #[error("queue full: too many pages are waiting; retry in {} s", .retry_after.as_secs().max(1))]
    QueueFull {
        /// When to try again.
        retry_after: Duration,
    },
    /// The job timed out.
    #[error("page timed out after {} ms while {stage}", .timeout.as_millis())]
    Timeout {
        /// The timeout, including the wait for a slot.
        timeout: Duration,
        /// The stage at that time.
        stage: &'static str,
    },
    /// The page crashed Chromium, twice if it could be retried.
    #[error("page refused: it crashed Chromium {crashes} times")]
    Crashed {
        /// Number of crashes.
        crashes: u32,
    },
    /// Chromium exited after the first bytes had been sent.
    #[error("Chromium exited mid-response")]
    CrashedMidway,
    /// The page exceeded its memory limit.
    #[error("page exceeded its memory limit of {limit_bytes} bytes")]
    MemoryExceeded {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The result is too large.
    #[error("the result is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The page is too large for Chromium.
    #[error("the page, or its header and footer, takes more than {limit_bytes} bytes as JSON")]
    PageTooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The page requested an address that is not allowed. Only if the job treats that as an error,
    /// or if the address is that of the page itself.
    #[error("the page may not load {}", .0.join(", "))]
    RequestDenied(Vec<String>),
    /// The page could not be loaded.
    #[error("the page could not be loaded: {0}")]
    NotLoaded(String),
    /// The page threw exceptions, and the job treats them as errors.
    #[error("the page threw: {}", .0.join("; "))]
    Exceptions(Vec<String>),
    /// An option has an invalid value.
    #[error("{option}: {problem}")]
    BadOption {
        /// The option, as in JSON.
        option: &'static str,
        /// The problem.
        problem: String,
    },
    /// Chromium rejected a command.
    #[error("Chromium rejected {method}: {message}")]
    Refused {
        /// The command.
        method: &'static str,
        /// Chromium's message.
        message: String,
    },
    /// Chromium disconnected.
    #[error("Chromium disconnected")]
    Disconnected,
    /// The page itself crashed.
    #[error("page crashed")]
    PageCrashed,
    /// The service is shutting down.
    #[error("shutting down")]
    ShuttingDown,
}

impl Error {
    pub(crate) fn bad_option(option: &'static str, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self::BadOption { option, problem }
    }

    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotInstalled(_) => Code::BackendMissing(Backend::Chromium),
            Self::CannotStart { .. } => Code::BackendUnavailable(Backend::Chromium),
            Self::QueueFull { .. } => Code::Overloaded(What::Queue),
            Self::ShuttingDown => Code::ShuttingDown,
            Self::Timeout { .. } => Code::Timeout(Stage::Page),
            Self::BadOption { .. } => Code::InvalidOption,
            Self::Crashed { .. } => Code::CrashingInput(Backend::Chromium),
            Self::MemoryExceeded { limit_bytes } => Code::MemoryLimit(Stage::Page, *limit_bytes),
            Self::TooLarge { limit_bytes } => Code::TooLarge(What::Result, *limit_bytes),
            Self::PageTooLarge { limit_bytes } => Code::TooLarge(What::Document, *limit_bytes),
            Self::RequestDenied(_) => Code::AddressDenied,
            Self::NotLoaded(_) => Code::PageNotLoaded,
            Self::Exceptions(_) => Code::PageException,
            Self::CrashedMidway | Self::Refused { .. } | Self::Disconnected | Self::PageCrashed => {
                Code::BackendCrashed(Backend::Chromium)
            }
        }
    }

    /// Maps an error of the pool.
    pub(crate) fn of_pool(error: platen_pool::Error<Self>, stage: &'static str) -> Self {
        use platen_pool::Error as Pool;
        match error {
            Pool::QueueFull { retry_after } => Self::QueueFull { retry_after },
            Pool::DeadlinePassed { timeout, .. } => Self::Timeout { timeout, stage },
            Pool::Poisonous { crashes } => Self::Crashed { crashes },
            Pool::CrashedMidway(_) => Self::CrashedMidway,
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

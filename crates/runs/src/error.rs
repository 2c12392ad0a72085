//! Why something cannot be done with a run.

use platen_document::Diagnostic;
use platen_fault::{Code, Resource, What};
use platen_storage::Error as Store;

/// Why something cannot be done with a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such flow, version of it, or run.
    #[error("there is no such {}", .0.as_str())]
    NotFound(Resource),
    /// The flow has no published version.
    #[error("the flow is not published")]
    NotPublished,
    /// The flow has errors.
    #[error("the flow has errors")]
    Flow(Vec<Diagnostic>),
    /// The queue is full.
    #[error("the queue is full: {waiting} runs are waiting")]
    Full {
        /// Runs that wait in it.
        waiting: usize,
    },
    /// The idempotency key belongs to a different request.
    #[error("the idempotency key was used for another request")]
    Reused,
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// The run has not ended.
    #[error("the run has not ended yet")]
    NotEnded,
    /// The run cannot continue from that step.
    #[error("{0}")]
    Retry(String),
    /// The service is shutting down and accepts no new runs.
    #[error("the service is shutting down")]
    Draining,
    /// The store failed.
    #[error("run store failed")]
    Store(#[source] Store),
}

impl Error {
    /// An error of the store about a flow; without this, it is about a run.
    pub(crate) fn of_flow(error: Store) -> Self {
        match error {
            Store::NotFound => Self::NotFound(Resource::Flow),
            other => other.into(),
        }
    }

    /// The error's code, which does not change.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound(resource) => Code::NotFound(*resource),
            Self::NotPublished => Code::NotFound(Resource::Publication),
            Self::Flow(_) => Code::InvalidFlow,
            Self::Full { .. } => Code::Overloaded(What::Runs),
            Self::Reused => Code::IdempotencyKeyReused,
            Self::Ended => Code::RunEnded,
            Self::NotEnded => Code::RunNotEnded,
            Self::Retry(_) => Code::InvalidRequest,
            Self::Draining => Code::ShuttingDown,
            Self::Store(error) => error.code(Resource::Run),
        }
    }
}

impl From<Store> for Error {
    fn from(error: Store) -> Self {
        match error {
            Store::NotFound => Self::NotFound(Resource::Run),
            Store::Ended => Self::Ended,
            other => Self::Store(other),
        }
    }
}

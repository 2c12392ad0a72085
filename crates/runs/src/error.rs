//! Why something cannot be done with a run.

use platen_document::Diagnostic;
use platen_storage::Error as Store;

/// Why something cannot be done with a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such flow, version or run.
    #[error("there is no such flow or run")]
    NotFound,
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

impl From<Store> for Error {
    fn from(error: Store) -> Self {
        match error {
            Store::NotFound => Self::NotFound,
            Store::Ended => Self::Ended,
            other => Self::Store(other),
        }
    }
}

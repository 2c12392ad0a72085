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
    /// The flow has mistakes.
    #[error("the flow has mistakes")]
    Flow(Vec<Diagnostic>),
    /// Too many runs wait already.
    #[error("{waiting} runs wait already")]
    Full {
        /// How many.
        waiting: usize,
    },
    /// The key of the request was used for another request.
    #[error("the idempotency key was used for another request")]
    Reused,
    /// The run is over.
    #[error("the run is over")]
    Ended,
    /// The run is not over.
    #[error("the run is not over yet")]
    NotEnded,
    /// The run cannot go on from that step.
    #[error("{0}")]
    Retry(String),
    /// No new runs are taken on: the service is about to end.
    #[error("the service is about to end")]
    Draining,
    /// The store failed.
    #[error("the store of runs failed")]
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

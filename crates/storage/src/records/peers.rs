//! Signals between services that share a store, and leases of work that one of them does at a time.
//!
//! Signals spare waiting, nothing depends on them: they may be late, lost or repeated, so each
//! service also looks at the rows from time to time.

use std::time::Duration;

use tokio::sync::broadcast;

use super::{
    StoreFuture,
    runs::{Claimed, Lease, Queued},
};

/// Something that other services should know at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A queued run for which the sender has no free slot, by its id.
    Ready(String),
    /// A run that has answered or ended, by its id.
    Answered(String),
    /// A run that was stopped from outside, by its id.
    Stopped(String),
    /// A flow was published or unpublished.
    Published,
    /// A template was written or deleted, by its key.
    Template(String),
    /// A flow was written or deleted, by its key.
    Flow(String),
    /// An API key was made or deleted.
    Keys,
    /// What clients used of a limit that counts in all services; the sender says how to read it.
    Used(String),
    /// Signals may have been lost: anything may have changed.
    Missed,
}

/// The name of a worker that is connected to a service, as its leases have it.
#[must_use]
pub fn worker_of(service: &str, worker: &str) -> String {
    format!("{worker}@{service}")
}

/// The other services on the same store.
pub trait Peers: Send + Sync {
    /// Sends a signal to the other services, soon and without a promise.
    fn notify(&self, signal: Signal);

    /// Receives the signals of other services from now on. A receiver that falls behind has missed
    /// some.
    fn listen(&self) -> broadcast::Receiver<Signal>;

    /// Takes or extends the right to do the work `name` for the time `lease`; true if `holder` has
    /// it now. One holder has it at a time, by the clock of the store.
    fn lead(&self, name: &'static str, holder: String, lease: Duration) -> StoreFuture<'_, bool>;

    /// Names of the services that hold leases, as workers or with workers that are connected to them
    /// ([`worker_of`]), and are not there; `own` is there.
    fn lost(&self, own: String) -> StoreFuture<'_, Vec<String>>;

    /// Lets the leases that a service and its workers hold expire.
    fn release(&self, service: String) -> StoreFuture<'_, ()>;

    /// As [`claim`](super::runs::RunStore::claim), if fewer than `limit` runs of the flow are
    /// running anywhere; `None` if it has that many.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if the run is not queued any more.
    fn claim_within(
        &self,
        id: String,
        lease: Lease,
        limit: u32,
    ) -> StoreFuture<'_, Option<Claimed>>;

    /// Those of `ids` that are queued.
    fn queued_among(&self, ids: Vec<String>) -> StoreFuture<'_, Vec<Queued>>;

    /// Queued runs after the run with this number that were accepted before `before_ms`, oldest
    /// first.
    fn overdue(&self, before_ms: u64, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>>;

    /// Those of `ids` that have answered or ended.
    fn answered_among(&self, ids: Vec<String>) -> StoreFuture<'_, Vec<String>>;
}

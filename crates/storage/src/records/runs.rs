//! Runs of flows: accepted once, held by one worker at a time, ended once.
//!
//! A run is *queued*, then *running* under a lease of one worker, perhaps *waiting* in between, and
//! ends once. Each lease has an epoch; what a worker writes carries the epoch and is refused once the lease
//! has expired or another worker has the run. Instants are given by the caller, in milliseconds since
//! 1970.

use std::sync::Arc;

use serde::Serialize;

use super::StoreFuture;

/// A store of runs.
pub trait RunStore: Send + Sync {
    /// Accepts a run.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] and failures of the store; the run was not accepted then.
    fn accept(&self, new: NewRun) -> StoreFuture<'_, Accepted>;

    /// Gives a queued run to a worker: its lease has the epoch after the last one.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] where the run is not queued any more.
    fn claim(&self, id: String, lease: Lease) -> StoreFuture<'_, Claimed>;

    /// Extends leases, given as run and epoch. Returns those that are lost.
    fn heartbeat(
        &self,
        leases: Vec<(String, u32)>,
        now_ms: u64,
        until_ms: u64,
    ) -> StoreFuture<'_, Vec<(String, u32)>>;

    /// Adds records to the journal.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn append(&self, write: Write) -> StoreFuture<'_, ()>;

    /// Stores the answer of a run that continues.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn respond(&self, write: Write, answer: Arc<[u8]>) -> StoreFuture<'_, ()>;

    /// Suspends a run until `wake_ms` or a callback. True if a callback has arrived already: then
    /// the run is queued.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> StoreFuture<'_, bool>;

    /// Ends a run.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn finish(&self, write: Write, ending: Ending) -> StoreFuture<'_, ()>;

    /// Returns a run to the queue without counting a worker loss.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn release(&self, write: Write) -> StoreFuture<'_, ()>;

    /// Stores a value for later runs, or deletes it, while the lease lasts.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn put_value(
        &self,
        write: Write,
        scope: Scope,
        key: String,
        value: Option<Arc<[u8]>>,
    ) -> StoreFuture<'_, ()>;

    /// A stored value, for a run whose lease lasts.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn get_value(
        &self,
        hold: Hold,
        scope: Scope,
        key: String,
    ) -> StoreFuture<'_, Option<Arc<[u8]>>>;

    /// Checks that the lease of a run lasts.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if it does not.
    fn check_hold(&self, hold: Hold) -> StoreFuture<'_, ()>;

    /// Ends a run that is not over, whoever holds it. Returns its state before.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`]; [`crate::Error::Ended`] where it is over.
    fn stop(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, RunState>;

    /// Ends a run that is still queued; false if it is not.
    fn expire(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, bool>;

    /// Adds `records` from outside if `token` is the run's. Returns the state after: a run that
    /// waited is queued.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] also where the token is wrong; [`crate::Error::Ended`].
    fn call_back(&self, id: String, token: String, records: Arc<[u8]>)
    -> StoreFuture<'_, RunState>;

    /// Queues runs whose wake time has come, at most `limit`.
    fn wake(&self, now_ms: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>>;

    /// Takes runs from workers whose leases have expired, and counts a worker loss for each: a run
    /// is queued again, or dead-lettered at `max_worker_losses`.
    fn expire_leases(
        &self,
        now_ms: u64,
        max_worker_losses: u32,
        limit: u32,
    ) -> StoreFuture<'_, Vec<ExpiredLease>>;

    /// Expires the leases of a worker at once; of all workers if `worker` is `None`. Only leases of
    /// `culprit` count as worker losses, in [`RunStore::expire_leases`]; other runs are queued here.
    fn orphan(&self, worker: Option<String>, culprit: String) -> StoreFuture<'_, ()>;

    /// Queued runs after a number, oldest first.
    fn queued(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>>;

    /// A run.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`].
    fn get(&self, id: String) -> StoreFuture<'_, Run>;

    /// The journal of a run: lists of records, in order.
    fn journal(&self, id: String) -> StoreFuture<'_, Vec<Arc<[u8]>>>;

    /// Runs, newest first.
    fn list(&self, filter: RunFilter) -> StoreFuture<'_, Vec<Run>>;

    /// How many runs are queued, running and waiting.
    fn counts(&self) -> StoreFuture<'_, [u64; 3]>;

    /// Deletes runs that ended before an instant, at most `limit`. Returns their number.
    fn prune(&self, before_ms: u64, limit: u32) -> StoreFuture<'_, u64>;

    /// Sets the version of a flow that its triggers start; `None` unpublishes the flow.
    fn publish(&self, flow: String, version: Option<u32>) -> StoreFuture<'_, ()>;

    /// Published flows.
    fn published(&self) -> StoreFuture<'_, Vec<Published>>;

    /// Saves the cursor of a published flow's trigger.
    fn save_cursor(&self, flow: String, cursor: Arc<[u8]>) -> StoreFuture<'_, ()>;
}

/// Whether a caller waits for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Lane {
    /// A caller holds a connection open.
    Sync,
    /// No caller waits.
    Async,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It waits for a slot.
    Queued,
    /// A worker holds it.
    Running,
    /// It waits for an instant or a callback; no worker holds it.
    Waiting,
    /// It finished.
    Succeeded,
    /// A step failed for good.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It timed out.
    TimedOut,
    /// It was dead-lettered: too many workers were lost while they executed it.
    Dead,
}

impl RunState {
    /// All states, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::TimedOut,
        Self::Dead,
    ];

    /// Its name, as JSON and metrics show it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed-out",
            Self::Dead => "dead",
        }
    }

    /// Whether it is final.
    #[must_use]
    pub fn is_end(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

/// A run to be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Its name, unique for ever.
    pub id: String,
    /// Key of the flow.
    pub flow: String,
    /// The flow's version; 0 where `definition` is given.
    pub version: u32,
    /// A flow that is not stored.
    pub definition: Option<Arc<[u8]>>,
    /// Whether a caller waits.
    pub lane: Lane,
    /// The payload of the trigger, JSON.
    pub trigger: Arc<[u8]>,
    /// Idempotency key, and the hash of the request.
    pub idempotency: Option<(String, Vec<u8>)>,
    /// When the run expires if it has not started.
    pub deadline_ms: Option<u64>,
    /// Now.
    pub created_ms: u64,
    /// Token of the callback address.
    pub token: String,
    /// The run that this one repeats.
    pub retry_of: Option<String>,
    /// Records that it begins with.
    pub journal: Option<Arc<[u8]>>,
}

/// Result of [`RunStore::accept`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It was accepted.
    New,
    /// The same request was accepted before, as this run.
    Known {
        /// Its name.
        id: String,
        /// The requests are the same, not only their keys.
        same: bool,
    },
}

/// A lease to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker.
    pub worker: String,
    /// Now.
    pub now_ms: u64,
    /// When it expires.
    pub until_ms: u64,
}

/// A run that a worker has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The run.
    pub run: Run,
    /// Its journal so far.
    pub journal: Vec<Arc<[u8]>>,
}

/// What a worker writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The run.
    pub id: String,
    /// Of its lease.
    pub epoch: u32,
    /// Now.
    pub now_ms: u64,
    /// Records to be added to the journal: a JSON list.
    pub records: Option<Arc<[u8]>>,
}

/// The lease under which a worker reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The run.
    pub id: String,
    /// Of its lease.
    pub epoch: u32,
    /// Now.
    pub now_ms: u64,
}

/// Scope of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The flow of the run: other flows neither see nor change the value.
    Flow,
    /// All flows.
    Shared,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its last state.
    pub state: RunState,
    /// The answer to the request, JSON; one that was stored earlier stays.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, JSON.
    pub details: Arc<[u8]>,
}

/// A run that waits for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Its place among all runs.
    pub number: u64,
    /// Its name.
    pub id: String,
    /// Key of its flow.
    pub flow: String,
    /// Whether a caller waits.
    pub lane: Lane,
    /// When it expires.
    pub deadline_ms: Option<u64>,
}

/// A run whose lease has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredLease {
    /// The run, queued again unless it is dead.
    pub queued: Queued,
    /// It was dead-lettered.
    pub dead: bool,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its place among all runs.
    pub number: u64,
    /// Its name.
    pub id: String,
    /// Key of the flow.
    pub flow: String,
    /// The flow's version; 0 where `definition` is given.
    pub version: u32,
    /// A flow that is not stored.
    pub definition: Option<Arc<[u8]>>,
    /// Whether a caller waits.
    pub lane: Lane,
    /// Its state.
    pub state: RunState,
    /// Of its last lease.
    pub epoch: u32,
    /// Workers lost while they executed it.
    pub worker_losses: u32,
    /// The worker that holds it, or held it last.
    pub worker: Option<String>,
    /// When it wakes.
    pub wake_ms: Option<u64>,
    /// When it expires if it has not started.
    pub deadline_ms: Option<u64>,
    /// When it was accepted.
    pub created_ms: u64,
    /// When a worker first claimed it.
    pub started_ms: Option<u64>,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// Token of the callback address.
    pub token: String,
    /// The run that it repeats.
    pub retry_of: Option<String>,
    /// The payload of the trigger, JSON.
    pub trigger: Arc<[u8]>,
    /// The answer, JSON.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, JSON.
    pub details: Option<Arc<[u8]>>,
}

/// Filter of a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Of this flow.
    pub flow: Option<String>,
    /// In this state.
    pub state: Option<RunState>,
    /// Older than the run of this number.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u32,
}

/// A published flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Key of the flow.
    pub flow: String,
    /// The version that is started.
    pub version: u32,
    /// Cursor of its trigger, JSON.
    pub cursor: Option<Arc<[u8]>>,
}

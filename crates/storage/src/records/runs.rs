//! Runs of flows: accepted once, held by one worker at a time, ended once.
//!
//! A run is *queued*, then *running* under a worker's lease, possibly *waiting* in between, and
//! ends once. Each lease has an epoch. Every write of a worker carries its epoch and is refused
//! once the lease has expired or another worker holds the run. Callers pass times in milliseconds
//! since 1970-01-01T00:00:00Z.

use std::sync::Arc;

use serde::Serialize;

use super::StoreFuture;

/// A store of runs.
pub trait RunStore: Send + Sync {
    /// The time that callers pass, by the clock that everybody who uses the store shares:
    /// milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> u64;

    /// Accepts a run.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] and failures of the store; in both cases the run was not accepted.
    /// After [`crate::Error::Unavailable`] it may have been: repeat it with the same id and token,
    /// or with the same idempotency key.
    fn accept(&self, new: NewRun) -> StoreFuture<'_, Accepted>;

    /// Gives a queued run to a worker. Its lease gets the next epoch.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if the run is not queued any more.
    fn claim(&self, id: String, lease: Lease) -> StoreFuture<'_, Claimed>;

    /// Extends leases, each given as run and epoch. Returns those that are lost.
    fn heartbeat(
        &self,
        leases: Vec<(String, u32)>,
        now_ms: u64,
        until_ms: u64,
    ) -> StoreFuture<'_, Vec<(String, u32)>>;

    /// Appends records to the journal.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn append(&self, write: Write) -> StoreFuture<'_, ()>;

    /// Stores the answer of a run that continues. An earlier answer stays.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn respond(&self, write: Write, answer: Arc<[u8]>) -> StoreFuture<'_, ()>;

    /// Suspends a run until `wake_ms` or a callback. Returns true if a callback has arrived
    /// already, in which case the run is queued.
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

    /// Stores a value for later runs; `None` deletes it.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if the lease has expired.
    fn put_value(
        &self,
        write: Write,
        scope: Scope,
        key: String,
        value: Option<Arc<[u8]>>,
    ) -> StoreFuture<'_, ()>;

    /// Reads a stored value.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if the lease has expired.
    fn get_value(
        &self,
        hold: Hold,
        scope: Scope,
        key: String,
    ) -> StoreFuture<'_, Option<Arc<[u8]>>>;

    /// Checks that the lease of a run is still valid.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if it is not.
    fn check_hold(&self, hold: Hold) -> StoreFuture<'_, ()>;

    /// Ends a run that has not ended yet, whoever holds it. Returns its state before.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`]; [`crate::Error::Ended`] if it has ended.
    fn stop(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, RunState>;

    /// Ends a run that is still queued; false if it is not.
    fn expire(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, bool>;

    /// How many callbacks a run has had; the journal that it began with counts as one.
    fn callbacks(&self, id: String) -> StoreFuture<'_, u64>;

    /// Appends `records` from a callback if `token` is that of the run, and if it has had `seen`
    /// callbacks and no more. Returns the state afterwards: a waiting run is queued.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], also if the token is wrong; [`crate::Error::Ended`];
    /// [`crate::Error::Called`].
    fn call_back(
        &self,
        id: String,
        token: String,
        records: Arc<[u8]>,
        seen: u64,
    ) -> StoreFuture<'_, RunState>;

    /// Queues runs whose wake time has come, at most `limit`.
    fn wake(&self, now_ms: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>>;

    /// Takes runs from workers whose leases have expired, and counts a worker loss for each. The
    /// run is queued again, or dead-lettered at `max_worker_losses`.
    fn expire_leases(
        &self,
        now_ms: u64,
        max_worker_losses: u32,
        limit: u32,
    ) -> StoreFuture<'_, Vec<ExpiredLease>>;

    /// Expires the leases of a worker at once, or of all workers if `worker` is `None`. Only the
    /// leases of `culprit` count as worker losses, in [`RunStore::expire_leases`]; the other runs
    /// are queued here.
    fn orphan(&self, worker: Option<String>, culprit: String) -> StoreFuture<'_, ()>;

    /// Queued runs after the run with this number, oldest first.
    fn queued(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>>;

    /// A run.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`].
    fn get(&self, id: String) -> StoreFuture<'_, Run>;

    /// The head of a run: its values of more than [`MAX_HEAD_BYTES`] are empty, and it has no trace. A run may have
    /// hundreds of megabytes of output: read the head where they are not needed.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`].
    fn head(&self, id: String) -> StoreFuture<'_, Run>;

    /// The journal of a run: JSON lists of records, in order.
    fn journal(&self, id: String) -> StoreFuture<'_, Vec<Arc<[u8]>>>;

    /// The next list of a run's journal behind a position, and its own position; `None` behind the last one.
    /// What is before the first is behind position 0. Journals may be large: who does not need all of one at
    /// once reads it like this.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`].
    fn journal_after(&self, id: String, position: i64) -> StoreFuture<'_, NextRecords>;

    /// The heads of runs, newest first.
    fn list(&self, filter: RunFilter) -> StoreFuture<'_, Vec<Run>>;

    /// How many runs are queued, running and waiting.
    fn counts(&self) -> StoreFuture<'_, [u64; 3]>;

    /// Deletes runs that ended before `before_ms`, at most `limit`. Returns their number.
    fn prune(&self, before_ms: u64, limit: u32) -> StoreFuture<'_, u64>;

    /// Sets the version of a flow that its triggers start; `None` unpublishes the flow.
    fn publish(&self, flow: String, version: Option<u32>) -> StoreFuture<'_, ()>;

    /// Published flows.
    fn published(&self) -> StoreFuture<'_, Vec<Published>>;

    /// Saves the cursor of a published flow's trigger.
    fn save_cursor(&self, flow: String, cursor: Arc<[u8]>) -> StoreFuture<'_, ()>;
}

/// The next list of a journal, with its position; `None` if there is none.
pub type NextRecords = Option<(i64, Arc<[u8]>)>;

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
    /// Waits for a slot.
    Queued,
    /// A worker holds the run.
    Running,
    /// Waits for a time or a callback; no worker holds the run.
    Waiting,
    /// Finished.
    Succeeded,
    /// A step has failed for good.
    Failed,
    /// Was cancelled.
    Cancelled,
    /// Timed out.
    TimedOut,
    /// Was dead-lettered: too many workers were lost while they executed it.
    Dead,
}

impl RunState {
    /// All states, in the order of their numbers in the database.
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

    /// Its name in JSON and metrics.
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

    /// Whether the state is final.
    #[must_use]
    pub fn is_end(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

/// A run to accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Id of the run, unique forever.
    pub id: String,
    /// Key of the flow.
    pub flow: String,
    /// Version of the flow; 0 if it is not stored.
    pub version: u32,
    /// The flow as JSON, if it is not stored or was shortened to one of its steps.
    pub definition: Option<Arc<[u8]>>,
    /// Whether a caller waits.
    pub lane: Lane,
    /// Payload of the trigger, as JSON.
    pub trigger: Arc<[u8]>,
    /// Idempotency key and hash of the request.
    pub idempotency: Option<(String, Vec<u8>)>,
    /// When the run expires if it has not started by then.
    pub deadline_ms: Option<u64>,
    /// The current time.
    pub created_ms: u64,
    /// Token of the callback URL.
    pub token: String,
    /// The run that this one repeats.
    pub retry_of: Option<String>,
    /// Trace that the run belongs to: a value of W3C's `traceparent`.
    pub trace: Option<String>,
    /// Records that the journal begins with.
    pub journal: Option<Arc<[u8]>>,
}

/// Result of [`RunStore::accept`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The run was accepted.
    New,
    /// A request with the same idempotency key was accepted before.
    Known {
        /// Id of its run.
        id: String,
        /// Whether the requests are the same too, not only their keys.
        same: bool,
    },
}

/// A lease to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker.
    pub worker: String,
    /// The current time.
    pub now_ms: u64,
    /// When the lease expires.
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

/// A write of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The run.
    pub id: String,
    /// Epoch of the lease.
    pub epoch: u32,
    /// The current time.
    pub now_ms: u64,
    /// Records to append to the journal, as a JSON list.
    pub records: Option<Arc<[u8]>>,
}

/// The lease under which a worker reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The run.
    pub id: String,
    /// Epoch of the lease.
    pub epoch: u32,
    /// The current time.
    pub now_ms: u64,
}

/// Scope of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The flow of the run: other flows can neither read nor change the value.
    Flow,
    /// All flows.
    Shared,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The final state.
    pub state: RunState,
    /// Response to the request, as JSON; an earlier one stays.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, as JSON.
    pub details: Arc<[u8]>,
}

/// A run that waits for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Sequence number among all runs.
    pub number: u64,
    /// Id of the run.
    pub id: String,
    /// Key of the flow.
    pub flow: String,
    /// Whether a caller waits.
    pub lane: Lane,
    /// When the run expires if it has not started by then.
    pub deadline_ms: Option<u64>,
}

impl Queued {
    /// Whether it has waited for too long.
    #[must_use]
    pub fn is_late(&self, now_ms: u64) -> bool {
        self.deadline_ms.is_some_and(|deadline| deadline < now_ms)
    }
}

/// A run whose lease has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiredLease {
    /// The run, queued again unless it was dead-lettered.
    pub queued: Queued,
    /// Epoch of the lease.
    pub epoch: u32,
    /// Whether it was dead-lettered.
    pub dead: bool,
}

/// Definition, trigger, answer and details of more bytes are empty in the head of a run.
pub const MAX_HEAD_BYTES: usize = 16 << 10;

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Sequence number among all runs.
    pub number: u64,
    /// Id of the run.
    pub id: String,
    /// Key of the flow.
    pub flow: String,
    /// Version of the flow; 0 if it is not stored.
    pub version: u32,
    /// The flow as JSON, if it is not stored or was shortened to one of its steps.
    pub definition: Option<Arc<[u8]>>,
    /// Whether a caller waits.
    pub lane: Lane,
    /// Its state.
    pub state: RunState,
    /// Epoch of the last lease.
    pub epoch: u32,
    /// Number of workers lost while they executed the run.
    pub worker_losses: u32,
    /// The worker that holds the run, or held it last.
    pub worker: Option<String>,
    /// When the run wakes.
    pub wake_ms: Option<u64>,
    /// When the run expires if it has not started by then.
    pub deadline_ms: Option<u64>,
    /// When the run was accepted.
    pub created_ms: u64,
    /// When a worker first claimed the run.
    pub started_ms: Option<u64>,
    /// When the run ended.
    pub ended_ms: Option<u64>,
    /// Token of the callback URL.
    pub token: String,
    /// The run that this one repeats.
    pub retry_of: Option<String>,
    /// Trace that the run belongs to: a value of W3C's `traceparent`.
    pub trace: Option<String>,
    /// Payload of the trigger, as JSON.
    pub trigger: Arc<[u8]>,
    /// The response, as JSON.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, as JSON.
    pub details: Option<Arc<[u8]>>,
}

/// Filter of a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Runs of this flow.
    pub flow: Option<String>,
    /// Runs in this state.
    pub state: Option<RunState>,
    /// Runs older than the run with this number.
    pub before: Option<u64>,
    /// Runs created at this time or later, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Runs created before this time, in milliseconds since 1970.
    pub until_ms: Option<u64>,
    /// Maximum number of runs.
    pub limit: u32,
}

impl RunFilter {
    /// The first and the last time of creation that it lets through, as databases store them.
    pub(super) fn times(&self) -> (i64, i64) {
        let stored = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
        let since = self.since_ms.map_or(i64::MIN, stored);
        (
            since,
            self.until_ms.map_or(i64::MAX, |until| stored(until) - 1),
        )
    }
}

/// A published flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Key of the flow.
    pub flow: String,
    /// The version that triggers start.
    pub version: u32,
    /// Cursor of its trigger, as JSON.
    pub cursor: Option<Arc<[u8]>>,
}

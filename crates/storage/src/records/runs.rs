//! Runs of flows: accepted once, held by one worker at a time, ended once.
//!
//! A run is *queued*, then *running* under a lease of one worker, perhaps *waiting* in between, and
//! ends once. Each lease has an epoch; what a worker writes carries it and is refused once the lease
//! has lapsed or another worker has the run. Instants are given by the caller, in milliseconds since
//! 1970.

use std::sync::Arc;

use serde::Serialize;

use super::StoreFuture;

/// Where runs are kept.
pub trait RunStore: Send + Sync {
    /// Takes a run on.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] and failures of the store: then it was not accepted.
    fn accept(&self, new: NewRun) -> StoreFuture<'_, Accepted>;

    /// Gives a queued run to a worker: its lease has the epoch after the last one.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] where the run is not queued any more.
    fn claim(&self, id: String, lease: Lease) -> StoreFuture<'_, Claimed>;

    /// Extends leases, given as run and epoch. Answers those that are lost.
    fn beat(
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

    /// Keeps the answer of a run that goes on.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn respond(&self, write: Write, answer: Arc<[u8]>) -> StoreFuture<'_, ()>;

    /// Puts a run to sleep, until `wake_ms` or a callback. True where a callback has come already,
    /// and the run is queued.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn suspend(&self, write: Write, wake_ms: Option<u64>) -> StoreFuture<'_, bool>;

    /// Ends a run.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn finish(&self, write: Write, ending: Ending) -> StoreFuture<'_, ()>;

    /// Gives a run back that its worker could not begin or end, without counting a death.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn release(&self, write: Write) -> StoreFuture<'_, ()>;

    /// Keeps a value for later runs, or forgets it, while the lease lasts.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn keep(
        &self,
        write: Write,
        scope: Scope,
        key: String,
        value: Option<Arc<[u8]>>,
    ) -> StoreFuture<'_, ()>;

    /// A value that was kept, for a run whose lease lasts.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`].
    fn kept(&self, hold: Hold, scope: Scope, key: String) -> StoreFuture<'_, Option<Arc<[u8]>>>;

    /// Whether the lease of a run lasts.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] where it does not.
    fn check_hold(&self, hold: Hold) -> StoreFuture<'_, ()>;

    /// Ends a run that is not over, whoever has it. Its state before.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`]; [`crate::Error::Ended`] where it is over.
    fn stop(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, RunState>;

    /// Ends a run that is queued still; false where it is not.
    fn expire(&self, id: String, ending: Ending, now_ms: u64) -> StoreFuture<'_, bool>;

    /// Adds `records` that came from outside, where `token` is the run's. The state after: a run that
    /// waited is queued.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] also where the token is wrong; [`crate::Error::Ended`].
    fn call_back(&self, id: String, token: String, records: Arc<[u8]>)
    -> StoreFuture<'_, RunState>;

    /// Queues runs whose sleep is over, at most `limit`.
    fn wake(&self, now_ms: u64, limit: u32) -> StoreFuture<'_, Vec<Queued>>;

    /// Takes runs from workers whose leases have lapsed, which counts as a death: they are queued,
    /// or dead with `evidence` once they have had `max_deaths`.
    fn lapse(&self, now_ms: u64, max_deaths: u32, limit: u32) -> StoreFuture<'_, Vec<Lapsed>>;

    /// Lets the leases of a worker lapse at once; of all workers where `worker` is `None`. A death
    /// is counted by [`RunStore::lapse`] for those of `culprit` only; others are queued here.
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

    /// Forgets runs that ended before an instant, at most `limit`. How many those were.
    fn prune(&self, before_ms: u64, limit: u32) -> StoreFuture<'_, u64>;

    /// Makes a version of a flow the one that its triggers start, or none.
    fn publish(&self, flow: String, version: Option<u32>) -> StoreFuture<'_, ()>;

    /// Published flows.
    fn published(&self) -> StoreFuture<'_, Vec<Published>>;

    /// Keeps what a trigger of a published flow remembers.
    fn remember(&self, flow: String, memory: Arc<[u8]>) -> StoreFuture<'_, ()>;
}

/// Who waits for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Lane {
    /// Somebody holds a connection open.
    Sync,
    /// Nobody.
    Async,
}

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// It waits for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// It waits for an instant or a callback; no worker has it.
    Waiting,
    /// It came to its end.
    Succeeded,
    /// A step failed for good.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// Its workers died of it.
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

    /// Whether nothing comes after it.
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
    /// Who waits.
    pub lane: Lane,
    /// The payload of the trigger, JSON.
    pub trigger: Arc<[u8]>,
    /// Key by which the same request is known again, and the hash of the request.
    pub idempotency: Option<(String, Vec<u8>)>,
    /// When a run that has not begun is of no use any more.
    pub deadline_ms: Option<u64>,
    /// Now.
    pub created_ms: u64,
    /// Whoever knows this may call the run back.
    pub token: String,
    /// The run that this one repeats.
    pub retry_of: Option<String>,
    /// Records that it begins with.
    pub journal: Option<Arc<[u8]>>,
}

/// What became of a new run.
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

/// A lease to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The worker.
    pub worker: String,
    /// Now.
    pub now_ms: u64,
    /// When it lapses.
    pub until_ms: u64,
}

/// A run that a worker has.
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

/// Whoever has a run, as it asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The run.
    pub id: String,
    /// Of its lease.
    pub epoch: u32,
    /// Now.
    pub now_ms: u64,
}

/// Whose a kept value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// That of the flow of the run that asks: other flows neither see nor change it.
    Flow,
    /// That of all flows.
    Shared,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its last state.
    pub state: RunState,
    /// The answer to the request, JSON; one that was kept before stays.
    pub answer: Option<Arc<[u8]>>,
    /// Output, error and times, JSON.
    pub details: Arc<[u8]>,
}

/// A run that waits for a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Its place among all runs.
    pub number: u64,
    /// Its name.
    pub id: String,
    /// Key of its flow.
    pub flow: String,
    /// Who waits.
    pub lane: Lane,
    /// When it is of no use any more.
    pub deadline_ms: Option<u64>,
}

/// A run whose worker lost it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lapsed {
    /// The run, queued again unless it is dead.
    pub queued: Queued,
    /// It had as many deaths as it may have.
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
    /// Who waits.
    pub lane: Lane,
    /// Where it is in its life.
    pub state: RunState,
    /// Of its last lease.
    pub epoch: u32,
    /// How many workers died while they had it.
    pub deaths: u32,
    /// Who has it, or had it last.
    pub worker: Option<String>,
    /// When it wakes.
    pub wake_ms: Option<u64>,
    /// When it is of no use any more, where it has not begun.
    pub deadline_ms: Option<u64>,
    /// When it was accepted.
    pub created_ms: u64,
    /// When a worker had it first.
    pub started_ms: Option<u64>,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// Whoever knows this may call it back.
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

/// Which runs are wanted.
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

/// A flow whose triggers are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Key of the flow.
    pub flow: String,
    /// The version that is started.
    pub version: u32,
    /// What its trigger remembers, JSON.
    pub memory: Option<Arc<[u8]>>,
}

//! The database: lanes that write, connections that read, and its clock.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::{Mutex, mpsc, oneshot},
    task::JoinHandle,
    time::Instant,
};

use super::{
    clock::Clock,
    connection::{BoxFuture, Connection, Connector, Role, within},
    job::{Failure, Job, other},
    lane::write_batches,
    signals,
    trouble::{Trouble, is_lost, refused},
};
use crate::{
    Error,
    records::{
        StoreFuture,
        signals::{
            Signals,
            redis::{self, Redis},
        },
    },
};

/// Length of the queue of a lane; further writes fail with [`Error::Busy`].
const MAX_WAITING: usize = 4096;
/// How often the clocks are compared.
const CLOCK_EVERY: Duration = Duration::from_secs(30);

/// A database.
pub(super) struct Database {
    /// By shard; the last one is for what concerns many runs.
    lanes: Vec<mpsc::Sender<Job>>,
    readers: Arc<Readers>,
    clock: Arc<Clock>,
    /// Follows the clock.
    following: JoinHandle<()>,
    connector: Arc<Connector>,
    runtime: Handle,
    /// What carries signals instead of this database.
    redis: Option<Redis>,
    /// Signals and the task that sends and receives them, once there are other services.
    signals: OnceLock<(Arc<Signals>, JoinHandle<()>)>,
}

impl Database {
    /// Starts lanes and readers of a database whose tables are there.
    ///
    /// # Errors
    /// The server cannot be read from.
    pub(super) async fn start(
        connector: Arc<Connector>,
        writers: usize,
        readers: usize,
        redis: Option<Redis>,
    ) -> Result<Self, Error> {
        let readers = Arc::new(Readers {
            connector: Arc::clone(&connector),
            slots: (0..readers.max(1)).map(|_| Mutex::default()).collect(),
            next: AtomicUsize::default(),
        });
        let clock = Arc::new(Clock::new());
        clock.set(readers.read(|connection| clock.measure(connection)).await?);
        let following = tokio::spawn({
            let (readers, clock) = (Arc::clone(&readers), Arc::clone(&clock));
            async move {
                loop {
                    tokio::time::sleep(CLOCK_EVERY).await;
                    let measured = readers.read(|connection| clock.measure(connection));
                    if let Ok(measured) = measured.await {
                        clock.set(measured);
                    }
                }
            }
        });
        let lanes = (0..=writers.max(1)).map(|_| {
            let (sender, receiver) = mpsc::channel(MAX_WAITING);
            tokio::spawn(write_batches(Arc::clone(&connector), receiver));
            sender
        });
        Ok(Self {
            lanes: lanes.collect(),
            readers,
            clock,
            following,
            connector,
            runtime: Handle::current(),
            redis,
            signals: OnceLock::new(),
        })
    }

    /// The time by the clock of the database, in milliseconds since 1970-01-01T00:00:00Z.
    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Signals between the services on this database. The first call opens a connection for them.
    pub(super) fn signals(&self) -> &Arc<Signals> {
        let (signals, _) = self.signals.get_or_init(|| {
            let signals = Arc::new(Signals::default());
            let (connector, ours) = (Arc::clone(&self.connector), Arc::clone(&signals));
            let task = match self.redis.clone() {
                None => self.runtime.spawn(signals::exchange(connector, ours)),
                Some(redis) => {
                    let readers = Arc::clone(&self.readers);
                    self.runtime.spawn(async move {
                        let channel = signals::channel_of(&readers).await;
                        redis::exchange(redis, channel, ours).await;
                    })
                }
            };
            (signals, task)
        });
        signals
    }

    /// Number of lanes by shard.
    pub(super) fn lane_count(&self) -> usize {
        self.lanes.len() - 1
    }

    /// The lane of a shard.
    pub(super) fn lane_of(&self, shard: i16) -> usize {
        usize::try_from(shard).unwrap_or_default() % self.lane_count()
    }

    /// Queues a write, at once.
    pub(super) fn send<T: Send + Sync + 'static>(
        &self,
        lane: usize,
        job: Job,
        wait: oneshot::Receiver<Result<T, Error>>,
    ) -> StoreFuture<'static, T> {
        let sent = self.lanes[lane].try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Busy,
            mpsc::error::TrySendError::Closed(_) => Error::Closed,
        });
        Box::pin(async move {
            sent?;
            wait.await.map_err(|_| Error::Closed)?
        })
    }

    /// Queues a write that has a transaction of its own, at once.
    pub(super) fn write<T, F>(&self, lane: usize, statements: F) -> StoreFuture<'static, T>
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>> + Send + Sync + 'static,
    {
        let (job, wait) = other(statements);
        self.send(lane, job, wait)
    }

    /// Queues a write that concerns many runs, at once.
    pub(super) fn maintain<T, F>(&self, statements: F) -> StoreFuture<'static, T>
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>> + Send + Sync + 'static,
    {
        self.write(self.lanes.len() - 1, statements)
    }

    /// Reads.
    pub(super) fn read<T, F>(&self, statements: F) -> StoreFuture<'static, T>
    where
        T: Send + Sync + 'static,
        F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>> + Send + Sync + 'static,
    {
        let readers = Arc::clone(&self.readers);
        Box::pin(async move { readers.read(statements).await })
    }

    /// Checks that the server answers.
    pub(super) fn check(&self) -> StoreFuture<'static, ()> {
        self.read(|connection| {
            Box::pin(async move {
                connection.query("SELECT 1", &[]).await?;
                Ok(())
            })
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.following.abort();
        if let Some((_, exchanging)) = self.signals.get() {
            exchanging.abort();
        }
    }
}

/// Connections that read; each is used by several readers at once, one answer after the other.
pub(super) struct Readers {
    connector: Arc<Connector>,
    slots: Vec<Mutex<Option<Arc<Connection>>>>,
    next: AtomicUsize,
}

impl Readers {
    pub(super) async fn read<T, F>(&self, statements: F) -> Result<T, Error>
    where
        F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>>,
    {
        let slot = self.next.fetch_add(1, Ordering::Relaxed) % self.slots.len();
        let slot = &self.slots[slot];
        let deadline = self.connector.deadline();
        loop {
            let connection = self.connection(slot, deadline).await?;
            let limit = self.connector.exchange();
            let error = match within(limit, statements(&connection)).await {
                Some(Ok(value)) => return Ok(value),
                Some(Err(Failure::Store(error))) => return Err(error),
                Some(Err(Failure::Statement(error))) => {
                    let was_lost = is_lost(&error);
                    let error = refused(error, &self.connector.address);
                    if !was_lost {
                        return Err(error);
                    }
                    error
                }
                None => {
                    self.let_go();
                    Error::Unavailable("an answer did not come in time".to_owned())
                }
            };
            // Only this connection: another reader may have replaced it by now.
            let mut held = slot.lock().await;
            if held
                .as_ref()
                .is_some_and(|held| Arc::ptr_eq(held, &connection))
            {
                *held = None;
            }
            drop(held);
            if Instant::now() >= deadline {
                return Err(error);
            }
        }
    }

    /// Lets go of all connections: a network that forgot one has forgotten the others, each of which
    /// would take as long to be found out. Statements under way keep theirs.
    fn let_go(&self) {
        for slot in &self.slots {
            if let Ok(mut held) = slot.try_lock() {
                *held = None;
            }
        }
    }

    async fn connection(
        &self,
        slot: &Mutex<Option<Arc<Connection>>>,
        deadline: Instant,
    ) -> Result<Arc<Connection>, Error> {
        let waited = tokio::time::timeout_at(deadline, slot.lock()).await;
        let Ok(mut held) = waited else {
            let cause = "no connection in time".to_owned();
            return Err(Trouble::Unavailable(cause).into());
        };
        if let Some(connection) = held.as_ref().filter(|it| !it.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        *held = None;
        let connection = Arc::new(self.connector.connect(Role::Read, deadline).await?);
        *held = Some(Arc::clone(&connection));
        Ok(connection)
    }
}

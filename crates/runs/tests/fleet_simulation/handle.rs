//! What a service has of the database: lanes that write, connections that read, and signals. Calls
//! of a service that was killed never return.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use platen_storage::{Error, Signal, StoreFuture};
use tokio::{
    sync::{Notify, Semaphore, broadcast, mpsc, oneshot},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    database::{Database, FLUSH, MESSAGE, NETWORK, READ, TRANSACTION},
    network::Network,
    tables::Tables,
};

/// Lanes that write runs; one more is for what concerns many.
const WRITERS: usize = 2;
/// Connections that read.
const READERS: usize = 4;
/// Writes in one transaction.
const MAX_BATCH: usize = 256;
/// How long signals are collected.
const COLLECT: Duration = Duration::from_millis(2);
/// Signals that may wait to be sent, and that a receiver may be behind.
pub const MAX_SIGNALS: usize = 4_096;
/// The time in rows at the beginning, in milliseconds since 1970.
const BEGIN_MS: u64 = 1_800_000_000_000;

struct Job {
    microseconds: f64,
    apply: Box<dyn FnOnce(&mut Tables) + Send>,
}

/// The database as one service sees it.
pub struct Handle {
    pub database: Arc<Database>,
    pub network: Arc<Network>,
    pub service: String,
    lanes: Vec<mpsc::UnboundedSender<Job>>,
    readers: Semaphore,
    unsent: Arc<(Mutex<Vec<Signal>>, Notify)>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    is_dead: AtomicBool,
    begun: Instant,
}

impl Handle {
    pub fn new(
        database: &Arc<Database>,
        network: &Arc<Network>,
        service: &str,
        begun: Instant,
    ) -> Self {
        let mut tasks = Vec::new();
        let lanes = (0..=WRITERS).map(|lane| {
            let (sender, receiver) = mpsc::unbounded_channel();
            let most = if lane < WRITERS { MAX_BATCH } else { 1 };
            tasks.push(tokio::spawn(write(Arc::clone(database), receiver, most)));
            sender
        });
        let lanes = lanes.collect();
        network.join(service);
        let unsent: Arc<(Mutex<Vec<Signal>>, Notify)> = Arc::default();
        tasks.push(tokio::spawn(send(
            Arc::clone(database),
            Arc::clone(network),
            service.to_owned(),
            Arc::clone(&unsent),
        )));
        Self {
            database: Arc::clone(database),
            network: Arc::clone(network),
            service: service.to_owned(),
            lanes,
            readers: Semaphore::new(READERS),
            unsent,
            tasks: Mutex::new(tasks),
            is_dead: AtomicBool::new(false),
            begun,
        }
    }

    /// As by `kill -9` of the service.
    pub fn kill(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.network.leave(&self.service);
        for task in &*self.tasks.lock() {
            task.abort();
        }
    }

    pub fn time_ms(&self) -> u64 {
        BEGIN_MS + self.begun.elapsed().as_millis() as u64
    }

    pub fn signal(&self, signal: Signal) {
        self.unsent.0.lock().push(signal);
        self.unsent.1.notify_one();
    }

    pub fn listen(&self) -> broadcast::Receiver<Signal> {
        self.network.listen(&self.service)
    }

    /// The lane of a run.
    pub fn lane(&self, id: &str) -> usize {
        id.bytes().fold(0_usize, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(usize::from(byte))
        }) % WRITERS
    }

    /// The lane of what concerns many runs.
    pub fn maintenance(&self) -> usize {
        WRITERS
    }

    /// Queues a write, in the order of calls.
    pub fn write<T: Send + 'static>(
        &self,
        lane: usize,
        kind: &'static str,
        microseconds: f64,
        apply: impl FnOnce(&mut Tables) -> Result<T, Error> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        self.database.count(kind);
        let (answer, answered) = oneshot::channel();
        let apply = Box::new(move |tables: &mut Tables| drop(answer.send(apply(tables))));
        // Fails for a service that is dead.
        let _ = self.lanes[lane].send(Job {
            microseconds,
            apply,
        });
        Box::pin(async move {
            match answered.await {
                Ok(answer) => answer,
                Err(_) => pending().await,
            }
        })
    }

    /// Reads.
    pub fn read<'a, T: Send + 'a>(
        &'a self,
        kind: &'static str,
        microseconds: f64,
        find: impl FnOnce(&Tables) -> Result<T, Error> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let _reader = self.readers.acquire().await.expect("it is never closed");
            self.database.count(kind);
            let end = self.database.work(READ + microseconds);
            sleep_until(end + NETWORK).await;
            if self.is_dead.load(Ordering::Relaxed) {
                pending::<()>().await;
            }
            find(&self.database.tables.lock())
        })
    }
}

/// Writes what waits in a lane in one transaction.
async fn write(database: Arc<Database>, mut jobs: mpsc::UnboundedReceiver<Job>, most: usize) {
    let mut batch = Vec::new();
    while jobs.recv_many(&mut batch, most).await > 0 {
        database.count("transactions");
        let microseconds: f64 = batch.iter().map(|job| job.microseconds).sum();
        let end = database.work(TRANSACTION + microseconds);
        sleep_until(end + FLUSH + NETWORK).await;
        let mut tables = database.tables.lock();
        for job in batch.drain(..) {
            (job.apply)(&mut tables);
        }
    }
}

/// Sends the signals of a service to the others.
async fn send(
    database: Arc<Database>,
    network: Arc<Network>,
    service: String,
    unsent: Arc<(Mutex<Vec<Signal>>, Notify)>,
) {
    loop {
        unsent.1.notified().await;
        sleep(COLLECT).await;
        let mut signals = std::mem::take(&mut *unsent.0.lock());
        if signals.len() > MAX_SIGNALS {
            signals = vec![Signal::Missed];
        }
        database.count("messages");
        database.count_many("signals", signals.len() as u64);
        let listeners = network.len() as f64;
        let end = database.work(READ + MESSAGE * listeners);
        sleep_until(end + NETWORK).await;
        network.deliver(&service, &signals);
    }
}

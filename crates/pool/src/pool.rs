//! Jobs: a slot, a child, a deadline, at most one retry.

use std::{
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use crate::{
    admission::{Admission, Lane, NoSlot},
    config::Config,
    error::{Error, JobError, Verdict},
    kind::{Kind, Spawner},
    launcher::{Isolation, Launcher},
    lease::Lease,
    metrics::{Reason, Refusal, Snapshot},
    poison::{DEADLY, Key, Poison},
    stock::{NoChild, Stock},
    upkeep,
};

/// After its process has ended, a job may take this long to notice, or to end well.
const GRACE: Duration = Duration::from_millis(250);

/// How long a shutdown waits for the last folders to be removed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// A job's future.
pub type JobFuture<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, JobError<E>>> + Send + 'a>>;

/// What is asked of the pool beside the job itself.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The lane.
    pub lane: Lane,
    /// The time for all of it, the wait for a slot included.
    pub timeout: Duration,
    /// What tells this input from others, so that one that kills children is refused.
    pub key: Option<Key>,
}

/// Which attempt this is.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// 1, or 2 where the first child died.
    pub number: u32,
    /// When the job must be done.
    pub deadline: Instant,
    /// How long it waited for a slot and a child.
    pub waited: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Killing,
}

/// How an attempt ended.
enum Ending<T, E> {
    Returned(Result<T, JobError<E>>),
    Died,
    MemoryExceeded,
    Deadline,
    ShutDown,
}

/// A pool of children of one kind.
pub struct Pool<K: Kind> {
    stock: Arc<Stock<K>>,
    admission: Admission,
    poison: Poison,
    phase: watch::Sender<Phase>,
}

impl<K: Kind> Pool<K> {
    /// A pool whose temporary folders are made in `parent`; what dead owners left there is removed.
    /// Must be called within a tokio runtime, which must outlive the pool.
    ///
    /// # Errors
    /// When the temporary folder cannot be made.
    pub fn new(
        kind: K,
        config: Config,
        launcher: Arc<dyn Launcher>,
        parent: impl Into<PathBuf>,
    ) -> std::io::Result<Self> {
        let config = config.sound();
        let admission = Admission::new(&config);
        let poison = Poison::new(config.max_remembered_inputs, config.remember_inputs_for);
        let stock = Stock::new(kind, config, launcher, &parent.into())?;
        stock.fill();
        stock.runtime.spawn(upkeep::keep_up(Arc::downgrade(&stock)));
        Ok(Self {
            stock,
            admission,
            poison,
            phase: watch::Sender::new(Phase::Open),
        })
    }

    /// Runs a job on a child.
    ///
    /// The job is called again, on another child, where the first one died under it. Dropping the
    /// future frees the slot at once; the child is then salvaged or replaced.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run<T, E, F>(&self, request: Request, mut job: F) -> Result<T, Error<E>>
    where
        T: Send,
        E: std::error::Error + Send + 'static,
        F: for<'a> FnMut(&'a mut K::Child, Attempt) -> JobFuture<'a, T, E> + Send,
    {
        let begin = Instant::now();
        let deadline = begin + request.timeout;
        if let Some(deaths) = request.key.map(|key| self.poison.deaths(&key))
            && deaths >= DEADLY
        {
            self.stock.metrics.refused(Refusal::Poisonous);
            return Err(Error::Poisonous { deaths });
        }
        let late = || {
            self.stock.metrics.refused(Refusal::Deadline);
            Error::DeadlinePassed {
                timeout: request.timeout,
                waited: begin.elapsed(),
            }
        };
        let at = tokio::time::Instant::from_std(deadline);
        let admitted = tokio::time::timeout_at(at, self.admission.acquire(request.lane)).await;
        let _permit = match admitted {
            Ok(Ok(permit)) => permit,
            Ok(Err(NoSlot::QueueFull)) => return Err(self.queue_full()),
            Ok(Err(NoSlot::Closed)) => return Err(self.shutting_down()),
            Err(_) => return Err(late()),
        };
        let mut waited = None;
        let mut deaths = 0;
        loop {
            let retry = deaths > 0;
            let child = async {
                if retry {
                    self.stock.start_for_retry().await
                } else {
                    self.stock.take().await
                }
            };
            let lease = match tokio::time::timeout_at(at, child).await {
                Ok(Ok(lease)) => lease,
                Ok(Err(error)) => return Err(self.no_child(error)),
                Err(_) => return Err(late()),
            };
            if waited.is_none() {
                self.stock.metrics.waits.add(begin.elapsed());
            }
            let waited = *waited.get_or_insert_with(|| begin.elapsed());
            let attempt = Attempt {
                number: deaths + 1,
                deadline,
                waited,
            };
            let before = Instant::now();
            let mut lease = lease;
            let ending = self.attempt(&mut lease, &mut job, attempt).await;
            self.stock.metrics.jobs.add(before.elapsed());
            match self.settle(lease, ending, &request, attempt) {
                Some(result) => return result,
                None => deaths += 1,
            }
        }
    }

    async fn attempt<T, E, F>(
        &self,
        lease: &mut Lease<K>,
        job: &mut F,
        attempt: Attempt,
    ) -> Ending<T, E>
    where
        F: for<'a> FnMut(&'a mut K::Child, Attempt) -> JobFuture<'a, T, E> + Send,
    {
        let mut phase = self.phase.subscribe();
        let (process, memory) = (lease.process(), lease.memory());
        let Some(child) = lease.child() else {
            return Ending::Died;
        };
        let mut running = job(child, attempt);
        let exited = async {
            match &process {
                Some(process) => drop(process.exited().await),
                None => std::future::pending().await,
            }
        };
        let exceeded = async {
            match &memory {
                Some(memory) => memory.exceeded.notified().await,
                None => std::future::pending().await,
            }
        };
        // Awaited in a block of its own, since what it gives must not be held across an await.
        let killing = async {
            let _ = phase.wait_for(|phase| *phase == Phase::Killing).await;
        };
        let at = tokio::time::Instant::from_std(attempt.deadline);
        tokio::select! {
            biased;
            result = &mut running => Ending::Returned(result),
            () = exceeded => Ending::MemoryExceeded,
            () = exited => match tokio::time::timeout(GRACE, &mut running).await {
                Ok(result) => Ending::Returned(result),
                Err(_) => Ending::Died,
            },
            () = tokio::time::sleep_until(at) => Ending::Deadline,
            () = killing => Ending::ShutDown,
        }
    }

    /// What becomes of the child and of the job; nothing where the job is to be tried again.
    fn settle<T, E: std::error::Error + 'static>(
        &self,
        mut lease: Lease<K>,
        ending: Ending<T, E>,
        request: &Request,
        attempt: Attempt,
    ) -> Option<Result<T, Error<E>>> {
        let is_last = attempt.number >= DEADLY;
        match ending {
            Ending::Returned(Ok(value)) => {
                lease.finish();
                self.survived(request);
                Some(Ok(value))
            }
            Ending::Returned(Err(JobError { error, verdict })) => match verdict {
                Verdict::Sound => {
                    lease.finish();
                    self.survived(request);
                    Some(Err(Error::Job(error)))
                }
                Verdict::Replace => {
                    lease.replace(Reason::Asked);
                    Some(Err(Error::Job(error)))
                }
                Verdict::DiedMidway => {
                    lease.replace(Reason::Crashed);
                    self.died(request, attempt.number);
                    Some(Err(Error::DiedMidway(Some(error))))
                }
                Verdict::Died => self.after_death(lease, request, attempt, is_last),
            },
            Ending::Died => self.after_death(lease, request, attempt, is_last),
            Ending::MemoryExceeded => {
                lease.replace(Reason::MemoryExceeded);
                self.died(request, attempt.number);
                let limit_bytes = self.stock.config.kill_memory_bytes;
                Some(Err(Error::MemoryExceeded { limit_bytes }))
            }
            Ending::Deadline => {
                lease.salvage(Reason::Deadline);
                self.stock.metrics.refused(Refusal::Deadline);
                Some(Err(Error::DeadlinePassed {
                    timeout: request.timeout,
                    waited: attempt.waited,
                }))
            }
            Ending::ShutDown => {
                lease.replace(Reason::ShutDown);
                Some(Err(self.shutting_down()))
            }
        }
    }

    fn after_death<T, E: std::error::Error + 'static>(
        &self,
        mut lease: Lease<K>,
        request: &Request,
        attempt: Attempt,
        is_last: bool,
    ) -> Option<Result<T, Error<E>>> {
        lease.replace(Reason::Crashed);
        let deaths = self.died(request, attempt.number);
        if is_last || deaths >= DEADLY {
            self.stock.metrics.refused(Refusal::Poisonous);
            return Some(Err(Error::Poisonous { deaths }));
        }
        self.stock.metrics.retries.fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Counts a death; gives all that this input has caused.
    fn died(&self, request: &Request, in_this_job: u32) -> u32 {
        request.key.map_or(in_this_job, |key| self.poison.died(key))
    }

    fn survived(&self, request: &Request) {
        if let Some(key) = &request.key {
            self.poison.survived(key);
        }
    }

    fn queue_full<E: std::error::Error>(&self) -> Error<E> {
        self.stock.metrics.refused(Refusal::QueueFull);
        let mean = self.stock.metrics.jobs.mean();
        let retry_after = self.admission.retry_after(mean);
        Error::QueueFull { retry_after }
    }

    fn shutting_down<E: std::error::Error>(&self) -> Error<E> {
        self.stock.metrics.refused(Refusal::ShuttingDown);
        Error::ShuttingDown
    }

    fn no_child<E: std::error::Error>(&self, error: NoChild) -> Error<E> {
        match error {
            NoChild::Closed => self.shutting_down(),
            NoChild::CannotStart {
                retry_after,
                source,
            } => {
                self.stock.metrics.refused(Refusal::CannotStart);
                Error::CannotStart {
                    kind: self.stock.kind.name(),
                    retry_after,
                    source,
                }
            }
        }
    }

    /// Waits until the spares are there, or until starting them fails or takes too long.
    pub async fn warm(&self, timeout: Duration) -> bool {
        let mut changed = self.stock.changes();
        let spares = self.stock.config.spares;
        let wait = async {
            while self.stock.state().idle.len() < spares {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::time::timeout(timeout, wait).await.is_ok()
    }

    /// Takes no new jobs, lets those that run end until `drain` has passed, kills what is left,
    /// and returns when no child and no folder is left.
    pub async fn shutdown(&self, drain: Duration) {
        let mut changed = self.stock.changes();
        self.admission.close();
        let idle = {
            let mut state = self.stock.state();
            state.closed = true;
            std::mem::take(&mut state.idle)
        };
        self.stock.tell();
        for inmate in idle {
            self.stock.remove(inmate, Reason::ShutDown);
        }
        let deadline = tokio::time::Instant::now() + drain;
        loop {
            let (live, leaving) = {
                let state = self.stock.state();
                (state.live, state.leaving)
            };
            if live + leaving == 0 {
                break;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = tokio::time::sleep_until(deadline), if *self.phase.borrow() == Phase::Open => {
                    self.phase.send_replace(Phase::Killing);
                }
            }
        }
        // Children whose start failed are cleaned up after without being counted.
        let emptied = self.stock.spawner.root.emptied();
        let _ = tokio::time::timeout(CLEANUP_TIMEOUT, emptied).await;
    }

    /// The pool at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            waiting: self.admission.waiting(),
            in_use: self.admission.in_use(),
            slots: self.admission.slots(),
            ..Snapshot::default()
        };
        let state = self.stock.state();
        snapshot.idle = state.idle.len();
        snapshot.starting = state.starting;
        snapshot.children = state.live + state.leaving;
        let idle = state.idle.iter().map(|inmate| &inmate.memory);
        let memories = idle.chain(state.at_work.values().map(|child| &child.memory));
        let bytes = memories.map(|memory| memory.bytes.load(Ordering::Relaxed));
        snapshot.memory_bytes = bytes.sum();
        drop(state);
        self.stock.metrics.add_to(&mut snapshot);
        snapshot
    }

    /// The kind of child.
    pub fn kind(&self) -> &K {
        &self.stock.kind
    }

    /// What starts processes in the folder of this pool.
    pub fn spawner(&self) -> &Spawner {
        &self.stock.spawner
    }

    /// What children cannot reach.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.stock.spawner.isolation()
    }
}

impl<K: Kind> Drop for Pool<K> {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Killing);
        let idle = {
            let mut state = self.stock.state();
            state.closed = true;
            std::mem::take(&mut state.idle)
        };
        for inmate in idle {
            self.stock.remove(inmate, Reason::ShutDown);
        }
    }
}

//! Runs jobs: each gets a slot, a child, a deadline, and at most one retry.

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
    driver::{Driver, Spawner},
    error::{Error, JobError, Verdict},
    launcher::Isolation,
    lease::Lease,
    maintenance,
    metrics::{Reason, Refusal, Snapshot},
    origin::Origin,
    poison::{Key, MAX_CRASHES, Poison},
    process_set::{NoChild, ProcessSet},
};

/// How long a job may take to return its own error after its process exited. That error says more
/// than the exit status.
const GRACE: Duration = Duration::from_millis(250);

/// How long shutdown waits for the last folders to be removed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The future of a job.
pub type JobFuture<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, JobError<E>>> + Send + 'a>>;

/// Parameters of a job.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The lane, which decides about reserved slots.
    pub lane: Lane,
    /// Timeout of the whole job, including the wait for a slot.
    pub timeout: Duration,
    /// Identity of the input, so that one that keeps crashing children is refused. `None` disables
    /// that.
    pub key: Option<Key>,
}

/// One attempt at a job.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// 1, or 2 for the retry after a crash.
    pub number: u32,
    /// Deadline of the job. Retries do not extend it.
    pub deadline: Instant,
    /// How long the job waited for a slot and a child.
    pub waited: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Shutdown has run out of patience: running jobs are interrupted.
    Killing,
}

/// How an attempt ended.
enum Ending<T, E> {
    Returned(Result<T, JobError<E>>),
    Crashed,
    MemoryExceeded,
    Deadline,
    ShutDown,
}

/// A pool of the child processes of one driver.
pub struct Pool<K: Driver> {
    processes: Arc<ProcessSet<K>>,
    admission: Admission,
    poison: Poison,
    phase: watch::Sender<Phase>,
}

impl<K: Driver> Pool<K> {
    /// Creates a pool with its temporary folders below `parent`, and removes those of dead owners.
    /// Must be called within a tokio runtime that outlives the pool.
    ///
    /// # Errors
    /// The temporary folder cannot be created.
    pub fn new(
        driver: K,
        config: Config,
        origin: impl Into<Origin>,
        parent: impl Into<PathBuf>,
    ) -> std::io::Result<Self> {
        let config = config.clamped();
        let admission = Admission::new(&config);
        let poison = Poison::new(config.max_remembered_inputs, config.remember_inputs_for);
        let processes = ProcessSet::new(driver, config, origin.into(), &parent.into())?;
        processes.fill();
        processes
            .runtime
            .spawn(maintenance::maintain(Arc::downgrade(&processes)));
        Ok(Self {
            processes,
            admission,
            poison,
            phase: watch::Sender::new(Phase::Open),
        })
    }

    /// Runs a job on a child.
    ///
    /// If the child crashes, `job` is called again with another child. Dropping the future frees
    /// the slot at once; the child is then salvaged or replaced.
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
        if let Some(crashes) = request.key.map(|key| self.poison.crashes(&key))
            && crashes >= MAX_CRASHES
        {
            self.processes.metrics.refused(Refusal::Poisonous);
            return Err(Error::Poisonous { crashes });
        }
        let late = || {
            self.processes.metrics.refused(Refusal::Deadline);
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
        let mut crashes = 0;
        loop {
            let retry = crashes > 0 && self.processes.driver.starts_at_will();
            let child = async {
                if retry {
                    self.processes.start_for_retry().await
                } else {
                    self.processes.take().await
                }
            };
            let lease = match tokio::time::timeout_at(at, child).await {
                Ok(Ok(lease)) => lease,
                Ok(Err(error)) => return Err(self.no_child(error)),
                Err(_) => return Err(late()),
            };
            if waited.is_none() {
                self.processes.metrics.waits.add(begin.elapsed());
            }
            let waited = *waited.get_or_insert_with(|| begin.elapsed());
            let attempt = Attempt {
                number: crashes + 1,
                deadline,
                waited,
            };
            let before = Instant::now();
            let mut lease = lease;
            let ending = self.attempt(&mut lease, &mut job, attempt).await;
            self.processes.metrics.jobs.add(before.elapsed());
            match self.settle(lease, ending, &request, attempt) {
                Some(result) => return result,
                None => crashes += 1,
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
            return Ending::Crashed;
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
        // Awaited in its own block, because the guard it returns must not be held across an await.
        let killing = async {
            let _ = phase.wait_for(|phase| *phase == Phase::Killing).await;
        };
        let at = tokio::time::Instant::from_std(attempt.deadline);
        tokio::select! {
            // In this order: a result that is ready wins over a deadline that passes in the same
            // moment.
            biased;
            result = &mut running => Ending::Returned(result),
            () = exceeded => Ending::MemoryExceeded,
            () = exited => match tokio::time::timeout(GRACE, &mut running).await {
                Ok(result) => Ending::Returned(result),
                Err(_) => Ending::Crashed,
            },
            () = tokio::time::sleep_until(at) => Ending::Deadline,
            () = killing => Ending::ShutDown,
        }
    }

    /// Decides what happens to child and job after an attempt; `None` retries the job.
    fn settle<T, E: std::error::Error + 'static>(
        &self,
        mut lease: Lease<K>,
        ending: Ending<T, E>,
        request: &Request,
        attempt: Attempt,
    ) -> Option<Result<T, Error<E>>> {
        let is_last = attempt.number >= MAX_CRASHES;
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
                Verdict::CrashedMidway => {
                    lease.replace(Reason::Crashed);
                    self.crashed(request, attempt.number);
                    Some(Err(Error::CrashedMidway(Some(error))))
                }
                Verdict::Crashed => self.after_crash(lease, request, attempt, is_last),
            },
            Ending::Crashed => self.after_crash(lease, request, attempt, is_last),
            Ending::MemoryExceeded => {
                lease.replace(Reason::MemoryExceeded);
                self.crashed(request, attempt.number);
                let limit_bytes = self.processes.config.kill_memory_bytes;
                Some(Err(Error::MemoryExceeded { limit_bytes }))
            }
            Ending::Deadline => {
                lease.salvage(Reason::Deadline);
                self.processes.metrics.refused(Refusal::Deadline);
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

    fn after_crash<T, E: std::error::Error + 'static>(
        &self,
        mut lease: Lease<K>,
        request: &Request,
        attempt: Attempt,
        is_last: bool,
    ) -> Option<Result<T, Error<E>>> {
        lease.replace(Reason::Crashed);
        let crashes = self.crashed(request, attempt.number);
        if is_last || crashes >= MAX_CRASHES {
            self.processes.metrics.refused(Refusal::Poisonous);
            return Some(Err(Error::Poisonous { crashes }));
        }
        self.processes
            .metrics
            .retries
            .fetch_add(1, Ordering::Relaxed);
        None
    }

    /// Counts a crash and returns the input's total.
    fn crashed(&self, request: &Request, in_this_job: u32) -> u32 {
        request
            .key
            .map_or(in_this_job, |key| self.poison.crashed(key))
    }

    fn survived(&self, request: &Request) {
        if let Some(key) = &request.key {
            self.poison.survived(key);
        }
    }

    fn queue_full<E: std::error::Error>(&self) -> Error<E> {
        self.processes.metrics.refused(Refusal::QueueFull);
        let mean = self.processes.metrics.jobs.mean();
        let retry_after = self.admission.retry_after(mean);
        Error::QueueFull { retry_after }
    }

    fn shutting_down<E: std::error::Error>(&self) -> Error<E> {
        self.processes.metrics.refused(Refusal::ShuttingDown);
        Error::ShuttingDown
    }

    fn no_child<E: std::error::Error>(&self, error: NoChild) -> Error<E> {
        match error {
            NoChild::Closed => self.shutting_down(),
            NoChild::CannotStart {
                retry_after,
                source,
            } => {
                self.processes.metrics.refused(Refusal::CannotStart);
                Error::CannotStart {
                    kind: self.processes.driver.name(),
                    retry_after,
                    source,
                }
            }
        }
    }

    /// Waits until all spares are ready. False if that takes longer than `timeout` or a start
    /// fails.
    pub async fn warm(&self, timeout: Duration) -> bool {
        let mut changed = self.processes.changes();
        let spares = self.processes.config.spares;
        let wait = async {
            while self.processes.state().idle.len() < spares {
                if changed.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::time::timeout(timeout, wait).await.is_ok()
    }

    /// Rejects new jobs, lets running ones finish for up to `drain`, then kills the rest. Returns
    /// once no child and no folder is left.
    pub async fn shutdown(&self, drain: Duration) {
        let mut changed = self.processes.changes();
        self.admission.close();
        let idle = {
            let mut state = self.processes.state();
            state.closed = true;
            std::mem::take(&mut state.idle)
        };
        self.processes.notify();
        for pooled in idle {
            self.processes.remove(pooled, Reason::ShutDown);
        }
        let deadline = tokio::time::Instant::now() + drain;
        loop {
            let (live, stopping) = {
                let state = self.processes.state();
                (state.live, state.stopping)
            };
            if live + stopping == 0 {
                break;
            }
            tokio::select! {
                _ = changed.changed() => {}
                () = tokio::time::sleep_until(deadline), if *self.phase.borrow() == Phase::Open => {
                    self.phase.send_replace(Phase::Killing);
                }
            }
        }
        // Children whose start failed are not counted in `live`, but their folders may still exist.
        let emptied = self.processes.spawner.root.emptied();
        let _ = tokio::time::timeout(CLEANUP_TIMEOUT, emptied).await;
    }

    /// State and counters at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            waiting: self.admission.waiting(),
            in_use: self.admission.in_use(),
            slots: self.admission.slots(),
            ..Snapshot::default()
        };
        let state = self.processes.state();
        snapshot.idle = state.idle.len();
        snapshot.starting = state.starting;
        snapshot.children = state.live + state.stopping;
        let idle = state.idle.iter().map(|pooled| &pooled.memory);
        let memories = idle.chain(state.busy.values().map(|child| &child.memory));
        let bytes = memories.map(|memory| memory.bytes.load(Ordering::Relaxed));
        snapshot.memory_bytes = bytes.sum();
        drop(state);
        self.processes.metrics.add_to(&mut snapshot);
        snapshot
    }

    /// The driver.
    pub fn driver(&self) -> &K {
        &self.processes.driver
    }

    /// Starts processes in the pool's folder, for instance short-lived helpers.
    pub fn spawner(&self) -> &Spawner {
        &self.processes.spawner
    }

    /// What the children are isolated from.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.processes.spawner.isolation()
    }
}

impl<K: Driver> Drop for Pool<K> {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Killing);
        let idle = {
            let mut state = self.processes.state();
            state.closed = true;
            std::mem::take(&mut state.idle)
        };
        for pooled in idle {
            self.processes.remove(pooled, Reason::ShutDown);
        }
    }
}

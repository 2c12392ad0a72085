//! The child processes of a pool: started ahead of need and on demand, leased to one job at a time,
//! replaced.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    runtime::Handle as Runtime,
    sync::{Notify, watch},
};

use crate::{
    config::Config,
    driver::{Driver, Purpose, Spawner, Started},
    error::StartError,
    lease::Lease,
    metrics::{Metrics, Reason},
    origin::Origin,
    process::{Handle, Process},
};

/// Failed starts after which a job gives up.
const STARTS_PER_JOB: u64 = 3;

/// A child process of the pool.
pub(crate) struct PooledProcess<C> {
    pub(crate) id: u64,
    pub(crate) child: C,
    pub(crate) process: Option<Process>,
    pub(crate) jobs: u32,
    /// When its last job ended or, without one, when it started.
    pub(crate) idle_since: Instant,
    /// When it last passed a health check or finished a job.
    pub(crate) proved: Instant,
    pub(crate) memory: Arc<Memory>,
}

/// Memory of a child's process tree at the last measurement.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) bytes: AtomicU64,
    /// Notified when the kill limit is exceeded.
    pub(crate) exceeded: Notify,
}

/// A child that is running a job, as maintenance sees it.
pub(crate) struct BusyProcess {
    pub(crate) process: Handle,
    pub(crate) memory: Arc<Memory>,
}

pub(crate) struct State<C> {
    pub(crate) idle: Vec<PooledProcess<C>>,
    pub(crate) busy: HashMap<u64, BusyProcess>,
    /// Children that are idle, busy, starting or being probed. Bounded by `slots + spares`.
    pub(crate) live: usize,
    /// Children being stopped. They do not count as live.
    pub(crate) stopping: usize,
    pub(crate) starting: usize,
    /// Jobs that have a slot and wait for a child.
    wanted: usize,
    failures: u64,
    failures_in_row: u32,
    not_before: Option<Instant>,
    last_failure: Option<Arc<StartError>>,
    /// A task is waiting for `not_before` and will call `fill`.
    timer: bool,
    pub(crate) closed: bool,
    next_id: u64,
}

pub(crate) struct ProcessSet<K: Driver> {
    pub(crate) driver: K,
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
    pub(crate) spawner: Spawner,
    pub(crate) runtime: Runtime,
    state: Mutex<State<K::Child>>,
    changed: watch::Sender<()>,
}

/// Why a job got no child.
#[derive(Debug)]
pub(crate) enum NoChild {
    CannotStart {
        retry_after: Duration,
        source: Arc<StartError>,
    },
    Closed,
}

struct WaitGuard<'a, K: Driver>(&'a ProcessSet<K>);

impl<K: Driver> Drop for WaitGuard<'_, K> {
    fn drop(&mut self) {
        self.0.state().wanted -= 1;
    }
}

/// Counts a starting child as live; undone if the start fails or its future is dropped.
struct StartGuard<K: Driver> {
    processes: Arc<ProcessSet<K>>,
    is_spare: bool,
    is_kept: bool,
}

impl<K: Driver> Drop for StartGuard<K> {
    fn drop(&mut self) {
        let mut state = self.processes.state();
        state.starting -= usize::from(self.is_spare);
        state.live -= usize::from(!self.is_kept);
        drop(state);
        self.processes.notify();
    }
}

impl<K: Driver> ProcessSet<K> {
    pub(crate) fn new(
        driver: K,
        config: Config,
        origin: Origin,
        parent: &Path,
    ) -> std::io::Result<Arc<Self>> {
        let spawner = Spawner::new(driver.name(), origin, parent)?;
        let state = State {
            idle: Vec::new(),
            busy: HashMap::new(),
            live: 0,
            stopping: 0,
            starting: 0,
            wanted: 0,
            failures: 0,
            failures_in_row: 0,
            not_before: None,
            last_failure: None,
            timer: false,
            closed: false,
            next_id: 0,
        };
        Ok(Arc::new(Self {
            driver,
            config,
            metrics: Metrics::default(),
            spawner,
            runtime: Runtime::current(),
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        }))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State<K::Child>> {
        self.state.lock()
    }

    pub(crate) fn notify(&self) {
        self.changed.send_replace(());
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Waits for a healthy child.
    pub(crate) async fn take(self: &Arc<Self>) -> Result<Lease<K>, NoChild> {
        let (seen, mut changed) = {
            let mut state = self.state();
            state.wanted += 1;
            (state.failures, self.changed.subscribe())
        };
        let _wanted = WaitGuard(self);
        loop {
            // Marked before looking, so that a change between the look and the wait still wakes.
            changed.mark_unchanged();
            if let Some(lease) = self.pick() {
                if let Some(lease) = lease.prove_if_stale().await {
                    return Ok(lease);
                }
                continue;
            }
            if let Some(refusal) = self.start_failure(seen) {
                return Err(refusal);
            }
            self.fill();
            let _ = changed.changed().await;
        }
    }

    /// Takes the child that was used last: its memory is warm, and the others may be trimmed.
    fn pick(self: &Arc<Self>) -> Option<Lease<K>> {
        let mut state = self.state();
        let pooled = state.idle.pop()?;
        Some(Lease::new(self, &mut state, pooled))
    }

    /// Decides whether a waiting job gives up on starts; `seen` is the failure count when it began.
    ///
    /// A job gives up after its own third failure, at once if the error is permanent, and also if
    /// it arrives during the pause after a series of failures.
    fn start_failure(&self, seen: u64) -> Option<NoChild> {
        let state = self.state();
        if state.closed {
            return Some(NoChild::Closed);
        }
        let source = Arc::clone(state.last_failure.as_ref()?);
        let now = Instant::now();
        let pause = state
            .not_before
            .map(|time| time.saturating_duration_since(now));
        let own_failures = state.failures - seen;
        let is_storm = u64::from(state.failures_in_row) >= STARTS_PER_JOB;
        let in_pause = pause.is_some_and(|pause| !pause.is_zero());
        let is_over = (source.is_permanent() && own_failures > 0)
            || own_failures >= STARTS_PER_JOB
            || (is_storm && in_pause);
        is_over.then(|| NoChild::CannotStart {
            retry_after: pause.unwrap_or_default().max(Duration::from_secs(1)),
            source,
        })
    }

    /// Starts as many children as waiting jobs and spares need, up to the maximum.
    pub(crate) fn fill(self: &Arc<Self>) {
        let mut state = self.state();
        let max = self.config.slots + self.config.spares;
        let permanent = state
            .last_failure
            .as_ref()
            .is_some_and(|error| error.is_permanent());
        // No spares for a program that is not installed; only a job looks for it again.
        let ahead = if permanent { 0 } else { self.config.spares };
        let target = state.wanted + ahead;
        while !state.closed && state.idle.len() + state.starting < target && state.live < max {
            let pause = state
                .not_before
                .map(|time| time.saturating_duration_since(Instant::now()));
            if let Some(pause) = pause.filter(|pause| !pause.is_zero()) {
                self.fill_after(&mut state, pause);
                return;
            }
            // While starts keep failing, try one at a time.
            if state.failures_in_row > 0 && state.starting > 0 {
                return;
            }
            state.live += 1;
            state.starting += 1;
            let processes = Arc::clone(self);
            self.runtime
                .spawn(async move { processes.start_one().await });
        }
    }

    fn fill_after(self: &Arc<Self>, state: &mut State<K::Child>, pause: Duration) {
        if state.timer {
            return;
        }
        state.timer = true;
        let processes = Arc::downgrade(self);
        self.runtime.spawn(async move {
            tokio::time::sleep(pause).await;
            if let Some(processes) = processes.upgrade() {
                processes.state().timer = false;
                processes.fill();
            }
        });
    }

    async fn start_one(self: Arc<Self>) {
        let mut guard = StartGuard {
            processes: Arc::clone(&self),
            is_spare: true,
            is_kept: false,
        };
        let started = self.start(Purpose::Spare).await;
        if let Ok(pooled) = started {
            guard.is_kept = true;
            let mut state = self.state();
            if state.closed {
                drop(state);
                self.remove(pooled, Reason::ShutDown);
            } else {
                // To the front: jobs take from the back, where the children with warm memory are.
                state.idle.insert(0, pooled);
            }
        }
        drop(guard);
        self.fill();
    }

    /// Starts a child for the retry of one job, bypassing the idle children.
    pub(crate) async fn start_for_retry(self: &Arc<Self>) -> Result<Lease<K>, NoChild> {
        {
            let mut state = self.state();
            if state.closed {
                return Err(NoChild::Closed);
            }
            state.live += 1;
        }
        let mut guard = StartGuard {
            processes: Arc::clone(self),
            is_spare: false,
            is_kept: false,
        };
        let mut tries = 0;
        let pooled = loop {
            tries += 1;
            match self.start(Purpose::Retry).await {
                Ok(pooled) => break pooled,
                Err(source) if tries >= STARTS_PER_JOB || source.is_permanent() => {
                    let retry_after = Duration::from_secs(1);
                    return Err(NoChild::CannotStart {
                        retry_after,
                        source,
                    });
                }
                Err(_) => tokio::time::sleep(self.config.backoff_first).await,
            }
        };
        guard.is_kept = true;
        let mut state = self.state();
        Ok(Lease::new(self, &mut state, pooled))
    }

    async fn start(
        self: &Arc<Self>,
        purpose: Purpose,
    ) -> Result<PooledProcess<K::Child>, Arc<StartError>> {
        let begin = Instant::now();
        let after = self.config.start_timeout;
        let starting = tokio::time::timeout(after, self.driver.start(&self.spawner, purpose));
        let started = tokio::select! {
            started = starting => started.unwrap_or(Err(StartError::TimedOut { after })),
            () = self.until_closed() => Err(StartError::Unusable("shutting down".into())),
        };
        let mut state = self.state();
        match started {
            Ok(Started { child, process }) => {
                state.failures_in_row = 0;
                state.not_before = None;
                state.last_failure = None;
                state.next_id += 1;
                let id = state.next_id;
                self.metrics.starts.fetch_add(1, Ordering::Relaxed);
                self.metrics.start_time.add(begin.elapsed());
                if let Some(process) = &process {
                    self.watch(id, process.handle().clone());
                }
                Ok(PooledProcess {
                    id,
                    child,
                    process,
                    jobs: 0,
                    idle_since: Instant::now(),
                    proved: Instant::now(),
                    memory: Arc::default(),
                })
            }
            Err(error) => {
                let error = Arc::new(error);
                self.metrics.start_failures.fetch_add(1, Ordering::Relaxed);
                state.failures += 1;
                state.failures_in_row = state.failures_in_row.saturating_add(1);
                let doublings = (state.failures_in_row - 1).min(16);
                let pause = self.config.backoff_first * 2_u32.pow(doublings);
                state.not_before = Some(Instant::now() + pause.min(self.config.backoff_max));
                state.last_failure = Some(Arc::clone(&error));
                Err(error)
            }
        }
    }

    async fn until_closed(&self) {
        let mut changed = self.changed.subscribe();
        while !self.state().closed && changed.changed().await.is_ok() {}
    }

    /// Removes an idle child as soon as its process exits.
    fn watch(self: &Arc<Self>, id: u64, process: Handle) {
        let processes = Arc::downgrade(self);
        self.runtime.spawn(async move {
            process.exited().await;
            if let Some(processes) = processes.upgrade() {
                let mut state = processes.state();
                let position = state.idle.iter().position(|pooled| pooled.id == id);
                let dead = position.map(|index| state.idle.remove(index));
                drop(state);
                if let Some(pooled) = dead {
                    processes.remove(pooled, Reason::Crashed);
                }
            }
        });
    }

    /// Takes a healthy child back after its job, to become idle or to be recycled.
    pub(crate) fn give_back(self: &Arc<Self>, mut pooled: PooledProcess<K::Child>) {
        let config = &self.config;
        let memory = pooled.memory.bytes.load(Ordering::Relaxed);
        let mut state = self.state();
        state.busy.remove(&pooled.id);
        let is_dead = pooled
            .process
            .as_ref()
            .is_some_and(|process| !process.handle().is_running())
            || !self.driver.is_alive(&pooled.child);
        let reason = if state.closed {
            Some(Reason::ShutDown)
        } else if is_dead {
            Some(Reason::Crashed)
        } else if self.driver.is_spent(&pooled.child) {
            Some(Reason::Asked)
        } else if config.max_jobs > 0 && pooled.jobs >= config.max_jobs {
            Some(Reason::RecycledJobs)
        } else if config.recycle_memory_bytes > 0 && memory > config.recycle_memory_bytes {
            Some(Reason::RecycledMemory)
        } else {
            None
        };
        let Some(reason) = reason else {
            pooled.proved = Instant::now();
            state.idle.push(pooled);
            drop(state);
            self.notify();
            return;
        };
        drop(state);
        self.remove(pooled, reason);
    }

    /// Stops a child that has left the set, gracefully if it may be healthy, and kills it in any
    /// case. Then starts replacements.
    pub(crate) fn remove(self: &Arc<Self>, pooled: PooledProcess<K::Child>, reason: Reason) {
        self.metrics.replaced(reason);
        {
            let mut state = self.state();
            state.busy.remove(&pooled.id);
            state.live -= 1;
            state.stopping += 1;
        }
        self.notify();
        self.fill();
        let processes = Arc::clone(self);
        let graceful = matches!(
            reason,
            Reason::RecycledJobs
                | Reason::RecycledMemory
                | Reason::Idle
                | Reason::ShutDown
                | Reason::Asked
        );
        self.runtime.spawn(async move {
            let _stopping = StopGuard(Arc::clone(&processes));
            let PooledProcess { child, process, .. } = pooled;
            if graceful || process.is_none() {
                let stop = processes.driver.stop(child);
                let _ = tokio::time::timeout(processes.config.stop_timeout, stop).await;
            }
            if let Some(process) = process {
                let handle = process.handle().clone();
                drop(process);
                handle.gone().await;
            }
        });
    }
}

struct StopGuard<K: Driver>(Arc<ProcessSet<K>>);

impl<K: Driver> Drop for StopGuard<K> {
    fn drop(&mut self) {
        self.0.state().stopping -= 1;
        self.0.notify();
    }
}

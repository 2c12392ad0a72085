//! The children: started ahead of need and on demand, lent to one job at a time, replaced.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle as Runtime,
    sync::{Notify, watch},
};

use crate::{
    config::Config,
    error::StartError,
    folder::Root,
    kind::{Kind, Purpose, Spawner, Started},
    launcher::Launcher,
    lease::Lease,
    metrics::{Metrics, Reason},
    process::{Handle, Process},
};

/// Failed starts that one job waits through.
const STARTS_PER_JOB: u64 = 3;

/// A child in the pool.
pub(crate) struct Inmate<C> {
    pub(crate) id: u64,
    pub(crate) child: C,
    pub(crate) process: Option<Process>,
    pub(crate) jobs: u32,
    /// When it last did a job or was started.
    pub(crate) idle_since: Instant,
    /// When it last proved to be sound.
    pub(crate) proved: Instant,
    pub(crate) memory: Arc<Memory>,
}

/// Memory of a child, as last measured.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) bytes: AtomicU64,
    /// It holds more than a child may.
    pub(crate) exceeded: Notify,
}

/// A child at work, as the upkeep sees it.
pub(crate) struct AtWork {
    pub(crate) process: Handle,
    pub(crate) memory: Arc<Memory>,
}

pub(crate) struct State<C> {
    pub(crate) idle: Vec<Inmate<C>>,
    pub(crate) at_work: HashMap<u64, AtWork>,
    /// Children that are idle, at work, being started or being seen after.
    pub(crate) live: usize,
    /// Children that are being stopped.
    pub(crate) leaving: usize,
    pub(crate) starting: usize,
    /// Jobs that have a slot and wait for a child.
    wanted: usize,
    failures: u64,
    failures_in_row: u32,
    not_before: Option<Instant>,
    last_failure: Option<Arc<StartError>>,
    timer: bool,
    pub(crate) closed: bool,
    next_id: u64,
}

pub(crate) struct Stock<K: Kind> {
    pub(crate) kind: K,
    pub(crate) config: Config,
    pub(crate) metrics: Metrics,
    pub(crate) spawner: Spawner,
    pub(crate) runtime: Runtime,
    state: Mutex<State<K::Child>>,
    changed: watch::Sender<()>,
}

/// There will be no child.
#[derive(Debug)]
pub(crate) enum NoChild {
    CannotStart {
        retry_after: Duration,
        source: Arc<StartError>,
    },
    Closed,
}

struct Wanted<'a, K: Kind>(&'a Stock<K>);

impl<K: Kind> Drop for Wanted<'_, K> {
    fn drop(&mut self) {
        self.0.state().wanted -= 1;
    }
}

/// A child that is being started counts as live; when the start fails or is dropped, no more.
struct Room<K: Kind> {
    stock: Arc<Stock<K>>,
    is_stock: bool,
    kept: bool,
}

impl<K: Kind> Drop for Room<K> {
    fn drop(&mut self) {
        let mut state = self.stock.state();
        state.starting -= usize::from(self.is_stock);
        state.live -= usize::from(!self.kept);
        drop(state);
        self.stock.tell();
    }
}

impl<K: Kind> Stock<K> {
    pub(crate) fn new(
        kind: K,
        config: Config,
        launcher: Arc<dyn Launcher>,
        parent: &Path,
    ) -> std::io::Result<Arc<Self>> {
        let root = Arc::new(Root::create(parent, kind.name())?);
        let state = State {
            idle: Vec::new(),
            at_work: HashMap::new(),
            live: 0,
            leaving: 0,
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
            kind,
            config,
            metrics: Metrics::default(),
            spawner: Spawner { root, launcher },
            runtime: Runtime::current(),
            state: Mutex::new(state),
            changed: watch::Sender::new(()),
        }))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State<K::Child>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self) {
        self.changed.send_replace(());
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// A sound child, waited for until there is one.
    pub(crate) async fn take(self: &Arc<Self>) -> Result<Lease<K>, NoChild> {
        let (seen, mut changed) = {
            let mut state = self.state();
            state.wanted += 1;
            (state.failures, self.changed.subscribe())
        };
        let _wanted = Wanted(self);
        loop {
            changed.mark_unchanged();
            if let Some(lease) = self.pick() {
                if let Some(lease) = lease.prove_if_stale().await {
                    return Ok(lease);
                }
                continue;
            }
            if let Some(refusal) = self.hopeless(seen) {
                return Err(refusal);
            }
            self.fill();
            let _ = changed.changed().await;
        }
    }

    /// The child that was used last: its memory is warm, and the others may be trimmed.
    fn pick(self: &Arc<Self>) -> Option<Lease<K>> {
        let mut state = self.state();
        let inmate = state.idle.pop()?;
        Some(Lease::new(self, &mut state, inmate))
    }

    fn hopeless(&self, seen: u64) -> Option<NoChild> {
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

    /// Starts as many children as are wanted and as there is room for.
    pub(crate) fn fill(self: &Arc<Self>) {
        let mut state = self.state();
        let max = self.config.slots + self.config.spares;
        let permanent = state
            .last_failure
            .as_ref()
            .is_some_and(|error| error.is_permanent());
        // What is not installed is not looked for again until a job asks for it.
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
            // While starts fail, one at a time is tried.
            if state.failures_in_row > 0 && state.starting > 0 {
                return;
            }
            state.live += 1;
            state.starting += 1;
            let stock = Arc::clone(self);
            self.runtime.spawn(async move { stock.start_one().await });
        }
    }

    fn fill_after(self: &Arc<Self>, state: &mut State<K::Child>, pause: Duration) {
        if state.timer {
            return;
        }
        state.timer = true;
        let stock = Arc::downgrade(self);
        self.runtime.spawn(async move {
            tokio::time::sleep(pause).await;
            if let Some(stock) = stock.upgrade() {
                stock.state().timer = false;
                stock.fill();
            }
        });
    }

    async fn start_one(self: Arc<Self>) {
        let mut room = Room {
            stock: Arc::clone(&self),
            is_stock: true,
            kept: false,
        };
        let started = self.start(Purpose::Stock).await;
        if let Ok(inmate) = started {
            room.kept = true;
            let mut state = self.state();
            if state.closed {
                drop(state);
                self.remove(inmate, Reason::ShutDown);
            } else {
                state.idle.insert(0, inmate);
            }
        }
        drop(room);
        self.fill();
    }

    /// A child for one job, started now; used where its first child died.
    pub(crate) async fn start_for_retry(self: &Arc<Self>) -> Result<Lease<K>, NoChild> {
        {
            let mut state = self.state();
            if state.closed {
                return Err(NoChild::Closed);
            }
            state.live += 1;
        }
        let mut room = Room {
            stock: Arc::clone(self),
            is_stock: false,
            kept: false,
        };
        let mut tries = 0;
        let inmate = loop {
            tries += 1;
            match self.start(Purpose::Retry).await {
                Ok(inmate) => break inmate,
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
        room.kept = true;
        let mut state = self.state();
        Ok(Lease::new(self, &mut state, inmate))
    }

    async fn start(
        self: &Arc<Self>,
        purpose: Purpose,
    ) -> Result<Inmate<K::Child>, Arc<StartError>> {
        let begin = Instant::now();
        let after = self.config.start_timeout;
        let started = tokio::time::timeout(after, self.kind.start(&self.spawner, purpose)).await;
        let started = started.unwrap_or(Err(StartError::TimedOut { after }));
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
                Ok(Inmate {
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

    /// Notices when an idle child ends.
    fn watch(self: &Arc<Self>, id: u64, process: Handle) {
        let stock = Arc::downgrade(self);
        self.runtime.spawn(async move {
            process.exited().await;
            if let Some(stock) = stock.upgrade() {
                let mut state = stock.state();
                let position = state.idle.iter().position(|inmate| inmate.id == id);
                let dead = position.map(|index| state.idle.remove(index));
                drop(state);
                if let Some(inmate) = dead {
                    stock.remove(inmate, Reason::Crashed);
                }
            }
        });
    }

    /// A child has done its job well and becomes idle, or is recycled.
    pub(crate) fn give_back(self: &Arc<Self>, mut inmate: Inmate<K::Child>) {
        let config = &self.config;
        let memory = inmate.memory.bytes.load(Ordering::Relaxed);
        let mut state = self.state();
        state.at_work.remove(&inmate.id);
        let is_dead = inmate
            .process
            .as_ref()
            .is_some_and(|process| !process.handle().is_running())
            || !self.kind.is_alive(&inmate.child);
        let reason = if state.closed {
            Some(Reason::ShutDown)
        } else if is_dead {
            Some(Reason::Crashed)
        } else if self.kind.is_spent(&inmate.child) {
            Some(Reason::Asked)
        } else if config.max_jobs > 0 && inmate.jobs >= config.max_jobs {
            Some(Reason::RecycledJobs)
        } else if config.recycle_memory_bytes > 0 && memory > config.recycle_memory_bytes {
            Some(Reason::RecycledMemory)
        } else {
            None
        };
        let Some(reason) = reason else {
            inmate.proved = Instant::now();
            state.idle.push(inmate);
            drop(state);
            self.tell();
            return;
        };
        drop(state);
        self.remove(inmate, reason);
    }

    /// Stops a child that is not in the stock any more: politely where it may be sound, and kills
    /// it in any case; then fills the stock up.
    pub(crate) fn remove(self: &Arc<Self>, inmate: Inmate<K::Child>, reason: Reason) {
        self.metrics.replaced(reason);
        {
            let mut state = self.state();
            state.at_work.remove(&inmate.id);
            state.live -= 1;
            state.leaving += 1;
        }
        self.tell();
        self.fill();
        let stock = Arc::clone(self);
        let polite = matches!(
            reason,
            Reason::RecycledJobs
                | Reason::RecycledMemory
                | Reason::Idle
                | Reason::ShutDown
                | Reason::Asked
        );
        self.runtime.spawn(async move {
            let _leaving = Leaving(Arc::clone(&stock));
            let Inmate { child, process, .. } = inmate;
            if polite || process.is_none() {
                let stop = stock.kind.stop(child);
                let _ = tokio::time::timeout(stock.config.stop_timeout, stop).await;
            }
            if let Some(process) = process {
                let handle = process.handle().clone();
                drop(process);
                handle.gone().await;
            }
        });
    }
}

struct Leaving<K: Kind>(Arc<Stock<K>>);

impl<K: Kind> Drop for Leaving<K> {
    fn drop(&mut self) {
        self.0.state().leaving -= 1;
        self.0.tell();
    }
}

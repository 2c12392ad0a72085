//! The owner's side: starts zygotes, takes cells from them, and replaces them.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tracing::warn;

use crate::{
    Cell, Ending, Error, Level, Limits,
    escape_probes::EscapeProbe,
    server::{Server, lock},
};

/// Timeout of an escape probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Configuration of a jail.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that calls [`crate::serve`] when its first argument is [`crate::MARK`]; this
    /// program if `None`.
    pub program: Option<PathBuf>,
    /// The kind of worker: the program's second argument.
    pub kind: String,
    /// Whether jobs may create threads.
    pub threads: bool,
    /// Upper limits of a job.
    pub limits: Limits,
    /// Number of cells forked ahead of need.
    pub spares: usize,
    /// Number of cells after which a zygote is replaced: all forks of a zygote share one memory
    /// layout.
    pub recycle_after: u64,
    /// The highest level to try.
    pub most: Level,
    /// The lowest level to accept.
    pub least: Level,
}

impl Options {
    /// Options for a kind of worker, with two spares per processor.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            program: None,
            kind: kind.to_owned(),
            threads: false,
            limits: Limits::default(),
            spares: processors * 2,
            recycle_after: 5_000,
            most: Level::Full,
            least: Level::ProcessOnly,
        }
    }
}

/// State of a jail, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of cells forked.
    pub forked: u64,
    /// Number of zygotes started.
    pub zygotes: u64,
    /// Number of cells that wait for a job.
    pub spares: u64,
}

/// Creates sandboxes.
#[derive(Debug)]
pub struct Jail {
    options: Options,
    current: Mutex<Arc<Server>>,
    level: Level,
    numbers: Arc<AtomicU64>,
    zygotes: AtomicU64,
    replacing: Arc<AtomicBool>,
}

impl Jail {
    /// Starts a zygote and determines its level by running every escape probe.
    ///
    /// # Errors
    /// [`Error::Start`] if it does not start, [`Error::Level`] if its level is below
    /// [`Options::least`].
    pub fn start(options: Options) -> Result<Self, Error> {
        let numbers = Arc::new(AtomicU64::new(0));
        let server = Server::start(&options, &numbers)?;
        let claimed = server.level;
        let jail = Self {
            current: Mutex::new(server),
            level: claimed,
            options,
            numbers,
            zygotes: AtomicU64::new(1),
            replacing: Arc::default(),
        };
        let stopped = EscapeProbe::ALL
            .iter()
            .all(|probe| matches!(jail.probe(*probe), Ok(Ending::ForbiddenCall)));
        let level = if stopped { claimed } else { Level::ProcessOnly };
        check(level, jail.options.least)?;
        Ok(Self { level, ..jail })
    }

    /// Isolation level of the cells, as determined by the escape probes.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Upper limits of every job.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.options.limits
    }

    /// Counts of cells and zygotes.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            forked: self.numbers.load(Ordering::Relaxed),
            zygotes: self.zygotes.load(Ordering::Relaxed),
            spares: self.current().spares() as u64,
        }
    }

    /// Runs an escape probe in a cell; returns how the cell ended.
    ///
    /// # Errors
    /// See [`Jail::cell`].
    pub fn probe(&self, probe: EscapeProbe) -> Result<Ending, Error> {
        let cell = self.cell(PROBE_TIMEOUT)?;
        Ok(cell.probe(probe, Instant::now() + PROBE_TIMEOUT))
    }

    /// A fresh cell, taken from the spares if there is one.
    ///
    /// # Errors
    /// [`Error::NoCell`] after `timeout`; [`Error::Start`] if the zygote has exited and cannot be
    /// started again, [`Error::Level`] if another would be below [`Jail::level`].
    pub fn cell(&self, timeout: Duration) -> Result<Cell, Error> {
        let deadline = Instant::now() + timeout;
        loop {
            let server = self.living()?;
            if let Some((number, channel, process)) = server.take(self.options.spares, deadline) {
                self.replace_when_due(&server);
                let limits = self.options.limits;
                return Ok(Cell::new(number, channel, process, server, limits));
            }
            if Instant::now() >= deadline {
                return Err(Error::NoCell {
                    waited_ms: timeout.as_millis() as u64,
                });
            }
        }
    }

    fn current(&self) -> Arc<Server> {
        Arc::clone(&lock(&self.current))
    }

    /// The current zygote, restarted if it has exited.
    fn living(&self) -> Result<Arc<Server>, Error> {
        let mut current = lock(&self.current);
        if !current.alive.load(Ordering::Acquire) {
            *current = self.start_another()?;
        }
        Ok(Arc::clone(&current))
    }

    /// Starts another zygote. The host may allow less than when the probes ran, for instance no
    /// more user namespaces, and callers asked for the level only once: a lower one is refused.
    fn start_another(&self) -> Result<Arc<Server>, Error> {
        let server = Server::start(&self.options, &self.numbers)?;
        check(server.level, self.level)?;
        self.zygotes.fetch_add(1, Ordering::Relaxed);
        Ok(server)
    }

    /// Starts a new zygote when the old one has forked enough cells. The old one ends with its last
    /// cell.
    fn replace_when_due(&self, server: &Arc<Server>) {
        if server.asked.load(Ordering::Relaxed) < self.options.recycle_after
            || self.replacing.swap(true, Ordering::AcqRel)
        {
            return;
        }
        // One job waits for the start, about 10 ms; the others keep using the old zygote.
        match self.start_another() {
            Ok(fresh) => *lock(&self.current) = fresh,
            Err(error) => {
                warn!(cause = %error, "sandbox server kept: no other could replace it");
                // The next attempt is due after as many cells again: each makes a job wait.
                server.asked.store(0, Ordering::Relaxed);
            }
        }
        self.replacing.store(false, Ordering::Release);
    }
}

/// Fails if the level `found` is below `wanted`.
fn check(found: Level, wanted: Level) -> Result<(), Error> {
    if found < wanted {
        return Err(Error::Level {
            found: found.name(),
            wanted: wanted.name(),
        });
    }
    Ok(())
}

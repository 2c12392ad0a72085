//! The owner's side: zygotes that are started, asked for cells, and replaced.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    Cell, Ending, Error, Level, Limits,
    escape_probes::EscapeProbe,
    server::{Server, lock},
};

/// Timeout of an escape probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// How a jail is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that calls [`crate::serve`] when its first argument is [`crate::MARK`]; this one
    /// where absent.
    pub program: Option<PathBuf>,
    /// Kind of worker, its second argument.
    pub kind: String,
    /// Jobs may have threads of their own.
    pub threads: bool,
    /// The widest limits of a job.
    pub limits: Limits,
    /// Cells that are forked ahead of need.
    pub spares: usize,
    /// Cells of a zygote before another takes its place: forks share their addresses.
    pub recycle_after: u64,
    /// The highest level that is tried.
    pub most: Level,
    /// The level below which no jail is had.
    pub least: Level,
}

impl Options {
    /// Options for a kind of worker, with two spares for each processor.
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

/// What a jail has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Cells forked.
    pub forked: u64,
    /// Zygotes started.
    pub zygotes: u64,
    /// Cells that wait for a job.
    pub spares: u64,
}

/// Gives sandboxes.
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
    /// [`Error::Start`] where it does not start, [`Error::Level`] where it is below the least.
    pub fn start(options: Options) -> Result<Self, Error> {
        let numbers = Arc::new(AtomicU64::new(0));
        let server = Server::start(&options, &numbers)?;
        let jail = Self {
            current: Mutex::new(server),
            level: Level::ProcessOnly,
            options,
            numbers,
            zygotes: AtomicU64::new(1),
            replacing: Arc::default(),
        };
        let claimed = jail.current().level;
        let stopped = EscapeProbe::ALL
            .iter()
            .all(|probe| matches!(jail.probe(*probe), Ok(Ending::ForbiddenCall)));
        let level = if stopped { claimed } else { Level::ProcessOnly };
        if level < jail.options.least {
            return Err(Error::Level {
                found: level.name(),
                wanted: jail.options.least.name(),
            });
        }
        Ok(Self { level, ..jail })
    }

    /// Isolation level of the cells, as the escape probes determined it.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The limits that no job may go beyond.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.options.limits
    }

    /// What was done so far.
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
    /// As [`Jail::cell`].
    pub fn probe(&self, probe: EscapeProbe) -> Result<Ending, Error> {
        let cell = self.cell(PROBE_TIMEOUT)?;
        Ok(cell.probe(probe, Instant::now() + PROBE_TIMEOUT))
    }

    /// A fresh cell, from the spares where there is one.
    ///
    /// # Errors
    /// [`Error::NoCell`] after `timeout`; [`Error::Start`] where the zygote is gone and cannot be
    /// started again.
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

    /// The zygote, started again where it has died.
    fn living(&self) -> Result<Arc<Server>, Error> {
        let mut current = lock(&self.current);
        if !current.alive.load(Ordering::Acquire) {
            *current = Server::start(&self.options, &self.numbers)?;
            self.zygotes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Arc::clone(&current))
    }

    /// Starts another zygote beside an old one, which ends with its last cell.
    fn replace_when_due(&self, server: &Arc<Server>) {
        if server.asked.load(Ordering::Relaxed) < self.options.recycle_after
            || self.replacing.swap(true, Ordering::AcqRel)
        {
            return;
        }
        // Waiting for the new one would be paid by one job; it takes some 10 ms.
        let started = Server::start(&self.options, &self.numbers);
        if let Ok(fresh) = started {
            *lock(&self.current) = fresh;
            self.zygotes.fetch_add(1, Ordering::Relaxed);
        }
        self.replacing.store(false, Ordering::Release);
    }
}

//! The owner's side: zygotes that are started, asked for cells, and replaced.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io::{self, Read},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::{
    Cell, Channel, Ending, Error, Level, Limits,
    cgroup::Group,
    control::{self, Packet},
    takeover::Attempt,
    zygote::{self, MARK},
};

/// How long a zygote may take to close itself in.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a takeover attempt may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// How a jail is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that calls [`zygote::serve`] when its first argument is [`MARK`]; this one
    /// where absent.
    pub program: Option<PathBuf>,
    /// Kind of worker, its second argument.
    pub kind: String,
    /// The widest limits of a job.
    pub limits: Limits,
    /// Cells that are forked ahead of need.
    pub spares: usize,
    /// Cells of a zygote before another takes its place: forks share their addresses.
    pub recycle_after: u64,
    /// The best level that is attempted.
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
    /// Starts a zygote and finds out its level by attempting every takeover.
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
        let stopped = Attempt::ALL
            .iter()
            .all(|attempt| matches!(jail.attempt(*attempt), Ok(Ending::ForbiddenCall)));
        let level = if stopped { claimed } else { Level::ProcessOnly };
        if level < jail.options.least {
            return Err(Error::Level {
                found: level.name(),
                wanted: jail.options.least.name(),
            });
        }
        Ok(Self { level, ..jail })
    }

    /// How well cells are shut in, as the attempts found it.
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

    /// Makes an attempt at a takeover in a cell: how that cell ended.
    ///
    /// # Errors
    /// As [`Jail::cell`].
    pub fn attempt(&self, attempt: Attempt) -> Result<Ending, Error> {
        let cell = self.cell(ATTEMPT_TIMEOUT)?;
        Ok(cell.attempt(attempt, Instant::now() + ATTEMPT_TIMEOUT))
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

type Spare = (u64, Channel, OwnedFd);

/// A zygote.
#[derive(Debug)]
pub(crate) struct Server {
    control: OwnedFd,
    process: Mutex<Child>,
    level: Level,
    alive: AtomicBool,
    /// Cells asked for.
    asked: AtomicU64,
    numbers: Arc<AtomicU64>,
    state: Mutex<State>,
    changed: Condvar,
    _group: Option<Group>,
}

#[derive(Debug, Default)]
struct State {
    spares: VecDeque<Spare>,
    /// Cells that were asked for and have not come.
    awaited: usize,
    endings: HashMap<u64, u32>,
    /// Cells whose end nobody waits for.
    forgotten: HashSet<u64>,
}

impl Server {
    fn start(options: &Options, numbers: &Arc<AtomicU64>) -> Result<Arc<Self>, Error> {
        let failed = |reason: &str, source: io::Error| Error::Start {
            reason: reason.to_owned(),
            source: Some(source),
        };
        let (control, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|error| failed("no socket", error.into()))?;
        let program = match &options.program {
            Some(program) => program.clone(),
            None => std::env::current_exe().map_err(|error| failed("no program", error))?,
        };
        let mut process = Command::new(program)
            .arg(MARK)
            .arg(&options.kind)
            .args(zygote::arguments(&options.limits, options.most))
            .env_clear()
            // Without it the C library would look for the time zone in a file.
            .env("TZ", "UTC0")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed("the program does not run", error))?;
        let level = match wait_ready(&control) {
            Ok(level) => level,
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                let mut said = String::new();
                if let Some(errors) = process.stderr.take() {
                    let _ = errors.take(2000).read_to_string(&mut said);
                }
                return Err(failed(said.trim(), error));
            }
        };
        let together = options.limits.memory_bytes.saturating_mul(16);
        let server = Arc::new(Self {
            control,
            level,
            alive: AtomicBool::new(true),
            asked: AtomicU64::new(0),
            numbers: Arc::clone(numbers),
            state: Mutex::default(),
            changed: Condvar::new(),
            _group: Group::create(process.id(), together, 2048),
            process: Mutex::new(process),
        });
        let weak = Arc::downgrade(&server);
        let control = server
            .control
            .try_clone()
            .map_err(|error| failed("no descriptor", error))?;
        let limit = options.limits.message_bytes;
        std::thread::Builder::new()
            .name("jail".to_owned())
            .spawn(move || {
                while let Ok(Some((packet, descriptors))) = control::receive(&control) {
                    let Some(server) = weak.upgrade() else { return };
                    server.handle(packet, descriptors, limit);
                }
                if let Some(server) = weak.upgrade() {
                    server.alive.store(false, Ordering::Release);
                    server.changed.notify_all();
                }
            })
            .map_err(|error| failed("no thread", error))?;
        Ok(server)
    }

    fn handle(&self, packet: Packet, descriptors: Vec<OwnedFd>, limit: u32) {
        let mut state = lock(&self.state);
        match packet {
            Packet::Forked(number) => {
                state.awaited = state.awaited.saturating_sub(1);
                let mut descriptors = descriptors.into_iter();
                if let (Some(channel), Some(process)) = (descriptors.next(), descriptors.next()) {
                    let channel = Channel::new(UnixStream::from(channel), limit);
                    state.spares.push_back((number, channel, process));
                }
            }
            Packet::NotForked(..) => state.awaited = state.awaited.saturating_sub(1),
            Packet::Ended(number, how) => {
                if !state.forgotten.remove(&number) {
                    state.endings.insert(number, how);
                }
            }
            Packet::Fork(_) | Packet::Ready(_) => {}
        }
        drop(state);
        self.changed.notify_all();
    }

    fn spares(&self) -> usize {
        lock(&self.state).spares.len()
    }

    /// Takes a spare and asks for others, so that `spares` wait; `None` where none comes in time
    /// or the zygote has died.
    fn take(&self, spares: usize, deadline: Instant) -> Option<Spare> {
        let mut state = lock(&self.state);
        loop {
            let mut spare = state.spares.pop_front();
            // A spare that died while it waited is of no use.
            while let Some((number, ..)) = &spare {
                if state.endings.remove(number).is_none() {
                    break;
                }
                spare = state.spares.pop_front();
            }
            let wanted = spares + usize::from(spare.is_none());
            while state.spares.len() + state.awaited < wanted {
                let number = self.numbers.fetch_add(1, Ordering::Relaxed);
                control::send(self.control.as_fd(), Packet::Fork(number), &[]).ok()?;
                self.asked.fetch_add(1, Ordering::Relaxed);
                state.awaited += 1;
            }
            if spare.is_some() {
                return spare;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.alive.load(Ordering::Acquire) {
                return None;
            }
            state = wait(&self.changed, state, left);
        }
    }

    /// How a cell ended; `None` where it has not within `timeout`, or the zygote has died.
    pub fn ending(&self, number: u64, timeout: Duration) -> Option<u32> {
        let deadline = Instant::now() + timeout;
        let mut state = lock(&self.state);
        loop {
            if let Some(how) = state.endings.remove(&number) {
                return Some(how);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.alive.load(Ordering::Acquire) {
                return None;
            }
            state = wait(&self.changed, state, left);
        }
    }

    /// Nobody will ask for the end of this cell.
    pub fn forget(&self, number: u64) {
        let mut state = lock(&self.state);
        if state.endings.remove(&number).is_none() && self.alive.load(Ordering::Acquire) {
            state.forgotten.insert(number);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
        let process = self
            .process
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn wait_ready(control: &OwnedFd) -> io::Result<Level> {
    let seconds = Some(START_TIMEOUT);
    rustix::net::sockopt::set_socket_timeout(
        control,
        rustix::net::sockopt::Timeout::Recv,
        seconds,
    )?;
    let level = match control::receive(control)? {
        Some((Packet::Ready(2), _)) => Level::Full,
        Some((Packet::Ready(1), _)) => Level::NoNamespaces,
        Some((Packet::Ready(_), _)) => Level::ProcessOnly,
        _ => return Err(io::ErrorKind::UnexpectedEof.into()),
    };
    rustix::net::sockopt::set_socket_timeout(control, rustix::net::sockopt::Timeout::Recv, None)?;
    Ok(level)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(
    condvar: &Condvar,
    guard: MutexGuard<'a, T>,
    timeout: Duration,
) -> MutexGuard<'a, T> {
    condvar
        .wait_timeout(guard, timeout)
        .map_or_else(|error| error.into_inner().0, |(guard, _)| guard)
}

//! A zygote as its owner sees it: its process, its spare cells, and how its cells ended.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io::{self, Read},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Child, Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::{
    Channel, Error, Level, Options,
    cgroup::{self, Group},
    control::{self, Packet},
    zygote::{self, MARK},
};

/// How long a zygote may take to confine itself.
const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) type Spare = (u64, Channel, OwnedFd);

/// A zygote.
#[derive(Debug)]
pub(crate) struct Server {
    control: OwnedFd,
    process: Mutex<Child>,
    pub level: Level,
    pub alive: AtomicBool,
    /// Number of cells requested; those before a failed replacement do not count.
    pub asked: AtomicU64,
    numbers: Arc<AtomicU64>,
    state: Mutex<State>,
    changed: Condvar,
    _group: Option<Group>,
}

#[derive(Debug, Default)]
struct State {
    spares: VecDeque<Spare>,
    /// Cells requested but not forked yet.
    awaited: usize,
    endings: HashMap<u64, u32>,
    /// Cells whose ending nobody will ask for.
    forgotten: HashSet<u64>,
}

/// Fails in a program that was started as a zygote but does not act as one: it would start copies
/// of itself without end.
fn refuse_to_nest() -> Result<(), Error> {
    match std::env::args_os().nth(1) {
        Some(first) if first == MARK => Err(Error::Start {
            reason: "this program was started as a sandbox server, and is none".to_owned(),
            source: None,
        }),
        _ => Ok(()),
    }
}

impl Server {
    pub fn start(options: &Options, numbers: &Arc<AtomicU64>) -> Result<Arc<Self>, Error> {
        let failed = |reason: &str, source: io::Error| Error::Start {
            reason: reason.to_owned(),
            source: Some(source),
        };
        refuse_to_nest()?;
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
            .args(zygote::arguments(
                &options.limits,
                options.most,
                options.threads,
            ))
            .env_clear()
            // Without this, the C library would look up the time zone in a file.
            .env("TZ", "UTC0")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed("the program does not run", error))?;
        // What it runs is not trusted; this process has work of others.
        cgroup::end_first(process.id());
        // Before it forks: its forks would stay in the group of this process.
        let memory_bytes = options.limits.memory_bytes;
        let group = Group::create(process.id(), memory_bytes, options.threads);
        let begun = control::send(control.as_fd(), Packet::Begin, &[]);
        let level = match begun.and_then(|()| wait_ready(&control)) {
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
        let server = Arc::new(Self {
            control,
            level,
            alive: AtomicBool::new(true),
            asked: AtomicU64::new(0),
            numbers: Arc::clone(numbers),
            state: Mutex::default(),
            changed: Condvar::new(),
            _group: group,
            process: Mutex::new(process),
        });
        server
            .listen(options.limits.message_bytes)
            .map_err(|error| failed("no thread", error))?;
        Ok(server)
    }

    /// Starts a thread that reads the zygote's packets until it exits.
    fn listen(self: &Arc<Self>, limit: u32) -> io::Result<()> {
        let weak = Arc::downgrade(self);
        let control = self.control.try_clone()?;
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
            })?;
        Ok(())
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
            Packet::Begin | Packet::Fork(_) | Packet::Ready(_) => {}
        }
        drop(state);
        self.changed.notify_all();
    }

    pub fn spares(&self) -> usize {
        lock(&self.state).spares.len()
    }

    /// Takes a spare and requests more, so that `spares` cells wait. `None` if none is ready by
    /// `deadline` or the zygote has exited.
    pub fn take(&self, spares: usize, deadline: Instant) -> Option<Spare> {
        let mut state = lock(&self.state);
        loop {
            let mut spare = state.spares.pop_front();
            // Skip spares that died while they waited.
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

    /// How a cell ended; `None` if it has not ended within `timeout`, or the zygote has exited.
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

    /// Discards the ending of this cell: nobody will ask for it.
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

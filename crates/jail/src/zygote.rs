//! The zygote: confines itself, then forks a cell for every packet that asks for one.

use std::{
    io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use crate::{
    Channel, Level, Limits, confine,
    control::{self, Packet},
    escape_probes::EscapeProbe,
    filter::{self, Filter},
    huge_code, memory, rehearsal,
};
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions},
};

/// First argument of a zygote. A program that does not know it, such as a test harness, takes it
/// for an unknown option and exits instead of doing its own work.
pub const MARK: &str = "--jail-zygote";

/// Maximum number of cells at the same time.
const MAX_CELLS: usize = 1024;

/// Implements what cells do. A channel that a worker drops stays open until the cell ends.
pub trait Worker {
    /// Prepares the zygote, once, while files can still be read. All cells share what it loads, at
    /// no cost.
    fn prepare(&mut self) {}

    /// Prepares a cell before its job is known, so it has no data of any tenant yet.
    fn warm(&mut self) {}

    /// The messages of a job like those that will come, with data of nobody. The zygote runs it once,
    /// to learn which memory jobs write to; without one, cells are slower.
    fn rehearsal(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Runs the cell's only job. The result goes over the channel.
    fn run(&mut self, job: Vec<u8>, channel: Channel);
}

/// The limits of a zygote, as command line arguments.
pub(crate) fn arguments(limits: &Limits, level: Level, threads: bool) -> Vec<String> {
    vec![
        limits.cpu_ms.to_string(),
        limits.memory_bytes.to_string(),
        limits.message_bytes.to_string(),
        level.name().to_owned(),
        threads.to_string(),
    ]
}

/// Parsed arguments of a zygote.
struct Settings {
    limits: Limits,
    most: Level,
    threads: bool,
}

fn parse(arguments: &[String]) -> Option<Settings> {
    let [cpu, memory, message, level, threads] = arguments else {
        return None;
    };
    let limits = Limits {
        cpu_ms: cpu.parse().ok()?,
        memory_bytes: memory.parse().ok()?,
        message_bytes: message.parse().ok()?,
        ..Limits::default()
    };
    Some(Settings {
        limits,
        most: Level::parse(level)?,
        threads: threads.parse().ok()?,
    })
}

/// Runs the zygote until its owner exits; returns the exit code. It does nothing before its owner
/// has moved it into its control group. `arguments` are those after the kind of worker. Must be
/// called while the process has one thread.
pub fn serve(arguments: &[String], worker: &mut dyn Worker) -> i32 {
    let Some(settings) = parse(arguments) else {
        eprintln!("{MARK} is for the program's own use");
        return 2;
    };
    match control::receive(io::stdin()) {
        Ok(Some((Packet::Begin, _))) => {}
        Ok(None) => return 0,
        _ => {
            eprintln!("{MARK} is for the program's own use");
            return 2;
        }
    }
    confine::reset_signals();
    worker.prepare();
    huge_code::move_program();
    let filter = (settings.most > Level::ProcessOnly)
        .then(|| filter::compile(settings.threads))
        .flatten();
    // Last, as what follows changes little of the memory.
    let written = rehearsal::rehearse(worker, settings.limits.message_bytes);
    let own_bytes = confine::own_data_bytes();
    let mut level = Level::NoNamespaces;
    if settings.most == Level::Full {
        match confine::enter_namespaces() {
            Ok(()) => level = Level::Full,
            Err(error) => eprintln!("no namespaces: {error}"),
        }
    }
    if level == Level::Full {
        // SAFETY: the process has one thread.
        match unsafe { libc::fork() } {
            0 => {}
            child => return wait_for(child),
        }
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        if let Err(error) = confine::empty_root() {
            eprintln!("no empty root: {error}");
            level = Level::NoNamespaces;
        }
    }
    let inherited = Inherited {
        own_bytes,
        filter,
        written,
    };
    match run(worker, &settings, &inherited, level) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("the sandbox server failed: {error}");
            1
        }
    }
}

/// Waits for the zygote proper, so that its owner has a child to wait for. It requests no
/// parent-death signal: the kernel would send that when the owner's thread ends, and the socket
/// reports the owner's exit as well.
fn wait_for(child: libc::pid_t) -> i32 {
    let Some(pid) = Pid::from_raw(child) else {
        return 1;
    };
    loop {
        match rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(Some((_, status))) => return status.exit_status().unwrap_or(1),
            _ => return 1,
        }
    }
}

struct Fork {
    number: u64,
    process: OwnedFd,
}

/// What cells know of the zygote that they are forked from.
struct Inherited {
    /// Memory that it uses, in bytes.
    own_bytes: u64,
    /// For system calls; `None` if there is none.
    filter: Option<Filter>,
    /// Pages of it that jobs write to.
    written: Vec<rehearsal::Run>,
}

fn run(
    worker: &mut dyn Worker,
    settings: &Settings,
    inherited: &Inherited,
    level: Level,
) -> io::Result<()> {
    confine::drop_privileges()?;
    let level = match inherited.filter {
        Some(_) => level,
        None => Level::ProcessOnly,
    };
    let stdin = io::stdin();
    let socket = stdin.as_fd();
    control::send(socket, Packet::Ready(level as u32), &[])?;
    let mut forks: Vec<Fork> = Vec::new();
    loop {
        let (asked, ended) = wait(socket, &forks)?;
        for index in ended.into_iter().rev() {
            let fork = forks.swap_remove(index);
            control::send(socket, Packet::Ended(fork.number, reap(&fork.process)), &[])?;
        }
        if !asked {
            continue;
        }
        let Some((Packet::Fork(number), _)) = control::receive(socket)? else {
            return Ok(());
        };
        if forks.len() >= MAX_CELLS {
            let busy = rustix::io::Errno::AGAIN.raw_os_error() as u32;
            control::send(socket, Packet::NotForked(number, busy), &[])?;
            continue;
        }
        match fork_cell(worker, &settings.limits, inherited) {
            Ok((channel, process)) => {
                let descriptors = [channel.as_fd(), process.as_fd()];
                control::send(socket, Packet::Forked(number), &descriptors)?;
                forks.push(Fork { number, process });
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or_default() as u32;
                control::send(socket, Packet::NotForked(number, errno), &[])?;
            }
        }
    }
}

/// Waits for a packet or the end of cells: whether there is a packet, and the indexes of the cells
/// that ended.
fn wait(socket: BorrowedFd<'_>, forks: &[Fork]) -> io::Result<(bool, Vec<usize>)> {
    let mut waited: Vec<PollFd<'_>> = Vec::with_capacity(forks.len() + 1);
    waited.push(PollFd::from_borrowed_fd(socket, PollFlags::IN));
    for fork in forks {
        waited.push(PollFd::new(&fork.process, PollFlags::IN));
    }
    loop {
        match poll(&mut waited, None) {
            Err(rustix::io::Errno::INTR) => {}
            other => {
                other?;
                break;
            }
        }
    }
    let asked = !waited[0].revents().is_empty();
    let ended = (1..waited.len())
        .filter(|index| !waited[*index].revents().is_empty())
        .map(|index| index - 1)
        .collect();
    Ok((asked, ended))
}

/// The exit code of a process that has ended, or 256 plus its signal.
fn reap(process: &OwnedFd) -> u32 {
    let status = rustix::process::waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::EXITED);
    match status {
        Ok(Some(status)) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => code as u32,
            (None, Some(signal)) => 256 + signal as u32,
            (None, None) => 256,
        },
        _ => 256,
    }
}

fn fork_cell(
    worker: &mut dyn Worker,
    limits: &Limits,
    inherited: &Inherited,
) -> io::Result<(UnixStream, OwnedFd)> {
    let (owners, cells) = UnixStream::pair()?;
    // SAFETY: the process has one thread, so the child finds no lock held.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop(owners);
            cell(worker, cells, limits, inherited)
        }
        child => {
            let pid = Pid::from_raw(child).ok_or(io::ErrorKind::Other)?;
            let process = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
            Ok((owners, process))
        }
    }
}

/// What a cell receives before its job.
pub(crate) struct Order {
    pub cpu_ms: u32,
    pub probe: Option<EscapeProbe>,
}

impl Order {
    pub fn encode(&self) -> [u8; 5] {
        let mut bytes = [0xff; 5];
        bytes[..4].copy_from_slice(&self.cpu_ms.to_le_bytes());
        if let Some(probe) = self.probe {
            bytes[4] = probe.code();
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let cpu_ms = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let probe = EscapeProbe::from_code(*bytes.get(4)?);
        Some(Self { cpu_ms, probe })
    }
}

/// Exit code of a cell that could not confine itself.
pub(crate) const NOT_CONFINED: i32 = 97;

/// Exit code of a cell that ran out of memory.
pub(crate) const NO_MEMORY: i32 = 96;

/// Exit code of a cell whose escape probe the kernel did not stop.
pub(crate) const NOT_STOPPED: i32 = 98;

fn cell(worker: &mut dyn Worker, stream: UnixStream, limits: &Limits, inherited: &Inherited) -> ! {
    let quit = |code| -> ! {
        // SAFETY: exits the process at once; there is nothing to flush or drop.
        unsafe { libc::_exit(code) }
    };
    let descriptor = stream.as_raw_fd();
    // Only the channel stays open; the standard streams lead to `/dev/null`.
    // SAFETY: descriptor 1 is open, and the former 0 and 2 are not used again.
    unsafe {
        libc::dup2(1, 0);
        libc::dup2(1, 2);
        libc::syscall(libc::SYS_close_range, 3, descriptor - 1, 0);
    }
    confine::close_from(descriptor as u32 + 1);
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if confine::limit_cell(limits, inherited.own_bytes).is_err() {
        quit(NOT_CONFINED);
    }
    confine::deny_files();
    rehearsal::copy_pages(&inherited.written);
    memory::end_without_memory();
    worker.warm();
    let mut channel = Channel::new(stream, limits.message_bytes).keep_open();
    let Ok(Some(order)) = channel.receive() else {
        quit(0)
    };
    let Some(order) = Order::decode(&order) else {
        quit(NOT_CONFINED)
    };
    if confine::start_timer(order.cpu_ms.min(limits.cpu_ms)).is_err() {
        quit(NOT_CONFINED);
    }
    if let Some(filter) = &inherited.filter
        && filter.apply().is_err()
    {
        quit(NOT_CONFINED);
    }
    if let Some(probe) = order.probe {
        probe.run();
        quit(NOT_STOPPED);
    }
    if let Ok(Some(job)) = channel.receive() {
        worker.run(job, channel);
    }
    quit(0)
}

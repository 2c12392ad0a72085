//! A cell from its owner's side.

use std::{
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::{
    Channel, Limits,
    escape_probes::EscapeProbe,
    server::{Server, lock},
    zygote::{NO_MEMORY, NOT_CONFINED, Order},
};

/// How long to wait until a killed cell is reaped.
const REAP_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a wait for a message checks its stop flag: the flag has no descriptor to poll, and 10
/// ms is little compared with a rendering.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited by itself.
    Finished,
    /// CPU limit exceeded.
    CpuTime,
    /// Deadline exceeded.
    Deadline,
    /// Memory limit exceeded.
    Memory,
    /// Stopped by its owner.
    Stopped,
    /// Output limit exceeded.
    Output,
    /// Killed by seccomp for a forbidden system call.
    ForbiddenCall,
    /// Crashed by this signal.
    Crashed(i32),
    /// Killed from outside, for instance by the kernel's OOM killer.
    Killed,
    /// It could not confine itself, and did nothing.
    NotConfined,
    /// The zygote exited, and its cells with it.
    Lost,
}

impl Ending {
    /// A description for people.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::CpuTime => "CPU limit exceeded",
            Self::Deadline => "timed out",
            Self::Memory => "memory limit exceeded",
            Self::Stopped => "stopped",
            Self::Output => "output limit exceeded",
            Self::ForbiddenCall => "killed at a forbidden system call",
            Self::Crashed(_) => "crashed",
            Self::Killed => "killed, possibly by the OOM killer",
            Self::NotConfined => "could not confine itself",
            Self::Lost => "sandbox server exited",
        }
    }

    fn of(how: u32) -> Self {
        if how < 256 {
            return match how as i32 {
                NOT_CONFINED => Self::NotConfined,
                NO_MEMORY => Self::Memory,
                _ => Self::Finished,
            };
        }
        match (how - 256) as i32 {
            libc::SIGPROF | libc::SIGXCPU => Self::CpuTime,
            libc::SIGSYS => Self::ForbiddenCall,
            libc::SIGKILL => Self::Killed,
            signal => Self::Crashed(signal),
        }
    }
}

/// A sandbox for one job. Dropping it kills the process.
#[derive(Debug)]
pub struct Cell {
    number: u64,
    channel: Channel,
    process: OwnedFd,
    server: Arc<Server>,
    limits: Limits,
    received_bytes: u64,
    /// Set by another thread when the job is no longer wanted.
    stop: Option<Arc<AtomicBool>>,
    /// Why the owner killed the cell.
    cause: Option<Ending>,
    ended: bool,
}

impl Cell {
    pub(crate) fn new(
        number: u64,
        channel: Channel,
        process: OwnedFd,
        server: Arc<Server>,
        limits: Limits,
    ) -> Self {
        Self {
            number,
            channel,
            process,
            server,
            limits,
            received_bytes: 0,
            stop: None,
            cause: None,
            ended: false,
        }
    }

    /// Kills the cell soon after `stop` becomes true, while [`Cell::receive`] waits.
    pub fn stop_when(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Gives the cell its job. `limits` can only narrow those of the zygote.
    ///
    /// # Errors
    /// The cell has exited, or the job is longer than a message may be.
    pub fn start(&mut self, job: &[u8], limits: &Limits, deadline: Instant) -> io::Result<()> {
        self.limits.output_bytes = limits.output_bytes;
        self.limits.message_bytes = self.limits.message_bytes.min(limits.message_bytes);
        self.channel.set_limit(self.limits.message_bytes);
        let order = Order {
            cpu_ms: limits.cpu_ms,
            probe: None,
        };
        self.send(&order.encode(), deadline)?;
        self.send(job, deadline)
    }

    /// Runs an escape probe in the cell and returns how the cell ended: [`Ending::ForbiddenCall`]
    /// if the sandbox held.
    pub(crate) fn probe(mut self, probe: EscapeProbe, deadline: Instant) -> Ending {
        let order = Order {
            cpu_ms: 1000,
            probe: Some(probe),
        };
        if self.send(&order.encode(), deadline).is_err() {
            return self.end();
        }
        // A cell whose probe was not stopped exits with a code, which is not a forbidden call.
        let _ = self.receive(deadline);
        self.end()
    }

    /// Sends a message to the job.
    ///
    /// # Errors
    /// The cell has exited or does not read in time, or the message is too long.
    pub fn send(&mut self, message: &[u8], deadline: Instant) -> io::Result<()> {
        write_message(
            self.channel.stream(),
            message,
            self.limits.message_bytes,
            deadline,
        )
    }

    /// A second handle for sending, which several threads may use while another receives.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn sender(&self) -> io::Result<Sender> {
        Ok(Sender {
            stream: Mutex::new(self.channel.stream().try_clone()?),
            limit_bytes: self.limits.message_bytes,
        })
    }

    /// Waits for a message of the job until `deadline`.
    ///
    /// # Errors
    /// How the cell ended, if it sends no message. A cell that exceeds the deadline or sends too
    /// much is killed.
    pub fn receive(&mut self, deadline: Instant) -> Result<Vec<u8>, Ending> {
        let mut head = [0; 4];
        self.read(&mut head, deadline)?;
        let length = u32::from_le_bytes(head);
        self.received_bytes += u64::from(length) + 4;
        if length > self.limits.message_bytes || self.received_bytes > self.limits.output_bytes {
            return Err(self.abandon(Ending::Output));
        }
        let mut message = vec![0; length as usize];
        self.read(&mut message, deadline)?;
        Ok(message)
    }

    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<(), Ending> {
        let mut done = 0;
        while done < buffer.len() {
            let Ok(mut left) = left(deadline) else {
                return Err(self.abandon(Ending::Deadline));
            };
            if let Some(stop) = &self.stop {
                if stop.load(Ordering::Relaxed) {
                    return Err(self.abandon(Ending::Stopped));
                }
                left = left.min(POLL_INTERVAL);
            }
            let mut stream = self.channel.stream();
            let read = stream
                .set_read_timeout(Some(left))
                .and_then(|()| stream.read(&mut buffer[done..]));
            match read {
                Ok(0) => return Err(self.end()),
                Ok(count) => done += count,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted
                    | io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut => {}
                    _ => return Err(self.end()),
                },
            }
        }
        Ok(())
    }

    /// Kills the cell and records why.
    pub fn abandon(&mut self, cause: Ending) -> Ending {
        self.cause = Some(cause);
        self.kill();
        self.end()
    }

    /// A handle that kills the cell from another thread.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn killer(&self) -> io::Result<Killer> {
        let process = self.process.try_clone()?;
        Ok(Killer { process })
    }

    /// Kills the cell.
    pub fn kill(&mut self) {
        if !self.ended {
            let _ = rustix::process::pidfd_send_signal(&self.process, Signal::KILL);
        }
    }

    /// Waits until the cell has ended; kills it after 200 ms.
    pub fn end(&mut self) -> Ending {
        if self.ended {
            return self.cause.unwrap_or(Ending::Finished);
        }
        // A cell that notices the closed channel exits by itself; one that goes on is killed.
        let _ = self.channel.stream().shutdown(std::net::Shutdown::Both);
        let mut how = self.server.ending(self.number, Duration::from_millis(200));
        if how.is_none() {
            self.kill();
            how = self.server.ending(self.number, REAP_TIMEOUT);
        }
        self.ended = true;
        let found = how.map_or(Ending::Lost, Ending::of);
        let ending = self.cause.unwrap_or(found);
        self.cause = Some(ending);
        ending
    }
}

/// Kills a cell from another thread.
#[derive(Debug)]
pub struct Killer {
    process: OwnedFd,
}

impl Killer {
    /// Kills the cell; does nothing if it has ended.
    pub fn kill(&self) {
        let _ = rustix::process::pidfd_send_signal(&self.process, Signal::KILL);
    }
}

/// Sends messages to a cell.
#[derive(Debug)]
pub struct Sender {
    stream: Mutex<UnixStream>,
    limit_bytes: u32,
}

impl Sender {
    /// Sends a message to the job.
    ///
    /// # Errors
    /// See [`Cell::send`].
    pub fn send(&self, message: &[u8], deadline: Instant) -> io::Result<()> {
        let stream = lock(&self.stream);
        write_message(&stream, message, self.limit_bytes, deadline)
    }
}

fn write_message(
    mut stream: &UnixStream,
    message: &[u8],
    limit_bytes: u32,
    deadline: Instant,
) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .ok()
        .filter(|length| *length <= limit_bytes)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a message is too long"))?;
    for mut bytes in [&length.to_le_bytes()[..], message] {
        while !bytes.is_empty() {
            stream.set_write_timeout(Some(left(deadline)?))?;
            match stream.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.kill();
        if !self.ended {
            self.server.forget(self.number);
        }
    }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

//! Writer threads for large bodies. A blocking write stays in the kernel and refills the socket as
//! the client empties it, which costs less than waking a task for each refill; and a thread may
//! block while it reads a cold file. The number of threads is bounded. If a client stalls, its
//! connection goes back to the task, so slow clients never occupy a thread.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::oneshot;

use crate::{
    body::{FileBody, Part, READ_BYTES},
    output::Output,
    socket::Socket,
};

/// If a client stalls for this long, its connection goes back to the task. A longer timeout would
/// let slow clients occupy the threads; a shorter one would move ordinary clients back and forth.
const STALL_TIMEOUT: Duration = Duration::from_millis(50);
/// An idle thread exits after this time.
const IDLE: Duration = Duration::from_secs(10);

/// Work for a thread, returned afterwards.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) socket: Socket,
    pub(crate) output: Output,
    pub(crate) file: Option<FileBody>,
}

/// Result of a write.
#[derive(Debug)]
pub(crate) enum Outcome {
    Written,
    /// The client stalled.
    Stalled,
    Failed(io::Error),
}

/// Work and its result.
type Return = (Box<Load>, Outcome);

struct Job {
    load: Box<Load>,
    done: oneshot::Sender<Return>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: usize,
}

struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

/// A bounded number of threads, started on demand.
#[derive(Clone)]
pub(crate) struct Writers {
    shared: Arc<Shared>,
    most: usize,
}

impl Writers {
    pub(crate) fn new(most: usize) -> Self {
        let shared = Shared {
            state: Mutex::default(),
            work: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
            most,
        }
    }

    /// Gives `load` to a thread; returns it if all are busy.
    pub(crate) fn take(&self, load: Box<Load>) -> Result<oneshot::Receiver<Return>, Box<Load>> {
        let mut state = self.shared.lock();
        let waiting = state.jobs.len();
        if state.idle <= waiting {
            if state.threads >= self.most || !self.start() {
                return Err(load);
            }
            state.threads += 1;
        }
        let (done, end) = oneshot::channel();
        state.jobs.push_back(Job { load, done });
        drop(state);
        self.shared.work.notify_one();
        Ok(end)
    }

    fn start(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("writer".to_owned());
        thread.spawn(move || shared.work()).is_ok()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        state.idle += 1;
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.idle -= 1;
                return Some(job);
            }
            let waited = self.work.wait_timeout(state, IDLE);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = now;
            if timeout.timed_out() && state.jobs.is_empty() {
                state.idle -= 1;
                state.threads -= 1;
                return None;
            }
        }
    }

    fn work(&self) {
        let mut buffer = Vec::new();
        while let Some(Job { mut load, done }) = self.next() {
            let outcome = load.write(&mut buffer).unwrap_or_else(Outcome::Failed);
            // If the task is gone, dropping the load closes the socket.
            let _ = done.send((load, outcome));
        }
    }
}

impl Load {
    fn write(&mut self, buffer: &mut Vec<u8>) -> io::Result<Outcome> {
        let Some(socket) = self.socket.descriptor() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        while !self.output.is_empty() {
            let written = self
                .output
                .write(|slices| rustix::io::writev(socket, slices));
            if !went_on(socket, written)? {
                return Ok(Outcome::Stalled);
            }
        }
        let Some(body) = &mut self.file else {
            return Ok(Outcome::Written);
        };
        while let Some(part) = body.parts.front() {
            let (offset, size) = match part {
                Part::Bytes(bytes) => {
                    let written = rustix::io::write(socket, bytes);
                    if let Ok(written) = written {
                        body.advance(written as u64);
                    }
                    if !went_on(socket, written)? {
                        return Ok(Outcome::Stalled);
                    }
                    continue;
                }
                Part::Range { offset, size_bytes } => (*offset, *size_bytes),
            };
            let size = size.min(READ_BYTES as u64) as usize;
            buffer.resize(READ_BYTES, 0);
            let (sent, stalled) = copy(&body.file, offset, socket, &mut buffer[..size]);
            body.advance(sent);
            if stalled? {
                return Ok(Outcome::Stalled);
            }
        }
        Ok(Outcome::Written)
    }
}

/// Sends the bytes of `file` at `offset` that fit `buffer`. Returns how many were written, and
/// whether the client has stalled.
fn copy(
    file: &File,
    offset: u64,
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> (u64, io::Result<bool>) {
    if let Err(error) = file.read_exact_at(buffer, offset) {
        return (0, Err(error));
    }
    let mut sent = 0;
    while sent < buffer.len() {
        let written = rustix::io::write(socket, &buffer[sent..]);
        sent += written.unwrap_or(0);
        match went_on(socket, written) {
            Ok(true) => {}
            Ok(false) => return (sent as u64, Ok(true)),
            Err(error) => return (sent as u64, Err(error)),
        }
    }
    (sent as u64, Ok(false))
}

/// Handles the result of a write: true to continue, false if the socket did not become writable
/// within the stall timeout.
fn went_on(socket: BorrowedFd<'_>, written: rustix::io::Result<usize>) -> io::Result<bool> {
    match written {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(rustix::io::Errno::AGAIN) => {
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: STALL_TIMEOUT.subsec_nanos().into(),
            };
            let mut wait = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::OUT)];
            match poll(&mut wait, Some(&timeout)) {
                Ok(0) => Ok(false),
                Ok(_) | Err(rustix::io::Errno::INTR) => Ok(true),
                Err(error) => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

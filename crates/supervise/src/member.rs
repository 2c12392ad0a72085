//! The supervisor's handle to a worker process.

use std::{
    ffi::OsString,
    io,
    os::{
        fd::{BorrowedFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
    path::Path,
    process::Stdio,
    time::Duration,
};

use platen_delivery::pass_fds;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::AsyncReadExt,
    net::UnixStream,
    process::{Child, Command},
};

use crate::group::{HEARTBEAT_INTERVAL, ProcessGroup, VARIABLE};

/// A running process. Dropping the handle kills it.
pub(crate) struct Member {
    pub(crate) index: u32,
    pub(crate) pid: u32,
    child: Child,
    /// Connection that passes the sockets. The child notices when it closes.
    giving: StdUnixStream,
    hearing: UnixStream,
}

/// Exit of a process.
pub(crate) struct Ended {
    pub(crate) cause: String,
}

impl Member {
    /// Starts the program with `arguments` at its position in `group`.
    pub(crate) fn spawn(
        program: &Path,
        arguments: &[OsString],
        group: &ProcessGroup,
    ) -> io::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair()?;
        let child = Command::new(program)
            .args(arguments)
            .env(VARIABLE, group.to_variable())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // The terminal sends Ctrl-C to the supervisor only, which signals the others.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let hearing = ours.try_clone()?;
        hearing.set_nonblocking(true)?;
        Ok(Self {
            index: group.index,
            pid: child.id().unwrap_or(0),
            child,
            giving: ours,
            hearing: UnixStream::from_std(hearing)?,
        })
    }

    /// Passes sockets to the process.
    pub(crate) fn give(&self, sockets: &[BorrowedFd<'_>]) -> io::Result<()> {
        pass_fds(&self.giving, sockets)
    }

    /// Waits until the process reports that it is ready.
    pub(crate) async fn ready(&mut self, bound: Duration) -> io::Result<()> {
        let mut word = [0];
        match tokio::time::timeout(bound, self.hearing.read_exact(&mut word)).await {
            Ok(read) => read.map(drop),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Waits for the process to exit. Kills it if no heartbeat arrives for `silence`.
    pub(crate) async fn ended(&mut self, silence: Duration) -> Ended {
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = silent(&mut self.hearing, silence) => {
                self.kill().await;
                let cause = format!("it did not answer for {} ms and was killed", silence.as_millis());
                return Ended { cause };
            }
        };
        let cause = match status {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        Ended { cause }
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks the process to shut down. True if it exits within `patience`; otherwise it is killed.
    pub(crate) async fn stop(&mut self, patience: Duration) -> bool {
        if let Some(pid) = self.child.id().and_then(|pid| Pid::from_raw(pid as i32)) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let ended = tokio::time::timeout(patience, self.child.wait()).await;
        if ended.is_err() {
            self.kill().await;
        }
        ended.is_ok()
    }

    pub(crate) async fn kill(&mut self) {
        let _ = self.child.kill().await;
    }
}

/// Completes when no heartbeat arrives for `bound`.
async fn silent(hearing: &mut UnixStream, bound: Duration) {
    let mut words = [0; 64];
    let mut patience = bound;
    loop {
        match tokio::time::timeout(patience, hearing.read(&mut words)).await {
            Ok(Ok(count)) if count > 0 => patience = bound,
            // The process has closed its end and is about to exit.
            Ok(_) => return tokio::time::sleep(bound).await,
            // The whole group may have been stopped and continued: allow time for one more
            // heartbeat.
            Err(_) if patience == bound => patience = HEARTBEAT_INTERVAL * 3,
            Err(_) => return,
        }
    }
}

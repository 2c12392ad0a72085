//! The service's end: asks a controller for processes.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    net::UnixStream,
    process::{ChildStdin, ChildStdout},
};

use super::{
    message::{Answer, Greeting, PROTOCOL, Program, Request},
    packet::Packets,
};
use crate::{
    error::StartError,
    launcher::{Demand, Isolation},
    process::{Distance, Process, Wish},
};

/// How long a controller may take to greet.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);

/// A controller, as a service sees it: who starts LibreOffice and Chromium on request.
#[derive(Debug)]
pub struct Controller {
    path: PathBuf,
    demand: Demand,
    /// Of the process started last; until then, of the greeting.
    isolation: Mutex<Isolation>,
}

/// A controller does not answer, or not as it should.
#[derive(Debug, thiserror::Error)]
#[error("the controller at {} cannot be used: {reason}", .path.display())]
pub struct NoController {
    path: PathBuf,
    reason: String,
}

impl Controller {
    /// The controller that listens at `path`. It need not be there yet. With [`Demand::Required`] a
    /// process without the full sandbox is not taken.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, demand: Demand) -> Self {
        Self {
            path: path.into(),
            demand,
            isolation: Mutex::default(),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What its processes are isolated from, as far as it has said.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        *self.isolation.lock()
    }

    /// Asks what it can start.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn greet(&self) -> Result<Greeting, NoController> {
        let ask = async {
            let packets = Packets::connect(&self.path)?;
            let protocol = PROTOCOL;
            packets.send(&Request::Hello { protocol }, &[]).await?;
            match packets.receive::<Answer>().await? {
                Some((Answer::Hello(greeting), _)) => Ok(greeting),
                Some((Answer::Refused(refusal), _)) => {
                    Err(io::Error::other(StartError::from(refusal)))
                }
                Some(_) => Err(io::Error::other("it does not greet")),
                None => Err(io::ErrorKind::ConnectionAborted.into()),
            }
        };
        let asked = tokio::time::timeout(GREETING_TIMEOUT, ask).await;
        let asked = asked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        let greeting = asked.map_err(|error| self.missing(&error))?;
        *self.isolation.lock() = greeting.isolation.into();
        Ok(greeting)
    }

    fn missing(&self, error: &io::Error) -> NoController {
        let place = self.path.display();
        let reason = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                format!("{error}; start it with `platen controller --socket {place}`")
            }
            _ => error.to_string(),
        };
        NoController {
            path: self.path.clone(),
            reason,
        }
    }

    /// Starts a program. Dropping the future, or the process, ends it.
    ///
    /// # Errors
    /// There is no controller, or it cannot start the program.
    pub async fn start(&self, program: Program) -> Result<Process, StartError> {
        let absent = |error: io::Error| StartError::Unusable(Box::new(self.missing(&error)));
        let packets = Packets::connect(&self.path).map_err(absent)?;
        let protocol = PROTOCOL;
        let request = Request::Start { protocol, program };
        packets.send(&request, &[]).await.map_err(absent)?;
        let answer = packets.receive::<Answer>().await.map_err(absent)?;
        let (pid, isolation, descriptors) = match answer {
            Some((Answer::Started { pid, isolation }, descriptors)) => {
                (pid, Isolation::from(isolation), descriptors)
            }
            Some((Answer::Refused(refusal), _)) => return Err(refusal.into()),
            Some(_) => return Err(absent(io::Error::other("it does not say what it started"))),
            None => return Err(absent(io::ErrorKind::ConnectionAborted.into())),
        };
        *self.isolation.lock() = isolation;
        if self.demand == Demand::Required && !isolation.files {
            let level = isolation.name();
            let reason = format!("CHILD_ISOLATION is `required`, but the controller has `{level}`");
            return Err(StartError::Unusable(reason.into()));
        }
        let (mut process, distance) = Process::distant(pid);
        take(program, descriptors, &mut process).map_err(absent)?;
        tokio::spawn(follow(packets, distance));
        Ok(process)
    }
}

/// Gives a process its descriptors.
fn take(program: Program, descriptors: Vec<OwnedFd>, process: &mut Process) -> io::Result<()> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || {
        let lacking = || io::Error::other("it sent too few descriptors");
        descriptors.next().ok_or_else(lacking)
    };
    match program {
        Program::Chromium => {
            process.input = Some(ChildStdin::from_std(next()?.into())?);
            process.output = Some(ChildStdout::from_std(next()?.into())?);
        }
        Program::LibreOffice => {
            let socket = std::os::unix::net::UnixStream::from(next()?);
            socket.set_nonblocking(true)?;
            process.socket = Some(UnixStream::from_std(socket)?);
        }
    }
    Ok(())
}

/// Passes on what happens to a process, and what its owner wants of it. Without the controller the
/// process counts as killed: the controller ends it as soon as it notices.
async fn follow(packets: Packets, mut distance: Distance) {
    let mut has_exited = false;
    loop {
        let answer = tokio::select! {
            answer = packets.receive::<Answer>() => answer,
            wish = distance.wish() => {
                let request = match wish {
                    Wish::Kill => Request::Kill {},
                    Wish::KillMember(pid) => Request::KillMember { pid },
                };
                // A connection that is broken is noticed by who reads.
                let _ = packets.send(&request, &[]).await;
                continue;
            }
        };
        match answer {
            Ok(Some((Answer::Usage { bytes, members }, _))) => {
                distance.measured(bytes, members.into_iter().map(Into::into).collect());
            }
            Ok(Some((Answer::Exited { status, stderr }, _))) => {
                has_exited = true;
                distance.exited(ExitStatus::from_raw(status), &stderr);
            }
            _ => break,
        }
    }
    if !has_exited {
        const KILLED: i32 = 9;
        distance.exited(ExitStatus::from_raw(KILLED), "");
    }
    distance.gone();
}

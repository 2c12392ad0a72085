//! A process's position in its group, and the sockets it receives from its supervisor.

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use platen_delivery::{Bind, ListenError, Listener, receive_fds};
use rustix::{
    io::Errno,
    net::{SendFlags, send},
};
use tokio::io::AsyncReadExt;

/// Environment variable with a process's position, as `index/count/folder`.
pub(crate) const VARIABLE: &str = "PLATEN_WORKER";
/// Message of a process to its supervisor: ready for connections.
pub(crate) const READY: u8 = b'R';
/// Heartbeat message. A process sends it for as long as its runtime makes progress.
const WELL: u8 = b'W';
/// Interval between two heartbeats.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// A process's position in its group.
#[derive(Clone, Debug)]
pub struct ProcessGroup {
    /// Index from 0; process 0 is the leader, which owns the data folder.
    pub index: u32,
    /// Number of processes.
    pub count: u32,
    /// Folder of the peer sockets.
    pub(crate) folder: PathBuf,
}

impl ProcessGroup {
    /// True if this process writes to the data folder.
    pub fn is_leader(&self) -> bool {
        self.index == 0
    }

    /// Path of the peer socket of the process `index`.
    pub fn socket(&self, index: u32) -> PathBuf {
        socket(&self.folder, index)
    }

    /// Path of the leader's peer socket.
    pub fn leader_socket(&self) -> PathBuf {
        self.socket(0)
    }

    /// A folder that only this process uses.
    pub fn own_folder(&self) -> PathBuf {
        self.folder.join(format!("worker-{}", self.index))
    }

    pub(crate) fn to_variable(&self) -> String {
        format!("{}/{}/{}", self.index, self.count, self.folder.display())
    }

    fn from_variable(text: &str) -> Option<Self> {
        let (index, rest) = text.split_once('/')?;
        let (count, folder) = rest.split_once('/')?;
        Some(Self {
            index: index.parse().ok()?,
            count: count.parse().ok()?,
            folder: folder.into(),
        })
    }
}

pub(crate) fn socket(folder: &Path, index: u32) -> PathBuf {
    folder.join(format!("{index}.sock"))
}

/// True if a supervisor started this process.
#[must_use]
pub fn is_supervised() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Position and sockets that a supervisor passed to this process.
pub struct Membership {
    /// Position of this process.
    pub group: ProcessGroup,
    /// Listeners that all processes share.
    pub public: Vec<Listener>,
    /// Peer listener of this process.
    pub own: Listener,
    /// Connection to the supervisor.
    channel: UnixStream,
}

impl Membership {
    /// Receives the sockets from the supervisor over standard input; `None` without a supervisor.
    /// Call it once, inside a runtime.
    ///
    /// # Errors
    /// If the supervisor has exited, or a certificate cannot be read.
    pub fn take(binds: &[Bind]) -> Result<Option<Self>, MembershipError> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Ok(None);
        };
        let group = ProcessGroup::from_variable(&text).ok_or(MembershipError::Place(text))?;
        let channel = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Child processes must not inherit the connection.
        rustix::stdio::dup2_stdin(File::open("/dev/null")?).map_err(io::Error::from)?;
        let mut public = Vec::new();
        for bind in binds {
            for socket in receive_fds(&channel)? {
                public.push(Listener::from_socket(socket, bind)?);
            }
        }
        let path = group.socket(group.index);
        let own: OwnedFd = receive_fds(&channel)?
            .pop()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let own = Listener::from_socket(own, &Bind::Unix { path, mode: None })?;
        Ok(Some(Self {
            group,
            public,
            own,
            channel,
        }))
    }
}

/// Connection to the supervisor.
pub struct Channel(UnixStream);

impl Channel {
    /// Duplicates the connection of `membership`.
    ///
    /// # Errors
    /// If no file descriptor is available.
    pub fn of(membership: &Membership) -> io::Result<Self> {
        membership.channel.try_clone().map(Self)
    }

    /// Duplicates the connection.
    ///
    /// # Errors
    /// If no file descriptor is available.
    pub fn another(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Reports to the supervisor that this process is ready.
    pub fn say_ready(&self) {
        // `closed` detects that the supervisor has exited.
        let _ = (&self.0).write_all(&[READY]);
    }

    /// Sends heartbeats until the supervisor exits.
    pub async fn send_heartbeats(self) {
        let mut moments = tokio::time::interval(HEARTBEAT_INTERVAL);
        loop {
            moments.tick().await;
            match send(&self.0, &[WELL], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                // A stopped supervisor must not stop this process.
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }

    /// Completes when the supervisor exits.
    pub async fn closed(self) {
        let opened = self
            .0
            .set_nonblocking(true)
            .and_then(|()| tokio::net::UnixStream::from_std(self.0));
        let Ok(mut stream) = opened else {
            return std::future::pending().await;
        };
        // The supervisor sends no further data.
        let _ = stream.read(&mut [0]).await;
    }
}

/// Why a process cannot join its group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MembershipError {
    /// The supervisor's variable is malformed.
    #[error("the supervisor's variable {VARIABLE} cannot be read: `{0}`")]
    Place(String),
    /// The supervisor has exited.
    #[error("the supervisor gives no sockets")]
    Channel(#[from] io::Error),
    /// Cannot listen on a socket.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// How long a successor waits for its predecessor to unlock the data folder, in addition to the
/// shutdown timeout.
pub const HANDOVER_GRACE: Duration = Duration::from_secs(15);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_in_a_variable() {
        let group = ProcessGroup {
            index: 1,
            count: 4,
            folder: "/tmp/a/b".into(),
        };
        let again = ProcessGroup::from_variable(&group.to_variable()).unwrap();
        assert_eq!((again.index, again.count), (1, 4));
        assert_eq!(again.leader_socket(), Path::new("/tmp/a/b/0.sock"));
        assert!(!again.is_leader());
        assert!(ProcessGroup::from_variable("1/x/y").is_none());
    }
}

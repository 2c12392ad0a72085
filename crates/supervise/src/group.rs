//! The place of a process among those that serve together, and what its supervisor gives to it.

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

/// Tells a process its place, as `index/count/folder`.
pub(crate) const VARIABLE: &str = "PLATEN_WORKER";
/// What a process says when it takes work.
pub(crate) const READY: u8 = b'R';
/// What it says from then on, for as long as its runtime gets to it.
const WELL: u8 = b'W';
/// How often.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// The place of a process among those that serve together.
#[derive(Clone, Debug)]
pub struct ProcessGroup {
    /// From 0, which is the owner of the data folder.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// Where their own sockets are.
    pub(crate) folder: PathBuf,
}

impl ProcessGroup {
    /// Whether the data folder is this process's to write.
    pub fn is_leader(&self) -> bool {
        self.index == 0
    }

    /// The socket of the process `index`.
    pub fn socket(&self, index: u32) -> PathBuf {
        socket(&self.folder, index)
    }

    /// The socket of the process that owns the data folder.
    pub fn leader_socket(&self) -> PathBuf {
        self.socket(0)
    }

    /// A folder of this process alone.
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

/// Whether this process was started by a supervisor.
#[must_use]
pub fn is_supervised() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// What a supervisor has given to this process.
pub struct Membership {
    /// The place of this process.
    pub group: ProcessGroup,
    /// The sockets that all share.
    pub public: Vec<Listener>,
    /// The socket of this process.
    pub own: Listener,
    /// To the supervisor.
    channel: UnixStream,
}

impl Membership {
    /// Takes what the supervisor gives, by standard input; `None` where there is no supervisor. It
    /// must be called inside a runtime, once.
    ///
    /// # Errors
    /// Where the supervisor has gone, or a certificate cannot be read.
    pub fn take(binds: &[Bind]) -> Result<Option<Self>, MembershipError> {
        let Ok(text) = std::env::var(VARIABLE) else {
            return Ok(None);
        };
        let group = ProcessGroup::from_variable(&text).ok_or(MembershipError::Place(text))?;
        let channel = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        // Children of this process must not hold it.
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

/// The connection to the supervisor.
pub struct Channel(UnixStream);

impl Channel {
    /// The connection that came with `membership`.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn of(membership: &Membership) -> io::Result<Self> {
        membership.channel.try_clone().map(Self)
    }

    /// The same connection again.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn another(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Says that this process takes work.
    pub fn say_ready(&self) {
        // A supervisor that has gone is noticed elsewhere.
        let _ = (&self.0).write_all(&[READY]);
    }

    /// Says that this process is well, again and again.
    pub async fn send_heartbeats(self) {
        let mut moments = tokio::time::interval(HEARTBEAT_INTERVAL);
        loop {
            moments.tick().await;
            match send(&self.0, &[WELL], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                // A supervisor that is stopped must not stop this process.
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }

    /// Ends when the supervisor has ended.
    pub async fn closed(self) {
        let opened = self
            .0
            .set_nonblocking(true)
            .and_then(|()| tokio::net::UnixStream::from_std(self.0));
        let Ok(mut stream) = opened else {
            return std::future::pending().await;
        };
        // It sends nothing more.
        let _ = stream.read(&mut [0]).await;
    }
}

/// Why a process cannot take its place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MembershipError {
    /// The supervisor tells a place that cannot be read.
    #[error("the supervisor's variable {VARIABLE} cannot be read: `{0}`")]
    Place(String),
    /// The supervisor has gone.
    #[error("the supervisor gives no sockets")]
    Channel(#[from] io::Error),
    /// A socket cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// How long a successor waits for its predecessor to let the data folder go, beyond the time that a
/// shutdown may take.
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

//! Connections that several processes take from one queue. The kernel wakes all of them, and the
//! first would take whatever is there; so each looks first whether another has fewer.

use std::{
    fmt, io,
    net::TcpListener,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
        unix::net::UnixListener,
    },
    sync::Arc,
    time::Duration,
};

use tokio::io::{Interest, unix::AsyncFd};

use super::inherited::is_unix;
use crate::{Peer, socket::Socket as Connected};

/// How often a process lets others go first, and for how long each time.
const MAX_YIELDS: u32 = 4;
const YIELD: Duration = Duration::from_millis(1);

/// Whose turn it is to take a connection.
pub trait Turn: Send + Sync {
    /// Whether no other process has less to do than this one.
    fn is_mine(&self) -> bool;

    /// This process has taken a connection.
    fn taken(&self);
}

/// The listening socket once more. It is asked itself whether a connection is there: what the
/// runtime remembers of it may be older.
enum Socket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Socket {
    fn accept(&self) -> io::Result<(Connected, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let stream = tokio::net::TcpStream::from_std(stream)?;
                Ok((Connected::Tcp(stream), Peer::Tcp(peer)))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let stream = tokio::net::UnixStream::from_std(stream)?;
                Ok((Connected::Unix(stream), Peer::Unix))
            }
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Tcp(listener) => listener.as_raw_fd(),
            Self::Unix(listener) => listener.as_raw_fd(),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

pub(super) struct SharedQueue {
    socket: AsyncFd<Socket>,
    turn: Arc<dyn Turn>,
}

impl fmt::Debug for SharedQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedQueue").finish_non_exhaustive()
    }
}

impl SharedQueue {
    /// The queue of a listening socket that does not block.
    pub(super) fn new(socket: OwnedFd, turn: Arc<dyn Turn>) -> io::Result<Self> {
        let socket = if is_unix(socket.as_fd())? {
            Socket::Unix(socket.into())
        } else {
            Socket::Tcp(socket.into())
        };
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe; a socket that we own has one descriptor for life"
        )]
        let socket = AsyncFd::with_interest(socket, Interest::READABLE)?;
        Ok(Self { socket, turn })
    }

    /// A connection, when it is this process's turn.
    pub(super) async fn accept(&self) -> io::Result<(Connected, Peer)> {
        loop {
            let mut there = self.socket.readable().await?;
            for _ in 0..MAX_YIELDS {
                if self.turn.is_mine() {
                    break;
                }
                tokio::time::sleep(YIELD).await;
            }
            // Where another has taken it, the next one is waited for.
            if let Ok(accepted) = there.try_io(|socket| socket.get_ref().accept()) {
                if accepted.is_ok() {
                    self.turn.taken();
                }
                return accepted;
            }
        }
    }
}

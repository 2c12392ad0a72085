//! Accepting from a queue that several processes share. The kernel wakes all of them, and the
//! fastest would take every connection; so each first checks whether another process has fewer.

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

/// How often a process yields to the others, and for how long each time: at most 4 ms of latency.
const MAX_YIELDS: u32 = 4;
const YIELD: Duration = Duration::from_millis(1);

/// Balances connections among processes that accept from one queue.
pub trait AcceptPolicy: Send + Sync {
    /// Whether no other process has fewer connections than this one.
    fn may_accept(&self) -> bool;

    /// Called when this process has accepted a connection.
    fn taken(&self);
}

/// A second descriptor of the listening socket, used for `accept` directly: the readiness that the
/// runtime has cached may be out of date.
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
    policy: Arc<dyn AcceptPolicy>,
}

impl fmt::Debug for SharedQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedQueue").finish_non_exhaustive()
    }
}

impl SharedQueue {
    /// Wraps a non-blocking listening socket.
    pub(super) fn new(socket: OwnedFd, policy: Arc<dyn AcceptPolicy>) -> io::Result<Self> {
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
        Ok(Self { socket, policy })
    }

    /// Accepts a connection once the policy permits it.
    pub(super) async fn accept(&self) -> io::Result<(Connected, Peer)> {
        loop {
            let mut there = self.socket.readable().await?;
            for _ in 0..MAX_YIELDS {
                if self.policy.may_accept() {
                    break;
                }
                tokio::time::sleep(YIELD).await;
            }
            // `try_io` fails if another process has accepted the connection; wait for the next one.
            if let Ok(accepted) = there.try_io(|socket| socket.get_ref().accept()) {
                if accepted.is_ok() {
                    self.policy.taken();
                }
                return accepted;
            }
        }
    }
}

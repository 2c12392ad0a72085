//! A connected socket: TCP or UNIX.

use std::os::fd::{AsFd, BorrowedFd};

use tokio::net::{TcpStream, UnixStream};

use crate::upgrade::Transport;

/// A connected stream socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// The socket as a byte stream.
    pub(crate) fn into_transport(self) -> Box<dyn Transport> {
        match self {
            Self::Tcp(stream) => Box::new(stream),
            Self::Unix(stream) => Box::new(stream),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

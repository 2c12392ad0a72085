//! The client's end of a connection.

use std::net::SocketAddr;

/// The client's end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A network address.
    Tcp(SocketAddr),
    /// A process on this machine.
    Unix,
}

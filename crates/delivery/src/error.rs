//! Why a connection ended before its time.

use std::io;

use crate::BoxError;

/// A connection that broke off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The socket failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// The client closed in the middle of a head.
    #[error("the client has sent only a part of a request")]
    Incomplete,
    /// The client closed before its answer was ready.
    #[error("the client has gone before its answer was ready")]
    Gone,
    /// The client took nothing for too long.
    #[error("the client takes nothing of its answer")]
    Stalled,
    /// The body of the answer failed.
    #[error("the answer broke off")]
    Body(#[source] BoxError),
    /// The body of the answer is longer or shorter than its head says.
    #[error("the answer is not as long as its head says")]
    Length,
    /// A thread that writes ended.
    #[error("a writer of answers has failed")]
    Writer,
    /// The handshake or the protocol inside TLS failed.
    #[error("the protected connection failed")]
    Protocol(#[source] BoxError),
}

//! Errors of connections.

use std::io;

use crate::BoxError;

/// Why a connection was aborted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The socket failed.
    #[error("connection failed")]
    Io(#[from] io::Error),
    /// The client disconnected in the middle of a request head.
    #[error("request truncated: client disconnected")]
    Incomplete,
    /// The client disconnected before its response was ready.
    #[error("client disconnected before its response was ready")]
    Gone,
    /// The client read nothing within the write timeout.
    #[error("write timed out: client stalled")]
    Stalled,
    /// The response body failed.
    #[error("answer aborted")]
    Body(#[source] BoxError),
    /// The response body is longer or shorter than its `Content-Length`.
    #[error("response length does not match its head")]
    Length,
    /// A writer thread panicked.
    #[error("writer thread failed")]
    Writer,
    /// The TLS handshake or the protocol inside TLS failed.
    #[error("TLS connection failed")]
    Protocol(#[source] BoxError),
}

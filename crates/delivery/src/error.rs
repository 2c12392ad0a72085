//! Errors of connections.

use std::io;

use platen_fault::Code;

use crate::{BoxError, ProxyHeaderError};

/// Why a connection was aborted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A trusted proxy sent no valid header of the PROXY protocol.
    #[error("connection of a trusted proxy refused")]
    ProxyHeader(#[source] ProxyHeaderError),
    /// The TLS handshake failed.
    #[error("TLS handshake failed")]
    Tls(#[source] io::Error),
    /// The client sent no complete and valid request head.
    #[error("request head refused: {0}")]
    Refused(Code),
    /// The client disconnected before its request or its response was complete.
    #[error("client disconnected before its response was ready")]
    Gone,
    /// The client read nothing within the write timeout.
    #[error("write timed out: client stalled")]
    Stalled,
    /// The response body failed.
    #[error("answer aborted")]
    Body(#[source] BoxError),
    /// The socket failed, or the client broke the protocol.
    #[error("connection failed")]
    Protocol(#[source] BoxError),
}

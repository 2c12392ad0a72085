//! The events of connections, for logs and metrics.

use std::io;

use http::Response;
use platen_fault::Code;

use crate::{body::Body, error::Error, peer::Peer, refusal::Refusal};

/// Receives the events of connections.
pub trait Observer: Send + Sync + 'static {
    /// A connection was accepted.
    fn opened(&self, _peer: &Peer) {}

    /// A connection was closed; `cause` tells why it was aborted.
    fn closed(&self, _peer: &Peer, _cause: Option<&Error>) {}

    /// An accept failed.
    fn not_accepted(&self, _cause: &io::Error) {}

    /// Changed certificate files cannot be used; the old certificate stays in use.
    fn certificate_not_read(&self, _cause: &io::Error) {}

    /// A request head was refused that was malformed, too large or too slow. The client got a bare
    /// status or nothing.
    fn refused(&self, _code: Code) {}

    /// The response to a request that is refused before it reaches the handler.
    fn refuse(&self, refusal: Refusal) -> Response<Body> {
        refusal.into_response(None)
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

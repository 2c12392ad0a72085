//! What answers requests.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use http::{Request, Response};

use crate::{Body, Peer, RequestBody};

/// Answers the requests of a connection.
///
/// Futures are boxed, so that the protocol libraries are compiled here only, not for each handler.
pub trait Handler: Send + Sync + 'static {
    /// Answers `request`. The future is dropped if the client disconnects.
    fn handle(&self, request: Request<RequestBody>) -> BoxFuture<'static, Response<Body>>;
}

/// Creates the handler of a connection.
pub type MakeHandler = Arc<dyn Fn(&Peer) -> Arc<dyn Handler> + Send + Sync>;

//! Request bodies. The socket is read only when the handler asks for more, so a slow reader slows
//! the client down.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use parking_lot::Mutex;

use super::traffic::{Protocol, Traffic};
use crate::{BoxError, deadline::Deadline};

/// A body that nobody reads is skipped up to this size.
const SKIP_BYTES: u64 = 256 << 10;
/// How long the response waits for a body that is skipped.
const SKIP_TIMEOUT: Duration = Duration::from_millis(5);

/// What becomes of a body that the handler drops before its end.
enum Rest {
    /// It is kept for the end of the handler.
    Wanted,
    Kept(Incoming),
    /// It is malformed or was cut off: where it ends is not known.
    Broken,
    /// It is dropped: the response has begun.
    Unwanted,
}

/// The end of a request body that the handler may not read.
pub(super) struct Remainder(Arc<Mutex<Rest>>);

impl Remainder {
    /// Skips what has arrived of a body that the handler has dropped. False if that is not all: then
    /// the connection must close after the response, and the client must be told so, because its
    /// next request would be lost.
    pub(super) async fn skip(self, expects_continue: bool) -> bool {
        let rest = std::mem::replace(&mut *self.0.lock(), Rest::Unwanted);
        let mut body = match rest {
            Rest::Kept(body) => body,
            Rest::Broken => return false,
            Rest::Wanted | Rest::Unwanted => return true,
        };
        // Reading would make a client send that waits for `100 Continue`.
        if expects_continue || body.size_hint().lower() > SKIP_BYTES {
            return false;
        }
        let mut left = SKIP_BYTES;
        let skipping = async {
            loop {
                let next = poll_fn(|context| Pin::new(&mut body).poll_frame(context));
                let size = match next.await {
                    None => return true,
                    Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len) as u64,
                    Some(Err(_)) => return false,
                };
                if size > left {
                    return false;
                }
                left -= size;
            }
        };
        tokio::time::timeout(SKIP_TIMEOUT, skipping)
            .await
            .unwrap_or(false)
    }
}

/// The body of a request.
#[derive(Default)]
pub struct RequestBody(Option<Arriving>);

struct Arriving {
    /// `None` once it is dropped.
    body: Option<Incoming>,
    rest: Arc<Mutex<Rest>>,
    has_ended: bool,
    timeout: Duration,
    deadline: Deadline,
    traffic: Arc<Traffic>,
}

impl std::fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestBody").finish_non_exhaustive()
    }
}

impl RequestBody {
    pub(super) fn new(
        body: Incoming,
        timeout: Duration,
        traffic: Arc<Traffic>,
    ) -> (Self, Remainder) {
        let rest = match traffic.protocol {
            Protocol::Http1 => Rest::Wanted,
            Protocol::Http2 => Rest::Unwanted,
        };
        let rest = Arc::new(Mutex::new(rest));
        let remainder = Remainder(Arc::clone(&rest));
        if body.is_end_stream() {
            return (Self::default(), remainder);
        }
        let arriving = Arriving {
            body: Some(body),
            rest,
            has_ended: false,
            timeout,
            deadline: Deadline::default(),
            traffic,
        };
        (Self(Some(arriving)), remainder)
    }
}

impl Arriving {
    /// The next frame; an error if the client sends nothing for the length of the timeout.
    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        match Pin::new(&mut *body).poll_frame(context) {
            Poll::Ready(frame) => {
                self.deadline.disarm();
                self.has_ended = frame.is_none() || body.is_end_stream();
                if let Some(Err(_)) = frame {
                    self.body = None;
                    *self.rest.lock() = Rest::Broken;
                }
                Poll::Ready(frame.map(|frame| frame.map_err(cause)))
            }
            Poll::Pending => {
                if !self.deadline.is_armed() {
                    self.deadline.arm(self.timeout);
                }
                let late = "the rest of the body did not arrive in time";
                self.deadline.poll(context).map(|()| Some(Err(late.into())))
            }
        }
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let mut rest = self.rest.lock();
        match (&*rest, self.body.take()) {
            (Rest::Wanted, Some(body)) => *rest = Rest::Kept(body),
            _ => self.traffic.abandon_body(),
        }
    }
}

/// What is wrong with a body that does not end.
fn cause(error: hyper::Error) -> BoxError {
    let source = std::error::Error::source(&error);
    let kind = source
        .and_then(|source| source.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    match kind {
        Some(io::ErrorKind::UnexpectedEof) => "the client sent only part of the body".into(),
        Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
            "the body's chunks are malformed".into()
        }
        _ => error.into(),
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Some(arriving) => arriving.poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0
            .as_ref()
            .and_then(|arriving| arriving.body.as_ref())
            .is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0
            .as_ref()
            .and_then(|arriving| arriving.body.as_ref())
            .map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}

//! Request bodies. The socket is read only when the handler asks for more, so a slow reader slows
//! the client down.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

use super::traffic::Traffic;
use crate::{BoxError, deadline::Deadline};

/// The body of a request.
#[derive(Default)]
pub struct RequestBody(Option<Arriving>);

struct Arriving {
    body: Incoming,
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
    pub(super) fn new(body: Incoming, timeout: Duration, traffic: Arc<Traffic>) -> Self {
        if http_body::Body::is_end_stream(&body) {
            return Self::default();
        }
        Self(Some(Arriving {
            body,
            has_ended: false,
            timeout,
            deadline: Deadline::default(),
            traffic,
        }))
    }
}

impl Arriving {
    /// The next frame; an error if the client sends nothing for the length of the timeout.
    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match http_body::Body::poll_frame(Pin::new(&mut self.body), context) {
            Poll::Ready(frame) => {
                self.deadline.disarm();
                self.has_ended = frame.is_none() || http_body::Body::is_end_stream(&self.body);
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
        if !self.has_ended {
            self.traffic.abandon_body();
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
            .is_none_or(|arriving| arriving.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(
            || SizeHint::with_exact(0),
            |arriving| arriving.body.size_hint(),
        )
    }
}

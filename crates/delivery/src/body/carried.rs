//! A body inside another library's body. Frameworks box bodies and forget what they were; the
//! connection gets this one back through the answer's extensions, as long as it is still the one
//! that the answer has: where it was replaced, dropped or begun to be read, there is nothing to get.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, Weak},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::Response;
use http_body::{Frame, SizeHint};

use super::{Body, BoxError};

type Cell = Mutex<Option<Body>>;

/// The body as other libraries see it.
#[derive(Debug)]
pub struct Carried {
    cell: Arc<Cell>,
    /// Set when it is read as any other body.
    begun: Option<Body>,
}

/// Lies in the extensions of the answer.
#[derive(Clone)]
struct Ticket(Weak<Cell>);

/// `response` with a body that any library can send, and that [`uncarry`] finds.
#[must_use]
pub fn carry(response: Response<Body>) -> Response<Carried> {
    let (mut parts, body) = response.into_parts();
    let cell = Arc::new(Mutex::new(Some(body)));
    parts.extensions.insert(Ticket(Arc::downgrade(&cell)));
    Response::from_parts(parts, Carried { cell, begun: None })
}

/// The body that [`carry`] gave away, or `response`'s own body where it has another by now.
///
/// Whoever wraps a body that is carried, instead of replacing it, must remove it from the
/// extensions with this function.
#[must_use]
pub fn uncarry<B>(mut response: Response<B>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let ticket = response.extensions_mut().remove::<Ticket>();
    let found = ticket
        .and_then(|ticket| ticket.0.upgrade())
        .and_then(|cell| cell.lock().unwrap_or_else(PoisonError::into_inner).take());
    match found {
        Some(body) => response.map(|_| body),
        None => response.map(Body::stream),
    }
}

impl http_body::Body for Carried {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.begun.is_none() {
            let body = self
                .cell
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            self.begun = Some(body.unwrap_or_default());
        }
        let body = self.begun.get_or_insert_with(Body::empty);
        Pin::new(body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.see(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.see(http_body::Body::size_hint)
    }
}

impl Carried {
    fn see<T>(&self, look: impl Fn(&Body) -> T) -> T {
        if let Some(body) = &self.begun {
            return look(body);
        }
        let cell = self.cell.lock().unwrap_or_else(PoisonError::into_inner);
        look(cell.as_ref().unwrap_or(&Body::empty()))
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    fn carried() -> Response<Carried> {
        carry(Response::new(Body::from("hello")))
    }

    #[test]
    fn it_comes_back_only_where_it_still_is() {
        let back = uncarry(carried());
        assert!(matches!(back.body(), Body::Bytes(bytes) if bytes == "hello"));
        assert_eq!(carried().body().size_hint().exact(), Some(5));
        let replaced = uncarry(carried().map(|_| Body::from("other")));
        assert_eq!(replaced.body().size_bytes(), Some(5));
        assert!(matches!(replaced.body(), Body::Stream(_)));
    }

    #[test]
    fn what_was_begun_is_not_sent_twice() {
        let mut response = carried();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let frame = Pin::new(response.body_mut()).poll_frame(&mut context);
        assert!(matches!(frame, Poll::Ready(Some(Ok(_)))));
        let back = uncarry(response);
        assert!(back.body().is_end_stream());
    }
}

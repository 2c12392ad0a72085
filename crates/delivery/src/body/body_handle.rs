//! A body inside another library's body. Frameworks box bodies and erase their type; the connection
//! recovers the original through the response's extensions, unless it was replaced, dropped or
//! partly read in the meantime.

use std::{
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::Response;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;

use super::{Body, BoxError};

type Cell = Mutex<Option<Body>>;

/// A handle to a [`Body`], which other libraries treat as an ordinary body.
#[derive(Debug)]
pub struct BodyHandle {
    cell: Arc<Cell>,
    /// The body, once another library has started to read it.
    begun: Option<Body>,
}

/// Stored in the response's extensions to find the body again.
#[derive(Clone)]
struct HandleKey(Weak<Cell>);

impl BodyHandle {
    /// Wraps the body of `response` so that any library can send it and [`BodyHandle::detach`] can
    /// recover it.
    #[must_use]
    pub fn attach(response: Response<Body>) -> Response<Self> {
        let (mut parts, body) = response.into_parts();
        let cell = Arc::new(Mutex::new(Some(body)));
        parts.extensions.insert(HandleKey(Arc::downgrade(&cell)));
        Response::from_parts(parts, Self { cell, begun: None })
    }

    /// Unwraps the attached body, or returns `response`'s own body if it was replaced.
    ///
    /// Code that wraps an attached body, instead of replacing it, must call this first: otherwise
    /// the body would be sent without its wrapper.
    #[must_use]
    pub fn detach<B>(mut response: Response<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let key = response.extensions_mut().remove::<HandleKey>();
        let found = key
            .and_then(|key| key.0.upgrade())
            .and_then(|cell| cell.lock().take());
        match found {
            Some(body) => response.map(|_| body),
            None => response.map(Body::stream),
        }
    }
}

impl http_body::Body for BodyHandle {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.begun.is_none() {
            let body = self.cell.lock().take();
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

impl BodyHandle {
    fn see<T>(&self, look: impl Fn(&Body) -> T) -> T {
        if let Some(body) = &self.begun {
            return look(body);
        }
        let cell = self.cell.lock();
        look(cell.as_ref().unwrap_or(&Body::empty()))
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    fn attached() -> Response<BodyHandle> {
        BodyHandle::attach(Response::new(Body::from("hello")))
    }

    #[test]
    fn it_comes_back_only_where_it_still_is() {
        let back = BodyHandle::detach(attached());
        assert!(matches!(back.body(), Body::Bytes(bytes) if bytes == "hello"));
        assert_eq!(attached().body().size_hint().exact(), Some(5));
        let replaced = BodyHandle::detach(attached().map(|_| Body::from("other")));
        assert_eq!(replaced.body().size_bytes(), Some(5));
        assert!(matches!(replaced.body(), Body::Stream(_)));
    }

    #[test]
    fn what_was_begun_is_not_sent_twice() {
        let mut response = attached();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let frame = Pin::new(response.body_mut()).poll_frame(&mut context);
        assert!(matches!(frame, Poll::Ready(Some(Ok(_)))));
        let back = BodyHandle::detach(response);
        assert!(back.body().is_end_stream());
    }
}

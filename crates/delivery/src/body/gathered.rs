//! A stream whose small frames are joined.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

use super::{BoxError, BoxStream};

/// Frames are joined up to this size.
const GATHER_BYTES: usize = 256 << 10;
/// Frames of at least this size are passed on as they are, which is cheaper than copying them.
const LARGE_BYTES: usize = 16 << 10;

type Item = Option<Result<Frame<Bytes>, BoxError>>;

pub(super) struct Gathered {
    stream: BoxStream,
    /// What has come after the gathered frames and cannot be joined with them.
    held: Option<Item>,
    held_bytes: u64,
}

impl Gathered {
    pub(super) fn new(stream: BoxStream) -> Self {
        Self {
            stream,
            held: None,
            held_bytes: 0,
        }
    }

    /// Small data to join with other, or anything else.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Bytes, Item>> {
        if self.stream.is_end_stream() {
            return Poll::Ready(Err(None));
        }
        let item = std::task::ready!(self.stream.as_mut().poll_frame(context));
        Poll::Ready(match item {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) if data.len() < LARGE_BYTES => Ok(data),
                Ok(data) => Err(Some(Ok(Frame::data(data)))),
                Err(other) => Err(Some(Ok(other))),
            },
            other => Err(other),
        })
    }
}

impl Body for Gathered {
    type Data = Bytes;
    type Error = BoxError;

    /// The data that is ready, or at least one frame.
    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Item> {
        if let Some(item) = self.held.take() {
            self.held_bytes = 0;
            return Poll::Ready(item);
        }
        let (mut first, mut joined) = (Bytes::new(), BytesMut::new());
        loop {
            match self.poll_next(context) {
                Poll::Ready(Ok(data)) if first.is_empty() => first = data,
                Poll::Ready(Ok(data)) => {
                    if joined.is_empty() {
                        joined.reserve(GATHER_BYTES);
                        joined.extend_from_slice(&first);
                    }
                    joined.extend_from_slice(&data);
                    if joined.len() >= GATHER_BYTES {
                        break;
                    }
                }
                Poll::Pending if first.is_empty() => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(Err(item)) if first.is_empty() => return Poll::Ready(item),
                Poll::Ready(Err(None)) if self.stream.is_end_stream() => break,
                Poll::Ready(Err(item)) => {
                    let data = |frame: &Frame<Bytes>| frame.data_ref().map(Bytes::len);
                    let size = item.as_ref().and_then(|item| data(item.as_ref().ok()?));
                    self.held_bytes = size.unwrap_or(0) as u64;
                    self.held = Some(item);
                    break;
                }
            }
        }
        let data = if joined.is_empty() {
            first
        } else {
            joined.freeze()
        };
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_none() && self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.stream.size_hint();
        hint.exact()
            .map_or(hint, |size| SizeHint::with_exact(size + self.held_bytes))
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use proptest::prelude::*;

    use super::*;
    use crate::Body as OurBody;

    #[test]
    fn small_frames_are_joined_and_large_ones_are_not_copied() {
        let sizes = [10_000, 10_000, 10_000, 200_000, 50, 60_000, 15_000, 15_000];
        let parts: Vec<Bytes> = (sizes.iter().zip(b'a'..))
            .map(|(size, fill)| vec![fill; *size].into())
            .collect();
        let whole = parts.concat();
        let mut body = OurBody::segments(parts).gathered();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let (mut read, mut sent) = (Vec::new(), Vec::new());
        while !body.is_end_stream() {
            let left = (whole.len() - sent.len()) as u64;
            assert_eq!(body.size_hint().exact(), Some(left));
            let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut context) else {
                panic!("there is more");
            };
            let data = frame.into_data().unwrap();
            read.push(data.len());
            sent.extend_from_slice(&data);
        }
        assert_eq!(read, [30_000, 200_000, 50, 60_000, 30_000]);
        assert!(sent == whole);
    }

    /// Frames with a pause after each pair; trailers at the end.
    struct Frames(std::vec::IntoIter<Bytes>, Option<HeaderMap>, usize);

    impl Body for Frames {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Item> {
            self.2 += 1;
            if self.2.is_multiple_of(3) {
                return Poll::Pending;
            }
            let data = self.0.next().map(Frame::data);
            let trailers = |frames: &mut Self| frames.1.take().map(Frame::trailers);
            Poll::Ready(data.or_else(|| trailers(&mut self)).map(Ok))
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(sizes in prop::collection::vec(0_usize..40_000, 0..40)) {
            let parts: Vec<Bytes> = (sizes.iter().zip((b'a'..=b'z').cycle()))
                .map(|(size, fill)| vec![fill; *size].into())
                .collect();
            let whole = parts.concat();
            let frames = Frames(parts.into_iter(), Some(HeaderMap::new()), 0);
            let mut body = Gathered::new(Box::pin(frames));
            let mut context = Context::from_waker(std::task::Waker::noop());
            let (mut sent, mut has_trailers) = (Vec::new(), false);
            loop {
                match Pin::new(&mut body).poll_frame(&mut context) {
                    Poll::Pending => {}
                    Poll::Ready(None) => break,
                    Poll::Ready(Some(frame)) => match frame.unwrap().into_data() {
                        Ok(data) => {
                            prop_assert!(!has_trailers);
                            sent.extend_from_slice(&data);
                        }
                        Err(_) => has_trailers = true,
                    },
                }
            }
            prop_assert!(has_trailers && sent == whole);
        }
    }
}

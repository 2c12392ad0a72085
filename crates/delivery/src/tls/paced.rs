//! Bodies over HTTP/2, watched for clients that open their windows no more (RFC 9113, section 5.2).
//!
//! The library asks a body for more only when the client's window has room for a byte beyond what
//! it was given. So a body is given in small parts, the last of which is a single byte: one that has
//! been given wholly fits the window, and leaves by the socket, whose deadline is another.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::connection::UnderWay;
use crate::{Body, body::BoxError};

/// The largest part; a frame of HTTP/2 holds no more where the client does not say otherwise.
const PART_BYTES: usize = 16 << 10;
/// How often a connection is looked at within its deadline.
const LOOKS: u32 = 4;

/// What the bodies of one connection wait for.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Bodies that wait for the client.
    waiting: AtomicUsize,
    /// Counts what clients took.
    taken: AtomicU64,
}

impl Pace {
    /// Ends when bodies have waited and the client has taken nothing of any for `timeout`, or up
    /// to a quarter longer.
    pub(super) async fn stalled(&self, timeout: Duration) {
        let (mut taken, mut looks) = (0, 0);
        while looks <= LOOKS {
            tokio::time::sleep(timeout / LOOKS).await;
            let now = self.taken.load(Ordering::Relaxed);
            let is_stalled = now == taken && self.waiting.load(Ordering::Relaxed) > 0;
            looks = if is_stalled { looks + 1 } else { 0 };
            taken = now;
        }
    }
}

/// A body, watched where there is a [`Pace`].
pub(super) struct Paced {
    body: Body,
    /// Of the body, not given yet.
    held: Bytes,
    pace: Option<Arc<Pace>>,
    is_waiting: bool,
    /// The request that it answers.
    _request: UnderWay,
}

impl Paced {
    pub(super) fn new(body: Body, pace: Option<Arc<Pace>>, request: UnderWay) -> Self {
        let mut paced = Self {
            body,
            held: Bytes::new(),
            pace,
            is_waiting: false,
            _request: request,
        };
        let is_empty = paced.is_end_stream();
        paced.wait(!is_empty);
        paced
    }

    fn wait(&mut self, is_waiting: bool) {
        let Some(pace) = &self.pace else {
            return;
        };
        match (self.is_waiting, is_waiting) {
            (false, true) => pace.waiting.fetch_add(1, Ordering::Relaxed),
            (true, false) => pace.waiting.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
        self.is_waiting = is_waiting;
    }

    /// The next part of what is held.
    fn part(&mut self) -> Bytes {
        let is_last = self.body.is_end_stream() && self.held.len() <= PART_BYTES;
        let size = match self.held.len() {
            held if is_last && held > 1 => held - 1,
            held => held.min(PART_BYTES),
        };
        self.held.split_to(size)
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(pace) = &self.pace else {
            return Pin::new(&mut self.body).poll_frame(context);
        };
        // There is room for more.
        pace.taken.fetch_add(1, Ordering::Relaxed);
        self.wait(false);
        if self.held.is_empty() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.held = bytes,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return Poll::Ready(other),
            }
        }
        let part = self.part();
        let is_over = self.is_end_stream();
        self.wait(!is_over);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.held.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.body.size_hint();
        let held = self.held.len() as u64;
        hint.exact()
            .map_or(hint, |size| SizeHint::with_exact(size + held))
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        self.wait(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_part_is_one_byte_and_who_waits_is_counted() {
        let pace = Arc::new(Pace::default());
        let mut paced = Paced::new(
            Body::from(vec![b'a'; 40_000]),
            Some(Arc::clone(&pace)),
            UnderWay::alone(),
        );
        let waiting = || pace.waiting.load(Ordering::Relaxed);
        assert_eq!(waiting(), 1);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut sizes = Vec::new();
        while !paced.is_end_stream() {
            let left = 40_000 - sizes.iter().sum::<usize>() as u64;
            assert_eq!((paced.size_hint().exact(), waiting()), (Some(left), 1));
            match Pin::new(&mut paced).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(frame))) => sizes.push(frame.into_data().unwrap().len()),
                _ => panic!("there is more"),
            }
        }
        assert_eq!(sizes, [16_384, 16_384, 7_231, 1]);
        assert_eq!(waiting(), 0);
        drop(Paced::new(
            Body::from("a"),
            Some(Arc::clone(&pace)),
            UnderWay::alone(),
        ));
        assert_eq!(waiting(), 0);
    }
}

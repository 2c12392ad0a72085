//! Bodies over HTTP/2 with a timeout for clients that stop opening their flow-control windows (RFC
//! 9113, section 5.2).
//!
//! The h2 library polls a body only when the client's window has room for one byte more than it
//! holds. So a body is handed over in small parts, the last of which is a single byte: once that
//! byte is polled, the rest fits the window, and the write timeout of the socket applies.

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

use super::traffic::UnderWay;
use crate::{Body, body::BoxError};

/// Largest part: the default size of an HTTP/2 frame.
const PART_BYTES: usize = 16 << 10;
/// How often a connection is checked within its timeout.
const POLLS_PER_TIMEOUT: u32 = 4;

/// Progress of the bodies of one connection.
#[derive(Debug, Default)]
pub(super) struct StallMonitor {
    /// Number of bodies that wait for the client.
    waiting: AtomicUsize,
    /// Number of parts that the client has taken.
    taken: AtomicU64,
}

impl StallMonitor {
    /// Completes when bodies wait and the client has taken nothing of any of them for `timeout`, or
    /// up to a quarter longer.
    pub(super) async fn stalled(&self, timeout: Duration) {
        let (mut taken, mut polls) = (0, 0);
        while polls <= POLLS_PER_TIMEOUT {
            tokio::time::sleep(timeout / POLLS_PER_TIMEOUT).await;
            let now = self.taken.load(Ordering::Relaxed);
            let is_stalled = now == taken && self.waiting.load(Ordering::Relaxed) > 0;
            polls = if is_stalled { polls + 1 } else { 0 };
            taken = now;
        }
    }
}

/// A body, monitored if there is a [`StallMonitor`].
pub(super) struct StallGuardedBody {
    body: Body,
    /// Data of the body that has not been handed over yet.
    held: Bytes,
    monitor: Option<Arc<StallMonitor>>,
    is_waiting: bool,
    /// Keeps the connection from counting as idle until the body has ended.
    _request: UnderWay,
}

impl StallGuardedBody {
    pub(super) fn new(body: Body, monitor: Option<Arc<StallMonitor>>, request: UnderWay) -> Self {
        let mut guarded = Self {
            body,
            held: Bytes::new(),
            monitor,
            is_waiting: false,
            _request: request,
        };
        let is_empty = guarded.is_end_stream();
        guarded.wait(!is_empty);
        guarded
    }

    fn wait(&mut self, is_waiting: bool) {
        let Some(monitor) = &self.monitor else {
            return;
        };
        match (self.is_waiting, is_waiting) {
            (false, true) => monitor.waiting.fetch_add(1, Ordering::Relaxed),
            (true, false) => monitor.waiting.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
        self.is_waiting = is_waiting;
    }

    /// The next part of the held data.
    fn part(&mut self) -> Bytes {
        let is_last = self.body.is_end_stream() && self.held.len() <= PART_BYTES;
        let size = match self.held.len() {
            held if is_last && held > 1 => held - 1,
            held => held.min(PART_BYTES),
        };
        self.held.split_to(size)
    }
}

impl HttpBody for StallGuardedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Some(monitor) = &self.monitor else {
            return Pin::new(&mut self.body).poll_frame(context);
        };
        // A poll means that the client's window has room.
        monitor.taken.fetch_add(1, Ordering::Relaxed);
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

impl Drop for StallGuardedBody {
    fn drop(&mut self) {
        self.wait(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_part_is_one_byte_and_who_waits_is_counted() {
        let monitor = Arc::new(StallMonitor::default());
        let mut guarded = StallGuardedBody::new(
            Body::from(vec![b'a'; 40_000]),
            Some(Arc::clone(&monitor)),
            UnderWay::alone(),
        );
        let waiting = || monitor.waiting.load(Ordering::Relaxed);
        assert_eq!(waiting(), 1);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut sizes = Vec::new();
        while !guarded.is_end_stream() {
            let left = 40_000 - sizes.iter().sum::<usize>() as u64;
            assert_eq!((guarded.size_hint().exact(), waiting()), (Some(left), 1));
            match Pin::new(&mut guarded).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(frame))) => sizes.push(frame.into_data().unwrap().len()),
                _ => panic!("there is more"),
            }
        }
        assert_eq!(sizes, [16_384, 16_384, 7_231, 1]);
        assert_eq!(waiting(), 0);
        drop(StallGuardedBody::new(
            Body::from("a"),
            Some(Arc::clone(&monitor)),
            UnderWay::alone(),
        ));
        assert_eq!(waiting(), 0);
    }
}

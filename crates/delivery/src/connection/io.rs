//! The byte stream below the protocol library, and how it ends: clients that have closed their
//! sending side, and clients that are still sending when the connection closes.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::traffic::{Protocol, Traffic};
use crate::{Limits, deadline::Deadline};

/// Bytes drained in one read.
const DRAIN_BYTES: usize = 4 << 10;

/// What is known of the end of the client's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It has not come.
    Open,
    /// It has come, but the protocol library does not know it yet.
    Held,
    /// The protocol library knows it.
    Passed,
}

pub(super) struct ConnectionIo<T> {
    stream: T,
    traffic: Arc<Traffic>,
    half_closed_timeout: Duration,
    linger_timeout: Duration,
    /// Number of bytes that may still be drained.
    linger_bytes: usize,
    is_lingering: bool,
    /// Of a half-closed client, then of lingering.
    deadline: Deadline,
    end: End,
    /// A write has begun that is not flushed.
    has_unflushed: bool,
}

impl<T> ConnectionIo<T> {
    pub(super) fn new(stream: T, traffic: Arc<Traffic>, limits: &Limits) -> Self {
        Self {
            stream,
            traffic,
            half_closed_timeout: limits.half_closed_timeout,
            linger_timeout: limits.linger_timeout,
            linger_bytes: limits.linger_bytes,
            is_lingering: false,
            deadline: Deadline::default(),
            end: End::Open,
            has_unflushed: false,
        }
    }

    fn is_busy(&self) -> bool {
        self.has_unflushed || self.traffic.has_request()
    }

    /// Handles the end of the client's data. During a request, the client has disconnected, or it
    /// has closed its sending side and is waiting for the response: both look the same. The
    /// protocol library would abort the request, so it learns of the end only if the response does
    /// not progress for a while. With HTTP/2 it is the end of the connection in any case.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let passes =
            self.end == End::Passed || self.traffic.protocol == Protocol::Http2 || !self.is_busy();
        if !passes {
            self.end = End::Held;
            if !self.deadline.is_armed() {
                self.deadline.arm(self.half_closed_timeout);
            }
            ready!(self.deadline.poll(context));
        }
        self.end = End::Passed;
        Poll::Ready(())
    }

    fn written<R>(&mut self, poll: &Poll<io::Result<R>>) {
        self.has_unflushed = true;
        if self.end == End::Held && matches!(poll, Poll::Ready(Ok(_))) {
            self.deadline.arm(self.half_closed_timeout);
        }
    }
}

impl<T: AsyncRead + Unpin> ConnectionIo<T> {
    /// Reads what the client is still sending: closing at once would reset the connection and could
    /// destroy the response.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut room = [0; DRAIN_BYTES];
        loop {
            if self.deadline.poll(context).is_ready() {
                return Poll::Ready(());
            }
            let mut buffer = ReadBuf::new(&mut room);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let count = buffer.filled().len();
            if read.is_err() || count == 0 || count > self.linger_bytes {
                return Poll::Ready(());
            }
            self.linger_bytes -= count;
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for ConnectionIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if self.end == End::Open {
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        }
        if buffer.filled().len() > before || buffer.remaining() == 0 {
            self.traffic.received();
            return Poll::Ready(Ok(()));
        }
        self.poll_end(context).map(Ok)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ConnectionIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(&poll);
        poll
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(&poll);
        poll
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.has_unflushed = false;
        self.traffic.flushed();
        if self.end == End::Held && !self.is_busy() {
            // The protocol library has stopped waiting for input, and no more will wake it.
            self.end = End::Passed;
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_lingering {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if self.end != End::Open || !self.traffic.is_sending_in_vain() {
                return Poll::Ready(Ok(()));
            }
            self.is_lingering = true;
            let timeout = self.linger_timeout;
            self.deadline.arm(timeout);
        }
        self.poll_drain(context).map(Ok)
    }
}

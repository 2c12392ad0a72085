//! Streams with timeouts: for writes that stall, and for the first bytes of a client.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::deadline::Deadline;

/// A stream whose client must read.
pub(crate) struct WriteTimeoutIo<T> {
    stream: T,
    timeout: Duration,
    deadline: Deadline,
}

impl<T> WriteTimeoutIo<T> {
    pub(crate) fn new(stream: T, timeout: Duration) -> Self {
        Self {
            stream,
            timeout,
            deadline: Deadline::default(),
        }
    }

    fn or_timeout<R>(
        &mut self,
        context: &mut Context<'_>,
        poll: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if poll.is_ready() {
            self.deadline.disarm();
            return poll;
        }
        if !self.deadline.is_armed() {
            self.deadline.arm(self.timeout);
        }
        self.deadline
            .poll(context)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeoutIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.or_timeout(context, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.or_timeout(context, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        self.or_timeout(context, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Whether one of these timeouts is the reason for `error`.
pub(super) fn is_timeout(error: &hyper::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let found = cause.downcast_ref::<io::Error>();
        if found.is_some_and(|found| found.kind() == io::ErrorKind::TimedOut) {
            return true;
        }
        source = cause.source();
    }
    false
}

/// Length of the HTTP/2 connection preface.
const PREFACE_BYTES: usize = 24;

/// A stream whose first bytes must arrive in time. For later ones the protocol's own timeouts
/// apply.
pub(super) struct FirstBytesTimeoutIo<T> {
    stream: T,
    missing: usize,
    deadline: Deadline,
}

impl<T> FirstBytesTimeoutIo<T> {
    pub(super) fn new(stream: T, timeout: Duration) -> Self {
        let mut deadline = Deadline::default();
        deadline.arm(timeout);
        Self {
            stream,
            missing: PREFACE_BYTES,
            deadline,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for FirstBytesTimeoutIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.missing == 0 {
            return poll;
        }
        if poll.is_ready() {
            let read = buffer.filled().len() - before;
            self.missing = self.missing.saturating_sub(read);
            return poll;
        }
        self.deadline
            .poll(context)
            .map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for FirstBytesTimeoutIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

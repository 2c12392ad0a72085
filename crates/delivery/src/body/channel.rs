//! A body that another task or thread fills. It waits where the reader is slow.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::Frame;
use tokio::sync::mpsc;

use super::BoxError;

/// Nobody reads the body any more.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("nobody reads the answer any more")]
pub struct Gone;

/// Fills a body. Dropping it ends the body.
#[derive(Debug)]
pub struct Sender {
    frames: mpsc::Sender<Result<Frame<Bytes>, BoxError>>,
}

impl Sender {
    /// Waits for room, then adds `bytes`.
    ///
    /// # Errors
    /// Where the reader has gone.
    pub async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.frames
            .send(Ok(Frame::data(bytes)))
            .await
            .map_err(|_| Gone)
    }

    /// As [`Sender::send`], for threads outside the runtime.
    ///
    /// # Errors
    /// Where the reader has gone.
    pub fn blocking_send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.frames
            .blocking_send(Ok(Frame::data(bytes)))
            .map_err(|_| Gone)
    }

    /// Breaks the body off: the reader sees that it is not whole.
    pub async fn fail(self, error: impl Into<BoxError>) {
        let _ = self.frames.send(Err(error.into())).await;
    }
}

pub(super) struct Receiver {
    frames: mpsc::Receiver<Result<Frame<Bytes>, BoxError>>,
}

pub(super) fn pair(frames: usize) -> (Sender, Receiver) {
    let (sender, receiver) = mpsc::channel(frames.max(1));
    (Sender { frames: sender }, Receiver { frames: receiver })
}

impl http_body::Body for Receiver {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.frames.poll_recv(context)
    }
}

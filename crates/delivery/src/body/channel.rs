//! A body filled by another task or thread, which waits while the reader is slow.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::Frame;
use tokio::sync::mpsc;

use super::BoxError;

/// The reader has disconnected.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("reader disconnected")]
pub struct Gone;

/// Fills a body. Dropping the sender ends the body.
#[derive(Debug)]
pub struct Sender {
    frames: mpsc::Sender<Result<Frame<Bytes>, BoxError>>,
}

impl Sender {
    /// Waits until the channel has room, then adds `bytes`.
    ///
    /// # Errors
    /// The reader has disconnected.
    pub async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.frames
            .send(Ok(Frame::data(bytes)))
            .await
            .map_err(|_| Gone)
    }

    /// Like [`Sender::send`], for threads outside the runtime.
    ///
    /// # Errors
    /// The reader has disconnected.
    pub fn blocking_send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.frames
            .blocking_send(Ok(Frame::data(bytes)))
            .map_err(|_| Gone)
    }

    /// Aborts the body, so that the reader knows that it is incomplete.
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

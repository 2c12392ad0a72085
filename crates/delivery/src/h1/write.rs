//! Writing: small amounts from the connection's own task, large ones on a writer thread.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Request, Response};
use tokio::io::AsyncWrite;
use tower_service::Service;

use super::{Connection, RequestBody};
use crate::{
    Body, Error,
    body::FileBody,
    writers::{Load, Outcome},
};

impl<S> Connection<S>
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>,
{
    /// Writes everything in the output buffer.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        if self.output.len() >= self.shared.limits.large_bytes && !self.slow {
            self.hand_over(None).await?;
        }
        self.flush_here().await
    }

    /// Writes everything in the output buffer, then the file.
    pub(super) async fn flush_file(&mut self, file: FileBody) -> Result<(), Error> {
        let Some(mut file) = self.hand_over(Some(file)).await? else {
            return Ok(());
        };
        self.flush_here().await?;
        while let Some(read) = std::future::poll_fn(|context| file.poll_read(context)).await {
            self.output.push(read?);
            self.flush_here().await?;
        }
        Ok(())
    }

    pub(super) async fn flush_here(&mut self) -> Result<(), Error> {
        // The deadline of the last read does not apply to writing.
        self.deadline.disarm();
        std::future::poll_fn(|context| self.poll_flush(context)).await
    }

    /// Has a writer thread write; returns the rest of the file if no thread was free or the client
    /// stalled.
    async fn hand_over(&mut self, file: Option<FileBody>) -> Result<Option<FileBody>, Error> {
        let load = Box::new(Load {
            socket: self.socket.hand_out(),
            output: std::mem::take(&mut self.output),
            file,
        });
        let (load, outcome) = match self.shared.writers.take(load) {
            Ok(end) => end.await.map_err(|_| Error::Writer)?,
            Err(load) => (load, Outcome::Stalled),
        };
        let Load {
            socket,
            output,
            file,
        } = *load;
        self.socket = socket;
        self.output = output;
        match outcome {
            Outcome::Written => Ok(None),
            Outcome::Stalled => {
                self.slow = true;
                Ok(file)
            }
            Outcome::Failed(error) => Err(Error::Io(error)),
        }
    }

    /// Writes until the output buffer is empty; fails if the client reads nothing within the write
    /// timeout.
    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while !self.output.is_empty() {
            let socket = &mut self.socket;
            let written = self.output.write(|slices| {
                match Pin::new(&mut *socket).poll_write_vectored(context, slices) {
                    Poll::Ready(Ok(0)) => Err(Some(std::io::ErrorKind::WriteZero.into())),
                    Poll::Ready(written) => written.map_err(Some),
                    Poll::Pending => Err(None),
                }
            });
            match written {
                Ok(_) => self.deadline.disarm(),
                Err(Some(error)) => return Poll::Ready(Err(Error::Io(error))),
                Err(None) => {
                    if !self.deadline.is_armed() {
                        self.deadline.arm(self.shared.limits.write_timeout);
                    }
                    return self.deadline.poll(context).map(|()| Err(Error::Stalled));
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

//! Sends a response: head and first bytes in one write, frames of a stream gathered into larger
//! writes.

use std::{convert::Infallible, task::Poll};

use bytes::{BufMut, Bytes};
use http::{HeaderMap, Request, Response, response::Parts};
use http_body::{Body as _, Frame};
use tower_service::Service;

use super::{
    After, Connection, RequestBody,
    intake::Intake,
    response::{self, Asked, Length},
};
use crate::{Body, Error, body::BoxStream};

/// Maximum number of segments gathered for one write.
const MAX_SEGMENTS: usize = 1_000;

/// State of a stream after gathering.
enum Gathered {
    /// More frames may follow.
    Some,
    End(Option<HeaderMap>),
}

impl<S> Connection<S>
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>,
{
    pub(super) async fn answer(
        &mut self,
        parts: Parts,
        body: Body,
        asked: Asked,
        intake: &mut Intake,
    ) -> Result<After, Error> {
        // If nobody reads the request body, drop what has arrived of it. Unless it ends there, the
        // connection must close: the client is still sending.
        let mut sends_on = intake.is_abandoned() && !intake.skip(&mut self.input);
        sends_on |= std::mem::take(&mut intake.must_continue);
        let size = body.size_bytes();
        let length = response::length(asked, parts.status, size);
        let mut close = sends_on
            || !asked.keep_alive
            || self.malformed
            || length == Length::Close
            || response::asks_to_close(&parts.headers)
            || self.stopped.has_changed().unwrap_or(true);
        self.polls = None;
        let head = &mut self.output.head;
        response::encode(head, &parts, length, size, asked, close);
        match body {
            _ if length == Length::None => self.flush().await?,
            Body::Bytes(bytes) => {
                self.output.push(bytes);
                self.flush().await?;
            }
            Body::Segments(segments) => {
                self.output.extend(segments.into_parts());
                self.flush().await?;
            }
            Body::File(file) => self.flush_file(file).await?,
            Body::Stream(stream) => {
                let announced = asked.takes_trailers.then_some(&parts.headers);
                self.stream(stream, length, announced, intake).await?;
            }
        }
        close |= self.malformed || !(intake.is_done() || sends_on);
        if !close {
            return Ok(After::Next);
        }
        Ok(After::Close(!intake.is_done() || !self.input.is_empty()))
    }

    async fn stream(
        &mut self,
        mut stream: BoxStream,
        length: Length,
        announced: Option<&HeaderMap>,
        intake: &mut Intake,
    ) -> Result<(), Error> {
        let mut left = match length {
            Length::Exact(size) => size,
            _ => u64::MAX,
        };
        let mut gathered = Vec::new();
        loop {
            let state = self.gather(&mut stream, &mut gathered, intake).await?;
            let size: usize = gathered.iter().map(Bytes::len).sum();
            left = left.checked_sub(size as u64).ok_or(Error::Length)?;
            if length == Length::Chunked {
                self.put_chunk(size, &mut gathered);
                if let Gathered::End(trailers) = &state {
                    self.put_last_chunk(trailers.as_ref().zip(announced));
                }
            } else {
                gathered.drain(..).for_each(|part| self.output.push(part));
            }
            self.flush().await?;
            if matches!(state, Gathered::End(_)) {
                return if matches!(length, Length::Exact(_)) && left > 0 {
                    Err(Error::Length)
                } else {
                    Ok(())
                };
            }
        }
    }

    /// Waits for the first frame, then takes those that are ready, up to `gather_bytes`.
    async fn gather(
        &mut self,
        stream: &mut BoxStream,
        gathered: &mut Vec<Bytes>,
        intake: &mut Intake,
    ) -> Result<Gathered, Error> {
        let most = self.shared.limits.gather_bytes;
        let mut size = 0;
        std::future::poll_fn(|context| {
            while size < most && gathered.len() < MAX_SEGMENTS {
                match stream.as_mut().poll_frame(context).map_err(Error::Body)? {
                    Poll::Ready(Some(frame)) => match data_or_trailers(frame) {
                        Ok(data) if data.is_empty() => {}
                        Ok(data) => {
                            size += data.len();
                            gathered.push(data);
                        }
                        Err(trailers) => return Poll::Ready(Ok(Gathered::End(trailers))),
                    },
                    Poll::Ready(None) => return Poll::Ready(Ok(Gathered::End(None))),
                    // Send the head even if the body has produced nothing yet.
                    Poll::Pending if size > 0 || !self.output.is_empty() => break,
                    Poll::Pending => return self.attend(context, intake).map(Err),
                }
                if stream.is_end_stream() {
                    return Poll::Ready(Ok(Gathered::End(None)));
                }
            }
            Poll::Ready(Ok(Gathered::Some))
        })
        .await
    }

    fn put_chunk(&mut self, size: usize, gathered: &mut Vec<Bytes>) {
        if size == 0 {
            return;
        }
        response::put_chunk_size(&mut self.output.head, size);
        gathered.drain(..).for_each(|part| self.output.push(part));
        self.output.push(Bytes::from_static(b"\r\n"));
    }

    fn put_last_chunk(&mut self, trailers: Option<(&HeaderMap, &HeaderMap)>) {
        let Some((trailers, announced)) = trailers else {
            self.output.push(Bytes::from_static(b"0\r\n\r\n"));
            return;
        };
        let mut last = bytes::BytesMut::from(&b"0\r\n"[..]);
        response::put_trailers(&mut last, announced, trailers);
        last.put_slice(b"\r\n");
        self.output.push(last.freeze());
    }
}

fn data_or_trailers(frame: Frame<Bytes>) -> Result<Bytes, Option<HeaderMap>> {
    frame
        .into_data()
        .map_err(|other| other.into_trailers().ok())
}

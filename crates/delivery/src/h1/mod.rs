//! HTTP/1.1 on plain sockets (RFC 9110, RFC 9112). A connection has one task, one input buffer and
//! one buffer for response heads; response bodies are written without being copied.

mod answer;
pub(crate) mod chunked;
pub(crate) mod head;
mod intake;
mod refusal;
mod response;
mod write;

use std::{
    convert::Infallible,
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use http::{Request, Response};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::watch,
};
use tower_service::Service;

use self::{
    head::Head,
    intake::{Demand, Intake},
    response::Asked,
};
pub use self::{intake::RequestBody, refusal::Refusal};
use crate::{
    Body, Error,
    deadline::Deadline,
    idle_connections::IdleSlot,
    output::Output,
    shared::Shared,
    socket::Socket,
    upgrade::{self, Upgraded},
};

/// Read buffer for a request head, in bytes.
const HEAD_ROOM: usize = 4 << 10;
/// Read buffer for a request body, in bytes.
const BODY_ROOM: usize = 64 << 10;
/// A larger input buffer is freed while the connection is idle.
const IDLE_ROOM: usize = 16 << 10;

/// How often a half-closed connection is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a streamed response may pause once the client has half-closed the connection.
const STREAM_STALL_TIMEOUT: Duration = Duration::from_secs(1);

/// What follows a response.
enum After {
    Next,
    /// Close the connection; true if the client may still be sending.
    Close(bool),
    Upgraded,
}

/// What was read instead of a request, or the request's head.
enum Next {
    Head(Box<Head>),
    Refused(Refusal),
    Closed,
}

pub(crate) struct Connection<S> {
    socket: Socket,
    input: BytesMut,
    output: Output,
    deadline: Deadline,
    service: S,
    shared: Arc<Shared>,
    stopped: watch::Receiver<()>,
    idle_slot: IdleSlot,
    /// Completes when the service stops.
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
    stopping: bool,
    /// The client has closed its sending side.
    half_closed: bool,
    /// Number of checks since then; `None` once the response has begun, when nothing can be sent in
    /// between.
    polls: Option<u32>,
    /// The input can no longer be split into requests.
    malformed: bool,
    /// The client has been slow to read this response.
    slow: bool,
    /// The current request uses HTTP/1.1.
    is_http11: bool,
}

impl<S> Connection<S>
where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible>,
{
    pub(crate) fn new(
        socket: Socket,
        service: S,
        shared: Arc<Shared>,
        stopped: watch::Receiver<()>,
        idle_slot: IdleSlot,
    ) -> Self {
        let mut ends = stopped.clone();
        Self {
            socket,
            input: BytesMut::new(),
            output: Output::default(),
            deadline: Deadline::default(),
            service,
            shared,
            stopped,
            idle_slot,
            stop: Box::pin(async move {
                let _ = ends.changed().await;
            }),
            stopping: false,
            half_closed: false,
            polls: None,
            malformed: false,
            slow: false,
            is_http11: false,
        }
    }

    /// Serves one request after another until either side closes the connection.
    pub(crate) async fn serve(mut self) -> Result<(), Error> {
        loop {
            match self.read_head().await? {
                Next::Closed => return Ok(()),
                Next::Refused(refusal) => return self.refuse(refusal).await,
                // The idle connection was evicted at this very moment. Nothing of the request has
                // been done, so the client may repeat it.
                Next::Head(_) if !self.idle_slot.begin() => return Ok(()),
                Next::Head(head) => match self.exchange(*head).await? {
                    After::Next => {}
                    After::Upgraded => return Ok(()),
                    After::Close(linger) => return self.close(linger).await,
                },
            }
        }
    }

    async fn read_head(&mut self) -> Result<Next, Error> {
        let limits = &self.shared.limits;
        let (most, headers, timeout) = (limits.head_bytes, limits.headers, limits.head_timeout);
        let mut seen = 0;
        let mut begun = false;
        loop {
            head::skip_empty_lines(&mut self.input);
            match head::find_end(&self.input, &mut seen) {
                Err(refusal) => return Ok(Next::Refused(refusal)),
                Ok(Some(end)) if end <= most => {
                    let bytes = self.input.split_to(end).freeze();
                    return Ok(head::parse(bytes, headers)
                        .map_or_else(Next::Refused, |head| Next::Head(Box::new(head))));
                }
                Ok(None) if self.input.len() < most => {}
                Ok(_) => return Ok(Next::Refused(Refusal::too_large(most))),
            }
            if self.half_closed {
                return Ok(Next::Closed);
            }
            if self.input.is_empty() {
                if self.input.capacity() > IDLE_ROOM {
                    self.input = BytesMut::new();
                }
                let limits = &self.shared.limits;
                self.deadline.arm(if self.stopping {
                    limits.stop_timeout
                } else {
                    limits.idle_timeout
                });
            } else if !begun {
                begun = true;
                self.deadline.arm(timeout);
            }
            let read = std::future::poll_fn(|context| {
                if let Poll::Ready(read) = self.poll_fill(context, HEAD_ROOM) {
                    return Poll::Ready(Some(read));
                }
                self.idle_slot.wait();
                if !self.stopping && !begun && self.stop.as_mut().poll(context).is_ready() {
                    self.stopping = true;
                    self.deadline.arm(self.shared.limits.stop_timeout);
                }
                self.deadline.poll(context).map(|()| None)
            });
            match read.await {
                Some(Ok(0)) if self.input.is_empty() => return Ok(Next::Closed),
                Some(Ok(0)) => return Err(Error::Incomplete),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Error::Io(error)),
                None if begun => return Ok(Next::Refused(Refusal::slow(timeout))),
                None => return Ok(Next::Closed),
            }
        }
    }

    /// Reads into the input buffer, which grows by `room` if little is left.
    fn poll_fill(&mut self, context: &mut Context<'_>, room: usize) -> Poll<io::Result<usize>> {
        if self.input.capacity() - self.input.len() < room.min(HEAD_ROOM / 4) {
            self.input.reserve(room);
        }
        let read = pin!(self.socket.read_buf(&mut self.input));
        read.poll(context)
    }

    /// Handles one request.
    async fn exchange(&mut self, head: Head) -> Result<After, Error> {
        self.deadline.disarm();
        self.slow = false;
        self.polls = Some(0);
        let asked = Asked::by(&head);
        self.is_http11 = asked.is_http11;
        let (mut intake, body) = Intake::new(head.framing, head.expects_continue);
        let mut request = Request::new(body);
        *request.method_mut() = head.method;
        *request.uri_mut() = head.uri;
        *request.version_mut() = head.version;
        *request.headers_mut() = head.headers;
        let switch = head.wants_upgrade.then(|| upgrade::offer(&mut request));
        let Ok(()) = std::future::poll_fn(|context| self.service.poll_ready(context)).await;
        let response = {
            let mut answering = pin!(self.service.call(request));
            std::future::poll_fn(|context| match answering.as_mut().poll(context) {
                Poll::Ready(Ok(response)) => Poll::Ready(Ok(response)),
                Poll::Pending => self.attend(context, &mut intake).map(Err),
            })
            .await?
        };
        let (parts, body) = response.into_parts();
        if let Some(switch) = switch
            && parts.status == http::StatusCode::SWITCHING_PROTOCOLS
        {
            self.answer(parts, Body::empty(), asked, &mut intake)
                .await?;
            let early = self.input.split().freeze();
            let transport = Box::new(self.socket.hand_out());
            let _ = switch.send(Upgraded::new(transport, early));
            return Ok(After::Upgraded);
        }
        self.answer(parts, body, asked, &mut intake).await
    }

    /// Runs while the service works: feeds the request body to its reader and detects that the
    /// client has gone. Ready only with a reason to abort the request.
    fn attend(&mut self, context: &mut Context<'_>, intake: &mut Intake) -> Poll<Error> {
        loop {
            let room = match intake.poll_feed(context, &mut self.input) {
                Demand::Read(left) => usize::try_from(left).unwrap_or(BODY_ROOM).min(BODY_ROOM),
                Demand::Malformed => {
                    self.malformed = true;
                    return Poll::Pending;
                }
                Demand::None => return Poll::Pending,
                Demand::Done => return self.watch(context),
            };
            if intake.must_continue {
                intake.must_continue = false;
                self.output.head.put_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            match self.poll_flush(context) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(error),
                Poll::Pending => return Poll::Pending,
            }
            match self.poll_fill(context, room.max(HEAD_ROOM)) {
                Poll::Ready(Ok(0)) => {
                    self.half_closed = true;
                    intake.break_off("the client sent only part of the body");
                    return Poll::Pending;
                }
                Poll::Ready(Ok(_)) => self.deadline.disarm(),
                Poll::Ready(Err(error)) => return Poll::Ready(Error::Io(error)),
                Poll::Pending => {
                    if !self.deadline.is_armed() {
                        self.deadline.arm(self.shared.limits.body_timeout);
                    }
                    if self.deadline.poll(context).is_ready() {
                        self.malformed = true;
                        intake.break_off("the rest of the body did not arrive in time");
                    }
                    return Poll::Pending;
                }
            }
        }
    }

    /// Detects the end of the connection; there is nothing else to read.
    fn watch(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        while !self.half_closed && self.input.len() < self.shared.limits.head_bytes {
            match self.poll_fill(context, HEAD_ROOM) {
                Poll::Ready(Ok(0)) => {
                    self.half_closed = true;
                    self.deadline.disarm();
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Error::Io(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        if !self.half_closed {
            return Poll::Pending;
        }
        self.look_after(context)
    }

    /// Handles a client that has closed its sending side. It may have disconnected, or it may be
    /// waiting for the response: TCP reports both in the same way. Only writing tells them apart,
    /// because a client that has disconnected replies with a reset. So the first check writes `102
    /// Processing`, an interim response that HTTP/1.1 clients must accept (RFC 9110, section 15.2),
    /// and later checks look for the reset.
    fn look_after(&mut self, context: &mut Context<'_>) -> Poll<Error> {
        loop {
            let Some(polls) = &mut self.polls else {
                // The response has begun: nothing can be sent in between, so only a pause ends it.
                if !self.deadline.is_armed() {
                    self.deadline.arm(STREAM_STALL_TIMEOUT);
                }
                return self.deadline.poll(context).map(|()| Error::Gone);
            };
            if !self.deadline.is_armed() {
                self.deadline.arm(POLL_INTERVAL);
            }
            if self.deadline.poll(context).is_pending() {
                return Poll::Pending;
            }
            *polls += 1;
            if POLL_INTERVAL * *polls >= self.shared.limits.half_closed_timeout {
                return Poll::Ready(Error::Gone);
            }
            if *polls == 1 && self.is_http11 {
                self.output
                    .head
                    .put_slice(b"HTTP/1.1 102 Processing\r\n\r\n");
            }
            if let Poll::Ready(Err(error)) = self.poll_flush(context) {
                return Poll::Ready(error);
            }
            if self.socket.has_failed() {
                return Poll::Ready(Error::Gone);
            }
        }
    }

    async fn refuse(&mut self, refusal: Refusal) -> Result<(), Error> {
        let (parts, body) = self.shared.observer.refuse(refusal).into_parts();
        let asked = Asked {
            head_only: false,
            is_http11: true,
            keep_alive: false,
            takes_trailers: false,
        };
        let (mut nothing, _) = Intake::new(head::Framing::Length(0), false);
        self.answer(parts, body, asked, &mut nothing).await?;
        self.close(true).await
    }

    /// Closes the connection. If the client is still sending, closing at once would reset the
    /// connection and could destroy the response; so its data is drained first, within limits.
    async fn close(&mut self, linger: bool) -> Result<(), Error> {
        self.socket.shutdown().await?;
        if !linger || self.half_closed {
            return Ok(());
        }
        let limits = &self.shared.limits;
        let mut left = limits.linger_bytes;
        self.deadline.arm(limits.linger_timeout);
        loop {
            self.input.clear();
            let read = std::future::poll_fn(|context| {
                if self.deadline.poll(context).is_ready() {
                    return Poll::Ready(Ok(0));
                }
                self.poll_fill(context, HEAD_ROOM)
            });
            match read.await? {
                0 => return Ok(()),
                read if read > left => return Ok(()),
                read => left -= read,
            }
        }
    }
}

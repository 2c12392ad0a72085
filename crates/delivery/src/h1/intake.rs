//! Carries request bodies from the connection to the service, one frame at a time. The socket is
//! read only when the service asks for more, so a slow reader slows the client down.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;

use super::{
    chunked::{Decoded, Decoder},
    head::Framing,
};
use crate::{BoxError, body::BoxStream};

#[derive(Debug, Default)]
struct Shared {
    frame: Option<Bytes>,
    end: Option<Result<(), &'static str>>,
    wanted: bool,
    abandoned: bool,
    reader: Option<Waker>,
    pump: Option<Waker>,
}

type Link = Arc<Mutex<Shared>>;

fn locked<T>(link: &Link, work: impl FnOnce(&mut Shared) -> T) -> T {
    work(&mut link.lock())
}

/// The body of a request.
#[derive(Default)]
pub struct RequestBody(Source);

#[derive(Default)]
enum Source {
    #[default]
    Empty,
    Own(Own),
    Other(BoxStream),
}

struct Own {
    link: Link,
    /// Remaining bytes, if known.
    left: Option<u64>,
}

impl std::fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RequestBody").finish_non_exhaustive()
    }
}

impl RequestBody {
    /// A body that another protocol library reads.
    pub(crate) fn other(body: BoxStream) -> Self {
        Self(Source::Other(body))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let pump = locked(&self.link, |shared| {
            shared.abandoned = true;
            shared.pump.take()
        });
        if let Some(pump) = pump {
            pump.wake();
        }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let own = match &mut self.0 {
            Source::Empty => return Poll::Ready(None),
            Source::Other(body) => return body.as_mut().poll_frame(context),
            Source::Own(own) => own,
        };
        let (poll, pump) = locked(&own.link, |shared| {
            if let Some(frame) = shared.frame.take() {
                own.left = own.left.map(|left| left.saturating_sub(frame.len() as u64));
                return (Poll::Ready(Some(Ok(Frame::data(frame)))), None);
            }
            match shared.end {
                Some(Ok(())) => (Poll::Ready(None), None),
                Some(Err(cause)) => (Poll::Ready(Some(Err(cause.into()))), None),
                None => {
                    shared.wanted = true;
                    shared.reader = Some(context.waker().clone());
                    (Poll::Pending, shared.pump.take())
                }
            }
        });
        if let Some(pump) = pump {
            pump.wake();
        }
        poll
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Source::Empty => true,
            Source::Other(body) => body.is_end_stream(),
            Source::Own(own) => own.left == Some(0),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Empty => SizeHint::with_exact(0),
            Source::Other(body) => body.size_hint(),
            Source::Own(own) => own
                .left
                .map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

#[derive(Debug)]
enum Coding {
    Length(u64),
    Chunked(Decoder),
}

/// The connection's end of a request body.
#[derive(Debug)]
pub(crate) struct Intake {
    link: Option<Link>,
    coding: Coding,
    /// The client waits for `100 Continue`.
    pub(crate) must_continue: bool,
}

/// What the connection should do for the body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Nothing: the service does not want more at the moment.
    None,
    /// Read from the socket, at most this many bytes.
    Read(u64),
    /// Nothing: the body has ended.
    Done,
    /// Give up: the input is not a valid body.
    Malformed,
}

impl Intake {
    /// Creates the two ends of a body.
    pub(crate) fn new(framing: Framing, expects_continue: bool) -> (Self, RequestBody) {
        let coding = match framing {
            Framing::Length(length) => Coding::Length(length),
            Framing::Chunked => Coding::Chunked(Decoder::new()),
        };
        if framing == Framing::Length(0) {
            let intake = Self {
                link: None,
                coding,
                must_continue: false,
            };
            return (intake, RequestBody::default());
        }
        let link = Link::default();
        let left = match framing {
            Framing::Length(length) => Some(length),
            Framing::Chunked => None,
        };
        let own = Own {
            link: Arc::clone(&link),
            left,
        };
        let intake = Self {
            link: Some(link),
            coding,
            must_continue: expects_continue,
        };
        (intake, RequestBody(Source::Own(own)))
    }

    /// Whether all of the body has been taken off the connection.
    pub(crate) fn is_done(&self) -> bool {
        self.link.is_none()
    }

    /// Whether the service has dropped the body before its end.
    pub(crate) fn is_abandoned(&self) -> bool {
        let abandoned = |link| locked(link, |shared| shared.abandoned);
        self.link.as_ref().is_some_and(abandoned)
    }

    /// Hands the data in `input` to the service, if it has asked for more.
    pub(crate) fn poll_feed(&mut self, context: &Context<'_>, input: &mut BytesMut) -> Demand {
        let Some(link) = &self.link else {
            return Demand::Done;
        };
        let wanted = locked(link, |shared| {
            shared.pump = Some(context.waker().clone());
            shared.wanted && shared.frame.is_none() && !shared.abandoned
        });
        if !wanted {
            return Demand::None;
        }
        match decode(&mut self.coding, input) {
            Ok(Decoded::More) => Demand::Read(match &self.coding {
                Coding::Length(left) => *left,
                Coding::Chunked(_) => u64::MAX,
            }),
            Ok(Decoded::Data(data)) => {
                // With a known length, end the body together with its last byte; otherwise the
                // reader would have to poll once more.
                let end = matches!(self.coding, Coding::Length(0)).then_some(Ok(()));
                let over = end.is_some();
                self.give(Some(data), end);
                if over {
                    self.link = None;
                    return Demand::Done;
                }
                Demand::None
            }
            Ok(Decoded::End) => {
                self.give(None, Some(Ok(())));
                self.link = None;
                Demand::Done
            }
            Err(()) => {
                self.break_off("the body's chunks are malformed");
                Demand::Malformed
            }
        }
    }

    /// Discards the data in `input`; true if the body ends there.
    pub(crate) fn skip(&mut self, input: &mut BytesMut) -> bool {
        loop {
            match decode(&mut self.coding, input) {
                Ok(Decoded::Data(_)) => {}
                Ok(Decoded::End) => {
                    self.link = None;
                    return true;
                }
                Ok(Decoded::More) | Err(()) => return false,
            }
        }
    }

    /// Ends the body with an error, because the client will not send the rest.
    pub(crate) fn break_off(&mut self, cause: &'static str) {
        self.give(None, Some(Err(cause)));
    }

    fn give(&self, frame: Option<Bytes>, end: Option<Result<(), &'static str>>) {
        let Some(link) = &self.link else {
            return;
        };
        let reader = locked(link, |shared| {
            shared.wanted = false;
            if frame.is_some() {
                shared.frame = frame;
            }
            shared.end = shared.end.or(end);
            shared.reader.take()
        });
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Drop for Intake {
    /// A reader may outlive the connection and would wait forever.
    fn drop(&mut self) {
        self.break_off("the connection has closed");
    }
}

fn decode(coding: &mut Coding, input: &mut BytesMut) -> Result<Decoded, ()> {
    match coding {
        Coding::Length(0) => Ok(Decoded::End),
        Coding::Length(_) if input.is_empty() => Ok(Decoded::More),
        Coding::Length(left) => {
            let here = usize::try_from(*left)
                .unwrap_or(usize::MAX)
                .min(input.len());
            *left -= here as u64;
            Ok(Decoded::Data(input.split_to(here).freeze()))
        }
        Coding::Chunked(decoder) => decoder.decode(input).map_err(|_| ()),
    }
}

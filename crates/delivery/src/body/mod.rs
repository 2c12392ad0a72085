//! Response bodies: bytes, segments, a stream, or a file.

mod body_handle;
mod channel;
mod file;
mod gathered;

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use self::gathered::Gathered;

pub use self::{
    body_handle::BodyHandle,
    channel::{Gone, Sender},
    file::{FileBody, Part},
};

/// Why a body was aborted.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A stream of frames from another crate.
pub type BoxStream = Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>;

/// A response body.
#[non_exhaustive]
pub enum Body {
    /// Bytes in memory, possibly shared with other owners.
    Bytes(Bytes),
    /// Several byte buffers, sent without being joined.
    Segments(Segments),
    /// A stream of frames; sent with chunked coding if its length is unknown.
    Stream(BoxStream),
    /// Ranges of a file.
    File(FileBody),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Bytes(_) => "Bytes",
            Self::Segments(_) => "Segments",
            Self::Stream(_) => "Stream",
            Self::File(_) => "File",
        };
        f.debug_struct(kind)
            .field("size_bytes", &self.size_bytes())
            .finish()
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}

impl Body {
    /// An empty body.
    #[must_use]
    pub fn empty() -> Self {
        Self::Bytes(Bytes::new())
    }

    /// Several buffers in a row, sent without being copied into one.
    #[must_use]
    pub fn segments(segments: impl Into<VecDeque<Bytes>>) -> Self {
        Self::Segments(Segments::new(segments.into()))
    }

    /// A body of any other type.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::Stream(Box::pin(boxed(body)))
    }

    /// A body that the [`Sender`] fills, with at most `frames` frames queued.
    #[must_use]
    pub fn channel(frames: usize) -> (Sender, Self) {
        let (sender, body) = channel::pair(frames);
        (sender, Self::Stream(Box::pin(body)))
    }

    /// The same body in larger pieces, if it consists of small ones: each costs a chunk and a turn
    /// of the protocol library.
    pub(crate) fn gathered(self) -> Self {
        match self {
            Self::Stream(stream) => Self::Stream(Box::pin(Gathered::new(stream))),
            Self::Segments(segments) => {
                let stream: BoxStream = Box::pin(Self::Segments(segments));
                Self::Stream(Box::pin(Gathered::new(stream)))
            }
            other => other,
        }
    }

    /// Length in bytes, if known.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Segments(segments) => Some(segments.size_bytes),
            Self::Stream(stream) => stream.size_hint().exact(),
            Self::File(file) => Some(file.size_bytes()),
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Bytes(text.into())
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::Bytes(Bytes::from_static(text.as_bytes()))
    }
}

impl From<FileBody> for Body {
    fn from(file: FileBody) -> Self {
        Self::File(file)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut *self {
            Self::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Bytes(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Segments(segments) => {
                Poll::Ready(segments.next().map(|next| Ok(Frame::data(next))))
            }
            Self::Stream(stream) => stream.as_mut().poll_frame(context),
            Self::File(file) => file
                .poll_read(context)
                .map(|read| read.map(|read| read.map(Frame::data).map_err(Into::into))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.is_end_stream(),
            _ => self.size_bytes() == Some(0),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Stream(stream) => stream.size_hint(),
            _ => self
                .size_bytes()
                .map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

/// Several byte buffers in a row.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    parts: VecDeque<Bytes>,
    size_bytes: u64,
}

impl Segments {
    fn new(parts: VecDeque<Bytes>) -> Self {
        let size_bytes = parts.iter().map(|part| part.len() as u64).sum();
        Self { parts, size_bytes }
    }

    fn next(&mut self) -> Option<Bytes> {
        loop {
            let part = self.parts.pop_front()?;
            self.size_bytes -= part.len() as u64;
            if !part.is_empty() {
                return Some(part);
            }
        }
    }

    pub(crate) fn into_parts(self) -> VecDeque<Bytes> {
        self.parts
    }
}

/// Converts the error type of `body` to [`BoxError`].
pub(crate) fn boxed<B>(
    body: B,
) -> impl http_body::Body<Data = Bytes, Error = BoxError> + Send + 'static
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    Boxed(Box::pin(body))
}

/// Converts the error type of a body to [`BoxError`].
struct Boxed<B>(Pin<Box<B>>);

impl<B> http_body::Body for Boxed<B>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0
            .as_mut()
            .poll_frame(context)
            .map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

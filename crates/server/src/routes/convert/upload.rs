//! Documents on their way in and out: a small one in memory, a large one in a file, in both directions.

use std::{
    io::Write,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::{HeaderMap, StatusCode, header::CONTENT_LENGTH};
use platen_engine::office::{self, Source};
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, ReadBuf};

use crate::{app::App, problem::Problem};

/// A longer document goes to a file while it comes.
const HELD_BYTES: usize = 1 << 20;

/// Piece of a file that is sent.
const PIECE_BYTES: usize = 256 << 10;

/// A document that came.
pub(super) enum Upload {
    Bytes(Bytes),
    File(NamedTempFile),
}

impl Upload {
    /// Reads a body, as long as it is no larger and no slower than it may be.
    pub(super) async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        let limit = app.config.office_max_body_bytes;
        let announced = headers.get(CONTENT_LENGTH);
        let announced = announced.and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|it| it > limit) {
            return Err(too_large(limit));
        }
        let timeout = Duration::from_millis(app.config.body_timeout_ms);
        match tokio::time::timeout(timeout, collect(body, limit)).await {
            Ok(upload) => upload,
            Err(_) => {
                let detail = format!("the body did not come within {} ms", timeout.as_millis());
                let status = StatusCode::REQUEST_TIMEOUT;
                Err(Problem::new(status, "body-timeout", detail))
            }
        }
    }

    pub(super) fn source(&self) -> Source {
        match self {
            Self::Bytes(bytes) => Source::Bytes(bytes.clone()),
            Self::File(file) => Source::Path(file.path().to_owned()),
        }
    }
}

fn too_large(limit: u64) -> Problem {
    let detail = format!("the body is larger than {limit} bytes (OFFICE_MAX_BODY_BYTES)");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", detail)
}

fn full(error: std::io::Error) -> Problem {
    Problem::internal(format!("the temporary folder: {error}"))
}

async fn collect(mut body: Body, limit: u64) -> Result<Upload, Problem> {
    let mut held = BytesMut::new();
    let mut file: Option<NamedTempFile> = None;
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let broken = |_| Problem::bad_request("body-incomplete", "the body broke off");
        let Ok(data) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        size += data.len() as u64;
        if size > limit {
            return Err(too_large(limit));
        }
        held.extend_from_slice(&data);
        if held.len() > HELD_BYTES {
            let piece = held.split().freeze();
            let taken = file.take();
            let written = tokio::task::spawn_blocking(move || append(taken, &piece)).await;
            let written = written.map_err(|error| full(std::io::Error::other(error)))?;
            file = Some(written.map_err(full)?);
        }
    }
    let Some(mut file) = file else {
        return Ok(Upload::Bytes(held.freeze()));
    };
    file.write_all(&held).map_err(full)?;
    Ok(Upload::File(file))
}

fn append(file: Option<NamedTempFile>, piece: &[u8]) -> std::io::Result<NamedTempFile> {
    let mut file = match file {
        Some(file) => file,
        None => tempfile::Builder::new()
            .prefix("platen-upload-")
            .tempfile()?,
    };
    file.write_all(piece)?;
    Ok(file)
}

/// A result that is read from its file as it is sent.
pub(super) struct FileBody {
    file: tokio::fs::File,
    left: u64,
}

impl FileBody {
    /// The body of an answer.
    pub(super) fn of(body: office::Body) -> Result<Body, Problem> {
        match body {
            office::Body::Bytes(bytes) => Ok(Body::from(bytes)),
            office::Body::File(file) => {
                let left = file.metadata().map_err(full)?.len();
                let mut file = tokio::fs::File::from_std(file);
                file.set_max_buf_size(PIECE_BYTES);
                Ok(Body::new(Self { file, left }))
            }
        }
    }
}

impl HttpBody for FileBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let mut piece = vec![0; PIECE_BYTES];
        let mut buffer = ReadBuf::new(&mut piece);
        std::task::ready!(Pin::new(&mut self.file).poll_read(context, &mut buffer))?;
        let read = buffer.filled().len();
        if read == 0 {
            return Poll::Ready(Some(Err(std::io::ErrorKind::UnexpectedEof.into())));
        }
        self.left = self.left.saturating_sub(read as u64);
        piece.truncate(read);
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

//! Request content of any size: the start in memory, the rest in an unnamed temporary file, so that
//! nothing remains however the request ends.

use std::{fs::File, io::Write, sync::Arc};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_core::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::{HeaderMap, header::CONTENT_LENGTH};
pub use platen_content::Content;
use platen_content::Spooled;
use platen_delivery::{Body as Delivered, FileBody};
use platen_fault::{Code, Stage, What};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Intake, kibibytes};
use crate::problem::Problem;

/// Longer content spills to a file. Bytes.
const HELD_BYTES: usize = 256 << 10;
/// Most temporary files of all uploads at once. Each has a file descriptor, of which connections
/// need theirs.
pub const MAX_SPOOL_FILES: usize = 2_048;

/// Reads content into memory, off the async threads.
///
/// # Errors
/// 500 if the temporary folder fails.
pub fn bytes(content: Content) -> BoxFuture<'static, Result<Bytes, Problem>> {
    Box::pin(async move {
        if let Content::Held(bytes) = content {
            return Ok(bytes);
        }
        let read = tokio::task::spawn_blocking(move || content.read()).await;
        read.map_err(std::io::Error::other)
            .flatten()
            .map_err(|error| full(&error))
    })
}

/// A body that reads the content while it is sent.
pub fn body_of(content: Content) -> Delivered {
    match content {
        Content::Held(bytes) => Delivered::from(bytes),
        Content::Spooled(spooled) => {
            let file = Arc::clone(spooled.file());
            let size_bytes = spooled.size_bytes();
            FileBody::range(file, 0, size_bytes).keeping(spooled).into()
        }
    }
}

/// The problem for an I/O error of the temporary folder.
pub fn full(error: &std::io::Error) -> Problem {
    Problem::internal(format!("the temporary folder: {error}"))
}

/// What uploads may take of the temporary folder, all together.
pub struct Room {
    /// Free space, in kibibytes.
    space: Arc<Semaphore>,
    /// Files that may still be made.
    files: Arc<Semaphore>,
}

impl Room {
    /// Room for `max_bytes` in `max_files`.
    pub fn new(max_bytes: u64, max_files: usize) -> Self {
        Self {
            space: kibibytes(max_bytes),
            files: Arc::new(Semaphore::new(max_files)),
        }
    }

    fn take_space(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let kibibytes = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.space).try_acquire_many_owned(kibibytes);
        permit.map_err(|_| {
            let detail = "too many large uploads at the moment (MAX_SPOOL_BYTES)";
            Problem::new(Code::Overloaded(What::Uploads), detail)
        })
    }

    fn take_file(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.files).try_acquire_owned();
        permit.map_err(|_| {
            let detail = "too many large uploads, or files of forms, at the moment";
            Problem::new(Code::Overloaded(What::Uploads), detail)
        })
    }
}

/// Collects content as it arrives.
pub struct Sink {
    room: Arc<Room>,
    /// Memory limit in bytes, after which content spills to a file.
    hold_bytes: usize,
    held: BytesMut,
    file: Option<File>,
    size_bytes: u64,
    /// Of the space that the file takes.
    space: Option<OwnedSemaphorePermit>,
    /// Of the file itself.
    place: Option<OwnedSemaphorePermit>,
}

impl Sink {
    /// A sink with at most `hold_bytes` in memory, capped by `HELD_BYTES`.
    pub fn new(room: &Arc<Room>, hold_bytes: usize) -> Self {
        Self {
            room: Arc::clone(room),
            hold_bytes: hold_bytes.min(HELD_BYTES),
            held: BytesMut::new(),
            file: None,
            size_bytes: 0,
            space: None,
            place: None,
        }
    }

    /// Bytes received so far.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Appends a chunk.
    ///
    /// # Errors
    /// 503 if uploads have used up the temporary space, or have made too many files.
    pub async fn put(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.size_bytes += piece.len() as u64;
        self.held.extend_from_slice(piece);
        let hold_bytes = match self.file {
            Some(_) => HELD_BYTES,
            None => self.hold_bytes,
        };
        if self.held.len() > hold_bytes {
            self.write().await?;
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Problem> {
        let piece = self.held.split().freeze();
        if self.place.is_none() {
            self.place = Some(self.room.take_file()?);
        }
        let more = self.room.take_space(piece.len())?;
        match &mut self.space {
            Some(all) => all.merge(more),
            None => self.space = Some(more),
        }
        let taken = self.file.take();
        let work = move || -> std::io::Result<File> {
            let mut file = match taken {
                Some(file) => file,
                None => tempfile::tempfile()?,
            };
            file.write_all(&piece)?;
            Ok(file)
        };
        let written = tokio::task::spawn_blocking(work).await;
        let written = written.map_err(std::io::Error::other).flatten();
        self.file = Some(written.map_err(|error| full(&error))?);
        Ok(())
    }

    /// Returns the complete content.
    ///
    /// # Errors
    /// As [`Sink::put`].
    pub async fn finish(mut self) -> Result<Content, Problem> {
        if self.file.is_some() && !self.held.is_empty() {
            self.write().await?;
        }
        Ok(match self.file {
            None => Content::Held(self.held.freeze()),
            Some(file) => {
                let permits = Arc::new((self.space, self.place));
                Content::Spooled(Spooled::unnamed(file, self.size_bytes, Some(permits)))
            }
        })
    }
}

/// Reads a whole body within its limits on size and time. `setting` names the size limit.
///
/// # Errors
/// 413, 408, 400, or 503 if the temporary space is exhausted.
pub async fn read(
    intake: &Intake,
    headers: &HeaderMap,
    body: Body,
    (limit, setting): (u64, &str),
) -> Result<Content, Problem> {
    check_announced(headers, limit, setting)?;
    timed(intake, async {
        let mut sink = Sink::new(&intake.disk, HELD_BYTES);
        let mut body = body;
        while let Some(piece) = next(&mut body).await? {
            if sink.size_bytes() + piece.len() as u64 > limit {
                return Err(too_large(limit, setting));
            }
            sink.put(&piece).await?;
        }
        sink.finish().await
    })
    .await
}

/// The next chunk of a body.
///
/// # Errors
/// 400 if the body is incomplete.
pub async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    while let Some(frame) = body.frame().await {
        let broken = |_| Problem::new(Code::InvalidRequest, "the body ended early");
        if let Ok(data) = frame.map_err(broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Rejects a body whose `Content-Length` exceeds the limit.
pub fn check_announced(headers: &HeaderMap, limit: u64, setting: &str) -> Result<(), Problem> {
    let announced = headers.get(CONTENT_LENGTH);
    let announced = announced.and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    match announced {
        Some(announced) if announced > limit => Err(too_large(limit, setting)),
        _ => Ok(()),
    }
}

/// 413 for a body larger than `limit` bytes, the value of `setting`.
pub fn too_large(limit: u64, setting: &str) -> Problem {
    let detail = format!("the body is larger than {limit} bytes ({setting})");
    Problem::new(Code::TooLarge(What::Body, limit), detail)
}

/// Applies the body timeout to a read.
pub async fn timed<T>(
    intake: &Intake,
    reading: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let timeout = intake.body_timeout;
    let read = tokio::time::timeout(timeout, reading).await;
    read.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {} ms", timeout.as_millis());
        Err(Problem::new(Code::Timeout(Stage::Body), detail))
    })
}

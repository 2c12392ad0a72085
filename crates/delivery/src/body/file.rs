//! Ranges of a file. A connection of ours reads and writes them on a thread of its own; elsewhere
//! they come in reads of 256 kB on a blocking thread, one at a time.

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use tokio::task::JoinHandle;

/// Bytes of one read.
pub(crate) const READ_BYTES: usize = 256 << 10;

/// A piece of the answer.
#[derive(Clone, Debug)]
pub enum Part {
    /// Bytes between the ranges, as `multipart/byteranges` has them.
    Bytes(Bytes),
    /// Bytes of the file.
    Range {
        /// Where they begin.
        offset: u64,
        /// How many they are.
        size_bytes: u64,
    },
}

impl Part {
    pub(crate) fn size_bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Range { size_bytes, .. } => *size_bytes,
        }
    }

    /// `size_bytes` bytes of it from `begin`, which must lie in it.
    pub(crate) fn part(&self, begin: u64, size_bytes: u64) -> Self {
        match self {
            Self::Bytes(bytes) => {
                let begin = begin as usize;
                Self::Bytes(bytes.slice(begin..begin + size_bytes as usize))
            }
            Self::Range { offset, .. } => Self::Range {
                offset: offset + begin,
                size_bytes,
            },
        }
    }
}

/// Ranges of a file, and what is between them.
pub struct FileBody {
    pub(crate) file: Arc<File>,
    pub(crate) parts: VecDeque<Part>,
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
    kept: Option<Box<dyn Send>>,
}

impl fmt::Debug for FileBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FileBody");
        shown.field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl FileBody {
    /// One range of `file`.
    #[must_use]
    pub fn range(file: Arc<File>, offset: u64, size_bytes: u64) -> Self {
        Self::parts(file, [Part::Range { offset, size_bytes }])
    }

    /// Several ranges of `file`.
    #[must_use]
    pub fn parts(file: Arc<File>, parts: impl Into<VecDeque<Part>>) -> Self {
        Self {
            file,
            parts: parts.into(),
            reading: None,
            kept: None,
        }
    }

    /// Keeps `thing`, such as the room that the file takes, until the body has been sent.
    #[must_use]
    pub fn keeping(mut self, thing: impl Send + 'static) -> Self {
        self.kept = Some(Box::new(thing));
        self
    }

    /// What is still to come.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.parts.iter().map(Part::size_bytes).sum()
    }

    /// The next bytes, or the end.
    pub(crate) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            if let Some(reading) = &mut self.reading {
                let read = std::task::ready!(std::pin::Pin::new(reading).poll(context));
                self.reading = None;
                let read = read.map_err(io::Error::other).flatten();
                return Poll::Ready(Some(read.map(|read| {
                    self.advance(read.len() as u64);
                    read.into()
                })));
            }
            match self.parts.front() {
                None => return Poll::Ready(None),
                Some(part) if part.size_bytes() == 0 => {
                    self.parts.pop_front();
                }
                Some(Part::Bytes(bytes)) => {
                    let bytes = bytes.clone();
                    self.parts.pop_front();
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Some(&Part::Range { offset, size_bytes }) => {
                    let file = Arc::clone(&self.file);
                    self.reading = Some(tokio::task::spawn_blocking(move || {
                        let mut buffer = vec![0; size_bytes.min(READ_BYTES as u64) as usize];
                        file.read_exact_at(&mut buffer, offset)?;
                        Ok(buffer)
                    }));
                }
            }
        }
    }

    /// Takes `sent` bytes off the first piece.
    pub(crate) fn advance(&mut self, sent: u64) {
        match self.parts.front_mut() {
            Some(Part::Range { offset, size_bytes }) => {
                *offset += sent;
                *size_bytes = size_bytes.saturating_sub(sent);
            }
            Some(Part::Bytes(bytes)) => {
                let sent = usize::try_from(sent).unwrap_or(usize::MAX).min(bytes.len());
                drop(bytes.split_to(sent));
            }
            None => {}
        }
        if self
            .parts
            .front()
            .is_some_and(|part| part.size_bytes() == 0)
        {
            self.parts.pop_front();
        }
    }
}

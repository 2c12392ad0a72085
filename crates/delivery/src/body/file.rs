//! Ranges of a file, read in blocks of 256 KiB: at once what the system has in memory, the rest on
//! the runtime's blocking threads, one block ahead.

use std::{
    collections::VecDeque,
    fmt,
    fs::File,
    io::{self, IoSliceMut},
    os::unix::fs::FileExt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use rustix::io::{ReadWriteFlags, preadv2};
use tokio::task::JoinHandle;

/// Size of one read, in bytes.
const READ_BYTES: usize = 256 << 10;

/// A part of the body.
#[derive(Clone, Debug)]
pub enum Part {
    /// Bytes in memory, for example the part headers of `multipart/byteranges`.
    Bytes(Bytes),
    /// A range of the file.
    Range {
        /// Offset in the file, in bytes.
        offset: u64,
        /// Length in bytes.
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

    /// The `size_bytes` bytes from `begin`, which must lie within this part.
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

/// Ranges of a file, with bytes in memory between them.
pub struct FileBody {
    file: Arc<File>,
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
    /// A body of one range of `file`.
    #[must_use]
    pub fn range(file: Arc<File>, offset: u64, size_bytes: u64) -> Self {
        Self::parts(file, [Part::Range { offset, size_bytes }])
    }

    /// A body of several ranges of `file`.
    #[must_use]
    pub fn parts(file: Arc<File>, parts: impl Into<VecDeque<Part>>) -> Self {
        Self {
            file,
            parts: parts.into(),
            reading: None,
            kept: None,
        }
    }

    /// Holds `thing`, such as a reservation of disk space, until the body has been sent.
    #[must_use]
    pub fn keeping(mut self, thing: impl Send + 'static) -> Self {
        self.kept = Some(Box::new(thing));
        self
    }

    /// Bytes not sent yet.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.parts.iter().map(Part::size_bytes).sum()
    }

    /// Reads the next bytes; `None` at the end.
    pub(super) fn poll_read(
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
                    // The next block is read while this one is sent.
                    self.begin_read();
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
                Some(Part::Range { .. }) => match self.read_cached() {
                    Some(read) => {
                        self.advance(read.len() as u64);
                        return Poll::Ready(Some(Ok(read.into())));
                    }
                    None => self.begin_read(),
                },
            }
        }
    }

    /// The next block, if the system has all of it in memory. A thread that waits for a disk would
    /// cost more than the copy.
    fn read_cached(&self) -> Option<Vec<u8>> {
        let (offset, size_bytes) = self.next_block()?;
        let mut buffer = vec![0; size_bytes];
        let mut into = [IoSliceMut::new(&mut buffer)];
        let read = preadv2(&self.file, &mut into, offset, ReadWriteFlags::NOWAIT);
        // An error may be that it would have to wait, or that the file system cannot tell.
        (read == Ok(size_bytes)).then_some(buffer)
    }

    /// Offset and length of the next block, if a range comes next.
    fn next_block(&self) -> Option<(u64, usize)> {
        match self.parts.front() {
            Some(&Part::Range { offset, size_bytes }) if size_bytes > 0 => {
                Some((offset, size_bytes.min(READ_BYTES as u64) as usize))
            }
            _ => None,
        }
    }

    /// Begins to read the next block, if a range comes next.
    fn begin_read(&mut self) {
        let Some((offset, size_bytes)) = self.next_block() else {
            return;
        };
        let file = Arc::clone(&self.file);
        self.reading = Some(tokio::task::spawn_blocking(move || {
            let mut buffer = vec![0; size_bytes];
            file.read_exact_at(&mut buffer, offset)?;
            Ok(buffer)
        }));
    }

    /// Removes `sent` bytes from the first part.
    fn advance(&mut self, sent: u64) {
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

//! Content of any size, from an upload to the answer: bytes in memory, or a file.
//!
//! A file is read by position, because the clones of a [`Content`] share it with its offset. Who
//! spools an upload can attach a permit, which is released with the last clone.

mod reader;

use std::{
    any::Any,
    fmt,
    fs::File,
    io::{self, Write},
    os::unix::fs::FileExt,
    sync::Arc,
};

use bytes::Bytes;
use platen_jail::Mapped;

pub use self::reader::Reader;

/// Size of one write from a file, in bytes.
const CHUNK_BYTES: usize = 256 << 10;
/// From this size on a file is mapped instead of read, in bytes: shorter ones are read sooner.
const MAPPED_BYTES: u64 = 1 << 20;

/// Content in memory or in a file.
#[derive(Clone, Debug)]
pub enum Content {
    /// In memory.
    Held(Bytes),
    /// In a file.
    Spooled(Spooled),
}

/// Content in a file that usually has no name and is freed with the last clone.
#[derive(Clone)]
pub struct Spooled {
    file: Arc<File>,
    size_bytes: u64,
    /// Whether nobody else can open the file, and so nobody shortens it.
    is_private: bool,
    _permit: Option<Arc<dyn Any + Send + Sync>>,
}

impl Spooled {
    /// A complete file of `size_bytes` that never had a name, with a permit for its space on disk.
    #[must_use]
    pub fn unnamed(
        file: File,
        size_bytes: u64,
        permit: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        Self {
            file: Arc::new(file),
            size_bytes,
            is_private: true,
            _permit: permit,
        }
    }

    /// The file as memory, if it is a private one that is large enough, and its file system maps files.
    fn map(&self) -> Option<Mapping> {
        let is_worth_it = self.is_private && self.size_bytes >= MAPPED_BYTES;
        let mapped =
            is_worth_it.then(|| Mapped::new(&self.file, self.size_bytes as usize).ok())??;
        Some(Mapping {
            mapped,
            _content: self.clone(),
        })
    }

    /// The file. Read it by position: its offset is shared.
    #[must_use]
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Length in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

impl fmt::Debug for Spooled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a file of {} bytes", self.size_bytes)
    }
}

/// A file as memory. Its space on disk is taken as long as this exists, so the permit is, too.
struct Mapping {
    mapped: Mapped,
    _content: Spooled,
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        self.mapped.as_ref()
    }
}

impl Content {
    /// Takes over a complete file, which other programs may have open.
    ///
    /// # Errors
    /// If its size cannot be read.
    pub fn of_file(file: File) -> io::Result<Self> {
        let size_bytes = file.metadata()?.len();
        let spooled = Spooled::unnamed(file, size_bytes, None);
        Ok(Self::Spooled(Spooled {
            is_private: false,
            ..spooled
        }))
    }

    /// Length in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::Spooled(spooled) => spooled.size_bytes,
        }
    }

    /// True if the content starts with `wanted`; false if it cannot be read.
    #[must_use]
    pub fn starts_with(&self, wanted: &[u8]) -> bool {
        match self {
            Self::Held(bytes) => bytes.starts_with(wanted),
            Self::Spooled(spooled) => {
                let mut first = vec![0; wanted.len()];
                spooled.file.read_exact_at(&mut first, 0).is_ok() && first == wanted
            }
        }
    }

    /// All of it: a private file is mapped, so that it takes no memory of its own, others are read into
    /// memory. Blocks on the disk.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> io::Result<Bytes> {
        match self {
            Self::Held(bytes) => Ok(bytes.clone()),
            Self::Spooled(spooled) => {
                // Some file systems map nothing.
                if let Some(mapped) = spooled.map() {
                    return Ok(Bytes::from_owner(mapped));
                }
                let mut bytes = vec![0; spooled.size_bytes as usize];
                spooled.file.read_exact_at(&mut bytes, 0)?;
                Ok(bytes.into())
            }
        }
    }

    /// Writes all of it to `target`. Blocks on the disk.
    ///
    /// # Errors
    /// If the file cannot be read, or `target` not be written.
    pub fn write_to(&self, target: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Held(bytes) => target.write_all(bytes),
            Self::Spooled(spooled) => {
                let mut chunk = vec![0; CHUNK_BYTES];
                let mut offset = 0;
                while offset < spooled.size_bytes {
                    let left = spooled.size_bytes - offset;
                    let length = left.min(CHUNK_BYTES as u64) as usize;
                    spooled.file.read_exact_at(&mut chunk[..length], offset)?;
                    target.write_all(&chunk[..length])?;
                    offset += length as u64;
                }
                Ok(())
            }
        }
    }

    /// A reader with a position of its own.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self)
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Held(bytes)
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Held(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_a_file_do_not_mix() {
        let mut file = tempfile::tempfile().unwrap();
        let whole: Vec<u8> = (0..1_000_000_u32).map(|at| (at / 7) as u8).collect();
        file.write_all(&whole).unwrap();
        let content = Content::of_file(file).unwrap();
        assert!(content.starts_with(&whole[..20]) && !content.starts_with(b"other"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let content = content.clone();
                let whole = &whole;
                scope.spawn(move || {
                    for _ in 0..50 {
                        assert!(content.read().unwrap() == whole[..]);
                        let mut written = Vec::new();
                        content.write_to(&mut written).unwrap();
                        assert!(written == whole[..]);
                    }
                });
            }
        });
    }

    #[test]
    fn a_private_file_is_mapped_and_outlives_its_content() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; MAPPED_BYTES as usize]).unwrap();
        let other = file.try_clone().unwrap();
        let private = Content::Spooled(Spooled::unnamed(file, MAPPED_BYTES, None));
        let shared = Content::of_file(other.try_clone().unwrap()).unwrap();
        let (mapped, read) = (private.read().unwrap(), shared.read().unwrap());
        drop((private, shared));
        // What is written afterwards shows which of them is a copy.
        other.write_all_at(&[8], 0).unwrap();
        assert_eq!((mapped[0], read[0]), (8, 7));
        assert!(mapped[1..] == read[1..]);
    }

    #[test]
    fn a_permit_is_held_until_the_last_clone() {
        let permit = Arc::new(());
        let held: Arc<dyn Any + Send + Sync> = Arc::<()>::clone(&permit);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; MAPPED_BYTES as usize]).unwrap();
        let spooled = Spooled::unnamed(file, MAPPED_BYTES, Some(held));
        let other = spooled.clone();
        drop(spooled);
        assert_eq!(Arc::strong_count(&permit), 2);
        // What was mapped takes the space of the file, whatever became of the content.
        let mapped = Content::Spooled(other).read().unwrap();
        let part = mapped.slice(9..10);
        drop(mapped);
        assert_eq!((Arc::strong_count(&permit), part[0]), (2, 7));
        drop(part);
        assert_eq!(Arc::strong_count(&permit), 1);
    }
}

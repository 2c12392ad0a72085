//! Blobs that expire.

pub(super) mod bucket;
pub(super) mod folder;
pub(super) mod moved;
mod quota;

use std::{
    fs::File,
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{BlobDigest, BlobError};

/// Blobs by content, each until a time that its writer says. Methods block the calling thread.
pub trait ExpiringBlobs: Send + Sync {
    /// Begins a blob whose content arrives in chunks.
    ///
    /// # Errors
    /// Its file cannot be created.
    fn begin(&self) -> Result<Box<dyn Draft>, BlobError>;

    /// Stores content that is in memory; it expires at `ends`. Content that is there until then is
    /// not written again.
    ///
    /// # Errors
    /// [`BlobError::Full`] above the quota, [`BlobError::DiskFull`], [`BlobError::Unavailable`].
    fn put(&self, pieces: &[&[u8]], ends: SystemTime) -> Result<Kept, BlobError>;

    /// Opens a blob that was stored until `ends`. The file can be read to its end even if the blob
    /// expires in the meantime. Read it by position: others may have it too.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if there is no such blob or `digest` is not a digest;
    /// [`BlobError::Damaged`], [`BlobError::Unavailable`].
    fn open(&self, digest: &str, ends: SystemTime) -> Result<Found, BlobError>;

    /// Whether a blob that was stored until `ends` is there, without its content.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`].
    fn has(&self, digest: &str, ends: SystemTime) -> Result<bool, BlobError>;

    /// An address where anybody can read the blob for `life` without this service, if the store has
    /// such addresses.
    fn link(
        &self,
        digest: &str,
        ends: SystemTime,
        presentation: &Presentation<'_>,
        life: Duration,
    ) -> Option<String>;

    /// Usage as far as this process knows: blobs that others have added count from one of the next
    /// sweeps.
    fn usage(&self) -> Usage;

    /// Removes blobs that have expired at `now` and what crashes left, and counts the rest. Returns
    /// what was removed.
    ///
    /// # Errors
    /// The store cannot be read or written.
    fn sweep(&self, now: SystemTime) -> Result<Usage, BlobError>;
}

/// A blob that is being written. Dropping it before the end leaves nothing behind.
pub trait Draft: Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`BlobError::Full`] above the quota, [`BlobError::DiskFull`].
    fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError>;

    /// Stores what was written; it expires at `ends`. Existing content expires at the later of both
    /// times.
    ///
    /// # Errors
    /// As [`ExpiringBlobs::put`].
    fn finish(self: Box<Self>, ends: SystemTime) -> Result<Kept, BlobError>;
}

/// A stored blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// SHA-256, in hexadecimal.
    pub digest: BlobDigest,
    /// Size of the content, in bytes.
    pub size_bytes: u64,
    /// Whether the content was not stored before.
    pub is_new: bool,
}

/// The content of a blob.
#[derive(Clone, Debug)]
pub struct Found {
    /// A file with the content.
    pub file: Arc<File>,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// How an address presents a blob.
#[derive(Clone, Copy, Debug)]
pub struct Presentation<'p> {
    /// Media type.
    pub media_type: &'p str,
    /// The header `Content-Disposition`.
    pub disposition: &'p str,
}

/// Number of files and the space that they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of files.
    pub files: u64,
    /// Space in bytes, in blocks of 4 KiB.
    pub size_bytes: u64,
}

impl Usage {
    fn add(&mut self, size_bytes: u64) {
        self.files += 1;
        self.size_bytes += size_bytes;
    }
}

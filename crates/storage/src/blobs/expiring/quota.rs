//! The space that expiring blobs take, as far as this process knows it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Usage;
use crate::blobs::BlobError;

/// Files count in whole blocks of this size, in bytes.
const BLOCK_BYTES: u64 = 4_096;

/// A bound on space, and what is used of it.
#[derive(Debug)]
pub(super) struct Quota {
    quota_bytes: u64,
    counts: Mutex<Counts>,
}

/// Usage in whole blocks.
#[derive(Debug, Default)]
struct Counts {
    /// Usage that was counted last.
    found: Usage,
    /// Usage added by this process since that count began.
    since: Usage,
    /// Size of this process's unfinished blobs.
    under_way_bytes: u64,
}

impl Quota {
    pub(super) fn new(quota_bytes: u64) -> Self {
        Self {
            quota_bytes,
            counts: Mutex::default(),
        }
    }

    /// Charges `size_bytes` for an unfinished blob.
    ///
    /// # Errors
    /// [`BlobError::Full`].
    pub(super) fn charge(&self, size_bytes: u64) -> Result<(), BlobError> {
        let mut counts = self.counts();
        let used = counts.found.size_bytes + counts.since.size_bytes + counts.under_way_bytes;
        if used.saturating_add(size_bytes) > self.quota_bytes {
            return Err(BlobError::Full {
                quota_bytes: self.quota_bytes,
            });
        }
        counts.under_way_bytes += size_bytes;
        Ok(())
    }

    /// Takes back what was charged.
    pub(super) fn release(&self, size_bytes: u64) {
        self.counts().under_way_bytes -= size_bytes;
    }

    /// Adds a stored blob.
    pub(super) fn add(&self, size_bytes: u64) {
        self.counts().since.add(size_bytes);
    }

    pub(super) fn usage(&self) -> Usage {
        let counts = self.counts();
        Usage {
            files: counts.found.files + counts.since.files,
            size_bytes: counts.found.size_bytes + counts.since.size_bytes,
        }
    }

    /// A count begins: what is stored from now on may or may not be in it.
    pub(super) fn begin_count(&self) {
        let mut counts = self.counts();
        let since = std::mem::take(&mut counts.since);
        counts.found.files += since.files;
        counts.found.size_bytes += since.size_bytes;
    }

    /// The count is complete.
    pub(super) fn end_count(&self, found: Usage) {
        self.counts().found = found;
    }

    /// Blobs are gone that the last count has.
    pub(super) fn forget(&self, gone: Usage) {
        let found = &mut self.counts().found;
        found.files = found.files.saturating_sub(gone.files);
        found.size_bytes = found.size_bytes.saturating_sub(gone.size_bytes);
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An empty file counts as one block too: it is not free either.
pub(super) fn in_blocks(size_bytes: u64) -> u64 {
    size_bytes.max(1).next_multiple_of(BLOCK_BYTES)
}

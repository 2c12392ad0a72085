//! Blobs by content, with names.

pub(super) mod bucket;
pub(super) mod folder;

use std::time::Duration;

use super::{BlobDigest, BlobError};

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Blobs and their names. A name consists of parts separated by `/`, each of letters, digits, `-`,
/// `_` and `.`. Methods block the calling thread; a blob is read and written as a whole, so callers
/// bound its size.
pub trait BlobStore: Send + Sync {
    /// Stores `bytes` under a name durably: once this returns, they survive a loss of power.
    /// Storing the same content again changes nothing. Returns whether the name is new.
    ///
    /// # Errors
    /// [`BlobError::Taken`] if the name stands for other content, [`BlobError::Full`] above the
    /// quota.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(BlobDigest, bool), BlobError>;

    /// The digest that a name stands for.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if the name does not exist.
    fn digest(&self, name: &str) -> Result<BlobDigest, BlobError>;

    /// Content of a blob, verified against its digest.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if there is no such blob, [`BlobError::Damaged`] if the content has
    /// changed.
    fn get(&self, digest: &str) -> Result<Vec<u8>, BlobError>;

    /// An address outside of this service under which anybody may read a blob for the time `life`;
    /// `None` if it has none.
    ///
    /// # Errors
    /// As [`get`](Self::get), of which nothing but the content is looked at.
    fn link(&self, digest: &str, life: Duration) -> Result<Option<String>, BlobError> {
        let _ = (digest, life);
        Ok(None)
    }

    /// Removes a name, and its blob if no other name stands for it.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if the name does not exist.
    fn delete(&self, name: &str) -> Result<(), BlobError>;

    /// Names that begin with `prefix`, in order, with their digests.
    ///
    /// # Errors
    /// Reading failed.
    fn names(&self, prefix: &str) -> Result<Vec<(String, BlobDigest)>, BlobError>;

    /// Size of all blobs, in bytes.
    ///
    /// # Errors
    /// Reading failed.
    fn size_bytes(&self) -> Result<u64, BlobError>;
}

fn check_name(name: &str) -> Result<(), BlobError> {
    let letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(letter);
    if name.len() <= MAX_NAME_BYTES && name.split('/').all(part) && !name.ends_with(".new") {
        return Ok(());
    }
    Err(BlobError::BadName(name.escape_debug().to_string()))
}

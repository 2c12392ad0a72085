//! Files by content: with names ([`BlobStore`], implemented by a folder), or with an expiry time
//! ([`ExpiringBlobs`], a folder that processes share).

mod expiring;
mod folder;

pub use self::{
    expiring::{Draft, ExpiringBlobs, Kept, Usage},
    folder::FolderBlobs,
};

use platen_fault::{Code, Resource, What};

/// SHA-256 of a blob, in hexadecimal.
pub type BlobDigest = String;

/// Why a blob could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// There is no such blob.
    #[error("there is no such blob")]
    NotFound,
    /// The name already stands for other content, with this digest.
    #[error("the name already belongs to different content")]
    Taken(BlobDigest),
    /// The name is invalid.
    #[error("`{0}` is not a valid blob name")]
    BadName(String),
    /// The quota is reached.
    #[error("the blob store is full: its limit is {quota_bytes} bytes")]
    Full {
        /// The quota, in bytes.
        quota_bytes: u64,
    },
    /// The content does not match its digest.
    #[error("the blob `{0}` is damaged")]
    Damaged(BlobDigest),
    /// The disk is full.
    #[error("the disk is full")]
    DiskFull,
    /// Reading or writing failed.
    #[error("blob store failed")]
    Failed(#[source] std::io::Error),
}

impl BlobError {
    /// The code of an error about a `resource`, whose quota is that of `what`; it does not change.
    #[must_use]
    pub fn code(&self, resource: Resource, what: What) -> Code {
        match self {
            Self::NotFound | Self::BadName(_) => Code::NotFound(resource),
            Self::Taken(_) => Code::AlreadyExists(resource),
            Self::Full { .. } => Code::StorageFull(what),
            Self::DiskFull => Code::StorageFull(What::Disk),
            Self::Damaged(_) | Self::Failed(_) => Code::InternalError,
        }
    }
}

impl From<std::io::Error> for BlobError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound,
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Failed(error),
        }
    }
}

fn hex(digest: &[u8]) -> BlobDigest {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

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
    fn size_bytes(&self) -> u64;
}

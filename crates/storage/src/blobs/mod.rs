//! Files by their content. With names for them: one trait, a folder behind it. With an end: a folder
//! that processes share.

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
    /// There is none.
    #[error("there is no such blob")]
    NotFound,
    /// The name stands for another blob already, whose digest is given.
    #[error("the name is taken by different content")]
    Taken(BlobDigest),
    /// A name or a digest that cannot be one.
    #[error("`{0}` is not a valid blob name")]
    BadName(String),
    /// The store is full.
    #[error("the store of blobs holds no more than {quota_bytes} bytes")]
    Full {
        /// The bound.
        quota_bytes: u64,
    },
    /// What is stored is not what was stored.
    #[error("the blob `{0}` is damaged")]
    Damaged(BlobDigest),
    /// The disk is full.
    #[error("the disk is full")]
    DiskFull,
    /// The storage failed.
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

/// Blobs and their names. A name has parts of letters, digits, `-`, `_` and `.`, between `/`. Blocks the
/// thread that calls it; a blob is read and written whole, so callers bound its size.
pub trait BlobStore: Send + Sync {
    /// Stores `bytes` under a name for good: once this returns they survive a loss of power. The same
    /// content again changes nothing. True where the name is new.
    ///
    /// # Errors
    /// [`BlobError::Taken`] where the name stands for another content, [`BlobError::Full`] beyond the
    /// quota.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(BlobDigest, bool), BlobError>;

    /// The digest that a name stands for.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] where it stands for none.
    fn digest(&self, name: &str) -> Result<BlobDigest, BlobError>;

    /// A blob, which was looked at for damage.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] where there is none.
    fn get(&self, digest: &str) -> Result<Vec<u8>, BlobError>;

    /// Takes a name away, and its blob where no other name stands for it.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] where it stands for none.
    fn delete(&self, name: &str) -> Result<(), BlobError>;

    /// Names that begin with `prefix`, in order, with their digests.
    ///
    /// # Errors
    /// Where the storage fails.
    fn names(&self, prefix: &str) -> Result<Vec<(String, BlobDigest)>, BlobError>;

    /// Bytes of all blobs.
    fn size_bytes(&self) -> u64;
}

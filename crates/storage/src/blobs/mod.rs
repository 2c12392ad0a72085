//! Files by content: with names ([`BlobStore`]), with an expiry time ([`ExpiringBlobs`]), and
//! requests that wait to be executed ([`RequestFiles`]). Each is a folder, or a part of an S3
//! bucket that several services share ([`Bucket`]).

mod digest;
mod disk_cache;
mod expiring;
mod named;
mod requests;
mod s3;
mod transfer;

pub use self::{
    disk_cache::DiskCache,
    expiring::{
        Draft, ExpiringBlobs, Found, Kept, Presentation, Usage, bucket::ExpiringBucket,
        folder::ExpiringFolder,
    },
    named::{BlobStore, bucket::BucketBlobs, folder::FolderBlobs},
    requests::{RequestFiles, RequestLimits, bucket::RequestBucket, folder::RequestFolder},
    s3::{Bucket, BucketCounts, BucketSettings},
    transfer::{FileEntry, FileKind, FolderFiles},
};

use platen_fault::{Backend, Code, Resource, What};

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
    /// A setting of the bucket has a value that cannot be used.
    #[error("{0}")]
    Setting(String),
    /// The S3 server does not answer, or fails; retrying may help.
    #[error("the S3 bucket does not answer: {0}; try again")]
    Unavailable(String),
    /// The S3 server refuses this service, and will until an operator changes something.
    #[error("the S3 server refuses: {0}")]
    Refused(String),
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
            Self::Setting(_) => Code::BackendMissing(Backend::Bucket),
            Self::Unavailable(_) | Self::Refused(_) => Code::BackendUnavailable(Backend::Bucket),
            Self::Damaged(_) | Self::Failed(_) => Code::InternalError,
        }
    }

    /// Whether the S3 server is the cause: what it holds may be there even so.
    #[must_use]
    pub fn is_of_server(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Refused(_))
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

//! Why the service cannot start.

use platen_browser::SandboxUnavailable;
use platen_delivery::ListenError;
use platen_supervise::MembershipError;

use platen_fault::{Backend, Code};
use platen_storage::{Error as StoreError, blobs::BlobError};

use crate::config::ConfigError;

/// Why the service cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Cannot listen on an address.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The store cannot be opened.
    #[error("the data folder `{folder}` cannot be opened")]
    Store {
        /// The data folder.
        folder: String,
        /// The cause.
        source: platen_storage::Error,
    },
    /// The PostgreSQL database cannot be used.
    #[error("the database that DATABASE_URL names cannot be used")]
    Database(#[source] platen_storage::Error),
    /// The Redis server cannot be used.
    #[error("the Redis server that REDIS_URL names cannot be used")]
    Redis(#[source] platen_storage::RedisError),
    /// The database is older than this program, and `DATABASE_MIGRATE=false`.
    #[error("the service does not migrate its database, as DATABASE_MIGRATE says")]
    NotMigrated(#[source] platen_storage::Error),
    /// Another service uses the PostgreSQL database.
    #[error(
        "the database that DATABASE_URL names is in use by another service: with the same S3_BUCKET at both they share it"
    )]
    DatabaseInUse,
    /// Another service of this name uses the PostgreSQL database.
    #[error("another service with the name `{0}` uses the database that DATABASE_URL names")]
    NameInUse(String),
    /// The data folder cannot be created or written to.
    #[error("the data folder `{folder}` cannot be written to")]
    Folder {
        /// The data folder.
        folder: String,
        /// The cause.
        source: std::io::Error,
    },
    /// There is no data folder yet, but the folder around it is one.
    #[error(
        "there is no data folder `{folder}`, but the folder around it holds the data of a service: set PLATEN_DATA_DIR to that one, or move its files"
    )]
    FolderAround {
        /// The data folder.
        folder: String,
    },
    /// Another service uses the data folder.
    #[error("the data folder `{0}` is in use by another service")]
    InUse(String),
    /// The blob store cannot be opened.
    #[error("the blobs in the data folder cannot be opened")]
    Blobs(#[source] platen_storage::blobs::BlobError),
    /// The S3 bucket cannot be used.
    #[error("the S3 bucket of S3_BUCKET cannot be used")]
    Bucket(#[source] platen_storage::blobs::BlobError),
    /// The folder of stored results cannot be opened.
    #[error("the stored results in the data folder cannot be opened")]
    Results(#[source] platen_storage::blobs::BlobError),
    /// The signing key of links cannot be read or created.
    #[error("the key of signed links, `link.key` in the data folder, cannot be used")]
    LinkKey(#[source] std::io::Error),
    /// Cannot join the supervisor's process group.
    #[error(transparent)]
    Membership(#[from] MembershipError),
    /// A setting is unusable.
    #[error("a setting cannot be used")]
    Config(#[source] ConfigError),
    /// `RENDER_ISOLATION=jail`, but sandboxes are unavailable.
    #[error("documents cannot be made in sandboxes, as RENDER_ISOLATION=jail says")]
    Isolation(#[source] platen_jail::Error),
    /// This machine does not support `CHILD_ISOLATION=required`, or `RENDER_MODE=container`.
    #[error("{}", .0.demand())]
    ChildIsolation(#[from] SandboxUnavailable),
    /// The system cannot provide a thread or a signal handler.
    #[error("the system gives no thread or signal")]
    System(#[from] std::io::Error),
}

impl Error {
    /// The code of the error: what does not answer may do so later, the rest is to be mended.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Database(StoreError::Unavailable(_) | StoreError::Server(_)) => {
                Code::BackendUnavailable(Backend::Store)
            }
            Self::Bucket(BlobError::Unavailable(_) | BlobError::Refused(_)) => {
                Code::BackendUnavailable(Backend::Bucket)
            }
            _ => Code::InvalidOption,
        }
    }
}

//! Why a record could not be read or written.

use platen_fault::{Backend, Code, Resource, What};

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such document, version or run.
    #[error("there is no such document, version or run")]
    NotFound,
    /// A document with this key exists already, at this version.
    #[error("a document with this key already exists, at version {0}")]
    Exists(u32),
    /// The expected version is not the current one, which is this one.
    #[error("the current version is {0}, not the expected one")]
    Stale(u32),
    /// Another worker holds the run, or the lease has expired.
    #[error("the run belongs to another worker, or its lease has expired")]
    Fenced,
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// Another callback of the run came first.
    #[error("another callback of the run came first")]
    Called,
    /// The write queue is full; retrying may help.
    #[error("write queue full; try again")]
    Busy,
    /// The store is shut down.
    #[error("the store is shut down")]
    Closed,
    /// A write panicked, which is a bug in Platen; the write was rolled back.
    #[error("a write panicked, which is a bug in Platen; it was rolled back")]
    Panicked,
    /// The database file was deleted or replaced while the service was running.
    #[error(
        "the database {} was deleted or replaced while in use: restore it and restart", .0.display()
    )]
    Gone(std::path::PathBuf),
    /// The disk is full.
    #[error("the disk is full")]
    DiskFull,
    /// The database failed.
    #[error("database failed")]
    Database(#[source] rusqlite::Error),
    /// The address of the PostgreSQL server cannot be understood.
    #[error(
        "the PostgreSQL address cannot be used: {0}; write postgres://user:password@host:5432/database?sslmode=verify-full"
    )]
    Address(String),
    /// The PostgreSQL server refuses this service, and will until an operator changes something.
    #[error("the PostgreSQL server refuses: {0}")]
    Server(String),
    /// The PostgreSQL server cannot be reached; retrying may help. A write may have been stored
    /// even so, if its connection was lost during the commit and did not come back in time.
    #[error("the PostgreSQL server does not answer: {0}; try again")]
    Unavailable(String),
    /// Another service uses the PostgreSQL database.
    #[error("another service uses the database")]
    InUse,
    /// A service of the same name uses the PostgreSQL database.
    #[error("another service with the name `{0}` uses the database")]
    NameInUse(String),
    /// A text contains the character NUL, which PostgreSQL cannot store.
    #[error("a text contains the character NUL, which the database cannot store: remove it")]
    Nul,
    /// The PostgreSQL server rejected a statement.
    #[error("a statement failed in PostgreSQL")]
    Statement(#[source] tokio_postgres::Error),
    /// The folder of the database cannot be created.
    #[error("the data folder cannot be created")]
    Folder(#[from] std::io::Error),
    /// The database was written by a newer version of Platen.
    #[error(
        "the database has schema {found}, but this version of Platen supports only {known}: use a newer version"
    )]
    TooNew {
        /// Schema version of the database.
        found: u32,
        /// Newest schema version that this program knows.
        known: u32,
    },
    /// The database must be migrated first, and may not be.
    #[error(
        "the database has schema {found}, and this version of Platen needs {known}: run `platen migrate apply`"
    )]
    TooOld {
        /// Schema version of the database; 0 if it is empty.
        found: u32,
        /// Schema version that this program needs.
        known: u32,
    },
    /// A move into the database has not finished.
    #[error(
        "a move into the database has not finished: run `platen move` again, and then start the service"
    )]
    Unfinished,
    /// The database file is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
}

impl Error {
    /// The code of an error about a `resource`, which does not change.
    #[must_use]
    pub fn code(&self, resource: Resource) -> Code {
        match self {
            Self::NotFound => Code::NotFound(resource),
            Self::Exists(_) => Code::AlreadyExists(resource),
            Self::Stale(_) => Code::PreconditionFailed(resource),
            Self::Ended => Code::RunEnded,
            Self::Nul => Code::InvalidInput,
            Self::Busy => Code::Overloaded(What::Writes),
            Self::Closed => Code::ShuttingDown,
            Self::Address(_) => Code::BackendMissing(Backend::Store),
            Self::Gone(_) | Self::Server(_) | Self::Unavailable(_) => {
                Code::BackendUnavailable(Backend::Store)
            }
            Self::DiskFull => Code::StorageFull(What::Disk),
            Self::Fenced
            | Self::Called
            | Self::Panicked
            | Self::InUse
            | Self::NameInUse(_)
            | Self::Database(_)
            | Self::Statement(_)
            | Self::Folder(_)
            | Self::Damaged(_)
            | Self::TooNew { .. }
            | Self::Unfinished
            | Self::TooOld { .. } => Code::InternalError,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Database(error),
        }
    }
}

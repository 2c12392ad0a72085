//! Why nothing was moved, or not all.

use std::{io, path::PathBuf};

use platen_fault::{Code, Resource, What};
use platen_storage::blobs::BlobError;

/// Why nothing was moved, or not all. The data folder is as before in any case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// No target is configured.
    #[error("there is no target: DATABASE_URL is not set")]
    NoTarget,
    /// There is no database in the data folder.
    #[error("there is no database in the data folder `{}`", .0.display())]
    NoSource(PathBuf),
    /// A service uses the data folder.
    #[error("the data folder `{}` is in use by a service", .0.display())]
    InUse(PathBuf),
    /// The data folder cannot be read or locked.
    #[error("the data folder `{}` cannot be read or locked", .0.display())]
    Folder(PathBuf, #[source] io::Error),
    /// A service uses the target, or another move does.
    #[error("the database of DATABASE_URL is in use by a service or by another move")]
    TargetInUse,
    /// The target has records.
    #[error("the database of DATABASE_URL has records already, in the table `{0}`")]
    HasRecords(String),
    /// The bucket has objects.
    #[error("the bucket has objects already: `{0}`")]
    HasObjects(String),
    /// The bucket has another key of links.
    #[error(
        "the bucket has another key of links, `keys/link.key`: links of the folder would not work"
    )]
    OtherKey,
    /// An unfinished move from something else.
    #[error("the database of DATABASE_URL has part of another move: {0}")]
    OtherMove(&'static str),
    /// The target was moved into, from another folder or another state of this one.
    #[error(
        "a move into the database of DATABASE_URL has finished, from a data folder that was not this one as it is now"
    )]
    OtherFinished,
    /// There is nothing to compare.
    #[error("nothing was moved into the database of DATABASE_URL yet")]
    NotBegun,
    /// Texts that PostgreSQL cannot store.
    #[error("texts contain the character NUL, which PostgreSQL cannot store: {0}")]
    Nul(String),
    /// Source and target are not the same.
    #[error("the target is not the same as the data folder: {0}")]
    Differs(String),
    /// A database fails.
    #[error("a database failed")]
    Records(#[source] platen_storage::Error),
    /// The files fail, or the bucket does.
    #[error("a file cannot be moved")]
    Files(#[source] BlobError),
    /// The bucket cannot be used.
    #[error(transparent)]
    Bucket(#[from] crate::Error),
}

impl MoveError {
    /// The code of the failure.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Records(error) => error.code(Resource::Run),
            Self::Files(error) => error.code(Resource::Result, What::Disk),
            Self::Bucket(crate::Error::Bucket(error)) => error.code(Resource::Result, What::Disk),
            Self::Folder(..) => Code::FileFailed,
            _ => Code::InvalidOption,
        }
    }

    /// What an operator can do.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoTarget => "set DATABASE_URL and S3_BUCKET as for the new service",
            Self::NoSource(_) => "name the folder of the old service with --data-dir",
            Self::InUse(_) => "stop the service first",
            Self::Folder(..) => "run this as the user of the service",
            Self::TargetInUse => "stop the services that use it",
            Self::HasRecords(_) => "move into a new, empty database",
            Self::HasObjects(_) => "move into an empty bucket, or set another S3_PREFIX",
            Self::OtherKey => {
                "delete this object if no service has made links with it, or set another S3_PREFIX"
            }
            Self::OtherMove(_) => {
                "finish that one, or discard what it has moved with --from-start, or use a new \
                 database and another S3_PREFIX"
            }
            Self::OtherFinished => "move into a new, empty database, and set another S3_PREFIX",
            Self::NotBegun => "run `platen move` without --verify",
            Self::Nul(_) => {
                "--replace-nul moves names and notes with U+FFFD in its place; a key must be \
                 changed by the old service"
            }
            Self::Differs(_) => {
                "after a service has used the target, it is not the same any more; before, begin \
                 again with --from-start"
            }
            Self::Records(_) | Self::Files(_) | Self::Bucket(_) => {
                "run the same command again: it goes on where it was"
            }
        })
    }
}

impl From<platen_storage::Error> for MoveError {
    fn from(error: platen_storage::Error) -> Self {
        match error {
            platen_storage::Error::InUse => Self::TargetInUse,
            error => Self::Records(error),
        }
    }
}

impl From<BlobError> for MoveError {
    fn from(error: BlobError) -> Self {
        Self::Files(error)
    }
}

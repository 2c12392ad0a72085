//! Backups: the database and the files of the data folder in one ZIP archive, with a manifest that
//! has the size and the digest of each file.
//!
//! A backup is taken while the service runs: first the database, then the files that it refers to,
//! which never change once they are there. A restore goes into a folder beside the data folder and
//! replaces it only when every file has been checked.

mod manifest;
mod restore;
#[cfg(test)]
mod tests;
mod write;

use std::{io, path::PathBuf};

pub use self::{
    restore::{RestoreOptions, Restored, restore},
    write::{Written, create},
};

/// The database in a data folder, and in an archive.
const DATABASE: &str = "platen.db";
/// Files that SQLite keeps beside it, and what belongs to one service: two with the name of one must
/// not share a database.
const LIVE: [&str; 6] = [
    DATABASE,
    crate::instance::FILE,
    "platen.db-wal",
    "platen.db-shm",
    "platen.db-journal",
    LOCK,
];
/// The lock of the service.
const LOCK: &str = "platen.lock";
/// Name of the manifest in an archive.
const MANIFEST: &str = "manifest.json";
/// Size of one read, in bytes.
const CHUNK_BYTES: usize = 256 << 10;

/// Why a backup was not written or not restored. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// There is no database in the data folder.
    #[error("there is no database in the data folder `{}`", .0.display())]
    NoDatabase(PathBuf),
    /// The database cannot be copied or checked.
    #[error("the database cannot be copied or checked")]
    Database(#[source] platen_storage::Error),
    /// The file for the archive exists.
    #[error("`{}` exists already", .0.display())]
    Exists(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("`{}` cannot be read or written", .path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The archive cannot be read or written.
    #[error("the archive cannot be read or written")]
    Archive(#[from] zip::result::ZipError),
    /// The archive is not a backup, or is damaged.
    #[error("the archive is not an intact backup: {0}")]
    Damaged(String),
    /// The data folder has files, and force was not asked for.
    #[error("the data folder `{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// A service uses the data folder.
    #[error("the data folder `{}` is in use by a service", .0.display())]
    InUse(PathBuf),
    /// The data folder is a mount point, which nothing can replace.
    #[error("the data folder `{}` is a mount point, which cannot be replaced", .0.display())]
    MountPoint(PathBuf),
    /// The records of the archive would not be used, or there are none.
    #[error("{0}")]
    OtherDatabase(&'static str),
}

impl BackupError {
    /// What an operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoDatabase(_) => "name the folder of the service with --data-dir",
            Self::Database(_) | Self::Damaged(_) => "use another backup",
            Self::Exists(_) => "choose another name for the archive",
            Self::File { .. } | Self::Archive(_) => {
                "run this as the user of the service, and check the space on the disk"
            }
            Self::NotEmpty(_) => {
                "name another folder with --data-dir; --force replaces this one and keeps it under \
                 another name"
            }
            Self::InUse(_) => "stop the service first",
            Self::MountPoint(_) => {
                "restore into a folder within it, and set PLATEN_DATA_DIR to that folder"
            }
            Self::OtherDatabase(_) => "see docs/guides/backup.md on backups with PostgreSQL",
        }
    }
}

/// Attaches a path to a failure of the file system.
fn at<T>(path: &std::path::Path, done: io::Result<T>) -> Result<T, BackupError> {
    done.map_err(|source| BackupError::File {
        path: path.to_owned(),
        source,
    })
}

//! Identity of the database file. A deleted file stays open and accepts writes that nobody will
//! ever read; so before a write is acknowledged, this checks that the file is still in place.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::Error;

/// The database file as it was when it was opened.
#[derive(Clone, Debug)]
pub(super) struct Place {
    path: PathBuf,
    log: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Place {
    /// The place of an open database.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self {
            identity: identity(path)?,
            path: path.to_owned(),
            log: log.into(),
        })
    }

    /// Checks that the database and its write-ahead log are still in place.
    ///
    /// # Errors
    /// [`Error::Gone`] if they are not.
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_same = identity(&self.path).is_ok_and(|found| found == self.identity);
        match is_same && self.log.exists() {
            true => Ok(()),
            false => Err(Error::Gone(self.path.clone())),
        }
    }
}

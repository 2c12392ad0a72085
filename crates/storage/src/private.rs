//! Folders and files that other users of the machine cannot read.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

/// Creates a folder and its parents, accessible to this user only. An existing folder keeps its
/// permissions.
///
/// # Errors
/// The folder cannot be created.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates an empty file, accessible to this user only. An existing file keeps its content and
/// permissions.
///
/// # Errors
/// The file cannot be created.
pub(crate) fn create_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.open(path).map(drop)
}

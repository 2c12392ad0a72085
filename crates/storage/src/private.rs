//! Folders and files that other users of the machine cannot read.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

/// Makes a folder with those above it, for this user only. One that exists keeps its rights.
///
/// # Errors
/// The folder cannot be made.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes an empty file for this user only, where there is none. One that exists keeps its rights.
///
/// # Errors
/// The file cannot be made.
pub(crate) fn create_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.open(path).map(drop)
}

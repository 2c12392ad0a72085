//! Templates of the repository.

use std::path::{Path, PathBuf};

/// Folders below `path` that hold a template, with their data.
pub(super) fn cases(path: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(path).expect("a folder");
    for entry in entries.map(|entry| entry.expect("an entry").path()) {
        if entry.join("template.json").is_file() && entry.join("data.json").is_file() {
            found.push(entry);
        } else if entry.is_dir() {
            cases(&entry, found);
        }
    }
}

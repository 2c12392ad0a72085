//! A cache on disk for content that was fetched from a bucket.
//!
//! Its files have no names: they are gone with the process, however it ends, and a reader of one
//! that is evicted can read it to its end.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lru::LruCache;

use super::Found;
use crate::create_folder;

/// Most files, each of which takes a file descriptor.
const MAX_FILES: usize = 256;

/// Content by digest in unnamed files, bounded in their total size.
#[derive(Debug)]
pub struct DiskCache {
    folder: PathBuf,
    max_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    files: LruCache<String, Found>,
    size_bytes: u64,
}

impl DiskCache {
    /// A cache of at most `max_bytes` in files of `folder`, which is created if necessary.
    ///
    /// # Errors
    /// The folder cannot be created, or no file in it.
    pub fn open(folder: &Path, max_bytes: u64) -> std::io::Result<Self> {
        create_folder(folder)?;
        tempfile::tempfile_in(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            max_bytes,
            state: Mutex::new(State {
                files: LruCache::unbounded(),
                size_bytes: 0,
            }),
        })
    }

    /// A new unnamed file.
    pub(super) fn file(&self) -> std::io::Result<File> {
        tempfile::tempfile_in(&self.folder)
    }

    pub(super) fn get(&self, digest: &str) -> Option<Found> {
        self.state().files.get(digest).cloned()
    }

    /// Keeps a complete file of this cache; the least recently used ones make room.
    pub(super) fn keep(&self, digest: &str, file: File, size_bytes: u64) -> Found {
        let found = Found {
            file: Arc::new(file),
            size_bytes,
        };
        if size_bytes <= self.max_bytes {
            let mut state = self.state();
            let former = state.files.push(digest.to_owned(), found.clone());
            state.size_bytes += size_bytes;
            state.size_bytes -= former.map_or(0, |(_, former)| former.size_bytes);
            while state.size_bytes > self.max_bytes || state.files.len() > MAX_FILES {
                let Some((_, oldest)) = state.files.pop_lru() else {
                    break;
                };
                state.size_bytes -= oldest.size_bytes;
            }
        }
        found
    }

    /// Bytes of its files.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.state().size_bytes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_within_its_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let cache = DiskCache::open(&folder.path().join("cache"), 250).unwrap();
        let keep = |digest: &str, size_bytes: u64| {
            let file = cache.file().unwrap();
            cache.keep(digest, file, size_bytes);
        };
        keep("a", 100);
        keep("a", 100);
        keep("b", 100);
        assert_eq!(cache.size_bytes(), 200, "the same content counts once");
        assert!(cache.get("a").is_some());
        keep("c", 100);
        assert!(cache.get("b").is_none(), "the least recently used one goes");
        assert!(cache.get("a").is_some());
        keep("large", 251);
        assert!(cache.get("large").is_none());
        for index in 0..2 * MAX_FILES {
            keep(&index.to_string(), 0);
        }
        let entries = std::fs::read_dir(folder.path().join("cache")).unwrap();
        assert_eq!(entries.count(), 0, "no file has a name");
        assert!(cache.state().files.len() <= MAX_FILES);
    }
}

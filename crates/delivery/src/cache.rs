//! Files that are asked for again and again, in memory: shared bytes, bounded in all. A file is
//! named by its content, so what is here never ages.

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;

use crate::{Body, FileBody};

/// Files that are remembered, kept or not.
const MAX_ENTRIES: usize = 4_096;

/// A bounded cache of files.
#[derive(Debug)]
pub struct FileCache {
    state: Mutex<State>,
    max_bytes: usize,
    max_file_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<String, Entry>,
    size_bytes: usize,
    clock: u64,
}

#[derive(Debug, Default)]
struct Entry {
    bytes: Option<Bytes>,
    used: u64,
    /// Somebody reads it already.
    reading: bool,
}

impl FileCache {
    /// A cache of `max_bytes`; files above `max_file_bytes` are always sent from the disk.
    #[must_use]
    pub fn new(max_bytes: usize, max_file_bytes: u64) -> Self {
        Self {
            state: Mutex::default(),
            max_bytes,
            max_file_bytes: max_file_bytes.min(max_bytes as u64),
        }
    }

    /// The body of a file of `size_bytes` whose content has the name `digest`: from memory where it
    /// is hot, else from the disk. A file becomes hot when it is asked for the second time.
    ///
    /// # Errors
    /// Where `open` fails, which opens it if it must be read.
    pub async fn body(
        &self,
        digest: &str,
        size_bytes: u64,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Body> {
        let known = {
            let mut state = self.lock();
            state.clock += 1;
            let clock = state.clock;
            if let Some(entry) = state.entries.get_mut(digest) {
                entry.used = clock;
                if let Some(bytes) = &entry.bytes {
                    return Ok(Body::from(bytes.clone()));
                }
                !std::mem::replace(&mut entry.reading, true)
            } else {
                state.remember(digest, clock);
                false
            }
        };
        let file = open().inspect_err(|_| self.lock().keep(digest, None, self.max_bytes))?;
        if !known || size_bytes > self.max_file_bytes {
            return Ok(FileBody::range(Arc::new(file), 0, size_bytes).into());
        }
        let reading = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; usize::try_from(size_bytes).map_err(io::Error::other)?];
            file.read_exact_at(&mut bytes, 0)?;
            Ok(Bytes::from(bytes))
        });
        let read = reading.await.map_err(io::Error::other).flatten();
        let mut state = self.lock();
        state.keep(digest, read.as_ref().ok().cloned(), self.max_bytes);
        read.map(Body::from)
    }

    /// Bytes that are held.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.lock().size_bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remember(&mut self, digest: &str, clock: u64) {
        if self.entries.len() >= MAX_ENTRIES {
            self.forget_oldest();
        }
        let entry = Entry {
            used: clock,
            ..Entry::default()
        };
        self.entries.insert(digest.to_owned(), entry);
    }

    fn keep(&mut self, digest: &str, bytes: Option<Bytes>, max_bytes: usize) {
        let size = bytes.as_ref().map_or(0, Bytes::len);
        // It may have been forgotten while it was read.
        let Some(entry) = self.entries.get_mut(digest) else {
            return;
        };
        entry.reading = false;
        entry.bytes = bytes;
        self.size_bytes += size;
        while self.size_bytes > max_bytes && self.forget_oldest() {}
    }

    fn forget_oldest(&mut self) -> bool {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
        let Some(digest) = oldest.map(|(digest, _)| digest.clone()) else {
            return false;
        };
        let entry = self.entries.remove(&digest);
        let size = entry
            .and_then(|entry| entry.bytes)
            .map_or(0, |bytes| bytes.len());
        self.size_bytes -= size;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn open(fill: u8, size: usize) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(&vec![fill; size])?;
        Ok(file)
    }

    #[tokio::test]
    async fn hot_files_stay_within_the_bound() {
        let cache = FileCache::new(250, 200);
        let body = async |name: &str, size: usize| {
            cache
                .body(name, size as u64, || open(1, size))
                .await
                .unwrap()
        };
        assert!(matches!(body("a", 100).await, Body::File(_)), "seen once");
        assert!(matches!(body("a", 100).await, Body::Bytes(_)), "seen twice");
        let unopened = cache.body("a", 100, || panic!("it is in memory")).await;
        assert_eq!(unopened.unwrap().size_bytes(), Some(100));
        for name in ["b", "c"] {
            body(name, 100).await;
            body(name, 100).await;
        }
        assert_eq!(cache.size_bytes(), 200, "the oldest went");
        assert!(matches!(body("a", 100).await, Body::File(_)));
        body("large", 201).await;
        assert!(matches!(body("large", 201).await, Body::File(_)));
        assert!(
            cache
                .body("gone", 1, || Err(io::ErrorKind::NotFound.into()))
                .await
                .is_err()
        );
    }
}

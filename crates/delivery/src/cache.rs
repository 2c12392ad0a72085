//! An in-memory cache for files that are requested repeatedly, bounded in total size. The keys are
//! digests of the content, so entries never become stale.

use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};

use bytes::Bytes;
use lru::LruCache;
use parking_lot::{Mutex, MutexGuard};

use crate::{Body, FileBody};

/// Number of files tracked, whether their content is cached or not.
const MAX_ENTRIES: usize = 4_096;

/// A cache of files with a bounded size.
#[derive(Debug)]
pub struct FileCache {
    state: Mutex<State>,
    max_bytes: usize,
    max_file_bytes: u64,
}

#[derive(Debug)]
struct State {
    entries: LruCache<String, Entry>,
    size_bytes: usize,
}

#[derive(Debug, Default)]
struct Entry {
    bytes: Option<Bytes>,
    /// A request is reading the file into memory.
    reading: bool,
}

impl FileCache {
    /// A cache of at most `max_bytes`. Files above `max_file_bytes` are always sent from disk.
    #[must_use]
    pub fn new(max_bytes: usize, max_file_bytes: u64) -> Self {
        Self {
            state: Mutex::new(State {
                entries: LruCache::unbounded(),
                size_bytes: 0,
            }),
            max_bytes,
            max_file_bytes: max_file_bytes.min(max_bytes as u64),
        }
    }

    /// The body of the file whose content has the digest `digest`: from memory if cached, otherwise
    /// from disk. The second request for a file puts it into the cache. `open` opens the file and
    /// tells its size in bytes; it is called only if the file is not cached.
    ///
    /// # Errors
    /// `open` or reading the file has failed.
    pub async fn body<E: From<io::Error>, F: Future<Output = Result<(Arc<File>, u64), E>>>(
        &self,
        digest: &str,
        open: impl FnOnce() -> F,
    ) -> Result<Body, E> {
        let known = {
            let mut state = self.lock();
            if let Some(entry) = state.entries.get_mut(digest) {
                if let Some(bytes) = &entry.bytes {
                    return Ok(Body::from(bytes.clone()));
                }
                !std::mem::replace(&mut entry.reading, true)
            } else {
                state.remember(digest);
                false
            }
        };
        let opened = open().await;
        let (file, size_bytes) =
            opened.inspect_err(|_| self.lock().keep(digest, None, self.max_bytes))?;
        if !known || size_bytes > self.max_file_bytes {
            return Ok(FileBody::range(file, 0, size_bytes).into());
        }
        let reading = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; usize::try_from(size_bytes).map_err(io::Error::other)?];
            file.read_exact_at(&mut bytes, 0)?;
            Ok(Bytes::from(bytes))
        });
        let read = reading.await.map_err(io::Error::other).flatten();
        let mut state = self.lock();
        state.keep(digest, read.as_ref().ok().cloned(), self.max_bytes);
        Ok(Body::from(read?))
    }

    /// Bytes in the cache.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.lock().size_bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn remember(&mut self, digest: &str) {
        if self.entries.len() >= MAX_ENTRIES {
            self.forget_oldest();
        }
        self.entries.push(digest.to_owned(), Entry::default());
    }

    fn keep(&mut self, digest: &str, bytes: Option<Bytes>, max_bytes: usize) {
        let size = bytes.as_ref().map_or(0, Bytes::len);
        // The entry may have been evicted while the file was read.
        let Some(entry) = self.entries.peek_mut(digest) else {
            return;
        };
        entry.reading = false;
        entry.bytes = bytes;
        self.size_bytes += size;
        while self.size_bytes > max_bytes && self.forget_oldest() {}
    }

    fn forget_oldest(&mut self) -> bool {
        let Some((_, entry)) = self.entries.pop_lru() else {
            return false;
        };
        self.size_bytes -= entry.bytes.map_or(0, |bytes| bytes.len());
        true
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    async fn open(fill: u8, size: usize) -> io::Result<(Arc<File>, u64)> {
        let mut file = tempfile::tempfile()?;
        file.write_all(&vec![fill; size])?;
        Ok((Arc::new(file), size as u64))
    }

    #[tokio::test]
    async fn hot_files_stay_within_the_bound() {
        let cache = FileCache::new(250, 200);
        let body =
            async |name: &str, size: usize| cache.body(name, || open(1, size)).await.unwrap();
        assert!(matches!(body("a", 100).await, Body::File(_)), "seen once");
        assert!(matches!(body("a", 100).await, Body::Bytes(_)), "seen twice");
        let (opened, count) = (|| open(2, 1), cache.size_bytes());
        assert_eq!(
            cache.body("a", opened).await.unwrap().size_bytes(),
            Some(100)
        );
        assert_eq!(count, 100, "from memory");
        for name in ["b", "c"] {
            body(name, 100).await;
            body(name, 100).await;
        }
        assert_eq!(cache.size_bytes(), 200, "the oldest went");
        assert!(matches!(body("a", 100).await, Body::File(_)));
        body("large", 201).await;
        assert!(matches!(body("large", 201).await, Body::File(_)));
        let gone = async || Err(io::Error::from(io::ErrorKind::NotFound));
        assert!(cache.body("gone", gone).await.is_err());
    }
}

//! Versions of assets that renderings have read, up to a number of bytes.

use std::sync::Arc;

use lru::LruCache;

/// Bytes of all versions.
const MAX_BYTES: usize = 64 << 20;

/// The versions by name and number. Numbers are never used again.
pub(super) struct Cache {
    versions: LruCache<(String, u32), Arc<[u8]>>,
    size_bytes: usize,
    max_bytes: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            versions: LruCache::unbounded(),
            size_bytes: 0,
            max_bytes: MAX_BYTES,
        }
    }
}

impl Cache {
    pub(super) fn get(&mut self, name: &str, version: u32) -> Option<Arc<[u8]>> {
        self.versions.get(&(name.to_owned(), version)).cloned()
    }

    pub(super) fn keep(&mut self, name: &str, version: u32, bytes: &Arc<[u8]>) {
        if bytes.len() > self.max_bytes {
            return;
        }
        let former = self
            .versions
            .put((name.to_owned(), version), Arc::clone(bytes));
        self.size_bytes += bytes.len();
        self.size_bytes -= former.map_or(0, |former| former.len());
        while self.size_bytes > self.max_bytes {
            let Some((_, oldest)) = self.versions.pop_lru() else {
                return;
            };
            self.size_bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_long_ago_makes_room() {
        let mut cache = Cache {
            max_bytes: 10,
            ..Cache::default()
        };
        let bytes = |length: usize| -> Arc<[u8]> { vec![0; length].into() };
        cache.keep("a", 1, &bytes(4));
        cache.keep("a", 1, &bytes(4));
        cache.keep("b", 1, &bytes(4));
        assert!(cache.get("a", 1).is_some());
        cache.keep("c", 1, &bytes(6));
        assert!(cache.get("b", 1).is_none() && cache.get("a", 1).is_some());
        cache.keep("d", 1, &bytes(11));
        assert!(cache.get("d", 1).is_none());
        assert_eq!(cache.size_bytes, 10);
    }
}

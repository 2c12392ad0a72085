//! LRU cache of current versions and compiled templates.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lru::LruCache;
use platen_engine::PreparedTemplate;
use rustc_hash::FxHashMap;

/// Most keys with a cached current version.
const MAX_CURRENT: usize = 20_000;

/// Most versions of a key whose last look at the store is known.
const MAX_LOOKS: usize = 64;

/// Source of a compiled template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    /// Key and version.
    Stored(String, u32),
    /// SHA-256 of the source.
    Inline([u8; 32]),
}

struct Entry {
    template: Arc<PreparedTemplate>,
    size_bytes: u64,
}

pub(super) struct Cache {
    current: FxHashMap<String, u32>,
    /// When the store was last asked for a version of a key, `None` for the current one.
    looks: FxHashMap<String, Vec<(Option<u32>, Instant)>>,
    compiled: LruCache<Identity, Entry>,
    size_bytes: u64,
    max_items: usize,
    max_bytes: u64,
    writes: u64,
}

impl Cache {
    pub(super) fn new(max_items: usize, max_bytes: u64) -> Self {
        Self {
            current: FxHashMap::default(),
            looks: FxHashMap::default(),
            compiled: LruCache::unbounded(),
            size_bytes: 0,
            max_items,
            max_bytes,
            writes: 0,
        }
    }

    /// Number of finished writes.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    pub(super) fn size(&self) -> (usize, u64) {
        (self.compiled.len(), self.size_bytes)
    }

    pub(super) fn current(&self, key: &str) -> Option<u32> {
        self.current.get(key).copied()
    }

    pub(super) fn compiled(&mut self, identity: &Identity) -> Option<Arc<PreparedTemplate>> {
        let entry = self.compiled.get(identity)?;
        Some(Arc::clone(&entry.template))
    }

    /// Caches a current version read after `writes` writes, unless another write has finished
    /// since.
    pub(super) fn keep_current(&mut self, key: &str, version: u32, writes: u64) {
        if writes != self.writes {
            return;
        }
        if self.current.len() >= MAX_CURRENT {
            self.current.clear();
        }
        self.current.insert(key.to_owned(), version);
    }

    /// Whether the store was asked for this version within `age`.
    pub(super) fn is_fresh(&self, key: &str, version: Option<u32>, age: Duration) -> bool {
        let looks = self.looks.get(key).into_iter().flatten();
        let mut of_version = looks.filter(|(of, _)| *of == version);
        of_version.any(|(_, at)| at.elapsed() < age)
    }

    /// Notes that the store was asked at `at`, before `writes` could change.
    pub(super) fn note_look(&mut self, key: &str, version: Option<u32>, at: Instant, writes: u64) {
        if writes != self.writes {
            return;
        }
        if self.looks.len() >= MAX_CURRENT {
            self.looks.clear();
        }
        let looks = self.looks.entry(key.to_owned()).or_default();
        looks.retain(|(of, _)| *of != version);
        if looks.len() >= MAX_LOOKS {
            looks.clear();
        }
        looks.push((version, at));
    }

    /// As [`Cache::keep_current`].
    pub(super) fn keep_compiled(
        &mut self,
        identity: Identity,
        template: Arc<PreparedTemplate>,
        size_bytes: u64,
        writes: u64,
    ) {
        if writes != self.writes || size_bytes > self.max_bytes || self.max_items == 0 {
            return;
        }
        self.remove(&identity);
        while self.compiled.len() >= self.max_items || self.size_bytes + size_bytes > self.max_bytes
        {
            let Some((_, oldest)) = self.compiled.pop_lru() else {
                break;
            };
            self.size_bytes -= oldest.size_bytes;
        }
        self.size_bytes += size_bytes;
        let entry = Entry {
            template,
            size_bytes,
        };
        self.compiled.push(identity, entry);
    }

    /// Invalidates `key` after a write.
    pub(super) fn forget(&mut self, key: &str) {
        self.writes += 1;
        self.current.remove(key);
        self.looks.remove(key);
        // Versions are immutable until the template is deleted; after that, none may be found.
        let of_key: Vec<Identity> = self
            .compiled
            .iter()
            .map(|(identity, _)| identity)
            .filter(|identity| matches!(identity, Identity::Stored(stored, _) if stored == key))
            .cloned()
            .collect();
        for identity in of_key {
            self.remove(&identity);
        }
    }

    /// Asks the store again for every version, because any may have changed.
    pub(super) fn doubt(&mut self) {
        self.writes += 1;
        self.looks.clear();
    }

    fn remove(&mut self, identity: &Identity) {
        if let Some(entry) = self.compiled.pop(identity) {
            self.size_bytes -= entry.size_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use platen_engine::{Engine, Origin};
    use platen_fonts::FontSettings;

    use super::*;

    fn template() -> Arc<PreparedTemplate> {
        let engine = Engine::new(&FontSettings::default());
        let source = Arc::from(&br#"{"key":"a","name":"A"}"#[..]);
        Arc::new(engine.prepare(&source, Origin::Owner).unwrap())
    }

    #[test]
    fn an_answer_from_before_a_write_is_not_kept() {
        let mut cache = Cache::new(10, 1_000);
        let before = cache.writes();
        cache.forget("a");
        cache.keep_current("a", 1, before);
        assert_eq!(cache.current("a"), None);
        cache.keep_compiled(Identity::Stored("a".into(), 1), template(), 10, before);
        assert_eq!(cache.size(), (0, 0));
    }

    #[test]
    fn a_look_at_the_store_holds_until_a_write() {
        const LONG: Duration = Duration::from_secs(3_600);
        let mut cache = Cache::new(10, 1_000);
        let now = Instant::now();
        cache.note_look("a", None, now, cache.writes());
        assert!(cache.is_fresh("a", None, LONG) && !cache.is_fresh("a", Some(1), LONG));
        assert!(!cache.is_fresh("a", None, Duration::ZERO));
        let before = cache.writes();
        cache.forget("a");
        cache.note_look("a", None, now, before);
        assert!(!cache.is_fresh("a", None, LONG));
        cache.note_look("a", None, now, cache.writes());
        cache.doubt();
        assert!(!cache.is_fresh("a", None, LONG));
    }

    #[test]
    fn it_is_bounded_by_count_and_bytes() {
        let mut cache = Cache::new(3, 100);
        let one = template();
        for version in 0..10 {
            let identity = Identity::Stored("a".into(), version);
            cache.keep_compiled(identity, Arc::clone(&one), 10, 0);
        }
        assert_eq!(cache.size(), (3, 30));
        cache.keep_compiled(Identity::Inline([0; 32]), Arc::clone(&one), 90, 0);
        assert_eq!(cache.size(), (2, 100));
        cache.keep_compiled(Identity::Inline([1; 32]), one, 101, 0);
        assert_eq!(cache.size(), (2, 100));
        cache.forget("a");
        assert_eq!(cache.size(), (1, 90));
    }
}

//! Poison inputs: counts the inputs that crashed a child, and forgets them by age and number.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// Crashes after which an input is refused. One crash may be the child's own fault.
pub(crate) const MAX_CRASHES: u32 = 2;

/// Identity of an input: a digest of its content and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; 32]);

#[derive(Debug)]
struct Entry {
    crashes: u32,
    last: Instant,
}

/// The remembered inputs.
#[derive(Debug)]
pub(crate) struct Poison {
    inner: Mutex<Inner>,
    max: usize,
    keep: Duration,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<Key, Entry>,
    order: VecDeque<Key>,
}

impl Poison {
    pub(crate) fn new(max: usize, keep: Duration) -> Self {
        Self {
            inner: Mutex::default(),
            max,
            keep,
        }
    }

    /// Crashes of this input within the retention time.
    pub(crate) fn crashes(&self, key: &Key) -> u32 {
        let inner = self.inner.lock();
        let entry = inner.entries.get(key);
        entry.map_or(0, |entry| {
            if entry.last.elapsed() < self.keep {
                entry.crashes
            } else {
                0
            }
        })
    }

    /// Counts a crash and returns the input's total.
    pub(crate) fn crashed(&self, key: Key) -> u32 {
        let before = self.crashes(&key);
        let mut inner = self.inner.lock();
        let entry = Entry {
            crashes: before + 1,
            last: Instant::now(),
        };
        if inner.entries.insert(key, entry).is_none() {
            inner.order.push_back(key);
        }
        while inner.entries.len() > self.max {
            let Some(oldest) = inner.order.pop_front() else {
                break;
            };
            inner.entries.remove(&oldest);
        }
        before + 1
    }

    /// Forgets the crashes of an input that has now been processed without one.
    pub(crate) fn survived(&self, key: &Key) {
        let mut inner = self.inner.lock();
        if inner.entries.remove(key).is_some() {
            inner.order.retain(|other| other != key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_are_counted_forgiven_and_forgotten() {
        let poison = Poison::new(2, Duration::from_secs(600));
        let key = |byte| Key([byte; 32]);
        assert_eq!(poison.crashed(key(1)), 1);
        assert_eq!(poison.crashed(key(1)), 2);
        assert_eq!(poison.crashed(key(2)), 1);
        poison.survived(&key(2));
        assert_eq!(poison.crashes(&key(2)), 0);
        poison.crashed(key(3));
        poison.crashed(key(4));
        assert_eq!(poison.crashes(&key(1)), 0, "the oldest makes room");
        assert_eq!(poison.crashes(&key(4)), 1);
        let short = Poison::new(2, Duration::ZERO);
        short.crashed(key(1));
        assert_eq!(short.crashes(&key(1)), 0, "time passes");
    }
}

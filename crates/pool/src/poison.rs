//! Inputs whose jobs killed children: counted, remembered for a bounded time and number.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Deaths after which an input is refused.
pub(crate) const DEADLY: u32 = 2;

/// What tells inputs apart: a digest of the content and of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; 32]);

#[derive(Debug)]
struct Entry {
    deaths: u32,
    last: Instant,
}

/// The memory.
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

    /// Deaths that this input has caused and that are still remembered.
    pub(crate) fn deaths(&self, key: &Key) -> u32 {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = inner.entries.get(key);
        entry.map_or(0, |entry| {
            if entry.last.elapsed() < self.keep {
                entry.deaths
            } else {
                0
            }
        })
    }

    /// One more death; gives all.
    pub(crate) fn died(&self, key: Key) -> u32 {
        let before = self.deaths(&key);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = Entry {
            deaths: before + 1,
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

    /// The input was worked on without a death: what happened before was not its doing.
    pub(crate) fn survived(&self, key: &Key) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
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
        assert_eq!(poison.died(key(1)), 1);
        assert_eq!(poison.died(key(1)), 2);
        assert_eq!(poison.died(key(2)), 1);
        poison.survived(&key(2));
        assert_eq!(poison.deaths(&key(2)), 0);
        poison.died(key(3));
        poison.died(key(4));
        assert_eq!(poison.deaths(&key(1)), 0, "the oldest makes room");
        assert_eq!(poison.deaths(&key(4)), 1);
        let short = Poison::new(2, Duration::ZERO);
        short.died(key(1));
        assert_eq!(short.deaths(&key(1)), 0, "time passes");
    }
}

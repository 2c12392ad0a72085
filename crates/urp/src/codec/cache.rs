//! Second-level caches: 256 slots each for types, object ids and thread ids.
//!
//! The sender chooses the slot, the receiver stores the value there. Each direction has its own
//! three caches.

use std::{collections::HashMap, hash::Hash};

use super::CodecError;

/// Number of slots in a cache.
pub const SLOTS: u16 = 256;

/// The slot number that means "not cached".
pub const NOT_CACHED: u16 = 0xffff;

/// The receiving side of a cache, filled by the peer.
#[derive(Debug)]
pub struct ReceiveCache<T> {
    slots: Vec<Option<T>>,
}

impl<T> Default for ReceiveCache<T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

impl<T: Clone> ReceiveCache<T> {
    /// Stores `value` in `slot`, unless it is [`NOT_CACHED`].
    pub(super) fn store(&mut self, slot: u16, value: &T) -> Result<(), CodecError> {
        if slot == NOT_CACHED {
            return Ok(());
        }
        if slot >= SLOTS {
            return Err(CodecError::CacheSlot(slot));
        }
        let index = usize::from(slot);
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        self.slots[index] = Some(value.clone());
        Ok(())
    }

    pub(super) fn get(&self, slot: u16) -> Result<T, CodecError> {
        self.slots
            .get(usize::from(slot))
            .and_then(Clone::clone)
            .ok_or(CodecError::CacheSlot(slot))
    }
}

/// The sending side of a cache. When it is full, the least recently used slot is reused.
#[derive(Debug)]
pub struct SendCache<T> {
    capacity: u16,
    slots: HashMap<T, u16>,
    used: Vec<(u64, T)>,
    clock: u64,
}

/// Location of a value in the peer's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is in this slot.
    Known(u16),
    /// It must be sent, to be stored in this slot.
    New(u16),
}

impl<T: Clone + Eq + Hash> SendCache<T> {
    /// A cache with `capacity` slots, at most 256; 0 disables caching.
    pub(super) fn new(capacity: u16) -> Self {
        Self {
            capacity: capacity.min(SLOTS),
            slots: HashMap::new(),
            used: Vec::new(),
            clock: 0,
        }
    }

    /// Looks up `value`. After `New` it counts as sent, so the caller must send it.
    pub(super) fn place(&mut self, value: &T) -> Place {
        if self.capacity == 0 {
            return Place::New(NOT_CACHED);
        }
        self.clock += 1;
        if let Some(&slot) = self.slots.get(value) {
            self.used[usize::from(slot)].0 = self.clock;
            return Place::Known(slot);
        }
        let slot = if self.used.len() < usize::from(self.capacity) {
            self.used.push((self.clock, value.clone()));
            self.used.len() - 1
        } else {
            let oldest = self.oldest();
            let (_, gone) = std::mem::replace(&mut self.used[oldest], (self.clock, value.clone()));
            self.slots.remove(&gone);
            oldest
        };
        let slot = u16::try_from(slot).unwrap_or(NOT_CACHED);
        self.slots.insert(value.clone(), slot);
        Place::New(slot)
    }

    fn oldest(&self) -> usize {
        let mut oldest = 0;
        for (index, (used, _)) in self.used.iter().enumerate() {
            if *used < self.used[oldest].0 {
                oldest = index;
            }
        }
        oldest
    }
}

//! What redacting a file may cost.

use crate::Error;

/// Maximum number of operations of the pages with areas, and of forms wherever they are drawn. Glyphs
/// and bytes that are unpacked count as well.
const MAX_OPERATIONS: usize = 200_000_000;
/// Maximum size of content, pictures and dictionaries that are made, in bytes.
const MAX_BYTES: usize = 512 << 20;
/// The work may end before every so many operations.
const CHECKED: usize = 4_096;

/// What is left of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    operations: usize,
    checked: usize,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            operations: MAX_OPERATIONS,
            checked: MAX_OPERATIONS,
            bytes: MAX_BYTES,
        }
    }
}

impl Budget {
    /// Counts work that is to be done.
    pub(super) fn spend(&mut self, operations: usize, checkpoint: &dyn Fn()) -> Result<(), Error> {
        self.operations = self.operations.saturating_sub(operations);
        if self.checked - self.operations >= CHECKED {
            self.checked = self.operations;
            checkpoint();
        }
        match self.operations {
            0 => Err(Error::TooLarge {
                what: "operations of pages",
                count: MAX_OPERATIONS,
                most: MAX_OPERATIONS,
            }),
            _ => Ok(()),
        }
    }

    /// Counts what is made and kept, in bytes.
    pub(super) fn make(&mut self, bytes: usize) -> Result<(), Error> {
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                Ok(())
            }
            None => Err(Error::TooLarge {
                what: "bytes of changed content",
                count: MAX_BYTES.saturating_add(1),
                most: MAX_BYTES,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_and_what_is_made_have_an_end() {
        let calls = std::cell::Cell::new(0);
        let checkpoint = || calls.set(calls.get() + 1);
        let mut budget = Budget::default();
        for _ in 0..10 {
            budget
                .spend(CHECKED / 2, &checkpoint)
                .expect("some is left");
        }
        assert_eq!(calls.get(), 5);
        assert!(budget.spend(MAX_OPERATIONS, &checkpoint).is_err());
        assert!(budget.spend(1, &checkpoint).is_err());
        assert!(budget.make(MAX_BYTES - 1).is_ok());
        assert!(budget.make(2).is_err());
        assert!(budget.make(1).is_ok());
    }
}

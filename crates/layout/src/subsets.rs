//! Parts of a face that documents embed again and again, as they stand in a file.

use std::sync::{Arc, Mutex, PoisonError};

/// Most parts of a face that are kept; the one that was not wanted for longest goes first.
const MOST: usize = 8;
/// Longest part that is kept, in bytes.
const LONGEST: usize = 64 << 10;

/// A part of a face, compressed.
#[derive(Debug)]
pub struct Subset {
    /// The compressed bytes.
    pub stream: Vec<u8>,
    /// How many bytes it has uncompressed.
    pub length: usize,
    /// Whether it is in the compact font format (CFF), and else in TrueType.
    pub is_compact: bool,
}

/// Glyphs, in order, and the part of the face that has them.
type Kept = (Box<[u16]>, Arc<Subset>);

/// The parts of a face that were embedded last.
#[derive(Debug, Default)]
pub(crate) struct Subsets(Mutex<Vec<Kept>>);

impl Subsets {
    /// The part with these glyphs in this order, which `make` makes if it is not there. What `make` makes of the same
    /// glyphs is the same, so that nobody sees whether it was kept.
    pub(crate) fn get<E>(
        &self,
        glyphs: &[u16],
        make: impl FnOnce() -> Result<Subset, E>,
    ) -> Result<Arc<Subset>, E> {
        if let Some(found) = self.known(glyphs) {
            return Ok(found);
        }
        // Others do not wait: two may make the same at once.
        let made = Arc::new(make()?);
        if made.stream.len() <= LONGEST {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.iter().all(|(known, _)| **known != *glyphs) {
                kept.truncate(MOST - 1);
                kept.insert(0, (glyphs.into(), Arc::clone(&made)));
            }
        }
        Ok(made)
    }

    fn known(&self, glyphs: &[u16]) -> Option<Arc<Subset>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|(known, _)| **known == *glyphs)?;
        kept[..=place].rotate_right(1);
        Some(Arc::clone(&kept[0].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part that says which glyph it was made for; `None` if it was not made but kept.
    fn made(subsets: &Subsets, glyph: u16, bytes: usize) -> Option<u16> {
        let mut made = None;
        let found = subsets.get(&[glyph], || {
            made = Some(glyph);
            let stream = vec![glyph as u8; bytes];
            Ok::<_, ()>(Subset {
                stream,
                length: 2 * bytes,
                is_compact: false,
            })
        });
        assert_eq!(found.unwrap().stream, vec![glyph as u8; bytes]);
        made
    }

    #[test]
    fn the_part_that_was_not_wanted_for_longest_goes_first() {
        let subsets = Subsets::default();
        for glyph in 0..MOST as u16 {
            assert_eq!(made(&subsets, glyph, 10), Some(glyph));
        }
        // The oldest is wanted again, so that the second goes for the next.
        assert_eq!(made(&subsets, 0, 10), None);
        assert_eq!(made(&subsets, 100, 10), Some(100));
        assert_eq!(made(&subsets, 0, 10), None);
        assert_eq!(made(&subsets, 1, 10), Some(1));
        let kept = subsets.0.lock().unwrap();
        assert_eq!(kept.len(), MOST);
    }

    #[test]
    fn long_parts_and_failures_are_not_kept() {
        let subsets = Subsets::default();
        for _ in 0..2 {
            assert_eq!(made(&subsets, 1, LONGEST + 1), Some(1));
        }
        let failed = subsets.get(&[2], || Err::<Subset, _>("broken"));
        assert_eq!(failed.unwrap_err(), "broken");
        assert_eq!(made(&subsets, 2, 10), Some(2));
    }
}

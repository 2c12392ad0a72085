//! Dictionaries that many others refer to, looked at once each.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

/// The references that were followed.
#[derive(Debug, Default)]
pub(super) struct Once(HashSet<ObjectId>);

impl Once {
    /// The dictionary at `key`, if it is there itself, or a reference that was not followed before.
    pub(super) fn follow<'a>(
        &mut self,
        document: &'a Document,
        dictionary: &'a Dictionary,
        key: &[u8],
    ) -> Option<&'a Dictionary> {
        match dictionary.get(key).ok()? {
            Object::Dictionary(direct) => Some(direct),
            Object::Reference(id) if self.0.insert(*id) => document.get_dictionary(*id).ok(),
            _ => None,
        }
    }
}

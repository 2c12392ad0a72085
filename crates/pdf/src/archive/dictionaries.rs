//! Visits every dictionary of a file, also those inside of others.

use lopdf::{Dictionary, Document, Object, ObjectId};

/// Maximum depth of objects inside of each other.
const MAX_DEPTH: usize = 100;

/// Calls `see` with every dictionary, also of streams, and the object that holds it.
pub(super) fn each(document: &Document, see: &mut dyn FnMut(ObjectId, &Dictionary)) {
    fn below(
        id: ObjectId,
        object: &Object,
        depth: usize,
        see: &mut dyn FnMut(ObjectId, &Dictionary),
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        match object {
            Object::Array(items) => {
                for item in items {
                    below(id, item, depth + 1, see);
                }
            }
            Object::Dictionary(dictionary) => {
                see(id, dictionary);
                for (_, value) in dictionary {
                    below(id, value, depth + 1, see);
                }
            }
            Object::Stream(stream) => {
                see(id, &stream.dict);
                for (_, value) in &stream.dict {
                    below(id, value, depth + 1, see);
                }
            }
            _ => {}
        }
    }
    for (id, object) in &document.objects {
        below(*id, object, 0, see);
    }
}

/// Like [`each`], for dictionaries that are changed.
pub(super) fn each_mut(document: &mut Document, change: &mut dyn FnMut(ObjectId, &mut Dictionary)) {
    fn below(
        id: ObjectId,
        object: &mut Object,
        depth: usize,
        change: &mut dyn FnMut(ObjectId, &mut Dictionary),
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        match object {
            Object::Array(items) => {
                for item in items {
                    below(id, item, depth + 1, change);
                }
            }
            Object::Dictionary(dictionary) => {
                change(id, dictionary);
                for (_, value) in dictionary.iter_mut() {
                    below(id, value, depth + 1, change);
                }
            }
            Object::Stream(stream) => {
                change(id, &mut stream.dict);
                for (_, value) in stream.dict.iter_mut() {
                    below(id, value, depth + 1, change);
                }
            }
            _ => {}
        }
    }
    for (id, object) in &mut document.objects {
        below(*id, object, 0, change);
    }
}

/// The name that `dictionary` has at `key`, if it is one.
pub(super) fn name<'a>(dictionary: &'a Dictionary, key: &[u8]) -> Option<&'a [u8]> {
    dictionary.get(key).ok()?.as_name().ok()
}

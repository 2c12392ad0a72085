//! Visits every dictionary of a file, also those inside of others.

use std::collections::HashSet;

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

/// Like [`each`], for dictionaries that are changed. Lists whose keys are names that the file chooses, such
/// as the fonts of resources, are left out: only what is in them is visited.
pub(super) fn each_mut(document: &mut Document, change: &mut dyn FnMut(ObjectId, &mut Dictionary)) {
    let mut lists = HashSet::new();
    each(document, &mut |_, dictionary| {
        for key in LISTS {
            lists.extend(dictionary.get(key).and_then(Object::as_reference));
        }
        if let Ok(Object::Dictionary(looks)) = dictionary.get(b"AP") {
            lists.extend(looks.iter().filter_map(|(_, it)| it.as_reference().ok()));
        }
    });
    for (id, object) in &mut document.objects {
        let role = match lists.contains(id) {
            true => Role::List,
            false => Role::Other,
        };
        below(*id, object, role, 0, change);
    }
}

/// Keys of lists whose keys are names that the file chooses.
const LISTS: [&[u8]; 11] = [
    b"CharProcs",
    b"ClassMap",
    b"Colorants",
    b"ColorSpace",
    b"Dests",
    b"ExtGState",
    b"Font",
    b"Pattern",
    b"Properties",
    b"RoleMap",
    b"XObject",
];

/// What a dictionary is by where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A list by names that the file chooses.
    List,
    /// Appearances, each of which may be a list by states.
    Looks,
    Other,
}

fn below(
    id: ObjectId,
    object: &mut Object,
    role: Role,
    depth: usize,
    change: &mut dyn FnMut(ObjectId, &mut Dictionary),
) {
    if depth > MAX_DEPTH {
        return;
    }
    let entries = match object {
        Object::Array(items) => {
            for item in items {
                below(id, item, Role::Other, depth + 1, change);
            }
            return;
        }
        Object::Dictionary(entries) => entries,
        Object::Stream(stream) => &mut stream.dict,
        _ => return,
    };
    if role != Role::List {
        change(id, entries);
    }
    for (key, value) in entries.iter_mut() {
        let role = match role {
            Role::Looks => Role::List,
            Role::Other if key == b"AP" => Role::Looks,
            Role::Other if LISTS.contains(&key.as_slice()) => Role::List,
            _ => Role::Other,
        };
        below(id, value, role, depth + 1, change);
    }
}

/// The name that `dictionary` has at `key`, if it is one.
pub(super) fn name<'a>(dictionary: &'a Dictionary, key: &[u8]) -> Option<&'a [u8]> {
    dictionary.get(key).ok()?.as_name().ok()
}

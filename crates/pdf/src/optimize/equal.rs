//! Equal objects become one.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use lopdf::{Dictionary, Document, Object, ObjectId};

/// Objects that refer to equal ones become equal in the next round.
const MAX_ROUNDS: usize = 6;
/// Objects of one hash that are compared with each other.
const MAX_COMPARED: usize = 16;
/// Kinds of dictionaries that are nothing but their content (9.6 to 9.8, 8.4.5).
const VALUES: [&[u8]; 4] = [b"Font", b"FontDescriptor", b"ExtGState", b"Encoding"];
/// Entries of resource dictionaries (7.8.3).
const RESOURCES: [&[u8]; 8] = [
    b"ExtGState",
    b"ColorSpace",
    b"Pattern",
    b"Shading",
    b"XObject",
    b"Font",
    b"ProcSet",
    b"Properties",
];

/// Joins equal streams, fonts, graphics states, resources and plain arrays. Objects that are more
/// than their content (pages, annotations, layers, elements of the structure) stay apart.
pub(super) fn join(document: &mut Document, checkpoint: &dyn Fn()) {
    let kept: HashSet<ObjectId> = (document.trailer.iter())
        .filter_map(|(_, value)| value.as_reference().ok())
        .collect();
    for _ in 0..MAX_ROUNDS {
        checkpoint();
        let mut places: HashMap<u64, Vec<ObjectId>> = HashMap::new();
        let mut joined: HashMap<ObjectId, ObjectId> = HashMap::new();
        for (id, object) in &document.objects {
            if !is_value(object) || kept.contains(id) {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            hash(object, &mut hasher);
            let same = places.entry(hasher.finish()).or_default();
            let first = same
                .iter()
                .find(|other| document.objects.get(other) == Some(object));
            match first {
                Some(first) => {
                    joined.insert(*id, *first);
                }
                None if same.len() < MAX_COMPARED => same.push(*id),
                None => {}
            }
        }
        if joined.is_empty() {
            return;
        }
        for id in joined.keys() {
            document.objects.remove(id);
        }
        for object in document.objects.values_mut() {
            point(object, &joined);
        }
    }
}

fn is_value(object: &Object) -> bool {
    match object {
        Object::Stream(stream) => {
            !stream.dict.has(b"StructParent") && !stream.dict.has(b"StructParents")
        }
        Object::Dictionary(dictionary) => {
            let kind = dictionary.get(b"Type").and_then(Object::as_name).ok();
            match kind {
                Some(kind) => VALUES.contains(&kind),
                None => is_resources(dictionary),
            }
        }
        Object::Array(list) => match list.first() {
            // A color space, or numbers: widths, areas, matrices.
            Some(Object::Name(_)) => true,
            _ => list
                .iter()
                .all(|it| matches!(it, Object::Integer(_) | Object::Real(_))),
        },
        _ => false,
    }
}

fn is_resources(dictionary: &Dictionary) -> bool {
    !dictionary.is_empty()
        && dictionary
            .iter()
            .all(|(key, _)| RESOURCES.contains(&key.as_slice()))
}

/// Equal objects have equal hashes: the order of entries does not count.
fn hash(object: &Object, hasher: &mut DefaultHasher) {
    std::mem::discriminant(object).hash(hasher);
    match object {
        Object::Null => {}
        Object::Boolean(truth) => truth.hash(hasher),
        Object::Integer(number) => number.hash(hasher),
        // Positive and negative zero are equal.
        Object::Real(number) => (number + 0.0).to_bits().hash(hasher),
        Object::Name(bytes) | Object::String(bytes, _) => bytes.hash(hasher),
        Object::Array(list) => list.iter().for_each(|it| hash(it, hasher)),
        Object::Dictionary(dictionary) => hash_entries(dictionary, hasher),
        Object::Stream(stream) => {
            hash_entries(&stream.dict, hasher);
            stream.content.hash(hasher);
        }
        Object::Reference(id) => id.hash(hasher),
    }
}

fn hash_entries(dictionary: &Dictionary, hasher: &mut DefaultHasher) {
    let mut sum = dictionary.len() as u64;
    for (key, value) in dictionary {
        let mut own = DefaultHasher::new();
        key.hash(&mut own);
        hash(value, &mut own);
        sum = sum.wrapping_add(own.finish());
    }
    sum.hash(hasher);
}

/// Points references at the object that is kept.
fn point(object: &mut Object, joined: &HashMap<ObjectId, ObjectId>) {
    match object {
        Object::Reference(id) => {
            if let Some(kept) = joined.get(id) {
                *id = *kept;
            }
        }
        Object::Array(list) => list.iter_mut().for_each(|it| point(it, joined)),
        Object::Dictionary(dictionary) => {
            (dictionary.iter_mut()).for_each(|(_, value)| point(value, joined));
        }
        Object::Stream(stream) => {
            (stream.dict.iter_mut()).for_each(|(_, value)| point(value, joined));
        }
        _ => {}
    }
}

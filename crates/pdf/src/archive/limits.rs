//! Limits of numbers, texts and names in archival files (ISO 19005-2, 6.1.8 and 6.1.13).

use lopdf::{Document, Object};

use super::{
    dictionaries::{each, name},
    once::Once,
};
use crate::open::array;

/// Maximum size of a text, in bytes.
const MAX_TEXT: usize = 32_767;
/// Maximum size of a name, in bytes.
const MAX_NAME: usize = 127;
/// Maximum depth of objects inside of each other.
const MAX_DEPTH: usize = 100;

/// The rule that `object`, or one inside of it, breaks.
pub(super) fn problem(object: &Object, depth: usize) -> Option<&'static str> {
    let below = |object: &Object| match depth < MAX_DEPTH {
        true => problem(object, depth + 1),
        false => None,
    };
    let key = |key: &[u8]| (key.len() > MAX_NAME).then_some(LONG_NAME);
    match object {
        Object::Integer(number) => i32::try_from(*number)
            .is_err()
            .then_some("it has an integer of more than 32 bits (6.1.13)"),
        Object::Real(number) => {
            let is_fine = *number == 0.0 || number.is_normal();
            (!is_fine).then_some("it has a number that is too large or too near to zero (6.1.13)")
        }
        Object::String(text, _) => {
            (text.len() > MAX_TEXT).then_some("it has a text of more than 32,767 bytes (6.1.13)")
        }
        Object::Name(name) => key(name),
        Object::Array(items) => items.iter().find_map(below),
        Object::Dictionary(entries) => entries
            .iter()
            .find_map(|(name, it)| key(name).or_else(|| below(it))),
        Object::Stream(stream) => stream
            .dict
            .iter()
            .find_map(|(name, it)| key(name).or_else(|| below(it))),
        _ => None,
    }
}

const LONG_NAME: &str = "it has a name of more than 127 bytes (6.1.13)";

/// Checks all objects.
pub(super) fn check(document: &Document, reasons: &mut Vec<String>) {
    let mut found: Vec<&str> = document
        .objects
        .values()
        .filter_map(|object| problem(object, 0))
        .collect();
    found.sort_unstable();
    found.dedup();
    reasons.extend(found.into_iter().map(str::to_owned));
    let mut is_text = true;
    let mut once = Once::default();
    let mut look = |name: &[u8]| is_text &= std::str::from_utf8(name).is_ok();
    each(document, &mut |_, dictionary| {
        for key in [&b"BaseFont"[..], b"FontName"] {
            look(name(dictionary, key).unwrap_or_default());
        }
        if let Some(roles) = once.follow(document, dictionary, b"RoleMap") {
            for (from, to) in roles {
                look(from);
                look(to.as_name().unwrap_or_default());
            }
        }
        for (_, entry) in dictionary {
            let items = array(document, Some(entry));
            if let Some(Object::Name(kind)) = items.first()
                && kind == b"Separation"
            {
                look(
                    items[1..]
                        .first()
                        .and_then(|it| it.as_name().ok())
                        .unwrap_or_default(),
                );
            }
        }
    });
    if !is_text {
        reasons.push("a name is not in UTF-8 (6.1.8)".to_owned());
    }
}

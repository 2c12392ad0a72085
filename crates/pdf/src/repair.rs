//! Files whose table of objects is damaged (7.5.4): what is wrong with them, and files that are whole
//! again, of the objects that a scan finds.

use lopdf::Document;

use crate::{
    Error, Limits,
    open::{open, save},
    table::{END_BYTES, wrong_entries},
};

/// What is wrong with the table of a file, as far as can be told without its objects; `None` if
/// nothing is. Encrypted files are not judged.
pub(crate) fn damage(bytes: &[u8]) -> Option<&'static str> {
    // Positions count from the header (annex H.3).
    let begin = bytes
        .windows(5)
        .take(END_BYTES)
        .position(|it| it == b"%PDF-")?;
    let bytes = &bytes[begin..];
    if let Some(wrong) = wrong_entries(bytes) {
        return Some(wrong);
    }
    match Document::load_metadata_mem(bytes) {
        Ok(read) if read.encrypted => None,
        Ok(read) if read.xref_recovery.is_some() => {
            Some("its table of objects is not where the file says")
        }
        Ok(_) => None,
        Err(_) => Some("its table of objects cannot be read"),
    }
}

/// A damaged file that is whole again, and what was wrong with it; `None` if nothing is.
///
/// # Errors
/// Nothing can be made of it.
pub fn repair(bytes: &[u8], limits: &Limits) -> Result<Option<(Vec<u8>, String)>, Error> {
    let Some(problem) = damage(bytes) else {
        return Ok(None);
    };
    let mut document = open(bytes, limits)?;
    let lost = lost(&document);
    let problem = match lost {
        0 => problem.to_owned(),
        _ => format!("{problem}; {lost} objects that it refers to are lost"),
    };
    Ok(Some((save(&mut document, true)?, problem)))
}

/// Number of objects that others refer to and that are not there.
fn lost(document: &Document) -> usize {
    let mut missing = std::collections::HashSet::new();
    let mut waiting: Vec<&lopdf::Object> = document.objects.values().collect();
    // Each object is looked at once; their depth is bounded by the parser.
    while let Some(object) = waiting.pop() {
        match object {
            lopdf::Object::Reference(id) if !document.objects.contains_key(id) => {
                missing.insert(*id);
            }
            lopdf::Object::Array(list) => waiting.extend(list),
            lopdf::Object::Dictionary(entries) => waiting.extend(entries.iter().map(|it| it.1)),
            lopdf::Object::Stream(stream) => waiting.extend(stream.dict.iter().map(|it| it.1)),
            _ => {}
        }
    }
    missing.len()
}

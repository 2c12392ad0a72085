//! Files whose table of objects is damaged (7.5.4): what is wrong with them, and files that are whole
//! again, of the objects that a scan finds.

use std::collections::HashSet;

use lopdf::{Document, Object, ObjectId, xref::XrefEntry};

use crate::{
    Error, Limits,
    open::{open, save, value},
    table::{END_BYTES, points_at, wrong_entries},
};

/// Objects that the parser left out and that are looked at. Streams of objects are among them: one for
/// hundreds of objects.
const MAX_MISSING: usize = 100_000;
/// The type of a stream of objects stands within so many bytes of its start.
const CONTAINER_BYTES: usize = 512;

/// Where the header of a file is, from which positions count (annex H.3).
fn header(bytes: &[u8]) -> Option<usize> {
    let mut heads = bytes.windows(5).take(END_BYTES);
    heads.position(|it| it == b"%PDF-")
}

/// What is wrong with the table of a file, as far as can be told without its objects; `None` if
/// nothing is. Encrypted files are not judged.
pub(crate) fn damage(bytes: &[u8]) -> Option<&'static str> {
    let bytes = &bytes[header(bytes)?..];
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
    let problem = match lost(&document).len() {
        0 => problem.to_owned(),
        lost => format!("{problem}; {lost} objects that it refers to are lost"),
    };
    Ok(Some((save(&mut document, true)?, problem)))
}

/// Whether objects are missing that do not stand where the table says, as where it is not in its place
/// itself and counts from another.
pub(crate) fn misses_objects(document: &Document, bytes: &[u8]) -> bool {
    // Positions count from the header, or from the start of the file.
    let begin = header(bytes).unwrap_or_default();
    let mut entries = document.reference_table.entries.iter();
    entries.any(|(number, entry)| match entry {
        XrefEntry::Normal { offset, generation } => {
            let points = |bytes| points_at(bytes, *offset as usize, *number as usize);
            let is_there = || document.objects.contains_key(&(*number, *generation));
            !points(bytes) && !points(&bytes[begin..]) && !is_there()
        }
        _ => false,
    })
}

/// Whether the table says of an object that it is at the start of the file, where none is. The parser
/// takes the first object of the file for it, also where a later one of the same number replaced that.
pub(crate) fn has_zero_offsets(document: &Document) -> bool {
    let mut entries = document.reference_table.entries.values();
    entries.any(|entry| matches!(entry, XrefEntry::Normal { offset: 0, .. }))
}

/// A file whose tables say of such objects that they are free, as readers take it.
pub(crate) fn without_zero_offsets(bytes: &[u8]) -> Vec<u8> {
    const ENTRY: &[u8] = b"0000000000 00000 n";
    let mut made = bytes.to_vec();
    let mut from = 0;
    while let Some(at) = made[from..].windows(ENTRY.len()).position(|it| it == ENTRY) {
        from += at + ENTRY.len();
        made[from - 1] = b'f';
    }
    made
}

/// The number of an object that stands where the table says, and that the parser left out as it
/// could not read it. Others must refer to it: nobody misses the rest.
pub(crate) fn unreadable(document: &Document, bytes: &[u8]) -> Option<u32> {
    // Where something stands before the header, positions are not those of the file.
    if !bytes.starts_with(b"%PDF-") {
        return None;
    }
    let is_missing = |number: u32| {
        let ids = (number, 0)..=(number, u16::MAX);
        document.objects.range(ids).next().is_none()
    };
    let entries = document.reference_table.entries.iter();
    let broken: Vec<u32> = entries
        .filter_map(|(number, entry)| match entry {
            XrefEntry::Normal { offset, .. } => Some((*number, *offset as usize)),
            _ => None,
        })
        .filter(|(number, _)| is_missing(*number))
        .take(MAX_MISSING)
        .filter(|(number, offset)| {
            points_at(bytes, *offset, *number as usize)
                && !is_container(&bytes[*offset..])
                && !is_empty(&bytes[*offset..])
        })
        .map(|(number, _)| number)
        .collect();
    if broken.is_empty() {
        return None;
    }
    let lost: HashSet<u32> = lost(document).iter().map(|(number, _)| *number).collect();
    broken.into_iter().find(|number| lost.contains(number))
}

/// Finds the data of streams whose dictionary does not say how long they are, which the parser leaves
/// empty: up to `endstream`, as other readers do. Returns the number of one without an end.
pub(crate) fn find_streams(document: &mut Document, bytes: &[u8]) -> Option<u32> {
    let has_no_length = |object: &Object| match object {
        Object::Stream(stream) => {
            let length = value(document, &stream.dict, b"Length");
            stream.content.is_empty() && length.is_none_or(|length| length.as_i64().is_err())
        }
        _ => false,
    };
    let objects = document.objects.iter();
    let ids: Vec<ObjectId> = objects
        .filter(|(_, object)| has_no_length(object))
        .map(|(id, _)| *id)
        .collect();
    let bytes = &bytes[header(bytes).unwrap_or_default()..];
    // Twice the file: objects without an end would be looked through again and again.
    let mut left = bytes.len().saturating_mul(2);
    for id in ids {
        let offset = match document.reference_table.get(id.0) {
            Some(XrefEntry::Normal { offset, .. }) => *offset as usize,
            _ => return Some(id.0),
        };
        let object = bytes.get(offset..).unwrap_or_default();
        let found = stream_data(&object[..object.len().min(left)]);
        // What was encrypted has been decrypted by now; these data are not.
        let is_sound = !document.was_encrypted() && points_at(bytes, offset, id.0 as usize);
        match (found, document.objects.get_mut(&id)) {
            (Some((data, used)), Some(Object::Stream(stream))) if is_sound => {
                left -= used;
                stream.set_content(data.to_vec());
            }
            _ => return Some(id.0),
        }
    }
    None
}

/// The data of the stream that `object` is, and where they end.
fn stream_data(object: &[u8]) -> Option<(&[u8], usize)> {
    let find = |text: &[u8], from: usize| {
        let place = object[from..].windows(text.len()).position(|it| it == text);
        Some(from + place?)
    };
    let key = find(b"stream", 0)? + b"stream".len();
    let start = match object.get(key..)? {
        [b'\r', b'\n', ..] => key + 2,
        [b'\r' | b'\n', ..] => key + 1,
        _ => key,
    };
    let end = find(b"endstream", start)?;
    let data = &object[start..end];
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    Some((data.strip_suffix(b"\r").unwrap_or(data), end))
}

/// Whether an object may be a stream of objects or a table, which the parser has taken apart.
fn is_container(object: &[u8]) -> bool {
    let head = &object[..object.len().min(CONTAINER_BYTES)];
    let names = |name: &[u8]| head.windows(name.len()).any(|it| it == name);
    names(b"ObjStm") || names(b"XRef")
}

/// Whether an object has no value, which readers take for null.
fn is_empty(object: &[u8]) -> bool {
    let head = &object[..object.len().min(CONTAINER_BYTES)];
    let key = head.windows(3).position(|it| it == b"obj");
    key.is_some_and(|at| head[at + 3..].trim_ascii_start().starts_with(b"endobj"))
}

/// Objects that others refer to and that are not there.
fn lost(document: &Document) -> HashSet<ObjectId> {
    let mut missing = HashSet::new();
    // A table names what is no part of the document, such as how it was encrypted.
    let is_table = |object: &Object| match object {
        Object::Stream(stream) => stream.dict.has_type(b"XRef"),
        _ => false,
    };
    let objects = document.objects.values();
    let mut waiting: Vec<&Object> = objects.filter(|object| !is_table(object)).collect();
    // Each object is looked at once; their depth is bounded by the parser.
    while let Some(object) = waiting.pop() {
        match object {
            Object::Reference(id) if !document.objects.contains_key(id) => {
                missing.insert(*id);
            }
            Object::Array(list) => waiting.extend(list),
            Object::Dictionary(entries) => waiting.extend(entries.iter().map(|it| it.1)),
            Object::Stream(stream) => waiting.extend(stream.dict.iter().map(|it| it.1)),
            _ => {}
        }
    }
    missing
}

//! Reads files within limits, and writes them.

use std::collections::HashSet;

use lopdf::{Document, LoadOptions, Object, ObjectId, xref::XrefRecovery};

use crate::{
    Error,
    repair::{find_streams, has_zero_offsets, misses_objects, unreadable, without_zero_offsets},
    table::wrong_entries,
    write::{compact, plain},
};

/// Limits of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a file, in bytes.
    pub size_bytes: usize,
    /// Maximum size of all object streams of a file after decompression, in bytes.
    pub unpacked_bytes: usize,
    /// Maximum number of objects.
    pub objects: usize,
    /// Maximum number of pages.
    pub pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            size_bytes: 256 << 20,
            unpacked_bytes: 128 << 20,
            objects: 2_000_000,
            pages: 50_000,
        }
    }
}

/// The header may begin within this many bytes (PDF Reference 1.7, appendix H.3, note 13).
const HEADER_BYTES: usize = 1_024;

/// Parses a file within `limits`; rejects encrypted files. A file whose table of objects is damaged
/// is of the objects that a scan finds, as other programs read it.
pub(crate) fn open(bytes: &[u8], limits: &Limits) -> Result<Document, Error> {
    open_with(bytes, limits, false)
}

/// Like [`open`], but takes the file as it is: rejects a damaged table of objects.
pub(crate) fn open_whole(bytes: &[u8], limits: &Limits) -> Result<Document, Error> {
    let document = open_with(bytes, limits, true)?;
    match document.xref_recovery == Some(XrefRecovery::Reconstructed) {
        true => Err(Error::Malformed("its table of objects cannot be read")),
        false => Ok(document),
    }
}

fn open_with(bytes: &[u8], limits: &Limits, as_is: bool) -> Result<Document, Error> {
    let document = parse(bytes, limits, None, as_is)?;
    if document.is_encrypted() || document.was_encrypted() {
        return Err(Error::Encrypted);
    }
    sound(document, limits)
}

/// Maximum number of filters of a stream, and of what one of them needs.
const MAX_FILTERS: usize = 16;

/// Parses a file within `limits`, decrypted with `password`. Returns whether it was encrypted.
pub(crate) fn with_password(
    bytes: &[u8],
    limits: &Limits,
    password: &str,
) -> Result<(Document, bool), Error> {
    let document = match parse(bytes, limits, Some(password), false) {
        Err(Error::Encrypted) => return Err(Error::BadPassword("does not open the file")),
        parsed => parsed?,
    };
    if document.is_encrypted() {
        return Err(Error::Encrypted);
    }
    let was_encrypted = document.was_encrypted();
    Ok((sound(document, limits)?, was_encrypted))
}

fn parse(
    bytes: &[u8],
    limits: &Limits,
    password: Option<&str>,
    as_is: bool,
) -> Result<Document, Error> {
    let head = &bytes[..bytes.len().min(HEADER_BYTES)];
    if !head.windows(5).any(|it| it == b"%PDF-") {
        return Err(Error::NotPdf);
    }
    within("bytes", bytes.len(), limits.size_bytes)?;
    // The parser limits each object stream on its own, so the total limit is divided among them.
    let streams = object_streams(bytes).max(1);
    let load = |bytes: &[u8], force_reconstruct| {
        let options = LoadOptions {
            max_decompressed_size: Some(limits.unpacked_bytes / streams),
            password: password.map(str::to_owned),
            force_reconstruct,
            ..LoadOptions::default()
        };
        Document::load_mem_with_options(bytes, options)
    };
    // Objects would be missing without anyone noticing.
    let mut loaded = load(bytes, !as_is && has_wrong_entries(bytes));
    if let Ok(document) = &loaded
        && document.xref_recovery == Some(XrefRecovery::OffsetCorrected)
        && misses_objects(document, bytes)
    {
        if as_is {
            let message = "its table of objects points at other places";
            return Err(Error::Malformed(message));
        }
        loaded = load(bytes, true);
    }
    if let Ok(document) = &loaded
        && has_zero_offsets(document)
    {
        loaded = load(&without_zero_offsets(bytes), false);
    }
    match loaded {
        Ok(mut document) => {
            let lost = unreadable(&document, bytes);
            match lost.or_else(|| find_streams(&mut document, bytes)) {
                Some(number) => Err(Error::Unreadable(number)),
                None => Ok(document),
            }
        }
        Err(lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_)) => Err(Error::Encrypted),
        Err(error) => Err(error.into()),
    }
}

/// A parsed file whose objects are all there, and not too many.
fn sound(mut document: Document, limits: &Limits) -> Result<Document, Error> {
    within("objects", document.objects.len(), limits.objects)?;
    name_filters(&mut document);
    let pages = document.page_iter().take(limits.pages + 1).count();
    within("pages", pages, limits.pages)?;
    if pages == 0 {
        return Err(Error::Malformed(match document.xref_recovery {
            Some(_) => "its table of objects cannot be read, and no pages are found without it",
            None => "it has no pages",
        }));
    }
    Ok(document)
}

/// Puts the names of filters, and what they need, into the streams that only refer to them: those who
/// unpack streams do not follow references.
fn name_filters(document: &mut Document) {
    let plain = |object: &Object| match resolve(document, object) {
        Some(Object::Array(_) | Object::Dictionary(_) | Object::Stream(_)) => object.clone(),
        Some(plain) => plain.clone(),
        None => Object::Null,
    };
    let entries = |object: &Object| match resolve(document, object) {
        Some(Object::Dictionary(entries)) => {
            let entries = entries.iter().take(MAX_FILTERS);
            Object::Dictionary(entries.map(|(key, it)| (key.clone(), plain(it))).collect())
        }
        _ => plain(object),
    };
    let all = |object: &Object| match resolve(document, object) {
        Some(Object::Array(list)) => {
            Object::Array(list.iter().take(MAX_FILTERS).map(entries).collect())
        }
        _ => entries(object),
    };
    let mut named = Vec::new();
    for (id, object) in &document.objects {
        let Object::Stream(stream) = object else {
            continue;
        };
        for key in [&b"Filter"[..], b"DecodeParms"] {
            let entry = stream.dict.get(key).ok().filter(|it| is_referred(it));
            named.extend(entry.map(|entry| (*id, key, all(entry))));
        }
    }
    for (id, key, entry) in named {
        if let Some(Object::Stream(stream)) = document.objects.get_mut(&id) {
            stream.dict.set(key, entry);
        }
    }
}

/// Whether an entry of a filter is a reference, or has one in it.
fn is_referred(object: &Object) -> bool {
    let is_one = |object: &Object| match object {
        Object::Reference(_) => true,
        Object::Dictionary(entries) => {
            let mut values = entries.iter().take(MAX_FILTERS).map(|(_, it)| it);
            values.any(|it| matches!(it, Object::Reference(_)))
        }
        _ => false,
    };
    match object {
        Object::Array(list) => list.iter().take(MAX_FILTERS).any(is_one),
        one => is_one(one),
    }
}

/// Whether the table of objects points at other places. It is the usual one if it begins at the header.
fn has_wrong_entries(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-") && wrong_entries(bytes).is_some()
}

fn within(what: &'static str, count: usize, most: usize) -> Result<(), Error> {
    if count > most {
        return Err(Error::TooLarge { what, count, most });
    }
    Ok(())
}

/// Upper bound for the number of object streams: how often the name `ObjStm` occurs in the file, in
/// any notation (7.3.5).
fn object_streams(bytes: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'/', &bytes[at..]) {
        at += next + 1;
        if is_object_stream(&bytes[at..]) {
            count += 1;
        }
    }
    count
}

fn is_object_stream(mut name: &[u8]) -> bool {
    for expected in b"ObjStm" {
        let (byte, length) = match *name {
            [b'#', high, low, ..] => {
                let digits = [high, low];
                let text = std::str::from_utf8(&digits).unwrap_or_default();
                match u8::from_str_radix(text, 16) {
                    Ok(byte) => (byte, 3),
                    Err(_) => return false,
                }
            }
            [byte, ..] => (byte, 1),
            [] => return false,
        };
        if byte != *expected {
            return false;
        }
        name = &name[length..];
    }
    true
}

/// Compression of what is written: no effort is spared where files are to be small.
pub(crate) const LEVEL: u32 = 6;

/// Serializes a file, with its objects compressed if `modern`, and takes its objects.
pub(crate) fn save(document: &mut Document, modern: bool) -> Result<Vec<u8>, Error> {
    match modern {
        true => compact(document, LEVEL),
        false => Ok(plain(document)),
    }
}

/// Follows references to the object itself.
pub(crate) fn resolve<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Object> {
    document.dereference(object).ok().map(|(_, object)| object)
}

/// A dictionary, direct or referenced.
pub(crate) fn dictionary<'a>(
    document: &'a Document,
    object: &'a Object,
) -> Option<&'a lopdf::Dictionary> {
    resolve(document, object)?.as_dict().ok()
}

/// An array, direct or referenced; empty if there is none.
pub(crate) fn array<'a>(document: &'a Document, object: Option<&'a Object>) -> &'a [Object] {
    object
        .and_then(|object| resolve(document, object)?.as_array().ok())
        .map_or(&[], Vec::as_slice)
}

/// The interactive form of a file.
pub(crate) fn form(document: &Document) -> Option<&lopdf::Dictionary> {
    let catalog = document.catalog().ok()?;
    value(document, catalog, b"AcroForm")?.as_dict().ok()
}

/// The value of a key, direct or referenced.
pub(crate) fn value<'a>(
    document: &'a Document,
    dictionary: &'a lopdf::Dictionary,
    key: &[u8],
) -> Option<&'a Object> {
    resolve(document, dictionary.get(key).ok()?)
}

/// The object id that a key refers to.
pub(crate) fn reference(dictionary: &lopdf::Dictionary, key: &[u8]) -> Option<ObjectId> {
    dictionary.get(key).ok()?.as_reference().ok()
}

/// The objects that anything leads to.
pub(crate) fn reached(document: &Document) -> HashSet<ObjectId> {
    let mut reached = HashSet::new();
    let mut waiting = Vec::new();
    for (_, object) in &document.trailer {
        references(object, &mut waiting);
    }
    while let Some(id) = waiting.pop() {
        if reached.insert(id)
            && let Some(object) = document.objects.get(&id)
        {
            references(object, &mut waiting);
        }
    }
    reached
}

fn references(object: &Object, found: &mut Vec<ObjectId>) {
    match object {
        Object::Reference(id) => found.push(*id),
        Object::Array(list) => list.iter().for_each(|it| references(it, found)),
        Object::Dictionary(entries) => entries.iter().for_each(|(_, it)| references(it, found)),
        Object::Stream(stream) => stream.dict.iter().for_each(|(_, it)| references(it, found)),
        _ => {}
    }
}

/// The filters of a stream, in the order in which they are undone; `None` if they cannot be read.
pub(crate) fn filters(document: &Document, stream: &lopdf::Stream) -> Option<Vec<Vec<u8>>> {
    let name = |object: &Object| {
        let name = resolve(document, object)?.as_name().ok()?;
        Some(name.to_vec())
    };
    let Ok(filter) = stream.dict.get(b"Filter") else {
        return Some(Vec::new());
    };
    match resolve(document, filter)? {
        Object::Name(name) => Some(vec![name.clone()]),
        Object::Array(list) => list.iter().take(16).map(name).collect(),
        Object::Null => Some(Vec::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_object_streams_are_found_however_they_are_written() {
        assert_eq!(
            object_streams(b"/Type/ObjStm /Type /O#62jStm /Obj /ObjSt"),
            2
        );
        assert_eq!(object_streams(b"/ObjSt#"), 0);
    }

    #[test]
    fn what_is_no_pdf_is_told() {
        let limits = Limits::default();
        assert!(matches!(open(b"", &limits), Err(Error::NotPdf)));
        assert!(matches!(open(b"PK\x03\x04", &limits), Err(Error::NotPdf)));
        assert!(matches!(
            open(b"%PDF-1.7\n1 0 obj", &limits),
            Err(Error::Broken(_) | Error::Malformed(_))
        ));
    }
}

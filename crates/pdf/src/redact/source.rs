//! Content with its filters undone, each to its end, and coded again. Programs differ in what they make of damaged data,
//! so that nobody knows what it shows.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::taken::impossible;
use crate::{
    Error,
    flate::{deflate, inflate},
    open::{filters, resolve, value},
};

/// Maximum size of the content of a page or a form, in bytes.
pub(super) const MAX_CONTENT: usize = 32 << 20;

/// Maximum size of the streams of a page as they are coded, in bytes: they may be of little use.
const MAX_CODED: usize = 4 * MAX_CONTENT;
/// How much new content is compressed.
const LEVEL: u32 = 6;
/// Stands behind content: whoever reads it has read all that was before it.
pub(super) const END: &str = "EndOfContent";

/// Content with the word that stands behind it; `None` if it has that word.
pub(super) fn ended(content: &[u8]) -> Option<Vec<u8>> {
    let has_end = (content.windows(END.len())).any(|part| part == END.as_bytes());
    (!has_end).then(|| [content, b"\n", END.as_bytes()].concat())
}

/// The content of a stream.
pub(super) fn content_of(document: &Document, stream: &Stream) -> Result<Vec<u8>, Error> {
    undone(document, stream, MAX_CONTENT)
        .ok_or_else(|| impossible("content is damaged, too large, or coded in an unusual way"))
}

fn undone(document: &Document, stream: &Stream, most: usize) -> Option<Vec<u8>> {
    let names = filters(document, stream)?;
    let parameters = value(document, &stream.dict, b"DecodeParms");
    let mut data = stream.content.clone();
    for (index, name) in names.iter().enumerate() {
        let own = match parameters {
            None | Some(Object::Null) => None,
            Some(Object::Array(list)) => list.get(index).and_then(|it| resolve(document, it)),
            Some(one) if names.len() == 1 => Some(one),
            Some(_) => return None,
        };
        let own = match own {
            None | Some(Object::Null) => None,
            Some(Object::Dictionary(own)) => Some(own),
            Some(_) => return None,
        };
        data = one(document, name, own, data, most)?;
    }
    (data.len() <= most).then_some(data)
}

/// Undoes a filter.
fn one(
    document: &Document,
    name: &[u8],
    parameters: Option<&Dictionary>,
    data: Vec<u8>,
    most: usize,
) -> Option<Vec<u8>> {
    let predictor = parameters.and_then(|it| value(document, it, b"Predictor"));
    if predictor.is_some_and(|it| it.as_i64().ok() != Some(1)) {
        return None;
    }
    let text = data.trim_ascii_end();
    let has_end = match name {
        b"FlateDecode" => return inflate(&data, most),
        // What a decoder does not know ends the data for some, and is passed over by others.
        b"ASCII85Decode" => text.strip_suffix(b"~>").is_some_and(|text| {
            let is_known = |byte: &u8| matches!(byte, b'!'..=b'u' | b'z');
            (text.iter()).all(|byte| is_known(byte) || byte.is_ascii_whitespace())
        }),
        b"ASCIIHexDecode" => text.strip_suffix(b">").is_some_and(|text| {
            (text.iter()).all(|byte| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace())
        }),
        b"RunLengthDecode" => runs_end(&data),
        _ => false,
    };
    if !has_end {
        return None;
    }
    let mut stream = Stream::new(Dictionary::new(), data);
    stream.dict.set("Filter", Object::Name(name.to_vec()));
    stream.decompressed_content_with_limit(most).ok()
}

/// Whether runs of bytes (7.4.5) end with the mark of their end, and not within one.
fn runs_end(mut data: &[u8]) -> bool {
    loop {
        let (length, rest) = match data.split_first() {
            Some((128, _)) => return true,
            Some((length @ 0..128, rest)) => (usize::from(*length) + 1, rest),
            Some((_, rest)) => (1, rest),
            None => return false,
        };
        let Some(rest) = rest.get(length..) else {
            return false;
        };
        data = rest;
    }
}

/// A stream of new content.
pub(super) fn packed(
    mut entries: Dictionary,
    content: &[u8],
    checkpoint: &dyn Fn(),
) -> Result<Stream, Error> {
    let content = deflate(content, LEVEL, checkpoint).map_err(Error::NotWritten)?;
    entries.set("Filter", "FlateDecode");
    Ok(Stream::new(entries, content))
}

/// The streams of a page's content, at the end of references to references.
pub(super) fn streams_of(document: &Document, page: &Dictionary) -> Vec<ObjectId> {
    let id = |object: &Object| document.dereference(object).ok()?.0;
    let Ok(contents) = page.get(b"Contents") else {
        return Vec::new();
    };
    match resolve(document, contents) {
        Some(Object::Array(list)) => list.iter().filter_map(id).collect(),
        Some(_) => id(contents).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The whole content of a page: a part that cannot be read is an error here.
pub(super) fn page_content(document: &Document, page: &Dictionary) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    let mut coded = 0;
    for id in streams_of(document, page) {
        let stream = document.get_object(id)?.as_stream()?;
        coded += stream.content.len();
        content.extend(content_of(document, stream)?);
        content.push(b'\n');
        if content.len() > MAX_CONTENT || coded > MAX_CODED {
            return Err(impossible("the content of a page is too large"));
        }
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use lopdf::dictionary;

    use super::*;
    use crate::flate::deflate;

    #[test]
    fn filters_are_undone_to_their_end_or_not_at_all() {
        let document = Document::new();
        let of = |filter: Object, data: &[u8]| {
            let stream = Stream::new(dictionary! { "Filter" => filter }, data.to_vec());
            undone(&document, &stream, 100)
        };
        let name = |text: &str| Object::Name(text.into());
        let packed = deflate(b"BT ET", 6, &|| {}).expect("data");
        assert_eq!(
            of(name("FlateDecode"), &packed).as_deref(),
            Some(&b"BT ET"[..])
        );
        assert_eq!(of(name("FlateDecode"), &packed[..packed.len() - 3]), None);
        assert_eq!(
            of(name("ASCIIHexDecode"), b"4254 >").as_deref(),
            Some(&b"BT"[..])
        );
        assert_eq!(of(name("ASCIIHexDecode"), b"4254"), None);
        assert_eq!(of(name("ASCII85Decode"), b"6<#'"), None);
        assert_eq!(of(name("ASCII85Decode"), b"<~6<#'~>"), None);
        assert_eq!(of(name("ASCII85Decode"), b"6<\x7f#'~>"), None);
        assert_eq!(of(name("LZWDecode"), b"6<#'"), None);
        assert_eq!(
            of(name("RunLengthDecode"), b"\x01BT\x80").as_deref(),
            Some(&b"BT"[..])
        );
        assert_eq!(of(name("RunLengthDecode"), b"\x02BT\x80"), None);
        let both = Object::Array(vec![name("ASCIIHexDecode"), name("FlateDecode")]);
        let hex: String = packed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            of(both, format!("{hex}>").as_bytes()).as_deref(),
            Some(&b"BT ET"[..])
        );
        assert_eq!(of(name("JPXDecode"), b"q"), None);
        let long = deflate(&[b' '; 101], 6, &|| {}).expect("data");
        assert_eq!(of(name("FlateDecode"), &long), None);
    }
}

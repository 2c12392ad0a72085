//! Streams compressed anew (7.4).

use lopdf::{Document, Object, Stream};

use crate::{
    Error,
    flate::{deflate, inflate},
    open::filters,
};

/// Maximum size of a stream that is looked into, after decompression, in bytes.
const MAX_STREAM: usize = 256 << 20;
/// Filters that lose nothing, apart from `FlateDecode`.
const LOSSLESS: [&[u8]; 4] = [
    b"LZWDecode",
    b"ASCII85Decode",
    b"ASCIIHexDecode",
    b"RunLengthDecode",
];
/// Smaller data are not worth a filter.
const SMALL: usize = 40;

/// Compresses streams anew, as long as `left` bytes suffice. Streams whose filters are not known,
/// and damaged ones, stay as they are.
pub(super) fn compress(
    document: &mut Document,
    left: &mut usize,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let ids: Vec<_> = document.objects.keys().copied().collect();
    for id in ids {
        let Some(Object::Stream(stream)) = document.objects.get(&id) else {
            continue;
        };
        checkpoint();
        if stream.dict.has(b"F") || stream.content.len() > *left {
            continue;
        }
        let most = MAX_STREAM.min(*left);
        let Some(made) = smaller(document, stream, (most, left), checkpoint)? else {
            continue;
        };
        document.objects.insert(id, made.into());
    }
    Ok(())
}

/// The stream with less data, if there is a way.
fn smaller(
    document: &Document,
    stream: &Stream,
    (most, left): (usize, &mut usize),
    checkpoint: &dyn Fn(),
) -> Result<Option<Stream>, Error> {
    let filters = filters(document, stream);
    let Some(filters) = filters else {
        return Ok(None);
    };
    let names: Vec<&[u8]> = filters.iter().map(Vec::as_slice).collect();
    let (data, keeps_parameters) = match names.as_slice() {
        [] => (Some(stream.content.clone()), false),
        // Predictors stay: they are what makes pictures small.
        [b"FlateDecode"] => (inflate(&stream.content, most), true),
        all if all
            .iter()
            .all(|it| *it == b"FlateDecode" || LOSSLESS.contains(it)) =>
        {
            // Indirect parameters are not seen by the decoder.
            let is_plain = stream.dict.get(b"DecodeParms").is_err()
                || stream.dict.get(b"DecodeParms").is_ok_and(is_direct);
            let data = match is_plain {
                true => stream.decompressed_content_with_limit(most).ok(),
                false => None,
            };
            (data, false)
        }
        _ => (None, false),
    };
    let Some(data) = data else {
        return Ok(None);
    };
    *left = left.saturating_sub(data.len());
    let mut made = Stream::new(stream.dict.clone(), Vec::new());
    if !keeps_parameters {
        made.dict.remove(b"DecodeParms");
    }
    let packed = match data.len() < SMALL {
        true => data.clone(),
        false => deflate(&data, 9, checkpoint).map_err(Error::NotWritten)?,
    };
    match packed.len() < data.len() {
        true => {
            // A list of one filter has a list of parameters, which readers pass over beside a name.
            if !keeps_parameters {
                made.dict.set("Filter", "FlateDecode");
            }
            made.content = packed;
        }
        false if !keeps_parameters => {
            made.dict.remove(b"Filter");
            made.content = data;
        }
        false => return Ok(None),
    }
    made.dict.set("Length", made.content.len() as i64);
    Ok((made.content.len() < stream.content.len()).then_some(made))
}

fn is_direct(object: &Object) -> bool {
    match object {
        Object::Reference(_) => false,
        Object::Array(list) => list.iter().all(is_direct),
        Object::Dictionary(dictionary) => dictionary.iter().all(|(_, value)| is_direct(value)),
        _ => true,
    }
}

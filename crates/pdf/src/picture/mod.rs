//! Pictures in files (8.9.5): their samples, and the color spaces and filters that lead to them.

mod color;
mod jpeg;

use lopdf::{Document, Object, Stream};

pub(crate) use self::jpeg::{encode, scaled};
use self::{color::Space, jpeg::decode};
use crate::open::{filters, resolve, value};

/// Maximum number of pixels of a picture whose samples are read.
const MAX_PIXELS: usize = 100_000_000;
/// Maximum width and height of a picture, in pixels.
const MAX_SIDE: usize = 65_000;

/// Samples of a picture, of one byte each: gray, or red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Samples {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// One for gray, three for colors.
    pub(crate) channels: usize,
    pub(crate) bytes: Vec<u8>,
}

/// What a picture is coded in, once the filters that are not about pictures are undone.
pub(crate) enum Coded {
    /// Rows of samples.
    Rows(Vec<u8>),
    /// A JPEG file.
    Jpeg(Vec<u8>),
    /// A JPEG 2000 file.
    Jpeg2000(Vec<u8>),
    /// Data of a fax (CCITT Group 3 and 4).
    Fax(Vec<u8>),
    /// Another filter, which is not read.
    Other(String),
}

/// A number of a picture's dictionary.
pub(crate) fn number(document: &Document, stream: &Stream, key: &[u8]) -> Option<usize> {
    let number = value(document, &stream.dict, key)?.as_i64().ok()?;
    usize::try_from(number).ok()
}

/// Width and height of a picture, if it is not too large.
pub(crate) fn size(document: &Document, stream: &Stream) -> Option<(usize, usize)> {
    let width = number(document, stream, b"Width")?;
    let height = number(document, stream, b"Height")?;
    let is_sound = (1..=MAX_SIDE).contains(&width)
        && (1..=MAX_SIDE).contains(&height)
        && width * height <= MAX_PIXELS;
    is_sound.then_some((width, height))
}

/// The data of a picture without the filters that are not about pictures; `None` if they are
/// damaged or larger than `most` bytes.
pub(crate) fn coded(document: &Document, stream: &Stream, most: usize) -> Option<Coded> {
    let mut names = filters(document, stream)?;
    let last = match names.last().map(Vec::as_slice) {
        Some(b"DCTDecode" | b"JPXDecode" | b"CCITTFaxDecode" | b"JBIG2Decode" | b"Crypt") => {
            names.pop()
        }
        _ => None,
    };
    let data = match names.is_empty() {
        true if stream.content.len() > most => return None,
        true => stream.content.clone(),
        false => {
            let mut before = Stream::new(stream.dict.clone(), stream.content.clone());
            let all: Vec<Object> = names.into_iter().map(Object::Name).collect();
            before.dict.set("Filter", all);
            if let Some(parameters) = value(document, &stream.dict, b"DecodeParms") {
                before.dict.set("DecodeParms", direct(document, parameters));
            }
            before.decompressed_content_with_limit(most).ok()?
        }
    };
    Some(match last.as_deref() {
        None => Coded::Rows(data),
        Some(b"DCTDecode") => Coded::Jpeg(data),
        Some(b"JPXDecode") => Coded::Jpeg2000(data),
        Some(b"CCITTFaxDecode") => Coded::Fax(data),
        Some(other) => Coded::Other(String::from_utf8_lossy(other).into_owned()),
    })
}

/// Parameters of filters with their values in place, which the decoder expects.
fn direct(document: &Document, parameters: &Object) -> Object {
    let entries = |object: &Object| match resolve(document, object) {
        Some(Object::Dictionary(entries)) => {
            let mut made = lopdf::Dictionary::new();
            for (key, value) in entries {
                let value = resolve(document, value).unwrap_or(&Object::Null);
                if !matches!(value, Object::Stream(_)) {
                    made.set(key.clone(), value.clone());
                }
            }
            made.into()
        }
        _ => Object::Null,
    };
    match parameters {
        Object::Array(list) => Object::Array(list.iter().take(16).map(entries).collect()),
        one => entries(one),
    }
}

/// The samples of a picture; `None` if its coding or its colors are not read, or it is damaged.
pub(crate) fn samples(document: &Document, stream: &Stream, most: usize) -> Option<Samples> {
    let (width, height) = size(document, stream)?;
    match coded(document, stream, most)? {
        Coded::Rows(rows) => {
            let is_mask = value(document, &stream.dict, b"ImageMask")
                .is_some_and(|it| matches!(it, Object::Boolean(true)));
            let space = match is_mask {
                true => Space::Gray,
                false => Space::read(document, value(document, &stream.dict, b"ColorSpace")?, 0)?,
            };
            let bits = match is_mask {
                true => 1,
                false => number(document, stream, b"BitsPerComponent")?,
            };
            let inverted = inverted(document, stream)?;
            let bytes = space.to_samples(&rows, (width, height), bits, inverted)?;
            Some(Samples {
                width,
                height,
                channels: space.channels(),
                bytes,
            })
        }
        Coded::Jpeg(bytes) if inverted(document, stream) == Some(false) => {
            decode(&bytes, (width, height), most)
        }
        _ => None,
    }
}

/// Whether samples are inverted; `None` if they are changed in another way.
pub(crate) fn inverted(document: &Document, stream: &Stream) -> Option<bool> {
    let Some(decode) = value(document, &stream.dict, b"Decode") else {
        return Some(false);
    };
    let list = decode.as_array().ok()?;
    let list: Option<Vec<f32>> = (list.iter())
        .take(64)
        .map(|it| resolve(document, it)?.as_float().ok())
        .collect();
    let list = list?;
    let is = |low: f32, high: f32| {
        let mut pairs = list.as_chunks::<2>().0.iter();
        pairs.all(|pair| *pair == [low, high])
    };
    match () {
        () if is(0.0, 1.0) => Some(false),
        () if is(1.0, 0.0) => Some(true),
        // The usual one of a palette.
        () if list.len() == 2 && list[0] == 0.0 && [1.0, 3.0, 15.0, 255.0].contains(&list[1]) => {
            Some(false)
        }
        () => None,
    }
}

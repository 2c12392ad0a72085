//! Colour profiles say when they were made (ICC.1:2010, section 7.2), inside a compressed stream.

use std::{
    borrow::Cow,
    io::{Read, Write},
    ops::Range,
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::parse::{Object, Segment, length_reference};

/// Year, month, day, hour, minute, second of the making.
const DATE: Range<usize> = 24..36;
const MOMENT: [u8; 12] = [7, 0xbc, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0];
/// What says that this is a profile.
const SIGNATURE: Range<usize> = 36..40;
/// A checksum of the rest; zeros say that there is none.
const CHECKSUM: Range<usize> = 84..100;
/// No profile that LibreOffice writes is larger.
const MAX_BYTES: u64 = 4 << 20;

/// Sets the date of a stream that is a colour profile; its length then stands in its dictionary.
pub(super) fn fix(object: &mut Object<'_>) {
    if let Some((stream, at)) = fixed(object) {
        let length = format!(" {}", stream.len());
        object.chunks[at] = Segment::Bytes(Cow::Owned(length.into_bytes()));
        object.stream = Some(Cow::Owned(stream));
    }
}

fn fixed(object: &Object<'_>) -> Option<(Vec<u8>, usize)> {
    let stream = object.stream.as_ref()?;
    let is = |chunk: &Segment<'_>, text: &[u8]| match chunk {
        Segment::Bytes(bytes) => bytes.windows(text.len()).any(|it| it == text),
        Segment::Reference(_) => false,
    };
    // Only the stream of an ICC-based colour space says how many components it has.
    let has = |text: &[u8]| object.chunks.iter().any(|chunk| is(chunk, text));
    if !has(b"/N ") || !has(b"/FlateDecode") {
        return None;
    }
    let length_at = length_reference(object)?;
    let mut profile = Vec::new();
    let mut decoder = ZlibDecoder::new(&stream[..]).take(MAX_BYTES);
    decoder.read_to_end(&mut profile).ok()?;
    (profile.get(SIGNATURE)? == b"acsp").then_some(())?;
    profile.get_mut(CHECKSUM)?.fill(0);
    profile.get_mut(DATE)?.copy_from_slice(&MOMENT);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&profile).ok()?;
    Some((encoder.finish().ok()?, length_at))
}

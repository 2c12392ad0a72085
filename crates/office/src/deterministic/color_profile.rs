//! Removes the creation date of ICC profiles (ICC.1:2010, section 7.2), which are in compressed
//! streams.

use std::{
    io::{Read, Write},
    ops::Range,
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use platen_content::Content;

use super::parse::{Object, Segment, Stream, length_reference};

/// Creation date: year, month, day, hour, minute, second.
const DATE: Range<usize> = 24..36;
const MOMENT: [u8; 12] = [7, 0xbc, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0];
/// Profile signature.
const SIGNATURE: Range<usize> = 36..40;
/// MD5 of the rest; zeros mean none.
const CHECKSUM: Range<usize> = 84..100;
/// Maximum size of a profile, larger than any that LibreOffice writes.
const MAX_BYTES: u64 = 4 << 20;

/// Fixes the date if the stream is an ICC profile. The stream's length then moves into its
/// dictionary.
pub(super) fn fix(object: &mut Object, content: &Content) {
    if let Some((stream, at)) = fixed(object, content) {
        let length = format!(" {}", stream.len());
        object.chunks[at] = Segment::Bytes(length.into_bytes());
        object.stream = Some(Stream::New(stream));
    }
}

fn fixed(object: &Object, content: &Content) -> Option<(Vec<u8>, usize)> {
    let is = |chunk: &Segment, text: &[u8]| match chunk {
        Segment::Bytes(bytes) => bytes.windows(text.len()).any(|it| it == text),
        Segment::Reference(_) => false,
    };
    // Only streams of ICC-based color spaces have a number of components.
    let has = |text: &[u8]| object.chunks.iter().any(|chunk| is(chunk, text));
    if !has(b"/N ") || !has(b"/FlateDecode") {
        return None;
    }
    let length_at = length_reference(object)?;
    let stream = object.stream(content, MAX_BYTES)?;
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

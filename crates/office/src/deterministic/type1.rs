//! Removes `UniqueID` from Type 1 fonts (Adobe Type 1 Font Format, sections 2.5 and 7). LibreOffice
//! writes CFF fonts in this format and numbers them from a counter of the process. The number is
//! optional. It occurs in the clear part and in the encrypted part, all of whose later bytes depend
//! on it.

use std::io::{Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use platen_content::Content;

use super::{
    find,
    parse::{Object, Segment, Stream, length_reference},
};

/// Maximum size of a font, larger than any that LibreOffice writes.
const MAX_BYTES: u64 = 32 << 20;
/// Initial key of the encrypted part (section 7.1).
const KEY: u16 = 55_665;
/// Constants c1 and c2 of the encryption.
const MULTIPLIER: u16 = 52_845;
const INCREMENT: u16 = 22_719;

const NUMBER: &[u8] = b"/UniqueID ";
const CLEAR_LENGTH: &[u8] = b"/Length1 ";
const ENCRYPTED_LENGTH: &[u8] = b"/Length2 ";

/// Removes the number if the stream is a Type 1 font. The stream's lengths then move into its
/// dictionary.
pub(super) fn fix(object: &mut Object, content: &Content) {
    if let Some(fixed) = fixed(object, content) {
        let length = format!(" {}", fixed.stream.len());
        object.chunks[fixed.length_at] = Segment::Bytes(length.into_bytes());
        object.chunks[fixed.lengths_at] = Segment::Bytes(fixed.lengths);
        object.stream = Some(Stream::New(fixed.stream));
    }
}

struct Fixed {
    stream: Vec<u8>,
    /// Index of the reference to the stream's length.
    length_at: usize,
    /// Index of the segment with the lengths of the font's parts.
    lengths_at: usize,
    lengths: Vec<u8>,
}

fn fixed(object: &Object, content: &Content) -> Option<Fixed> {
    let length_at = length_reference(object)?;
    let bytes = |index: usize| match object.chunks.get(index) {
        Some(Segment::Bytes(bytes)) => Some(&**bytes),
        _ => None,
    };
    let has_lengths =
        |index: &usize| bytes(*index).is_some_and(|it| find(it, ENCRYPTED_LENGTH).is_some());
    let lengths_at = (0..object.chunks.len()).find(has_lengths)?;
    let text = bytes(lengths_at)?;
    find(text, b"/FlateDecode")?;
    let (clear_bytes, _) = number(text, CLEAR_LENGTH)?;
    let (encrypted_bytes, _) = number(text, ENCRYPTED_LENGTH)?;
    let stream = object.stream(content, MAX_BYTES)?;
    let mut font = Vec::new();
    let decoder = ZlibDecoder::new(&stream[..]);
    decoder.take(MAX_BYTES).read_to_end(&mut font).ok()?;
    font.starts_with(b"%!").then_some(())?;
    let (clear, rest) = font.split_at_checked(clear_bytes)?;
    let (encrypted, zeros) = rest.split_at_checked(encrypted_bytes)?;
    let clear = without_number(clear)?;
    let private = without_number(&decrypted(encrypted))?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    for part in [&clear[..], &encrypted_again(&private), zeros] {
        encoder.write_all(part).ok()?;
    }
    let lengths = with_number(text, ENCRYPTED_LENGTH, private.len())?;
    let lengths = with_number(&lengths, CLEAR_LENGTH, clear.len())?;
    Some(Fixed {
        stream: encoder.finish().ok()?,
        length_at,
        lengths_at,
        lengths,
    })
}

/// The number that follows a key, and its position.
fn number(text: &[u8], key: &[u8]) -> Option<(usize, std::ops::Range<usize>)> {
    let start = find(text, key)? + key.len();
    let digits = text[start..].iter().take_while(|it| it.is_ascii_digit());
    let range = start..start + digits.count();
    let number = std::str::from_utf8(&text[range.clone()]).ok()?;
    Some((number.parse().ok()?, range))
}

fn with_number(text: &[u8], key: &[u8], value: usize) -> Option<Vec<u8>> {
    let (_, range) = number(text, key)?;
    Some(
        [
            &text[..range.start],
            value.to_string().as_bytes(),
            &text[range.end..],
        ]
        .concat(),
    )
}

/// The part without the number; `None` if it has none.
fn without_number(part: &[u8]) -> Option<Vec<u8>> {
    let start = find(part, NUMBER)?;
    let (_, digits) = number(part, NUMBER)?;
    let rest = part[digits.end..].strip_prefix(b" def")?;
    let rest = rest.strip_prefix(b"\n").unwrap_or(rest);
    Some([&part[..start], rest].concat())
}

fn next(key: u16, cipher: u8) -> u16 {
    let sum = u16::from(cipher).wrapping_add(key);
    sum.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT)
}

fn decrypted(bytes: &[u8]) -> Vec<u8> {
    let mut key = KEY;
    let plain = bytes.iter().map(|cipher| {
        let plain = cipher ^ (key >> 8) as u8;
        key = next(key, *cipher);
        plain
    });
    plain.collect()
}

fn encrypted_again(bytes: &[u8]) -> Vec<u8> {
    let mut key = KEY;
    let cipher = bytes.iter().map(|plain| {
        let cipher = plain ^ (key >> 8) as u8;
        key = next(key, cipher);
        cipher
    });
    cipher.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn font(id: u32) -> (Vec<u8>, usize, usize) {
        let clear = format!(
            "%!FontType1-1.0: A\n/FontName /A def\n/UniqueID {id} def\ncurrentfile eexec\n"
        );
        let private =
            format!("....dup\n/Private 13 dict dup begin\n/UniqueID {id} def\n/Subrs\nclosefile\n");
        let encrypted = encrypted_again(private.as_bytes());
        let zeros = b"\n00000000\ncleartomark\n";
        let lengths = (clear.len(), encrypted.len());
        (
            [clear.as_bytes(), &encrypted, zeros].concat(),
            lengths.0,
            lengths.1,
        )
    }

    /// A font, and the content of the file that it is in.
    fn object(id: u32) -> (Object, Content) {
        let (font, clear, encrypted) = font(id);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&font).unwrap();
        let rest =
            format!("/Filter/FlateDecode/Length1 {clear}/Length2 {encrypted}/Length3 532>>\n");
        let stream = encoder.finish().unwrap();
        let object = Object {
            chunks: vec![
                Segment::Bytes(b"<</Length "[..].into()),
                Segment::Reference(7),
                Segment::Bytes(rest.into_bytes()),
            ],
            stream: Some(Stream::At(0..stream.len() as u64)),
        };
        (object, stream.into())
    }

    fn text(object: &Object) -> Vec<u8> {
        let chunks = object.chunks.iter().map(|chunk| match chunk {
            Segment::Bytes(bytes) => bytes.to_vec(),
            Segment::Reference(number) => format!("{number} 0 R").into_bytes(),
        });
        chunks.collect::<Vec<_>>().concat()
    }

    #[test]
    fn the_number_goes_and_the_lengths_are_right() {
        let ((mut one, first), (mut other, second)) = (object(4_100_001), object(41_000_055));
        let reference = text(&one);
        fix(&mut one, &first);
        fix(&mut other, &second);
        assert_eq!(text(&one), text(&other));
        let (Some(Stream::New(stream)), Some(Stream::New(same))) = (&one.stream, &other.stream)
        else {
            panic!("not fixed")
        };
        assert_eq!(stream, same);
        let dictionary = text(&one);
        assert_ne!(dictionary, reference);
        assert_eq!(number(&dictionary, b"/Length  ").unwrap().0, stream.len());
        let mut font = Vec::new();
        ZlibDecoder::new(&stream[..])
            .read_to_end(&mut font)
            .unwrap();
        let clear = number(&dictionary, CLEAR_LENGTH).unwrap().0;
        let encrypted = number(&dictionary, ENCRYPTED_LENGTH).unwrap().0;
        assert!(font[..clear].ends_with(b"/FontName /A def\ncurrentfile eexec\n"));
        let private = decrypted(&font[clear..clear + encrypted]);
        assert_eq!(
            private,
            b"....dup\n/Private 13 dict dup begin\n/Subrs\nclosefile\n"
        );
        assert_eq!(&font[clear + encrypted..], b"\n00000000\ncleartomark\n");
    }

    #[test]
    fn what_is_no_such_font_is_left_alone() {
        let (mut object, content) = object(5);
        let cut: Content = content.read().unwrap().slice(..20).into();
        object.stream = Some(Stream::At(0..20));
        fix(&mut object, &cut);
        assert!(matches!(object.stream, Some(Stream::At(_))));
    }
}

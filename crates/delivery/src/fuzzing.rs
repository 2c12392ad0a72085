//! Entry points for fuzz targets. Each asserts a property of a parser.

use bytes::{Bytes, BytesMut};

use crate::h1::{chunked, head};

/// Maximum number of headers of a request.
const HEADERS: usize = 100;

/// Parses a request head that arrives in two parts, cut at `cut`, and checks that its end is found
/// at the same position as in one part.
///
/// # Panics
/// The positions differ.
pub fn read_head(bytes: &[u8], cut: usize) {
    let whole = head::find_end(bytes, &mut 0);
    let mut seen = 0;
    let part = &bytes[..cut.min(bytes.len())];
    let found = match head::find_end(part, &mut seen) {
        Ok(None) => head::find_end(bytes, &mut seen),
        other => other,
    };
    match (whole, found) {
        (Ok(whole), Ok(found)) => {
            assert_eq!(whole, found);
            if let Some(end) = whole {
                let _ = head::parse(Bytes::copy_from_slice(&bytes[..end]), HEADERS);
            }
        }
        (Err(_), Err(_)) => {}
        other => panic!("a head that is cut is another: {other:?}"),
    }
}

/// Decodes a chunked body that arrives in two parts, cut at `cut`, and checks that the result is
/// the same as in one part and that input after its end is left alone.
///
/// # Panics
/// The results differ.
pub fn read_chunks(bytes: &[u8], cut: usize) {
    let whole = decode(&[bytes]);
    let (one, other) = bytes.split_at(cut.min(bytes.len()));
    assert_eq!(whole, decode(&[one, other]));
}

/// The data, whether the body has ended, and the number of bytes left after it; `None` if it is
/// malformed.
fn decode(parts: &[&[u8]]) -> Option<(Vec<u8>, bool, usize)> {
    let (mut decoder, mut input) = (chunked::Decoder::new(), BytesMut::new());
    let (mut data, mut is_over) = (Vec::new(), false);
    for part in parts {
        input.extend_from_slice(part);
        loop {
            match decoder.decode(&mut input).ok()? {
                chunked::Decoded::Data(part) => data.extend_from_slice(&part),
                chunked::Decoded::More => break,
                chunked::Decoded::End => {
                    is_over = true;
                    break;
                }
            }
        }
    }
    Some((data, is_over, input.len()))
}

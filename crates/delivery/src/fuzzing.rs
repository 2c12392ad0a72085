//! Parsers as functions of their own, for fuzz targets: what they promise is asserted.

use bytes::{Bytes, BytesMut};

use crate::h1::{chunked, head};

/// Header lines of one request.
const HEADERS: usize = 100;

/// Reads a head that comes in two parts, cut at `cut`: its end is where it is in the whole.
///
/// # Panics
/// Where it is not.
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

/// Reads a chunked body that comes in two parts, cut at `cut`: the same comes out, and what is
/// behind its end is left.
///
/// # Panics
/// Where it is not so.
pub fn read_chunks(bytes: &[u8], cut: usize) {
    let whole = decode(&[bytes]);
    let (one, other) = bytes.split_at(cut.min(bytes.len()));
    assert_eq!(whole, decode(&[one, other]));
}

/// The data, whether the end came, and how much is left behind it; nothing where it is malformed.
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

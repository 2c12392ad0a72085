//! Decodes the chunked transfer coding of request bodies (RFC 9112, section 7.1) strictly: lines
//! end with CRLF only, sizes consist of hexadecimal digits, and the extensions and trailers that it
//! skips are bounded.

use bytes::{Buf, Bytes, BytesMut};

/// Maximum size of all chunk extensions of a body, in bytes.
const MAX_EXTENSION_BYTES: usize = 4 << 10;
/// Maximum size of the trailers, in bytes.
const MAX_TRAILER_BYTES: usize = 8 << 10;
/// Maximum number of digits of a chunk size, which is then below 2^60 bytes, an exbibyte.
const MAX_DIGITS: u8 = 15;

/// The body is not valid in the chunked coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chunked body is malformed: {0}")]
pub(crate) struct Malformed(&'static str);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size { value: u64, digits: u8 },
    Extension { size: u64 },
    SizeFeed { size: u64 },
    Data { left: u64 },
    DataReturn,
    DataFeed,
    TrailerBegin,
    Trailer,
    TrailerFeed,
    LastFeed,
    Done,
}

/// Decoder of one body.
#[derive(Debug)]
pub(crate) struct Decoder {
    state: State,
    extension_bytes: usize,
    trailer_bytes: usize,
}

/// Result of a decoding step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    Data(Bytes),
    /// The decoder needs more input.
    More,
    End,
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Size {
                value: 0,
                digits: 0,
            },
            extension_bytes: 0,
            trailer_bytes: 0,
        }
    }

    /// Takes the next data from `input`.
    pub(crate) fn decode(&mut self, input: &mut BytesMut) -> Result<Decoded, Malformed> {
        loop {
            match self.state {
                State::Done => return Ok(Decoded::End),
                State::Data { left } => {
                    if input.is_empty() {
                        return Ok(Decoded::More);
                    }
                    let here = left.min(input.len() as u64);
                    self.state = if here == left {
                        State::DataReturn
                    } else {
                        State::Data { left: left - here }
                    };
                    return Ok(Decoded::Data(input.split_to(here as usize).freeze()));
                }
                _ => {
                    let Some(&byte) = input.first() else {
                        return Ok(Decoded::More);
                    };
                    self.state = self.step(byte)?;
                    input.advance(1);
                }
            }
        }
    }

    fn step(&mut self, byte: u8) -> Result<State, Malformed> {
        let state = match (self.state, byte) {
            (State::Size { value, digits }, byte) if byte.is_ascii_hexdigit() => {
                if digits == MAX_DIGITS {
                    return Err(Malformed("a size is too large"));
                }
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                State::Size {
                    value: value << 4 | digit,
                    digits: digits + 1,
                }
            }
            (State::Size { digits: 0, .. }, _) => return Err(Malformed("a size is missing")),
            (State::Size { value, .. }, b'\r') => State::SizeFeed { size: value },
            (State::Size { value, .. }, b';' | b' ' | b'\t') => State::Extension { size: value },
            (State::Size { .. }, _) => return Err(Malformed("a size is not hexadecimal")),
            (State::Extension { size }, b'\r') => State::SizeFeed { size },
            (State::Extension { .. }, byte) if byte == b'\n' || byte == 0 => {
                return Err(Malformed("an extension has an invalid character"));
            }
            (State::Extension { size }, _) => {
                self.extension_bytes += 1;
                if self.extension_bytes > MAX_EXTENSION_BYTES {
                    return Err(Malformed("its extensions are too long"));
                }
                State::Extension { size }
            }
            (State::SizeFeed { size: 0 }, b'\n') => State::TrailerBegin,
            (State::SizeFeed { size }, b'\n') => State::Data { left: size },
            (State::DataReturn, b'\r') => State::DataFeed,
            (State::DataFeed, b'\n') => State::Size {
                value: 0,
                digits: 0,
            },
            (State::TrailerBegin, b'\r') => State::LastFeed,
            (State::LastFeed, b'\n') => State::Done,
            (State::Trailer, b'\r') => State::TrailerFeed,
            (State::TrailerFeed, b'\n') => State::TrailerBegin,
            (State::TrailerBegin | State::Trailer, byte) if byte != b'\n' && byte != 0 => {
                self.trailer_bytes += 1;
                if self.trailer_bytes > MAX_TRAILER_BYTES {
                    return Err(Malformed("its trailers are too long"));
                }
                State::Trailer
            }
            _ => return Err(Malformed("a line does not end with CRLF")),
        };
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Split = Option<(Vec<u8>, Vec<u8>)>;

    /// Feeds `wire` in parts that end at `cuts`. Returns the data, and the input left after the
    /// end.
    fn decode(wire: &[u8], cuts: &[usize]) -> Result<Split, Malformed> {
        let mut decoder = Decoder::new();
        let mut input = BytesMut::new();
        let mut data = Vec::new();
        let mut begin = 0;
        let ends = cuts.iter().copied().chain([wire.len()]);
        for end in ends.map(|end| end.min(wire.len())) {
            if end > begin {
                input.extend_from_slice(&wire[begin..end]);
                begin = end;
            }
            loop {
                match decoder.decode(&mut input)? {
                    Decoded::Data(bytes) => data.extend_from_slice(&bytes),
                    Decoded::More => break,
                    Decoded::End => {
                        input.extend_from_slice(&wire[begin..]);
                        return Ok(Some((data, input.to_vec())));
                    }
                }
            }
        }
        Ok(None)
    }

    #[test]
    fn malformed_bodies_are_refused() {
        let wires: [&[u8]; 14] = [
            b"\r\n",
            b"g\r\n",
            b"+1\r\na\r\n0\r\n\r\n",
            b"0x1\r\na\r\n0\r\n\r\n",
            b"1\na\r\n0\r\n\r\n",
            b"1\r\nab\r\n0\r\n\r\n",
            b"1\r\na\n0\r\n\r\n",
            b"1\r\na\r0\r\n\r\n",
            b"1;x\n\r\na\r\n0\r\n\r\n",
            b"1;\0\r\na\r\n0\r\n\r\n",
            b"1111111111111111\r\n",
            b"-1\r\n",
            b"0\r\nname: value\n\r\n",
            b"0\r\n\n",
        ];
        for wire in wires {
            let name = String::from_utf8_lossy(wire);
            assert!(decode(wire, &[]).is_err(), "{name:?}");
        }
        let long = [b"1;".as_slice(), &[b'x'; 5_000], b"\r\na\r\n0\r\n\r\n"].concat();
        assert!(decode(&long, &[]).is_err());
        let long = [b"0\r\n".as_slice(), &[b'x'; 9_000], b"\r\n\r\n"].concat();
        assert!(decode(&long, &[]).is_err());
    }

    #[test]
    fn extensions_and_trailers_are_skipped() {
        let wire = b"2;a=b\r\nhi\r\n0\r\nx: y\r\n\r\nGET";
        let (data, rest) = decode(wire, &[]).unwrap().unwrap();
        assert_eq!(
            (data.as_slice(), rest.as_slice()),
            (&b"hi"[..], &b"GET"[..])
        );
    }

    proptest! {
        #[test]
        fn what_was_chunked_comes_back_however_it_is_cut(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 0..8),
            mut cuts in prop::collection::vec(0usize..2_000, 0..12),
            rest in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            wire.extend_from_slice(&rest);
            cuts.sort_unstable();
            let (data, left) = decode(&wire, &cuts).unwrap().unwrap();
            prop_assert_eq!(data, chunks.concat());
            prop_assert_eq!(left, rest);
        }

        #[test]
        fn the_cuts_do_not_change_the_verdict(
            wire in prop::collection::vec(prop::sample::select(b"019aF;x \r\n\0".to_vec()), 0..60),
            mut cuts in prop::collection::vec(0usize..60, 0..8),
        ) {
            cuts.sort_unstable();
            prop_assert_eq!(decode(&wire, &cuts), decode(&wire, &[]));
        }
    }
}

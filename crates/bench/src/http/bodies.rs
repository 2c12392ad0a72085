//! What is asked for: `acsi1,10,100` is arrays, chunks, strings and files ("io") of 1, 10 and 100 kB.
//! And what must come: the same bytes from everybody, but for the number of the process.

use sha2::{Digest, Sha256};

use crate::Error;

/// Bytes of a part, which a body has as many of as kilobytes.
pub(crate) const PART_BYTES: usize = 1_024;
const MAX_KILOBYTES: usize = 16 << 10;

/// How a body is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Parts, whose sum is known.
    Array,
    /// Parts, whose sum nobody knows: chunks.
    Chunk,
    /// One string.
    String,
    /// A file.
    Io,
}

impl BodyKind {
    /// In the order of the tables.
    pub const ALL: [Self; 4] = [Self::Array, Self::Chunk, Self::String, Self::Io];

    /// Letter in `Body-Conf`.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Array => 'a',
            Self::Chunk => 'c',
            Self::String => 's',
            Self::Io => 'i',
        }
    }

    /// Name in the tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Chunk => "chunk",
            Self::String => "string",
            Self::Io => "io",
        }
    }
}

/// Kinds and sizes of bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyConf {
    /// In the order of the tables.
    pub kinds: Vec<BodyKind>,
    /// In kilobytes, as they are given.
    pub kilobytes: Vec<usize>,
}

impl BodyConf {
    /// Of letters, none for all, and numbers, none for all of 002's.
    ///
    /// # Errors
    /// For other letters, and for no or too large a number.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::argument(
                format!("`{text}` is no configuration of bodies"),
                "letters of acsi, then kilobytes: acsi1,10,100,256,512,1024,2048",
            )
        };
        let digits = text.find(|it: char| it.is_ascii_digit());
        let (letters, numbers) = text.split_at(digits.unwrap_or(text.len()));
        if letters.chars().any(|it| !"acsi".contains(it)) {
            return Err(wrong());
        }
        let is_wanted = |kind: &BodyKind| letters.is_empty() || letters.contains(kind.letter());
        let kilobytes = match numbers {
            "" => Ok(vec![1, 10, 100, 256, 512, 1_024, 2_048]),
            numbers => numbers.split(',').map(str::parse::<usize>).collect(),
        };
        let kilobytes = kilobytes.map_err(|_| wrong())?;
        if kilobytes.iter().any(|it| !(1..=MAX_KILOBYTES).contains(it)) {
            return Err(wrong());
        }
        Ok(Self {
            kinds: BodyKind::ALL.into_iter().filter(is_wanted).collect(),
            kilobytes,
        })
    }
}

/// A body of so many kilobytes by a process of this number.
#[must_use]
pub(crate) fn body(process: u32, kilobytes: usize) -> Vec<u8> {
    let mut body = format!("{process}\nHello World\n").into_bytes();
    for part in 1..=kilobytes {
        body.resize(part * PART_BYTES - 1, b'-');
        body.push(b'\n');
    }
    body
}

/// The hash of a body without the number of the process that made it, and without what fills its
/// place: the same for all servers. `None` where it is no such body.
#[must_use]
pub(crate) fn hash(body: &[u8]) -> Option<String> {
    let digits = body.iter().take_while(|it| it.is_ascii_digit()).count();
    let rest = body.get(digits..)?;
    let text = rest.strip_prefix(b"\nHello World\n")?;
    let first = PART_BYTES.checked_sub(digits + 13)?;
    let (filler, others) = text.split_at_checked(first)?;
    let filler = filler.strip_suffix(b"\n")?;
    let is_filler = filler
        .strip_prefix(b"Slept ")
        .unwrap_or(filler)
        .iter()
        .all(|it| matches!(it, b'-' | b'\n' | b'.' | b'0'..=b'9'));
    (digits > 0 && is_filler).then(|| {
        let digest = Sha256::digest(others);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_as_puma_writes_them() {
        let all = BodyConf::parse("acsi1,10,100,256,512,1024,2048").unwrap();
        assert_eq!((all.kinds.len(), all.kilobytes.len()), (4, 7));
        assert_eq!(BodyConf::parse("").unwrap(), all);
        let some = BodyConf::parse("ca50,100").unwrap();
        assert_eq!(some.kinds, [BodyKind::Array, BodyKind::Chunk]);
        assert_eq!(some.kilobytes, [50, 100]);
        for wrong in ["x1", "a0", "a1,", "1a", "a99999999"] {
            assert!(BodyConf::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_hash_does_not_know_who_made_the_body() {
        let ours = body(1, 3);
        assert_eq!(ours.len(), 3 * PART_BYTES);
        assert_eq!(hash(&ours), hash(&body(4_194_304, 3)));
        assert_ne!(hash(&ours), hash(&body(1, 2)));
        let mut other = ours.clone();
        other[2_000] = b'x';
        assert_ne!(hash(&ours), hash(&other));
        assert_eq!(hash(b"<html>"), None);
        let mut wrong = ours;
        wrong[500] = b'x';
        assert_eq!(hash(&wrong), None);
    }
}

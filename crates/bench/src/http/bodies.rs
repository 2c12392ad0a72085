//! The requested bodies: `acsi1,10,100` means arrays, chunks, strings and files ("io") of 1, 10 and
//! 100 kB. And the expected ones: the same bytes from every server, except for the process id.

use sha2::{Digest, Sha256};

use crate::{Error, name::BodyKind};

/// Size of a part, in bytes; a body of n kilobytes has n parts.
pub(crate) const PART_BYTES: usize = 1_024;
const MAX_KILOBYTES: usize = 16 << 10;

/// Kinds and sizes of bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyConf {
    /// Kinds, in the order of the tables.
    pub kinds: Vec<BodyKind>,
    /// Sizes in kilobytes, in the given order.
    pub kilobytes: Vec<usize>,
}

impl BodyConf {
    /// Parses letters (none for all kinds) and numbers (none for the sizes of Puma's script).
    ///
    /// # Errors
    /// There are other letters, or a number is invalid or too large.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::argument(
                format!("`{text}` is not a body configuration"),
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

/// A body of this many kilobytes from a process with this id.
#[must_use]
pub(crate) fn body(process: u32, kilobytes: usize) -> Vec<u8> {
    let mut body = format!("{process}\nHello World\n").into_bytes();
    for part in 1..=kilobytes {
        body.resize(part * PART_BYTES - 1, b'-');
        body.push(b'\n');
    }
    body
}

/// Hash of a body without the process id and the filler that depends on its length: the same for
/// all servers. `None` if the body has another form.
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

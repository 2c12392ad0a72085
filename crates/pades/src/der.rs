//! DER (X.690), as far as signatures need it: definite lengths and tags of one byte. Reading never
//! allocates and never recurses, so what strangers send costs no more than its size.

/// Universal and context tags that occur here.
pub(crate) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const NULL: u8 = 0x05;
    pub(crate) const OID: u8 = 0x06;
    pub(crate) const ENUMERATED: u8 = 0x0a;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;
    /// Constructed `[0]`, `[1]` and so on.
    pub(crate) const CONTEXT: u8 = 0xa0;
    /// Primitive `[0]`, `[1]` and so on.
    pub(crate) const CONTEXT_PRIMITIVE: u8 = 0x80;
}

/// The bytes are not DER, or not the structure that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DerError;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    pub(crate) tag: u8,
    /// Its content.
    pub(crate) content: &'a [u8],
    /// Tag, length and content.
    pub(crate) whole: &'a [u8],
}

impl<'a> Value<'a> {
    /// Reads the values inside.
    pub(crate) fn inside(self) -> Reader<'a> {
        Reader::new(self.content)
    }

    /// The bits of a bit string of whole bytes.
    pub(crate) fn bits(self) -> Result<&'a [u8], DerError> {
        match (self.tag, self.content) {
            (tag::BIT_STRING, [0, bits @ ..]) => Ok(bits),
            _ => Err(DerError),
        }
    }
}

/// Reads values, one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The tag of the next value.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next value, of any tag.
    pub(crate) fn any(&mut self) -> Result<Value<'a>, DerError> {
        let [tag, first, ..] = *self.rest else {
            return Err(DerError);
        };
        if tag & 0x1f == 0x1f {
            return Err(DerError);
        }
        let (length, head) = match first {
            0..=0x7f => (usize::from(first), 2),
            0x81..=0x84 => {
                let count = usize::from(first & 0x7f);
                let bytes = self.rest.get(2..2 + count).ok_or(DerError)?;
                let length = bytes
                    .iter()
                    .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                (length, 2 + count)
            }
            _ => return Err(DerError),
        };
        let end = head.checked_add(length).ok_or(DerError)?;
        let whole = self.rest.get(..end).ok_or(DerError)?;
        self.rest = &self.rest[end..];
        Ok(Value {
            tag,
            content: &whole[head..],
            whole,
        })
    }

    /// The next value, which must have this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<Value<'a>, DerError> {
        match self.peek() == Some(tag) {
            true => self.any(),
            false => Err(DerError),
        }
    }

    /// The next value if it has this tag.
    pub(crate) fn optional(&mut self, tag: u8) -> Result<Option<Value<'a>>, DerError> {
        match self.peek() == Some(tag) {
            true => self.any().map(Some),
            false => Ok(None),
        }
    }

    /// The values inside the next sequence.
    pub(crate) fn sequence(&mut self) -> Result<Self, DerError> {
        Ok(self.expect(tag::SEQUENCE)?.inside())
    }
}

/// The only value in `bytes`; zeros may follow, as signatures are filled up with them (12.8.3.3.1).
pub(crate) fn only(bytes: &[u8]) -> Result<Value<'_>, DerError> {
    let mut reader = Reader::new(bytes);
    let value = reader.any()?;
    match reader.rest.iter().all(|byte| *byte == 0) {
        true => Ok(value),
        false => Err(DerError),
    }
}

/// A value with this tag, of parts that stand one after another.
pub(crate) fn value<P: AsRef<[u8]>>(tag: u8, parts: &[P]) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.as_ref().len()).sum();
    let mut made = Vec::with_capacity(length + 6);
    made.push(tag);
    if length < 0x80 {
        made.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let skipped = bytes.iter().take_while(|byte| **byte == 0).count();
        made.push(0x80 | (bytes.len() - skipped) as u8);
        made.extend_from_slice(&bytes[skipped..]);
    }
    for part in parts {
        made.extend_from_slice(part.as_ref());
    }
    made
}

/// A sequence.
pub(crate) fn sequence<P: AsRef<[u8]>>(parts: &[P]) -> Vec<u8> {
    value(tag::SEQUENCE, parts)
}

/// A set, whose parts stand in the order of their bytes (X.690, 11.6).
pub(crate) fn set(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
    parts.sort();
    value(tag::SET, &parts)
}

/// An integer from 0.
pub(crate) fn integer(bytes: &[u8]) -> Vec<u8> {
    let skipped = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[skipped..];
    match bytes.first() {
        None => value(tag::INTEGER, &[[0]]),
        Some(0x80..) => value(tag::INTEGER, &[&[0], bytes]),
        Some(_) => value(tag::INTEGER, &[bytes]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 70_000] {
            let content = vec![7; length];
            let made = value(tag::OCTET_STRING, &[&content]);
            let read = only(&made).expect("DER");
            assert_eq!((read.tag, read.content), (tag::OCTET_STRING, &content[..]));
            assert_eq!(read.whole, made);
        }
        assert_eq!(integer(&[0, 0]), [2, 1, 0]);
        assert_eq!(integer(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(integer(&[1, 2]), [2, 2, 1, 2]);
    }

    #[test]
    fn what_is_no_der_is_refused() {
        for wrong in [
            &[][..],
            &[0x30],
            &[0x30, 0x80, 0, 0],
            &[0x30, 0x81],
            &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
            &[0x30, 0x88, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x1f, 0x81, 0x01, 0],
            &[0x04, 0x01, 0x00, 0x01],
        ] {
            assert_eq!(only(wrong), Err(DerError), "{wrong:?}");
        }
        assert!(only(&[0x04, 0x01, 0x05, 0, 0]).is_ok(), "filled with zeros");
    }
}

//! Reads content from memory or by position from a shared file.

use std::{
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::FileExt,
};

use crate::Content;

/// A reader with a position of its own.
#[derive(Debug)]
pub struct Reader<'a> {
    content: &'a Content,
    offset: u64,
}

impl<'a> Reader<'a> {
    /// A reader at the start of the content.
    pub(crate) fn new(content: &'a Content) -> Self {
        Self { content, offset: 0 }
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let count = match self.content {
            Content::Held(bytes) => {
                let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
                let mut left = bytes.get(offset..).unwrap_or_default();
                left.read(chunk)?
            }
            Content::Spooled(spooled) => spooled.file().read_at(chunk, self.offset)?,
        };
        self.offset += count as u64;
        Ok(count)
    }
}

impl Seek for Reader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, distance) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(distance) => (self.offset, distance),
            SeekFrom::End(distance) => (self.content.size_bytes(), distance),
        };
        let offset = base.checked_add_signed(distance);
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn check(content: &Content) {
        let (mut one, mut two) = (content.reader(), content.reader());
        let mut chunk = [0; 3];
        one.read_exact(&mut chunk).unwrap();
        two.seek(SeekFrom::End(-2)).unwrap();
        let mut rest = String::new();
        two.read_to_string(&mut rest).unwrap();
        assert_eq!((&chunk, &*rest), (b"012", "89"));
        one.seek(SeekFrom::Current(1)).unwrap();
        one.read_exact(&mut chunk).unwrap();
        assert_eq!(&chunk, b"456");
        assert!(one.seek(SeekFrom::Current(-8)).is_err());
        one.seek(SeekFrom::Start(100)).unwrap();
        assert_eq!(
            one.read(&mut chunk).unwrap(),
            0,
            "behind the end is the end"
        );
    }

    #[test]
    fn readers_do_not_mix() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        check(&Content::of_file(file).unwrap());
        check(&Content::from(b"0123456789".to_vec()));
    }
}

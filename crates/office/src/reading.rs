//! Reads a shared file by position, because clones of a file share one offset.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::FileExt,
};

/// A reader with its own position.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    file: &'a File,
    at: u64,
}

impl<'a> Reading<'a> {
    /// Creates a reader at the start of the file.
    pub fn new(file: &'a File) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for Reading<'_> {
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(chunk, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reading<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, offset) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(offset) => (self.at, offset),
            SeekFrom::End(offset) => (self.file.metadata()?.len(), offset),
        };
        let at = base.checked_add_signed(offset);
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn two_readers_do_not_mix() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let (mut one, mut two) = (Reading::new(&file), Reading::new(&file));
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
    }
}

//! Content that goes to a bucket, from memory or from a file.

use std::{fs::File, io, io::Read, os::unix::fs::FileExt};

/// Content that can be sent more than once.
#[derive(Clone, Copy)]
pub(in crate::blobs) enum Content<'c> {
    /// In memory.
    Slices(&'c [&'c [u8]]),
    /// The first bytes of a file, of this number.
    File(&'c File, u64),
}

impl<'c> Content<'c> {
    pub(super) fn size_bytes(self) -> u64 {
        match self {
            Self::Slices(slices) => slices.iter().map(|slice| slice.len() as u64).sum(),
            Self::File(_, size_bytes) => size_bytes,
        }
    }

    /// Reads it from its beginning.
    pub(super) fn reader(self) -> ContentReader<'c> {
        ContentReader {
            content: self,
            offset: 0,
        }
    }
}

/// A reader of content.
pub(super) struct ContentReader<'c> {
    content: Content<'c>,
    offset: u64,
}

impl Read for ContentReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.content {
            Content::File(file, size_bytes) => {
                let left = usize::try_from(size_bytes - self.offset).unwrap_or(usize::MAX);
                let most = buffer.len().min(left);
                file.read_at(&mut buffer[..most], self.offset)?
            }
            Content::Slices(slices) => {
                let mut skip = self.offset as usize;
                let mut rest = slices.iter().filter_map(|slice| {
                    let part = slice.get(skip..).unwrap_or_default();
                    skip = skip.saturating_sub(slice.len());
                    (!part.is_empty()).then_some(part)
                });
                let part = rest.next().unwrap_or_default();
                let most = buffer.len().min(part.len());
                buffer[..most].copy_from_slice(&part[..most]);
                most
            }
        };
        self.offset += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn slices_and_files_are_read_alike() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one two and more").unwrap();
        let slices: &[&[u8]] = &[b"", b"one", b"", b" ", b"two"];
        for content in [Content::Slices(slices), Content::File(&file, 7)] {
            assert_eq!(content.size_bytes(), 7);
            let mut reader = content.reader();
            let mut found = Vec::new();
            let mut buffer = [0; 2];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                found.extend_from_slice(&buffer[..read]);
            }
            assert_eq!(found, b"one two");
        }
    }
}

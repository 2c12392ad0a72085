//! ZIP files from parts in memory (PKWARE APPNOTE 6.3.10). The crate `zip` compresses as a stream:
//! for each of the small parts of a package it clears the tables of a compressor for long ones,
//! which took longer than the compression (decision 26).

use std::{
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use flate2::{Compression, write::DeflateEncoder};
use libdeflater::{CompressionLvl, Compressor};

use crate::Error;

/// Parts up to this size are compressed as a whole, in bytes. Longer ones repeat themselves, at
/// which zlib is as fast, and it needs no second buffer as long as the part.
const WHOLE_BYTES: usize = 64 * 1024;
/// Level of libdeflate for parts as a whole.
const WHOLE_LEVEL: i32 = 1;
/// Level of zlib for long parts.
const STREAM_LEVEL: u32 = 2;

const LOCAL_HEADER: u32 = 0x0403_4b50;
const DIRECTORY_ENTRY: u32 = 0x0201_4b50;
const DIRECTORY_END: u32 = 0x0605_4b50;
/// The version that can read Deflate, 2.0.
const VERSION: u16 = 20;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// 1 January 1980, the first day of this format: equal parts give equal bytes.
const DATE: u16 = 0x21;

/// A part as it stands in a file.
struct Packed {
    method: u16,
    crc: u32,
    /// Length before compression.
    size: usize,
    bytes: Vec<u8>,
}

/// A ZIP file under construction.
pub(super) struct Zip {
    out: Vec<u8>,
    directory: Vec<u8>,
    entries: u16,
    compressor: Compressor,
}

impl Zip {
    /// An empty file with room for `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        let level = CompressionLvl::new(WHOLE_LEVEL).unwrap_or_default();
        Self {
            out: Vec::with_capacity(capacity),
            directory: Vec::new(),
            entries: 0,
            compressor: Compressor::new(level),
        }
    }

    /// Adds a part that is compressed already.
    ///
    /// # Errors
    /// [`Error::PackageSize`] if the file would exceed the format.
    pub fn store(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let crc = libdeflater::crc32(bytes);
        self.entry(name, STORED, crc, bytes.len(), bytes)
    }

    /// Compresses and adds a part.
    ///
    /// # Errors
    /// As [`Zip::store`]; [`Error::Compression`] if the compressor fails.
    pub fn deflate(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let packed = self.packed(bytes)?;
        self.entry(name, packed.method, packed.crc, packed.size, &packed.bytes)
    }

    /// Compresses and adds a part that other packages have alike, and keeps it for them.
    ///
    /// # Errors
    /// As [`Zip::deflate`].
    pub fn deflate_common(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let packed = match common(bytes) {
            Some(packed) => packed,
            None => keep(bytes, self.packed(bytes)?),
        };
        self.entry(name, packed.method, packed.crc, packed.size, &packed.bytes)
    }

    fn packed(&mut self, bytes: &[u8]) -> Result<Packed, Error> {
        let compressed = if bytes.len() <= WHOLE_BYTES {
            let mut out = vec![0; self.compressor.deflate_compress_bound(bytes.len())];
            // The bound is enough for any data.
            let length = self.compressor.deflate_compress(bytes, &mut out);
            out.truncate(length.unwrap_or(0));
            out
        } else {
            let room = Vec::with_capacity(bytes.len() / 16);
            let mut encoder = DeflateEncoder::new(room, Compression::new(STREAM_LEVEL));
            encoder.write_all(bytes)?;
            encoder.finish()?
        };
        Ok(Packed {
            method: DEFLATED,
            crc: libdeflater::crc32(bytes),
            size: bytes.len(),
            bytes: compressed,
        })
    }

    fn entry(
        &mut self,
        name: &str,
        method: u16,
        crc: u32,
        size: usize,
        packed: &[u8],
    ) -> Result<(), Error> {
        let offset = number(self.out.len())?;
        let mut header = Vec::with_capacity(26);
        short(&mut header, VERSION);
        short(&mut header, 0);
        short(&mut header, method);
        short(&mut header, 0);
        short(&mut header, DATE);
        long(&mut header, crc);
        long(&mut header, number(packed.len())?);
        long(&mut header, number(size)?);
        short(&mut header, name.len() as u16);
        short(&mut header, 0);

        long(&mut self.out, LOCAL_HEADER);
        self.out.extend_from_slice(&header);
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(packed);

        long(&mut self.directory, DIRECTORY_ENTRY);
        short(&mut self.directory, VERSION);
        self.directory.extend_from_slice(&header);
        // No comment, first disk, no attributes.
        self.directory.extend_from_slice(&[0; 10]);
        long(&mut self.directory, offset);
        self.directory.extend_from_slice(name.as_bytes());
        self.entries += 1;
        if self.entries == u16::MAX {
            return Err(Error::PackageSize);
        }
        Ok(())
    }

    /// The file, with its directory.
    ///
    /// # Errors
    /// [`Error::PackageSize`] if the file exceeds the format.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        let (start, length) = (number(self.out.len())?, number(self.directory.len())?);
        self.out.append(&mut self.directory);
        long(&mut self.out, DIRECTORY_END);
        // This disk, and the disk of the directory.
        long(&mut self.out, 0);
        short(&mut self.out, self.entries);
        short(&mut self.out, self.entries);
        long(&mut self.out, length);
        long(&mut self.out, start);
        short(&mut self.out, 0);
        Ok(self.out)
    }
}

/// A size or an offset. The largest number says that it stands elsewhere (ZIP64).
fn number(value: usize) -> Result<u32, Error> {
    let number = u32::try_from(value).ok();
    number.filter(|it| *it < u32::MAX).ok_or(Error::PackageSize)
}

fn short(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn long(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Number of places for common parts: a package has about ten.
const PLACES: usize = 256;
/// Longer parts are not kept, in bytes.
const COMMON_BYTES: usize = 32 * 1024;

/// A part and what it becomes.
struct Common {
    part: Box<[u8]>,
    packed: Arc<Packed>,
}

/// Each part has one place, which it takes from the one before.
static COMMON: Mutex<[Option<Common>; PLACES]> = Mutex::new([const { None }; PLACES]);

fn place(bytes: &[u8]) -> usize {
    libdeflater::crc32(bytes) as usize % PLACES
}

fn common(bytes: &[u8]) -> Option<Arc<Packed>> {
    let known = COMMON.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known[place(bytes)].as_ref();
    let known = known.filter(|known| *known.part == *bytes);
    known.map(|known| known.packed.clone())
}

fn keep(bytes: &[u8], mut packed: Packed) -> Arc<Packed> {
    packed.bytes.shrink_to_fit();
    let packed = Arc::new(packed);
    if bytes.len() <= COMMON_BYTES {
        let kept = Common {
            part: bytes.into(),
            packed: packed.clone(),
        };
        let mut known = COMMON.lock().unwrap_or_else(PoisonError::into_inner);
        known[place(bytes)] = Some(kept);
    }
    packed
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _};

    use super::*;

    #[test]
    fn other_programs_read_it() {
        let long: String = (0..40_000).map(|number| format!("{number} ")).collect();
        let mut zip = Zip::new(0);
        zip.store("stored.png", b"png").unwrap();
        zip.deflate("empty.xml", b"").unwrap();
        zip.deflate("long.xml", long.as_bytes()).unwrap();
        for name in ["a.rels", "b.rels"] {
            zip.deflate_common(name, b"<Relationships/>").unwrap();
        }
        let file = zip.finish().unwrap();
        let mut archive = ::zip::ZipArchive::new(Cursor::new(&file)).unwrap();
        let expected: [(&str, &[u8]); 5] = [
            ("stored.png", b"png"),
            ("empty.xml", b""),
            ("long.xml", long.as_bytes()),
            ("a.rels", b"<Relationships/>"),
            ("b.rels", b"<Relationships/>"),
        ];
        assert_eq!(archive.len(), expected.len());
        for (index, (name, content)) in expected.into_iter().enumerate() {
            let mut entry = archive.by_index(index).unwrap();
            assert_eq!(entry.name().unwrap(), name);
            assert_eq!(
                entry.last_modified().unwrap_or_default(),
                ::zip::DateTime::default()
            );
            let mut read = Vec::new();
            entry.read_to_end(&mut read).unwrap();
            assert!(read == content, "{name}");
        }
    }

    #[test]
    fn more_parts_than_the_format_has_are_refused() {
        let mut zip = Zip::new(0);
        for _ in 1..u16::MAX {
            zip.store("p", b"").unwrap();
        }
        assert!(matches!(zip.store("p", b""), Err(Error::PackageSize)));
    }
}

//! Sectors, sector chains and the directory of a compound file.

use std::io::{self, Read, Seek, SeekFrom};

/// Maximum number of directory sectors read: enough for thousands of embedded objects.
const MAX_DIRECTORY_SECTORS: usize = 8192;
/// Maximum number of sectors that list table sectors (DIFAT): enough for a file of 8 GB.
const MAX_LIST_SECTORS: usize = 1024;
/// Maximum number of sectors followed to reach a short stream.
const MAX_CHAIN: u64 = 1 << 20;
/// How much of the start of a stream is read to identify it, in bytes.
const START_BYTES: usize = 16;

/// Size of a directory entry, in bytes.
const ENTRY_BYTES: usize = 128;
/// Size of the header, in bytes.
const HEADER_BYTES: usize = 512;
/// Number of table sectors that the header lists.
const LISTED: usize = 109;
/// Size of a sector of short streams, in bytes.
const SHORT_SECTOR_BYTES: u64 = 64;
/// Types of directory entries.
const STREAM: u8 = 2;
const ROOT: u8 = 5;

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|it| it.try_into().ok());
    word.map_or(u32::MAX, u32::from_le_bytes)
}

/// A directory entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    kind: u8,
    left: u32,
    right: u32,
    child: u32,
    start: u32,
    size_bytes: u32,
}

/// An open compound file.
pub(super) struct Compound<'a, F> {
    file: &'a mut F,
    size_bytes: u64,
    sector_bytes: u64,
    /// Sectors of the allocation table, in order.
    table: Vec<u32>,
    directory: u32,
    /// Streams smaller than this are in the mini stream.
    short_below: u32,
    /// First sector of the mini stream.
    short: Option<u32>,
}

impl<'a, F: Read + Seek> Compound<'a, F> {
    /// Reads the header and locates the allocation table; `None` if the file is too short.
    pub(super) fn open(file: &'a mut F, size_bytes: u64) -> io::Result<Option<Self>> {
        let mut compound = Self {
            file,
            size_bytes,
            sector_bytes: HEADER_BYTES as u64,
            table: Vec::new(),
            directory: u32::MAX,
            short_below: 0,
            short: None,
        };
        let Some(header) = compound.read(0, HEADER_BYTES)? else {
            return Ok(None);
        };
        if size_bytes < HEADER_BYTES as u64 {
            return Ok(None);
        }
        if header[30] == 12 {
            compound.sector_bytes = 4096;
        }
        compound.directory = word(&header, 48);
        compound.short_below = word(&header, 56);
        compound.table = (0..LISTED).map(|it| word(&header, 76 + it * 4)).collect();
        let mut next = word(&header, 68);
        let per_sector = usize::try_from(compound.sector_bytes / 4).unwrap_or(1) - 1;
        for _ in 0..MAX_LIST_SECTORS.min(word(&header, 72) as usize) {
            let Some(sector) = compound.sector(next)? else {
                break;
            };
            let listed = (0..per_sector).map(|it| word(&sector, it * 4));
            compound.table.extend(listed);
            next = word(&sector, per_sector * 4);
        }
        Ok(Some(compound))
    }

    /// Reads bytes, padded with zeros beyond the end of the file; `None` if all of them are.
    fn read(&mut self, at: u64, count: usize) -> io::Result<Option<Vec<u8>>> {
        if at >= self.size_bytes {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::with_capacity(count);
        self.file.take(count as u64).read_to_end(&mut bytes)?;
        bytes.resize(count, 0);
        Ok(Some(bytes))
    }

    fn place(&self, sector: u32) -> u64 {
        (u64::from(sector) + 1) * self.sector_bytes
    }

    fn sector(&mut self, sector: u32) -> io::Result<Option<Vec<u8>>> {
        let count = usize::try_from(self.sector_bytes).unwrap_or(HEADER_BYTES);
        self.read(self.place(sector), count)
    }

    /// The next sector of a chain.
    fn next(&mut self, sector: u32) -> io::Result<Option<u32>> {
        let per_sector = self.sector_bytes / 4;
        let index = usize::try_from(u64::from(sector) / per_sector).unwrap_or(usize::MAX);
        let Some(place) = self.table.get(index).copied() else {
            return Ok(None);
        };
        let at = self.place(place) + u64::from(sector) % per_sector * 4;
        let next = self.read(at, 4)?;
        Ok(next.map(|next| word(&next, 0)))
    }

    /// The directory entries, in order.
    pub(super) fn entries(&mut self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut sector = self.directory;
        for _ in 0..MAX_DIRECTORY_SECTORS {
            let Some(bytes) = self.sector(sector)? else {
                break;
            };
            entries.extend(bytes.chunks_exact(ENTRY_BYTES).map(entry));
            match self.next(sector)? {
                Some(next) => sector = next,
                None => break,
            }
        }
        let root = entries.iter().find(|it| it.kind == ROOT);
        self.short = root.map(|root| root.start);
        Ok(entries)
    }

    /// The first bytes of a stream.
    pub(super) fn start(&mut self, entry: &Entry) -> io::Result<Vec<u8>> {
        let at = if entry.size_bytes >= self.short_below {
            Some(self.place(entry.start))
        } else {
            self.short_place(entry.start)?
        };
        let bytes = at.map(|at| self.read(at, START_BYTES)).transpose()?;
        Ok(bytes.flatten().unwrap_or_default())
    }

    fn short_place(&mut self, short: u32) -> io::Result<Option<u64>> {
        let offset = u64::from(short) * SHORT_SECTOR_BYTES;
        let Some(mut sector) = self.short else {
            return Ok(None);
        };
        let steps = offset / self.sector_bytes;
        if steps > MAX_CHAIN {
            return Ok(None);
        }
        for _ in 0..steps {
            match self.next(sector)? {
                Some(next) => sector = next,
                None => return Ok(None),
            }
        }
        Ok(Some(self.place(sector) + offset % self.sector_bytes))
    }
}

fn entry(bytes: &[u8]) -> Entry {
    let length = usize::from(u16::from_le_bytes([bytes[64], bytes[65]]));
    let name = &bytes[..length.saturating_sub(2).min(62)];
    let units: Vec<u16> = name
        .chunks_exact(2)
        .map(|it| u16::from_le_bytes([it[0], it[1]]))
        .collect();
    Entry {
        name: String::from_utf16_lossy(&units),
        kind: bytes[66],
        left: word(bytes, 68),
        right: word(bytes, 72),
        child: word(bytes, 76),
        start: word(bytes, 116),
        size_bytes: word(bytes, 120),
    }
}

pub(super) fn has_root(entries: &[Entry]) -> bool {
    entries.iter().any(|it| it.kind == ROOT)
}

/// The streams at the top level, in directory order.
pub(super) fn top(entries: &[Entry]) -> Vec<Entry> {
    let root = entries.iter().find(|it| it.kind == ROOT);
    let mut seen = vec![false; entries.len()];
    let mut stack: Vec<u32> = root.map(|root| root.child).into_iter().collect();
    while let Some(number) = stack.pop() {
        let index = number as usize;
        let Some(entry) = entries.get(index) else {
            continue;
        };
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        stack.extend([entry.left, entry.right]);
    }
    let both = entries.iter().zip(&seen);
    let top = both.filter(|(entry, seen)| **seen && entry.kind == STREAM);
    top.map(|(entry, _)| entry.clone()).collect()
}

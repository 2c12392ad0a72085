//! What an OLE compound file holds ([MS-CFB], sections 2.2 and 2.6): the names of its streams, bounded.

use std::io::{self, Read, Seek, SeekFrom};

use crate::format::Family;

/// The first bytes.
pub(crate) const MAGIC: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Sectors of the directory that are looked at; documents have their main stream in the first few.
const MAX_SECTORS: usize = 64;
const ENTRY_BYTES: usize = 128;
const HEADER_BYTES: usize = 512;

/// The family and the import filter; `None` where no document is inside.
pub(crate) fn detect(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
) -> io::Result<Option<(Family, &'static str)>> {
    for name in names(file, size_bytes)? {
        let found = match &*name {
            "WordDocument" => (Family::Text, "MS Word 97"),
            "Workbook" | "Book" => (Family::Sheet, "MS Excel 97"),
            "PowerPoint Document" => (Family::Slides, "MS PowerPoint 97"),
            _ => continue,
        };
        return Ok(Some(found));
    }
    Ok(None)
}

fn names(file: &mut (impl Read + Seek), size_bytes: u64) -> io::Result<Vec<String>> {
    let mut header = [0; HEADER_BYTES];
    file.seek(SeekFrom::Start(0))?;
    if size_bytes < HEADER_BYTES as u64 {
        return Ok(Vec::new());
    }
    file.read_exact(&mut header)?;
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let sector_bytes: u64 = if header[30] == 12 { 4096 } else { 512 };
    let table = word(76);
    let mut sector = word(48);
    let mut names = Vec::new();
    for _ in 0..MAX_SECTORS {
        let at = (u64::from(sector) + 1) * sector_bytes;
        if at + sector_bytes > size_bytes {
            break;
        }
        file.seek(SeekFrom::Start(at))?;
        let mut entries = vec![0; usize::try_from(sector_bytes).unwrap_or(0)];
        file.read_exact(&mut entries)?;
        names.extend(entries.chunks_exact(ENTRY_BYTES).filter_map(name));
        // The directory's next sector, as far as the first sector of the table says it.
        let per_sector = sector_bytes / 4;
        let next_at = (u64::from(table) + 1) * sector_bytes + u64::from(sector) * 4;
        if u64::from(sector) >= per_sector || next_at + 4 > size_bytes {
            break;
        }
        let mut next = [0; 4];
        file.seek(SeekFrom::Start(next_at))?;
        file.read_exact(&mut next)?;
        sector = u32::from_le_bytes(next);
    }
    Ok(names)
}

fn name(entry: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_le_bytes([entry[64], entry[65]]));
    let bytes = entry.get(..length.checked_sub(2)?.min(62))?;
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|it| u16::from_le_bytes([it[0], it[1]]))
        .collect();
    String::from_utf16(&units).ok()
}

//! The central directory of a ZIP file (APPNOTE.TXT, section 4.3): names and sizes, without
//! unpacking.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

/// A part of a ZIP file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) unzipped_bytes: u64,
    pub(crate) packed_bytes: u64,
    pub(crate) header_at: u64,
    pub(crate) stored: bool,
    /// Its record in the central directory.
    pub(crate) record: Vec<u8>,
}

/// The central directory of a ZIP file.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) entries: Vec<Entry>,
    /// Number of parts according to the directory; `entries` may hold fewer.
    pub(crate) count: usize,
    pub(crate) unzipped_bytes: u64,
    /// Offset of the directory.
    pub(crate) at: u64,
}

// Signatures of records, and the sizes of their fixed parts in bytes (APPNOTE 4.3.16, 4.3.12,
// 4.3.7).
const END: [u8; 4] = *b"PK\x05\x06";
const END_BYTES: usize = 22;
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
/// The extra field of numbers of 64 bits.
const WIDE: u16 = 1;
/// Where a central record has the offset of the part's header.
const OFFSET_AT: usize = 42;
const LOCAL_BYTES: u64 = 30;
/// The end record, after which a comment of up to 65,535 bytes may follow.
const TAIL_BYTES: u64 = 65_535 + END_BYTES as u64;
/// Maximum size of the directory: enough for 20,000 parts with long names.
const MAX_DIRECTORY_BYTES: u64 = 8 << 20;

impl Directory {
    /// Whether parts share bytes, as those of no office program do: a small file could unpack without
    /// end.
    pub(crate) fn has_overlap(&self) -> bool {
        let end_of = |it: &Entry| {
            let data = it.header_at.saturating_add(LOCAL_BYTES);
            data.saturating_add(it.packed_bytes)
        };
        let places = self.entries.iter().map(|it| (it.header_at, end_of(it)));
        let mut places: Vec<(u64, u64)> = places.collect();
        places.push((self.at, u64::MAX));
        places.sort_unstable();
        places.windows(2).any(|pair| pair[0].1 > pair[1].0)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads the directory; `None` if there is none, as in a truncated file.
pub(crate) fn read(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    max_entries: usize,
) -> io::Result<Option<Directory>> {
    let tail_at = size_bytes.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(tail_at))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    let end = tail.windows(4).rposition(|bytes| bytes == END);
    let Some(end) = end.filter(|at| at + END_BYTES <= tail.len()) else {
        return Ok(None);
    };
    let count = usize::from(u16_at(&tail, end + 10));
    let length = u64::from(u32_at(&tail, end + 12));
    let at = u64::from(u32_at(&tail, end + 16));
    let inside = at.checked_add(length).is_some_and(|it| it <= size_bytes);
    if !inside || length > MAX_DIRECTORY_BYTES {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    file.read_exact(&mut bytes)?;
    Ok(parse(&bytes, at, count, max_entries))
}

fn parse(mut bytes: &[u8], at: u64, count: usize, max_entries: usize) -> Option<Directory> {
    let mut entries = Vec::new();
    let mut unzipped_bytes = 0_u64;
    for _ in 0..count {
        if bytes.len() < ENTRY_BYTES || !bytes.starts_with(&ENTRY) {
            return None;
        }
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(bytes, at)));
        let (head, rest) = bytes.split_at_checked(ENTRY_BYTES + name + extra + comment)?;
        let name = &head[ENTRY_BYTES..ENTRY_BYTES + name];
        let extra = &head[ENTRY_BYTES + name.len()..ENTRY_BYTES + name.len() + extra];
        let numbers = [24, 20, OFFSET_AT].map(|at| u32_at(head, at));
        let [size, packed_bytes, header_at] = widened(numbers, extra);
        unzipped_bytes = unzipped_bytes.saturating_add(size);
        if entries.len() < max_entries {
            entries.push(Entry {
                name: String::from_utf8_lossy(name).into_owned(),
                unzipped_bytes: size,
                packed_bytes,
                record: head.to_vec(),
                header_at,
                stored: u16_at(head, 10) == 0,
            });
        }
        bytes = rest;
    }
    Some(Directory {
        entries,
        count,
        unzipped_bytes,
        at,
    })
}

/// Numbers of a record, those that do not fit from its extra field (APPNOTE 4.5.3). Some programs write
/// all there, however small they are (`Zip64Mode.Always` of Apache Commons Compress).
fn widened(numbers: [u32; 3], mut extra: &[u8]) -> [u64; 3] {
    let mut wide: &[u8] = &[];
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let Some((data, rest)) = rest.split_at_checked(usize::from(u16_at(head, 2))) else {
            break;
        };
        if u16_at(head, 0) == WIDE {
            wide = data;
        }
        extra = rest;
    }
    numbers.map(|number| {
        let next = wide.split_first_chunk().filter(|_| number == u32::MAX);
        next.map_or(u64::from(number), |(bytes, rest)| {
            wide = rest;
            u64::from_le_bytes(*bytes)
        })
    })
}

/// A reader of a part's unpacked content.
pub(crate) fn reader<'a, F: Read + Seek>(
    file: &'a mut F,
    entry: &Entry,
) -> io::Result<Box<dyn Read + 'a>> {
    let start = data_start(file, entry)?;
    file.seek(SeekFrom::Start(start))?;
    let packed = file.take(entry.packed_bytes);
    Ok(match entry.stored {
        true => Box::new(packed),
        false => Box::new(DeflateDecoder::new(packed)),
    })
}

/// The unpacked content of a part. Fails if it exceeds `max_bytes` or cannot be unpacked.
pub(crate) fn unpacked(
    file: &mut (impl Read + Seek),
    entry: &Entry,
    max_bytes: u64,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let reader = reader(file, entry)?;
    reader.take(max_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max_bytes {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// The first bytes of a part, as far as they can be unpacked.
pub(crate) fn start_of(file: &mut (impl Read + Seek), entry: &Entry, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(reader) = reader(file, entry) {
        let _ = reader.take(count as u64).read_to_end(&mut bytes);
    }
    bytes
}

/// Offset of a part's data.
pub(crate) fn data_start(file: &mut (impl Read + Seek), entry: &Entry) -> io::Result<u64> {
    file.seek(SeekFrom::Start(entry.header_at))?;
    let mut local = [0; LOCAL_BYTES as usize];
    file.read_exact(&mut local)?;
    let skip = u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
    Ok(entry.header_at + LOCAL_BYTES + skip)
}

/// The two records of a part.
pub(crate) struct Record {
    pub(crate) local: Vec<u8>,
    pub(crate) central: Vec<u8>,
}

fn word(number: impl TryInto<u32>) -> [u8; 4] {
    number.try_into().unwrap_or(u32::MAX).to_le_bytes()
}

fn half(number: impl TryInto<u16>) -> [u8; 2] {
    number.try_into().unwrap_or(u16::MAX).to_le_bytes()
}

/// The records of a deflated part.
pub(crate) fn directory_record(
    name: &str,
    crc: u32,
    packed_bytes: usize,
    unzipped_bytes: usize,
    header_at: u64,
) -> Record {
    // Version 2.0, UTF-8 names, deflate, 1980-01-01.
    let mut shared = vec![20, 0, 0, 8, 8, 0, 0, 0, 0x21, 0];
    shared.extend(word(crc));
    shared.extend(word(packed_bytes));
    shared.extend(word(unzipped_bytes));
    shared.extend(half(name.len()));
    shared.extend([0; 2]);
    let mut local = b"PK\x03\x04".to_vec();
    local.extend(&shared);
    local.extend(name.as_bytes());
    let mut central = ENTRY.to_vec();
    central.extend([20, 0]);
    central.extend(&shared);
    central.extend([0; 10]);
    central.extend(word(header_at));
    central.extend(name.as_bytes());
    Record { local, central }
}

/// The central record of a part whose header is at another place.
pub(crate) fn moved(central: &[u8], header_at: u64) -> Vec<u8> {
    let mut record = central.to_vec();
    record[OFFSET_AT..OFFSET_AT + 4].copy_from_slice(&word(header_at));
    record
}

/// The end-of-directory record.
pub(crate) fn end_record(entries: usize, length: usize, at: u64) -> Vec<u8> {
    let mut end = END.to_vec();
    end.extend([0; 4]);
    end.extend(half(entries));
    end.extend(half(entries));
    end.extend(word(length));
    end.extend(word(at));
    end.extend([0; 2]);
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A central record of an entry `a` with an extra field.
    fn record(size: u32, packed: u32, header_at: u32, extra: &[u8]) -> Vec<u8> {
        let mut record = vec![0; ENTRY_BYTES];
        record[..4].copy_from_slice(&ENTRY);
        record[20..24].copy_from_slice(&packed.to_le_bytes());
        record[24..28].copy_from_slice(&size.to_le_bytes());
        record[28] = 1;
        record[30] = extra.len() as u8;
        record[OFFSET_AT..].copy_from_slice(&header_at.to_le_bytes());
        record.extend(b"a");
        record.extend(extra);
        record
    }

    #[test]
    fn numbers_are_in_the_extra_field_if_they_are_wide() {
        let wide = |numbers: &[u64]| {
            let mut extra = b"\x99\x99\x02\0..\x01\0".to_vec();
            extra.extend([numbers.len() as u8 * 8, 0]);
            extra.extend(numbers.iter().flat_map(|it| it.to_le_bytes()));
            extra
        };
        let read = |record: &[u8]| {
            let found = parse(record, 900, 1, 9).unwrap().entries.remove(0);
            (found.unzipped_bytes, found.packed_bytes, found.header_at)
        };
        let (narrow, most) = (u32::MAX, u64::from(u32::MAX));
        let all = record(narrow, narrow, narrow, &wide(&[7, 5, 3]));
        assert_eq!(read(&all), (7, 5, 3));
        assert_eq!(read(&record(7, narrow, 3, &wide(&[5]))), (7, 5, 3));
        assert_eq!(read(&record(7, 5, 3, &wide(&[1, 1, 1]))), (7, 5, 3));
        let first = record(narrow, narrow, 3, &wide(&[7]));
        assert_eq!(read(&first), (7, most, 3));
        assert_eq!(read(&record(7, 5, narrow, b"\x01\0\xff\0")), (7, 5, most));
    }

    #[test]
    fn parts_that_share_bytes_are_found() {
        let read = |places: &[u32]| {
            let records = places.iter().flat_map(|at| record(9, 10, *at, b""));
            let records: Vec<u8> = records.collect();
            parse(&records, 200, places.len(), 9).unwrap().has_overlap()
        };
        assert!(!read(&[0, 40, 160]) && !read(&[160, 0]));
        assert!(read(&[0, 39]) && read(&[0, 0]) && read(&[161]));
    }
}

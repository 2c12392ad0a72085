//! A package with some parts exchanged. Parts follow each other without gaps: since 25.2, LibreOffice
//! takes a package with bytes between its parts for damaged.

use std::{
    collections::HashMap,
    io::{self, Read, Seek, Write},
};

use super::Part;
use crate::zip_directory::{Directory, data_start, directory_record, end_record, moved};

/// A stretch of the new package.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Bytes of the old package; later pieces are of later places.
    Copied {
        at: u64,
        size_bytes: u64,
    },
    New(Vec<u8>),
}

/// Writes a package.
pub(super) fn write(pieces: &[Piece], mut from: impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut read = 0;
    for piece in pieces {
        match piece {
            Piece::New(bytes) => to.write_all(bytes)?,
            Piece::Copied { at, size_bytes } => {
                io::copy(&mut (&mut from).take(at - read), &mut io::sink())?;
                io::copy(&mut (&mut from).take(*size_bytes), to)?;
                read = at + size_bytes;
            }
        }
    }
    Ok(())
}

/// The stretches of a package with new parts by their place in the directory.
///
/// # Errors
/// Parts share bytes: then one would change with another.
pub(super) fn repacked(
    file: &mut (impl Read + Seek),
    directory: &Directory,
    mut changed: HashMap<usize, Part>,
) -> io::Result<Vec<Piece>> {
    let entries = &directory.entries;
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|index| entries[*index].header_at);
    let start_of = |place: usize| {
        let entry = order.get(place).map(|index| &entries[*index]);
        entry.map_or(directory.at, |entry| entry.header_at)
    };
    let mut size_bytes = start_of(0);
    let mut pieces = vec![Piece::Copied { at: 0, size_bytes }];
    let mut records = vec![Vec::new(); entries.len()];
    for (place, &index) in order.iter().enumerate() {
        let (entry, next) = (&entries[index], start_of(place + 1));
        let end = data_start(file, entry)?.saturating_add(entry.packed_bytes);
        if end > next {
            return Err(io::ErrorKind::InvalidData.into());
        }
        records[index] = match changed.remove(&index) {
            None => {
                let (at, length) = (entry.header_at, next - entry.header_at);
                pieces.push(Piece::Copied {
                    at,
                    size_bytes: length,
                });
                let record = moved(&entry.record, size_bytes);
                size_bytes += length;
                record
            }
            Some(part) => {
                let (packed, unpacked) = (part.packed.len(), part.unpacked_bytes);
                let record = directory_record(&entry.name, part.crc, packed, unpacked, size_bytes);
                size_bytes += (record.local.len() + packed) as u64;
                pieces.extend([Piece::New(record.local), Piece::New(part.packed)]);
                record.central
            }
        };
    }
    let records_bytes: Vec<u8> = records.concat();
    let end = end_record(records.len(), records_bytes.len(), size_bytes);
    pieces.extend([Piece::New(records_bytes), Piece::New(end)]);
    Ok(pieces)
}

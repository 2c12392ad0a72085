//! What is changed in a document before LibreOffice has it: links to files of this machine go, which LibreOffice follows
//! in these places whatever its settings say, and a workbook whose sheets become one page each is shown from its first
//! cell.
//!
//! The changed parts of a package and a new directory are put behind what is there; nothing else of it is touched.

mod flat;
mod relations;
mod rtf;
mod sheet_view;
mod svg;

use std::io::{self, Read, Seek, SeekFrom, Write};

use flate2::{Compression, Crc, write::DeflateEncoder};

use crate::{
    detect::Detected,
    zip_directory::{Directory, Entry, directory_record, end_record, start_of, unpacked},
};

/// Relations of a part are short.
const MAX_RELATIONS_BYTES: u64 = 32 << 20;
/// A picture of lines; a file of text that holds pictures.
pub(crate) const MAX_MARKUP_BYTES: u64 = 64 << 20;
/// What tells a picture of lines from other parts.
const HEAD_BYTES: usize = 4096;

/// What is changed.
#[derive(Debug)]
pub(crate) enum Patch {
    /// The document is kept up to here, and this follows.
    Tail { keep_bytes: u64, tail: Vec<u8> },
    /// Fields of an RTF text that show a file of this machine are named otherwise.
    Fields,
}

impl Patch {
    /// Writes the document as it is to be.
    pub(crate) fn apply(&self, from: impl Read, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Tail { keep_bytes, tail } => {
                io::copy(&mut from.take(*keep_bytes), to)?;
                to.write_all(tail)
            }
            Self::Fields => io::copy(&mut rtf::Renamed::new(from), to).map(drop),
        }
    }
}

/// What is changed in a file that is no package; nothing for most.
pub(crate) fn of_file(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    detected: &Detected,
) -> io::Result<Option<Patch>> {
    let is_flat = detected.filter.contains("Flat XML") || detected.filter.contains("2003 XML");
    let is_svg = detected.filter.starts_with("SVG");
    file.seek(SeekFrom::Start(0))?;
    if detected.filter == "Rich Text Format" {
        return Ok(rtf::has_fields(file)?.then_some(Patch::Fields));
    }
    if !is_svg && (!is_flat || size_bytes > MAX_MARKUP_BYTES) {
        return Ok(None);
    }
    if size_bytes > MAX_MARKUP_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_MARKUP_BYTES).read_to_end(&mut bytes)?;
    let tail = match is_svg {
        true => svg::cleaned(&bytes),
        false => flat::cleaned(&bytes),
    };
    Ok(tail.map(|tail| Patch::Tail {
        keep_bytes: 0,
        tail,
    }))
}

/// What is changed in a package; nothing for most.
pub(crate) fn of_package(
    file: &mut (impl Read + Seek),
    directory: &Directory,
    from_first_cell: bool,
) -> io::Result<Option<Patch>> {
    let mut changed = Vec::new();
    for (index, entry) in directory.entries.iter().enumerate() {
        let name = entry.name.to_ascii_lowercase();
        let part = if name.ends_with(".rels") {
            let bytes = unpacked(file, entry, MAX_RELATIONS_BYTES)?;
            relations::cleaned(&bytes)?
        } else if from_first_cell && sheet_view::is_sheet(&name) {
            sheet_view::from_first_cell(file, entry)?
        } else {
            picture(file, entry)?
        };
        changed.extend(part.map(|part| (index, part)));
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let mut tail = Vec::new();
    let records = directory.entries.iter().map(|it| it.record.clone());
    let mut records: Vec<Vec<u8>> = records.collect();
    for (index, part) in changed {
        let at = directory.at + tail.len() as u64;
        let name = &directory.entries[index].name;
        let record = directory_record(name, part.crc, part.packed.len(), part.unpacked_bytes, at);
        tail.extend_from_slice(&record.local);
        tail.extend_from_slice(&part.packed);
        records[index] = record.central;
    }
    let directory_at = directory.at + tail.len() as u64;
    let before = tail.len();
    records.iter().for_each(|it| tail.extend_from_slice(it));
    let length = tail.len() - before;
    tail.extend_from_slice(&end_record(records.len(), length, directory_at));
    let keep_bytes = directory.at;
    Ok(Some(Patch::Tail { keep_bytes, tail }))
}

/// A picture of lines, whatever its name is: LibreOffice goes by the contents, too.
fn picture(file: &mut (impl Read + Seek), entry: &Entry) -> io::Result<Option<Part>> {
    let head = start_of(file, entry, HEAD_BYTES);
    if !svg::is_svg(&head) {
        return Ok(None);
    }
    // What cannot be unpacked to its end LibreOffice reads as far as that goes.
    let most = usize::try_from(MAX_MARKUP_BYTES).unwrap_or(usize::MAX);
    let cleaned = svg::cleaned(&start_of(file, entry, most));
    cleaned.map(|it| Part::of(&it)).transpose()
}

/// A part as it is to be.
#[derive(Debug)]
struct Part {
    crc: u32,
    packed: Vec<u8>,
    unpacked_bytes: usize,
}

impl Part {
    fn of(bytes: &[u8]) -> io::Result<Self> {
        Self::copied(bytes)
    }

    /// Packed as it is read, so that only the packed bytes are held.
    fn copied(mut from: impl Read) -> io::Result<Self> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        let mut crc = Crc::new();
        let mut chunk = vec![0; 64 << 10];
        let mut unpacked_bytes = 0;
        loop {
            let count = from.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            crc.update(&chunk[..count]);
            encoder.write_all(&chunk[..count])?;
            unpacked_bytes += count;
        }
        Ok(Self {
            crc: crc.sum(),
            packed: encoder.finish()?,
            unpacked_bytes,
        })
    }
}

//! Changes to a document before LibreOffice reads it. Links to local files are removed where
//! LibreOffice would follow them whatever its settings say. Workbooks whose sheets become one page
//! each are reset to show the first cell.
//!
//! Parts of a package that are not changed are copied as they are packed.

mod flat;
mod package;
mod relations;
mod rtf;
mod sheet_view;
mod svg;

use std::{
    collections::HashMap,
    io::{self, Read, Seek, SeekFrom, Write},
};

use flate2::{Compression, Crc, write::DeflateEncoder};

use crate::{
    Error,
    detect::Detected,
    zip_directory::{Directory, Entry, start_of, unpacked},
};

/// Maximum size of a relationships part, in bytes; real ones are short.
const MAX_RELATIONS_BYTES: u64 = 32 << 20;
/// Maximum size of an SVG image, or of a text file that contains images, in bytes.
const MAX_MARKUP_BYTES: u64 = 64 << 20;
/// Bytes that the images of a file that is no package may unpack to.
const MAX_IMAGES_BYTES: u64 = 4 * MAX_MARKUP_BYTES;
/// How much of a part is examined to recognize an SVG image, in bytes.
const HEAD_BYTES: usize = 4096;

/// A change to a document.
#[derive(Debug)]
pub(crate) enum Patch {
    /// Another text instead.
    Text(Vec<u8>),
    /// A package of old and new parts.
    Package(Vec<package::Piece>),
    /// Rename the RTF fields that would show a local file.
    Fields,
}

impl Patch {
    /// Writes the changed document.
    pub(crate) fn apply(&self, from: impl Read, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Text(text) => to.write_all(text),
            Self::Package(pieces) => package::write(pieces, from, to),
            Self::Fields => io::copy(&mut rtf::Renamed::new(from), to).map(drop),
        }
    }
}

/// The change that a file other than a package needs; `None` for most.
///
/// # Errors
/// The file cannot be read, or what it refers to cannot be found in it.
pub(crate) fn of_file(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    detected: &Detected,
) -> Result<Option<Patch>, Error> {
    let is_flat = detected.filter.contains("Flat XML") || detected.filter.contains("2003 XML");
    let is_svg = detected.filter.starts_with("SVG");
    file.seek(SeekFrom::Start(0)).map_err(Error::Input)?;
    if detected.filter == "Rich Text Format" {
        return Ok(rtf::has_fields(file)?.then_some(Patch::Fields));
    }
    if !is_svg && !is_flat {
        return Ok(None);
    }
    if size_bytes > MAX_MARKUP_BYTES {
        return Err(Error::TooLarge {
            size_bytes,
            limit_bytes: MAX_MARKUP_BYTES,
        });
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_MARKUP_BYTES).read_to_end(&mut bytes);
    read.map_err(Error::Input)?;
    let mut left = MAX_IMAGES_BYTES;
    let text = match is_svg {
        true => svg::cleaned(&bytes, &mut left),
        false => flat::cleaned(&bytes, &mut left)?,
    };
    Ok(text.map(Patch::Text))
}

/// The change that a package needs; `None` for most. `left` is how many bytes its parts may unpack to,
/// whatever its directory says.
pub(crate) fn of_package(
    file: &mut (impl Read + Seek),
    directory: &Directory,
    from_first_cell: bool,
    mut left: u64,
) -> io::Result<Option<Patch>> {
    let mut changed = HashMap::new();
    for (index, entry) in directory.entries.iter().enumerate() {
        let name = entry.name.to_ascii_lowercase();
        let part = if name.ends_with(".rels") {
            let bytes = unpacked(file, entry, MAX_RELATIONS_BYTES.min(left))?;
            spend(&mut left, bytes.len() as u64)?;
            relations::cleaned(&bytes)?
        } else if from_first_cell && sheet_view::is_sheet(&name) {
            sheet_view::from_first_cell(file, entry, &mut left)?
        } else {
            picture(file, entry, &mut left)?
        };
        changed.extend(part.map(|part| (index, part)));
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let pieces = package::repacked(file, directory, changed)?;
    Ok(Some(Patch::Package(pieces)))
}

/// Takes `bytes` from those that are left.
fn spend(left: &mut u64, bytes: u64) -> io::Result<()> {
    *left = left.checked_sub(bytes).ok_or(io::ErrorKind::FileTooLarge)?;
    Ok(())
}

/// Cleans an SVG image, whatever its name: LibreOffice also goes by content.
fn picture(
    file: &mut (impl Read + Seek),
    entry: &Entry,
    left: &mut u64,
) -> io::Result<Option<Part>> {
    let head = start_of(file, entry, HEAD_BYTES);
    if !svg::is_svg(&head) {
        return Ok(None);
    }
    // If the part cannot be unpacked to its end, LibreOffice reads it as far as possible.
    let most = usize::try_from(MAX_MARKUP_BYTES).unwrap_or(usize::MAX);
    let image = start_of(file, entry, most);
    spend(left, image.len() as u64)?;
    let cleaned = svg::cleaned(&image, left);
    cleaned.map(|it| Part::of(&it)).transpose()
}

/// The new content of a part.
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

    /// Compresses while reading, so that only the compressed bytes are in memory.
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

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::format::Family;

    #[test]
    fn markup_that_cannot_be_searched_is_refused() {
        let change = |text: &str, size_bytes: u64, filter: &'static str| {
            let detected = Detected::new(Family::Text, filter);
            of_file(&mut Cursor::new(text), size_bytes, &detected)
        };
        let flat = [
            "OpenDocument Text Flat XML",
            "MS Word 2003 XML",
            "MS Excel 2003 XML",
        ];
        for filter in flat {
            for name in ["ISO-2022-JP", "UTF-7"] {
                let text = format!("<?xml version='1.0' encoding='{name}'?><a/>");
                let refused = change(&text, text.len() as u64, filter);
                assert!(
                    matches!(&refused, Err(Error::UnknownFormat(why)) if why.contains("UTF-8")),
                    "{filter}, {name}: {refused:?}"
                );
            }
            assert!(matches!(change("<a/>", 4, filter), Ok(None)));
            let large = change("<a/>", MAX_MARKUP_BYTES + 1, filter);
            assert!(matches!(large, Err(Error::TooLarge { .. })), "{large:?}");
        }
        let other = change("text", MAX_MARKUP_BYTES + 1, "Text (encoded)");
        assert!(matches!(other, Ok(None)), "{other:?}");
    }
}

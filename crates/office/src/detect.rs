//! What an input is, by its bytes. The name only tells plain texts apart.

use std::io::{self, Read, Seek, SeekFrom};

use crate::{
    Config, Error,
    format::Family,
    links::{Patch, without_links},
    ole,
    zip_directory::{self, Directory},
};

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// What it is once it is open.
    pub family: Family,
    /// LibreOffice's import filter.
    pub filter: &'static str,
    /// Options of the filter.
    pub filter_options: Option<&'static str>,
    /// Whether it is a zip package, for which LibreOffice's "general error" means damage.
    pub is_package: bool,
}

/// What an input is, and what must be done to it before it is handed on.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) detected: Detected,
    pub(crate) patch: Option<Patch>,
}

/// Bytes at the start that are looked at.
const HEAD_BYTES: u64 = 8192;
/// The longest media type of an OpenDocument file.
const MAX_MIMETYPE_BYTES: u64 = 100;
/// A zip file this small is no bomb, whatever its ratio.
const HARMLESS_BYTES: u64 = 64 << 20;
/// Ratio of a zip file that no document has. Text of one letter reaches about 1,000.
const MAX_RATIO: u64 = 400;

const fn of(family: Family, filter: &'static str) -> Detected {
    Detected {
        family,
        filter,
        filter_options: None,
        is_package: false,
    }
}

/// Tells what an input is and whether it can be handed on.
///
/// # Errors
/// It is empty, too large, a bomb, cut, or nobody knows it.
pub fn detect(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    name: Option<&str>,
    config: &Config,
    repair: bool,
) -> Result<Detected, Error> {
    inspect(file, size_bytes, name, config, repair).map(|it| it.detected)
}

pub(crate) fn inspect(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    name: Option<&str>,
    config: &Config,
    repair: bool,
) -> Result<Inspected, Error> {
    if size_bytes == 0 {
        return Err(Error::Empty);
    }
    if size_bytes > config.max_input_bytes {
        return Err(Error::TooLarge {
            size_bytes,
            limit_bytes: config.max_input_bytes,
        });
    }
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(Error::Input)?;
    let read = file.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
    read.map_err(Error::Input)?;
    let extension = name
        .and_then(|name| name.rsplit_once('.'))
        .map_or_else(String::new, |(_, it)| it.to_ascii_lowercase());
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return zipped(file, size_bytes, &extension, config, repair);
    }
    let alone = |detected| Inspected {
        detected,
        patch: None,
    };
    if head.starts_with(&ole::MAGIC) {
        let found = ole::detect(file, size_bytes).map_err(Error::Input)?;
        return found
            .map(|(family, filter)| of(family, filter))
            .or_else(|| encrypted(&extension))
            .map(alone)
            .ok_or_else(|| Error::UnknownFormat("an OLE file that holds no document".to_owned()));
    }
    match by_magic(&head) {
        Some(detected) => Ok(alone(detected)),
        None => by_text(&head, &extension).map(alone),
    }
}

/// An OLE file without a document is an encrypted Office file; its name tells the family.
fn encrypted(extension: &str) -> Option<Detected> {
    match extension {
        "xlsx" | "xlsm" | "xltx" => Some(of(Family::Sheet, "Calc MS Excel 2007 XML")),
        "pptx" | "pptm" | "ppsx" => Some(of(Family::Slides, "Impress MS PowerPoint 2007 XML")),
        "docx" | "docm" | "dotx" => Some(of(Family::Text, "MS Word 2007 XML")),
        _ => None,
    }
}

fn zipped(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    extension: &str,
    config: &Config,
    repair: bool,
) -> Result<Inspected, Error> {
    let directory = zip_directory::read(file, size_bytes, config.max_zip_entries);
    let directory = match directory.map_err(Error::Input)? {
        Some(directory) => directory,
        // With repair, LibreOffice looks for the parts itself; the name must tell what they are.
        None if repair => {
            let detected = package(extension).ok_or(Error::Damaged)?;
            return Ok(Inspected {
                detected,
                patch: None,
            });
        }
        None => return Err(Error::Damaged),
    };
    let (count, unzipped_bytes) = (directory.count, directory.unzipped_bytes);
    let is_bomb = unzipped_bytes > HARMLESS_BYTES && unzipped_bytes / size_bytes > MAX_RATIO;
    if count > config.max_zip_entries || unzipped_bytes > config.max_unzipped_bytes || is_bomb {
        return Err(Error::ZipBomb {
            unzipped_bytes,
            entries: count,
        });
    }
    let found = inside(file, &directory).map_err(Error::Input)?;
    let none = || Error::UnknownFormat("a zip file that holds no document".to_owned());
    let detected = found.ok_or_else(none)?;
    // A part that cannot be unpacked is damage, too.
    let patch = without_links(file, &directory).map_err(|_| Error::Damaged)?;
    Ok(Inspected { detected, patch })
}

fn inside(file: &mut (impl Read + Seek), directory: &Directory) -> io::Result<Option<Detected>> {
    let entry = |name: &str| directory.entries.iter().find(|it| it.name == name);
    if let Some(entry) = entry("mimetype")
        && let Some(text) = zip_directory::stored_text(file, entry, MAX_MIMETYPE_BYTES)?
    {
        return Ok(open_document(text.trim()));
    }
    let has = |name: &str| directory.entries.iter().any(|it| it.name.starts_with(name));
    let extension = match () {
        () if has("word/document") => "docx",
        () if has("xl/workbook.bin") => "xlsb",
        () if has("xl/workbook") => "xlsx",
        () if has("ppt/presentation") => "pptx",
        () => return Ok(None),
    };
    Ok(package(extension))
}

fn package(extension: &str) -> Option<Detected> {
    let (family, filter) = match extension {
        "docx" | "docm" | "dotx" | "dotm" => (Family::Text, "MS Word 2007 XML"),
        "xlsb" => (Family::Sheet, "Calc MS Excel 2007 Binary"),
        "xlsx" | "xlsm" | "xltx" => (Family::Sheet, "Calc MS Excel 2007 XML"),
        "pptx" | "pptm" | "ppsx" | "potx" => (Family::Slides, "Impress MS PowerPoint 2007 XML"),
        "odt" | "ott" => (Family::Text, "writer8"),
        "ods" | "ots" => (Family::Sheet, "calc8"),
        "odp" | "otp" => (Family::Slides, "impress8"),
        "odg" | "otg" => (Family::Drawing, "draw8"),
        _ => return None,
    };
    Some(Detected {
        is_package: true,
        ..of(family, filter)
    })
}

fn open_document(media_type: &str) -> Option<Detected> {
    let kind = media_type.strip_prefix("application/vnd.oasis.opendocument.")?;
    let kind = kind.trim_end_matches("-template");
    match kind {
        "text" | "text-master" | "text-web" => package("odt"),
        "spreadsheet" => package("ods"),
        "presentation" => package("odp"),
        "graphics" => package("odg"),
        "formula" => Some(Detected {
            is_package: true,
            ..of(Family::Formula, "math8")
        }),
        _ => None,
    }
}

fn by_magic(head: &[u8]) -> Option<Detected> {
    const PICTURES: [(&[u8], &str); 8] = [
        (b"\x89PNG\r\n\x1a\n", "PNG - Portable Network Graphic"),
        (b"\xff\xd8\xff", "JPG - JPEG"),
        (b"GIF8", "GIF - Graphics Interchange"),
        (b"BM", "BMP - MS Windows"),
        (b"II*\0", "TIF - Tag Image File"),
        (b"MM\0*", "TIF - Tag Image File"),
        (b"\xd7\xcd\xc6\x9a", "WMF - MS Windows Metafile"),
        (b"\x01\0\0\0\x6c\0\0\0", "EMF - MS Windows Metafile"),
    ];
    if head.starts_with(b"{\\rtf") {
        return Some(of(Family::Text, "Rich Text Format"));
    }
    if head.starts_with(b"%PDF-") {
        return Some(of(Family::Drawing, "draw_pdf_import"));
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Some(of(Family::Drawing, "WEBP - WebP"));
    }
    let is = |(magic, _): &&(&[u8], &str)| head.starts_with(magic);
    let picture = PICTURES.iter().find(is);
    // Two letters are too few to tell a picture from a text.
    let picture = picture.filter(|(magic, _)| magic.len() > 2 || head.contains(&0));
    picture.map(|(_, filter)| of(Family::Drawing, filter))
}

/// Plain texts and those with marks.
fn by_text(head: &[u8], extension: &str) -> Result<Detected, Error> {
    if head.contains(&0) && !head.starts_with(b"\xff\xfe") && !head.starts_with(b"\xfe\xff") {
        return Err(Error::UnknownFormat(String::new()));
    }
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let is_xml = start.starts_with("<?xml") || start.starts_with("<office:document");
    if let Some(detected) = is_xml.then(|| by_xml(start)).flatten() {
        return Ok(detected);
    }
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        return Ok(of(Family::Web, "HTML"));
    }
    if start.starts_with("<svg") {
        return Ok(of(Family::Drawing, "SVG - Scalable Vector Graphics"));
    }
    let with = |family, filter, options| Detected {
        filter_options: Some(options),
        ..of(family, filter)
    };
    let csv = "Text - txt - csv (StarCalc)";
    match extension {
        "csv" => Ok(with(Family::Sheet, csv, "44,34,76,1")),
        "tsv" | "tab" => Ok(with(Family::Sheet, csv, "9,34,76,1")),
        "html" | "htm" | "xhtml" => Ok(of(Family::Web, "HTML")),
        "" | "txt" | "text" | "md" | "log" | "xml" | "json" => {
            Ok(with(Family::Text, "Text (encoded)", "UTF8"))
        }
        other => Err(Error::UnknownFormat(format!(
            "the name says `{other}`, but the contents are text"
        ))),
    }
}

fn by_xml(start: &str) -> Option<Detected> {
    let flat = [
        (
            "opendocument.text\"",
            Family::Text,
            "OpenDocument Text Flat XML",
        ),
        (
            "opendocument.spreadsheet\"",
            Family::Sheet,
            "OpenDocument Spreadsheet Flat XML",
        ),
        (
            "opendocument.presentation\"",
            Family::Slides,
            "OpenDocument Presentation Flat XML",
        ),
        (
            "opendocument.graphics\"",
            Family::Drawing,
            "OpenDocument Drawing Flat XML",
        ),
    ];
    if start.contains("office:mimetype=") {
        let found = flat.iter().find(|(mark, _, _)| start.contains(mark));
        return found.map(|(_, family, filter)| of(*family, filter));
    }
    if start.contains("<w:worddocument") {
        return Some(of(Family::Text, "MS Word 2003 XML"));
    }
    if start.contains("urn:schemas-microsoft-com:office:spreadsheet") {
        return Some(of(Family::Sheet, "MS Excel 2003 XML"));
    }
    if start.contains("<svg") {
        return Some(of(Family::Drawing, "SVG - Scalable Vector Graphics"));
    }
    start.contains("<html").then(|| of(Family::Web, "HTML"))
}

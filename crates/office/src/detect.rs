//! Detects formats by content. The name matters only for plain text.

use std::io::{Read, Seek, SeekFrom};

use crate::{
    Config, Error, Options,
    changes::{self, Patch},
    format::Family,
    markup, ole, package, plain, zip_directory,
};

/// A detected format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// Kind of document.
    pub family: Family,
    /// LibreOffice's import filter.
    pub filter: &'static str,
    /// Import filter to try if LibreOffice does not open the document with the first.
    pub otherwise: Option<&'static str>,
    /// Options of the import filter.
    pub filter_options: Option<String>,
    /// Whether it is a ZIP package, for which LibreOffice's "general error" means damage.
    pub is_package: bool,
}

/// A detected format, and the change that the document needs before conversion.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) detected: Detected,
    pub(crate) patch: Option<Patch>,
    /// Whether it needs a password, which LibreOffice may not report.
    pub(crate) is_encrypted: bool,
    /// Whether it is an OpenDocument file that is encrypted as a whole.
    pub(crate) is_encrypted_package: bool,
    /// Whether all pictures in it are JPEG files, which a PDF can hold as they are.
    pub(crate) has_jpeg_only: bool,
}

/// How much of the start of a file is examined, in bytes.
const HEAD_BYTES: u64 = 8192;
/// A ZIP file that unpacks to no more than this is harmless, whatever its ratio.
const HARMLESS_BYTES: u64 = 64 << 20;
/// Maximum compression ratio of a ZIP file. Text made of a single letter reaches about 1,000.
const MAX_RATIO: u64 = 400;

impl Detected {
    pub(crate) const fn new(family: Family, filter: &'static str) -> Self {
        Self {
            family,
            filter,
            otherwise: None,
            filter_options: None,
            is_package: false,
        }
    }

    /// Whether it is a spreadsheet stored as plain text.
    pub(crate) fn is_plain_sheet(&self) -> bool {
        self.family == Family::Sheet && self.filter_options.is_some()
    }
}

/// Detects the format of an input and checks that it can be converted.
///
/// # Errors
/// The input is empty, too large, a decompression bomb, truncated, of unknown format, or needs a
/// password that was not given.
pub fn detect(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    name: Option<&str>,
    config: &Config,
    options: &Options,
) -> Result<Detected, Error> {
    inspect(file, size_bytes, name, config, options).map(|it| it.detected)
}

pub(crate) fn inspect(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    name: Option<&str>,
    config: &Config,
    options: &Options,
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
        return zipped(file, size_bytes, &extension, config, options);
    }
    let detected = if head.starts_with(&ole::MAGIC) {
        let found = ole::detect(file, size_bytes).map_err(Error::Input)?;
        return by_ole(found, &extension, options.password.is_some());
    } else if let Some(detected) = by_magic(&head) {
        detected
    } else {
        by_text(file, &head, &extension)?
    };
    let patch = changes::of_file(file, size_bytes, &detected)?;
    Ok(Inspected {
        patch,
        ..Inspected::plain(detected)
    })
}

impl Inspected {
    fn plain(detected: Detected) -> Self {
        Self {
            detected,
            patch: None,
            is_encrypted: false,
            is_encrypted_package: false,
            has_jpeg_only: false,
        }
    }
}

fn by_ole(found: ole::Content, extension: &str, has_password: bool) -> Result<Inspected, Error> {
    use ole::Content;
    let unknown = |text: &str| Err(Error::UnknownFormat(text.to_owned()));
    let encrypted = |detected| Inspected {
        is_encrypted: true,
        ..Inspected::plain(detected)
    };
    match found {
        Content::Damage => Err(Error::Damaged),
        Content::Other => unknown("an OLE file without a document"),
        Content::Document(family, filter, otherwise) => Ok(Inspected::plain(Detected {
            otherwise,
            ..Detected::new(family, filter)
        })),
        Content::EncryptedSlides => {
            let detected = Detected::new(Family::Slides, "MS PowerPoint 97");
            Ok(encrypted(detected))
        }
        // The format of encrypted content is only visible in its name. LibreOffice itself knows the
        // default password with which Excel encrypts without asking for one.
        Content::EncryptedPackage => match package::by_extension(extension) {
            Some(detected) => Ok(encrypted(detected)),
            None if !has_password => Err(Error::PasswordNeeded),
            None => unknown(
                "it is encrypted, and so its name must show the format, such as `letter.docx`",
            ),
        },
    }
}

fn zipped(
    file: &mut (impl Read + Seek),
    size_bytes: u64,
    extension: &str,
    config: &Config,
    options: &Options,
) -> Result<Inspected, Error> {
    let directory = zip_directory::read(file, size_bytes, config.max_zip_entries);
    let directory = match directory.map_err(Error::Input)? {
        Some(directory) => directory,
        // With repair, LibreOffice searches for the parts itself. The format must follow from the
        // name.
        None if options.repair => {
            let detected = package::by_extension(extension).ok_or(Error::Damaged)?;
            return Ok(Inspected::plain(detected));
        }
        None => return Err(Error::Damaged),
    };
    let (count, unzipped_bytes) = (directory.count, directory.unzipped_bytes);
    let is_bomb = unzipped_bytes > HARMLESS_BYTES && unzipped_bytes / size_bytes > MAX_RATIO;
    if count > config.max_zip_entries || unzipped_bytes > config.max_unzipped_bytes || is_bomb {
        return Err(Error::ZipBomb {
            unzipped_bytes,
            entries: count,
            limit_bytes: config.max_unzipped_bytes,
        });
    }
    if directory.has_overlap() {
        return Err(Error::Damaged);
    }
    let found = package::detect(file, &directory).map_err(|_| Error::Damaged)?;
    let none = || Error::UnknownFormat("a zip file without a document".to_owned());
    let detected = found.ok_or_else(none)?;
    // A part that cannot be unpacked is damaged, too.
    let from_first_cell = options.has_single_page_sheets();
    let most = config.max_unzipped_bytes;
    let patch =
        changes::of_package(file, &directory, from_first_cell, most).map_err(|_| Error::Damaged)?;
    // Since 24.8, LibreOffice encrypts an OpenDocument file as a whole.
    let is_whole = |entry: &zip_directory::Entry| entry.name == "encrypted-package";
    let is_encrypted_package = directory.entries.iter().any(is_whole);
    Ok(Inspected {
        patch,
        is_encrypted: is_encrypted_package,
        is_encrypted_package,
        has_jpeg_only: package::has_jpeg_only(&directory),
        ..Inspected::plain(detected)
    })
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
    const LEGACY: [(&[u8], Family, &str); 6] = [
        // First record of sheets of Excel 2, 3 and 4 ([MS-XLS] documents only later versions).
        (b"\x09\x00\x04\x00", Family::Sheet, "MS Excel 4.0"),
        (b"\x09\x02\x06\x00", Family::Sheet, "MS Excel 4.0"),
        (b"\x09\x04\x06\x00", Family::Sheet, "MS Excel 4.0"),
        (b"\xdb\xa5\x2d\x00", Family::Text, "MS WinWord 5"),
        (b"\xffWPC", Family::Text, "WordPerfect"),
        (b"{\\rtf", Family::Text, "Rich Text Format"),
    ];
    let found = LEGACY.iter().find(|(magic, _, _)| head.starts_with(magic));
    if let Some((_, family, filter)) = found {
        return Some(Detected::new(*family, filter));
    }
    if head.starts_with(b"%PDF-") {
        return Some(Detected::new(Family::Drawing, "draw_pdf_import"));
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Some(Detected::new(Family::Drawing, "WEBP - WebP"));
    }
    let is = |(magic, _): &&(&[u8], &str)| head.starts_with(magic);
    let picture = PICTURES.iter().find(is);
    // Two letters are too few to tell an image from a text.
    let picture = picture.filter(|(magic, _)| magic.len() > 2 || head.contains(&0));
    picture.map(|(_, filter)| Detected::new(Family::Drawing, filter))
}

/// Detects plain text and markup.
fn by_text(file: &mut (impl Read + Seek), head: &[u8], extension: &str) -> Result<Detected, Error> {
    if head.contains(&0) && !plain::has_utf16_mark(head) {
        return Err(Error::UnknownFormat(String::new()));
    }
    let text = plain::text_of_head(head).to_ascii_lowercase();
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let is_xml = start.starts_with("<?xml") || start.starts_with("<office:document");
    if let Some(detected) = is_xml.then(|| by_xml(start)).flatten() {
        return Ok(detected);
    }
    let is_page = start.starts_with("<!doctype html") || start.starts_with("<html");
    // Programs that write an HTML table give it this name so that Excel opens it.
    if extension == "xls" && (is_page || start.starts_with("<table")) {
        return Ok(Detected {
            // The default language, and no detection of dates. Without options LibreOffice asks.
            filter_options: Some("0 false".to_owned()),
            ..Detected::new(Family::Sheet, "HTML (StarCalc)")
        });
    }
    if is_page {
        return Ok(Detected::new(Family::Web, "HTML"));
    }
    let first = markup::tags(start.as_bytes()).next();
    if start.starts_with("<!doctype svg") || first.is_some_and(|it| it.name() == b"svg") {
        return Ok(Detected::new(
            Family::Drawing,
            "SVG - Scalable Vector Graphics",
        ));
    }
    let filters = match extension {
        "csv" | "tsv" | "tab" | "xls" => (Family::Sheet, "Text - txt - csv (StarCalc)"),
        "html" | "htm" | "xhtml" => return Ok(Detected::new(Family::Web, "HTML")),
        "" | "txt" | "text" | "md" | "log" | "xml" | "json" | "doc" => {
            (Family::Text, "Text (encoded)")
        }
        other => {
            return Err(Error::UnknownFormat(format!(
                "the name says `{other}`, but the contents are text"
            )));
        }
    };
    let encoding = plain::encoding(file, head).map_err(Error::Input)?;
    let options = match filters.0 {
        Family::Sheet => encoding.csv_options(plain::separator(&text, extension)),
        _ => encoding.text_options().to_owned(),
    };
    Ok(Detected {
        filter_options: Some(options),
        ..Detected::new(filters.0, filters.1)
    })
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
        return found.map(|(_, family, filter)| Detected::new(*family, filter));
    }
    if start.contains("<w:worddocument") {
        return Some(Detected::new(Family::Text, "MS Word 2003 XML"));
    }
    if start.contains("urn:schemas-microsoft-com:office:spreadsheet") {
        return Some(Detected::new(Family::Sheet, "MS Excel 2003 XML"));
    }
    if start.contains("<svg") {
        return Some(Detected::new(
            Family::Drawing,
            "SVG - Scalable Vector Graphics",
        ));
    }
    start
        .contains("<html")
        .then(|| Detected::new(Family::Web, "HTML"))
}

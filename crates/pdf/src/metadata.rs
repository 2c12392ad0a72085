//! Metadata: the document information dictionary (14.3.3), and XMP if the file has it.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Object, Stream, StringFormat, dictionary};
use serde_json::{Map, Value as Json, json};

use crate::{
    Error, Limits,
    info::is_linearized,
    open::{open, save, value},
    signature::is_signed,
    xmp::{self, Kept},
};

/// Metadata fields under ExifTool's names.
pub type Metadata = Map<String, Json>;

/// How a field is stored in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    List,
    Date,
    Trapped,
}

/// Name of a field, its key in the information dictionary, and its type. If a key has several
/// names, reading uses the first.
const FIELDS: [(&str, &str, Shape); 11] = [
    ("Title", "Title", Shape::Text),
    ("Author", "Author", Shape::Text),
    ("Subject", "Subject", Shape::Text),
    ("Keywords", "Keywords", Shape::List),
    ("Creator", "Creator", Shape::Text),
    ("Producer", "Producer", Shape::Text),
    ("CreateDate", "CreationDate", Shape::Date),
    ("ModifyDate", "ModDate", Shape::Date),
    ("Trapped", "Trapped", Shape::Trapped),
    ("CreationDate", "CreationDate", Shape::Date),
    ("ModDate", "ModDate", Shape::Date),
];
/// Maximum size of a value, in bytes.
const MAX_BYTES: usize = 32 << 10;
/// Maximum size of XMP that is read, in bytes.
const MAX_XMP_BYTES: usize = 1 << 20;

/// Reads the metadata of a file, including its PDF version and number of pages.
///
/// # Errors
/// The file cannot be read.
pub fn read_metadata(file: &[u8], limits: &Limits) -> Result<Metadata, Error> {
    let mut metadata = metadata_of(&open(file, limits)?);
    metadata.insert("FileTypeExtension".to_owned(), json!("pdf"));
    let is_linearized = if is_linearized(file) { "Yes" } else { "No" };
    metadata.insert("Linearized".to_owned(), json!(is_linearized));
    Ok(metadata)
}

/// The metadata of an opened file.
pub(crate) fn metadata_of(document: &Document) -> Metadata {
    let mut metadata = Metadata::new();
    metadata.insert("FileType".to_owned(), json!("PDF"));
    metadata.insert("MIMEType".to_owned(), json!("application/pdf"));
    metadata.insert("PDFVersion".to_owned(), version(document));
    metadata.insert("PageCount".to_owned(), json!(document.page_iter().count()));
    if let Some(kept) = kept(document) {
        metadata.extend(
            kept.rights
                .map(|text| ("Copyright".to_owned(), text.into())),
        );
        metadata.extend(kept.marked.map(|flag| ("Marked".to_owned(), flag.into())));
        // What was written as the version is read as the version, as ExifTool does.
        let version = kept.version.and_then(|text| text.parse::<f64>().ok());
        metadata.extend(version.map(|number| ("PDFVersion".to_owned(), number.into())));
    }
    let Some(Object::Dictionary(info)) = value(document, &document.trailer, b"Info") else {
        return metadata;
    };
    for (key, _) in info {
        let field = FIELDS.iter().find(|(_, name, _)| name.as_bytes() == key);
        let (name, shape) = match field {
            Some((name, _, shape)) => ((*name).to_owned(), *shape),
            None => (String::from_utf8_lossy(key).into_owned(), Shape::Text),
        };
        let text = match value(document, info, key) {
            Some(Object::Name(name)) => String::from_utf8_lossy(name).into_owned(),
            Some(object) => match lopdf::decode_text_string(object) {
                Ok(text) => text,
                Err(_) => continue,
            },
            None => continue,
        };
        let value = match shape {
            Shape::Date => shown_date(&text).map_or(Json::String(text), Json::String),
            Shape::List if text.contains(", ") => text.split(", ").collect(),
            _ => Json::String(text),
        };
        metadata.insert(name, value);
    }
    metadata
}

/// The PDF version as a number, like ExifTool.
fn version(document: &Document) -> Json {
    let newest = newest_version(document);
    newest
        .parse::<f64>()
        .map_or(Json::String(newest), Json::from)
}

/// The PDF version, of the head or of the catalog.
pub(crate) fn newest_version(document: &Document) -> String {
    let catalog = document.catalog().ok();
    let newer = catalog.and_then(|it| value(document, it, b"Version")?.as_name().ok());
    let newer = newer.map(|it| String::from_utf8_lossy(it).into_owned());
    newer.unwrap_or_default().max(document.version.clone())
}

fn kept(document: &Document) -> Option<Kept> {
    let catalog = document.catalog().ok()?;
    let stream = value(document, catalog, b"Metadata")?.as_stream().ok()?;
    let bytes = match stream.is_compressed() {
        true => stream.decompressed_content_with_limit(MAX_XMP_BYTES).ok()?,
        false if stream.content.len() > MAX_XMP_BYTES => return None,
        false => stream.content.clone(),
    };
    Some(xmp::read(&bytes))
}

/// The standards that a file says it satisfies.
pub(crate) fn claims(document: &Document) -> Vec<String> {
    kept(document).unwrap_or_default().claims()
}

/// Changes metadata fields; an empty text removes a field. If the file has XMP, or if `Copyright`,
/// `Marked` or `PDFVersion` is given, which exist only there, the XMP is rewritten from all fields
/// and keeps its PDF/A and PDF/UA identification.
///
/// # Errors
/// The file cannot be read, or a field is unknown or has an invalid value.
pub fn write_metadata(file: &[u8], changes: &Metadata, limits: &Limits) -> Result<Vec<u8>, Error> {
    let mut document = open(file, limits)?;
    if is_signed(&document) {
        return Err(Error::Signed);
    }
    let mut info = match value(&document, &document.trailer, b"Info") {
        Some(Object::Dictionary(info)) => info.clone(),
        _ => Dictionary::new(),
    };
    let old = kept(&document);
    let has_xmp = old.is_some();
    let mut kept = old.unwrap_or_default();
    let mut wants_xmp = false;
    for (name, value) in changes {
        let wrong = |problem| Error::BadMetadata {
            name: name.chars().take(80).collect(),
            problem,
        };
        match (name.as_str(), value) {
            ("Copyright", Json::String(text)) => {
                kept.rights = Some(text.clone()).filter(|it| !it.is_empty());
                wants_xmp = true;
            }
            ("Marked", Json::Bool(flag)) => {
                kept.marked = Some(*flag);
                wants_xmp = true;
            }
            ("PDFVersion", Json::Number(number)) => {
                kept.version = Some(number.to_string());
                wants_xmp = true;
            }
            ("Copyright", _) => return Err(wrong("is not a text")),
            ("Marked", _) => return Err(wrong("is neither true nor false")),
            _ => change(&mut info, name, value).map_err(wrong)?,
        }
    }
    if has_xmp || wants_xmp {
        let fields = texts(&info);
        let packet = xmp::write(&fields, &kept).into_bytes();
        let kind = dictionary! { "Type" => "Metadata", "Subtype" => "XML" };
        let stream = document.add_object(Stream::new(kind, packet).with_compression(false));
        document.catalog_mut()?.set("Metadata", stream);
    }
    let info = document.add_object(info);
    document.trailer.set("Info", info);
    document.prune_objects();
    save(&mut document, has_compressed_objects(file))
}

/// Writes the XMP of `document` anew from its information dictionary, changed by `change`.
pub(crate) fn write_packet(
    document: &mut Document,
    change: &mut dyn FnMut(&mut Kept),
) -> Result<(), Error> {
    let info = match value(document, &document.trailer, b"Info") {
        Some(Object::Dictionary(info)) => info.clone(),
        _ => Dictionary::new(),
    };
    let mut kept = kept(document).unwrap_or_default();
    change(&mut kept);
    let packet = xmp::write(&texts(&info), &kept).into_bytes();
    let kind = dictionary! { "Type" => "Metadata", "Subtype" => "XML" };
    let stream = document.add_object(Stream::new(kind, packet).with_compression(false));
    document.catalog_mut()?.set("Metadata", stream);
    document.prune_objects();
    Ok(())
}

/// A file without compressed objects stays that way: PDF/A-1 does not allow them.
pub(crate) fn has_compressed_objects(file: &[u8]) -> bool {
    file.windows(7).any(|it| it == b"/ObjStm")
}

fn change(info: &mut Dictionary, name: &str, value: &Json) -> Result<(), &'static str> {
    let field = FIELDS.iter().find(|(known, _, _)| *known == name);
    let (_, key, shape) = field.ok_or("cannot be written")?;
    let text = match (shape, value) {
        (Shape::List, Json::Array(list)) => {
            let texts: Option<Vec<&str>> = list.iter().map(Json::as_str).collect();
            texts.ok_or("is not a list of texts")?.join(", ")
        }
        (_, Json::String(text)) => text.clone(),
        _ => return Err("is not a text"),
    };
    if text.len() > MAX_BYTES {
        return Err("is too long");
    }
    if text.is_empty() {
        info.remove(key.as_bytes());
        return Ok(());
    }
    let object = match shape {
        Shape::Date => Object::string_literal(stored_date(&text).ok_or("is not a date")?),
        Shape::Trapped if ["True", "False", "Unknown"].contains(&text.as_str()) => {
            Object::Name(text.into_bytes())
        }
        Shape::Trapped => return Err("is none of True, False, Unknown"),
        Shape::Text | Shape::List => text_string(&text),
    };
    info.set(*key, object);
    Ok(())
}

/// A text string: ASCII, or UTF-16BE with a byte order mark (7.9.2.2).
pub(crate) fn text_string(text: &str) -> Object {
    if text.is_ascii() {
        return Object::string_literal(text);
    }
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    let bytes = units.flat_map(u16::to_be_bytes).collect();
    Object::String(bytes, StringFormat::Hexadecimal)
}

/// The fields as text for XMP: dates in ISO 8601.
fn texts(info: &Dictionary) -> BTreeMap<&'static str, String> {
    let mut texts = BTreeMap::new();
    for (_, key, shape) in FIELDS {
        let text = match info.get(key.as_bytes()) {
            Ok(Object::Name(name)) => String::from_utf8_lossy(name).into_owned(),
            Ok(object) => lopdf::decode_text_string(object).unwrap_or_default(),
            Err(_) => continue,
        };
        let text = match shape {
            Shape::Date => digits(&text).map(|date| date.iso()),
            _ => Some(text),
        };
        texts.extend(text.map(|text| (key, text)));
    }
    texts
}

/// A date: its digits from year to second, and its time zone.
struct Date {
    digits: String,
    zone: Option<(char, String, String)>,
}

impl Date {
    fn iso(&self) -> String {
        let (date, time) = self.digits.split_at(8);
        let zone = self.zone.as_ref();
        let zone = zone.map(|(sign, hours, minutes)| match sign {
            'Z' => "Z".to_owned(),
            _ => format!("{sign}{hours}:{minutes}"),
        });
        format!(
            "{}-{}-{}T{}:{}:{}{}",
            &date[..4],
            &date[4..6],
            &date[6..],
            &time[..2],
            &time[2..4],
            &time[4..],
            zone.unwrap_or_default()
        )
    }
}

/// Parses a date in any of the common notations: `D:20060918162750-04'00'`,
/// `2006-09-18T16:27:50-04:00`, `2006:09:18 16:27:50`, `2006-09-18`.
fn digits(text: &str) -> Option<Date> {
    let text = text.trim().trim_start_matches("D:");
    if !text.is_ascii() || text.len() > 40 {
        return None;
    }
    let is_zone = |(at, symbol): (usize, char)| {
        matches!(symbol, 'Z' | 'z' | '+') || (symbol == '-' && at >= 14)
    };
    let zone_at = text.char_indices().position(is_zone);
    let (moment, zone) = text.split_at(zone_at.unwrap_or(text.len()));
    let moment = moment.split('.').next().unwrap_or_default();
    let mut digits: String = moment.chars().filter(char::is_ascii_digit).collect();
    let separators = |it: char| matches!(it, '-' | ':' | ' ' | 'T' | 't');
    let is_clean = moment
        .chars()
        .all(|it| it.is_ascii_digit() || separators(it));
    // Missing parts have their lowest values (7.9.4).
    digits.push_str(match digits.len() {
        4 => "0101000000",
        6 => "01000000",
        8 => "000000",
        10 => "0000",
        12 => "00",
        14 => "",
        _ => return None,
    });
    let within = |at: usize, least: u32, most: u32| {
        let number = digits[at..at + 2].parse::<u32>();
        number.is_ok_and(|number| (least..=most).contains(&number))
    };
    let sound = is_clean
        && within(4, 1, 12)
        && within(6, 1, 31)
        && within(8, 0, 23)
        && within(10, 0, 59)
        && within(12, 0, 59);
    let offset: String = zone.chars().filter(char::is_ascii_digit).collect();
    let zone = match zone.chars().next() {
        None => None,
        Some('Z' | 'z') => Some(('Z', String::new(), String::new())),
        Some(sign) if offset.len() == 4 => {
            Some((sign, offset[..2].to_owned(), offset[2..].to_owned()))
        }
        Some(sign) if offset.len() == 2 => Some((sign, offset, "00".to_owned())),
        Some(_) => return None,
    };
    sound.then_some(Date { digits, zone })
}

/// A date in PDF notation.
fn stored_date(text: &str) -> Option<String> {
    let Date { digits, zone } = digits(text)?;
    Some(match zone {
        None => format!("D:{digits}"),
        Some(('Z', ..)) => format!("D:{digits}Z"),
        Some((sign, hours, minutes)) => format!("D:{digits}{sign}{hours}'{minutes}'"),
    })
}

/// A date in ExifTool's notation.
fn shown_date(text: &str) -> Option<String> {
    let iso = digits(text)?.iso();
    let (date, time) = iso.split_once('T')?;
    Some(format!("{} {time}", date.replace('-', ":")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written() {
        let stored = |text| stored_date(text).unwrap_or_default();
        assert_eq!(
            stored("2006-09-18T16:27:50-04:00"),
            "D:20060918162750-04'00'"
        );
        assert_eq!(stored("2006:09:18 16:27:50Z"), "D:20060918162750Z");
        assert_eq!(stored("2006-09-18"), "D:20060918000000");
        assert_eq!(stored("D:20060918162750+02'00'"), "D:20060918162750+02'00'");
        for wrong in [
            "",
            "yesterday",
            "2006-13-18",
            "2006-09-18T25:00:00",
            "1-1-1",
        ] {
            assert_eq!(stored_date(wrong), None, "{wrong}");
        }
        let shown = shown_date("D:20060918162750-04'00'");
        assert_eq!(shown.as_deref(), Some("2006:09:18 16:27:50-04:00"));
    }
}

//! Detects the content of ZIP packages: by `mimetype` (OpenDocument 1.2, part 3, section 3.3), or
//! by the relationship to the main part and its content type (ECMA-376-2 §9.3 and §10.1).

use std::io::{self, Read, Seek};

use crate::{
    detect::Detected,
    format::Family,
    markup,
    zip_directory::{self, Directory, Entry},
};

/// Maximum length of an OpenDocument media type, in bytes.
const MAX_MIMETYPE_BYTES: u64 = 100;
/// Maximum size of the package's relationships and content types, in bytes; real ones are short.
const MAX_LIST_BYTES: u64 = 4 << 20;

/// Extensions of pictures other than JPEG files. Drawings of Windows may hold such pictures.
const OTHER_PICTURES: [&str; 12] = [
    "bmp", "emf", "emz", "gif", "pct", "pict", "png", "tif", "tiff", "webp", "wmf", "wmz",
];

/// Whether there are pictures, and all of them are JPEG files by their names. Previews of the document
/// do not count.
pub(crate) fn has_jpeg_only(directory: &Directory) -> bool {
    let is_preview = |name: &str| name.starts_with("Thumbnails/") || name.starts_with("docProps/");
    let names = directory.entries.iter().map(|entry| entry.name.as_str());
    let extensions = names
        .filter(|name| !is_preview(name))
        .filter_map(|name| name.rsplit_once('.'))
        .map(|(_, extension)| extension.to_ascii_lowercase());
    let mut has_jpeg = false;
    for extension in extensions {
        if OTHER_PICTURES.contains(&extension.as_str()) {
            return false;
        }
        has_jpeg |= matches!(extension.as_str(), "jpg" | "jpeg");
    }
    has_jpeg && directory.entries.len() == directory.count
}

/// Detects the content; `None` if it is not a document.
pub(crate) fn detect(
    file: &mut (impl Read + Seek),
    directory: &Directory,
) -> io::Result<Option<Detected>> {
    let entry = |name: &str| directory.entries.iter().find(|it| it.name == name);
    // The part should be stored uncompressed, but tools that repack documents compress it.
    if let Some(entry) = entry("mimetype") {
        let text = zip_directory::unpacked(file, entry, MAX_MIMETYPE_BYTES)?;
        return Ok(open_document(String::from_utf8_lossy(&text).trim()));
    }
    let extension = match main_type(file, directory)? {
        Some(media_type) => by_media_type(&media_type),
        None => None,
    };
    Ok(extension
        .or_else(|| by_place(directory))
        .and_then(by_extension))
}

/// The content type of the package's main document part.
fn main_type(file: &mut (impl Read + Seek), directory: &Directory) -> io::Result<Option<String>> {
    let named = |name: &str| {
        let same = |it: &&Entry| it.name.eq_ignore_ascii_case(name);
        directory.entries.iter().find(same)
    };
    let (Some(relations), Some(types)) = (named("_rels/.rels"), named("[Content_Types].xml"))
    else {
        return Ok(None);
    };
    let relations = zip_directory::unpacked(file, relations, MAX_LIST_BYTES)?;
    let types = zip_directory::unpacked(file, types, MAX_LIST_BYTES)?;
    let both = (markup::ascii_based(&relations), markup::ascii_based(&types));
    let (Some(relations), Some(types)) = both else {
        return Ok(None);
    };
    let value = |tag: &markup::Tag<'_>, name: &str| Some(tag.attribute(name.as_bytes())?.value());
    let main = markup::tags(&relations).find_map(|tag| {
        let is_main = tag.name() == b"Relationship"
            && value(&tag, "Type")?.trim().ends_with("/officeDocument");
        is_main.then(|| value(&tag, "Target")).flatten()
    });
    let Some(main) = main else { return Ok(None) };
    let main = main.trim().trim_start_matches("./").trim_start_matches('/');
    let override_of = |tag: markup::Tag<'_>| {
        let part = value(&tag, "PartName").filter(|_| tag.name() == b"Override")?;
        let same = part
            .trim()
            .trim_start_matches('/')
            .eq_ignore_ascii_case(main);
        same.then(|| value(&tag, "ContentType")).flatten()
    };
    let extension = main.rsplit_once('.').map_or("", |(_, it)| it);
    let default_of = |tag: markup::Tag<'_>| {
        let of = value(&tag, "Extension").filter(|_| tag.name() == b"Default")?;
        let same = of.trim().eq_ignore_ascii_case(extension);
        same.then(|| value(&tag, "ContentType")).flatten()
    };
    let found = markup::tags(&types).find_map(override_of);
    Ok(found.or_else(|| markup::tags(&types).find_map(default_of)))
}

fn by_media_type(media_type: &str) -> Option<&'static str> {
    let media_type = media_type.to_ascii_lowercase();
    let has = |text: &str| media_type.contains(text);
    match () {
        () if has("wordprocessingml") || has("ms-word") => Some("docx"),
        () if has("sheet.binary") => Some("xlsb"),
        () if has("spreadsheetml") || has("ms-excel") => Some("xlsx"),
        () if has("presentationml") || has("ms-powerpoint") => Some("pptx"),
        () => None,
    }
}

/// Detects by the usual location of the main part, for packages whose lists are incomplete.
fn by_place(directory: &Directory) -> Option<&'static str> {
    let has = |name: &str| directory.entries.iter().any(|it| it.name.starts_with(name));
    match () {
        () if has("word/document") => Some("docx"),
        () if has("xl/workbook.bin") => Some("xlsb"),
        () if has("xl/workbook") => Some("xlsx"),
        () if has("ppt/presentation") => Some("pptx"),
        () => None,
    }
}

/// The format that a package with this extension has.
pub(crate) fn by_extension(extension: &str) -> Option<Detected> {
    let (family, filter) = match extension {
        "docx" | "docm" | "dotx" | "dotm" => (Family::Text, "MS Word 2007 XML"),
        "xlsb" => (Family::Sheet, "Calc MS Excel 2007 Binary"),
        "xlsx" | "xlsm" | "xltx" | "xltm" => (Family::Sheet, "Calc MS Excel 2007 XML"),
        "pptx" | "pptm" | "ppsx" | "ppsm" | "potx" | "potm" => {
            (Family::Slides, "Impress MS PowerPoint 2007 XML")
        }
        "odt" | "ott" => (Family::Text, "writer8"),
        "ods" | "ots" => (Family::Sheet, "calc8"),
        "odp" | "otp" => (Family::Slides, "impress8"),
        "odg" | "otg" => (Family::Drawing, "draw8"),
        _ => return None,
    };
    Some(Detected {
        is_package: true,
        ..Detected::new(family, filter)
    })
}

fn open_document(media_type: &str) -> Option<Detected> {
    let kind = media_type.strip_prefix("application/vnd.oasis.opendocument.")?;
    let kind = kind.trim_end_matches("-template");
    match kind {
        "text" | "text-master" | "text-web" => by_extension("odt"),
        "spreadsheet" => by_extension("ods"),
        "presentation" => by_extension("odp"),
        "graphics" => by_extension("odg"),
        "formula" => Some(Detected {
            is_package: true,
            ..Detected::new(Family::Formula, "math8")
        }),
        _ => None,
    }
}

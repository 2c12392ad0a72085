//! Finds what keeps a file from being archival and cannot be mended.

use lopdf::{Dictionary, Document, Object};

use super::dictionaries::{each, name};
use crate::{
    copy::inherited,
    flatten::numbers,
    open::{array, dictionary, filters, value},
};

/// Filters of streams (ISO 32000-1, 7.4), without those that are replaced or refused.
const FILTERS: [&[u8]; 8] = [
    b"ASCIIHexDecode",
    b"ASCII85Decode",
    b"FlateDecode",
    b"RunLengthDecode",
    b"CCITTFaxDecode",
    b"JBIG2Decode",
    b"DCTDecode",
    b"JPXDecode",
];

/// Checks `document`; the clauses are of ISO 19005-2.
pub(super) fn check(document: &Document, reasons: &mut Vec<String>) {
    let is_odd = |page| {
        let page = document.get_dictionary(page).ok()?;
        let area = ["MediaBox", "CropBox"]
            .iter()
            .filter_map(|key| inherited(document, page, key.as_bytes()));
        area.into_iter()
            .map(|area| sides(document, Some(&area)))
            .find(|sides| !is_size(*sides))
    };
    if document.page_iter().any(|page| is_odd(page).is_some()) {
        reasons.push("a page is smaller than 3 or larger than 14,400 points (6.1.13)".to_owned());
    }
    let mut streams = false;
    each(
        document,
        &mut |_, dictionary| match name(dictionary, b"Subtype") {
            Some(b"PS") => {
                reasons.push("it has PostScript in it (6.2.9)".to_owned());
            }
            Some(b"Form") if dictionary.has(b"Ref") => {
                reasons.push("it shows a page of another file (6.2.9)".to_owned());
            }
            _ => {}
        },
    );
    for object in document.objects.values() {
        if let Object::Stream(stream) = object {
            streams |= ["F", "FFilter", "FDecodeParms"]
                .iter()
                .any(|key| stream.dict.has(key.as_bytes()));
            match filters(document, stream) {
                Some(filters) if filters.iter().any(|it| it == b"Crypt") => {
                    reasons.push("a stream is encrypted (6.1.7.2)".to_owned());
                }
                Some(filters) if filters.iter().all(|it| FILTERS.contains(&it.as_slice())) => {}
                _ => reasons
                    .push("a stream has a filter that PDF does not know (6.1.7.2)".to_owned()),
            }
        }
    }
    if streams {
        reasons.push("a stream is outside of the file (6.1.7.1)".to_owned());
    }
}

/// What an accessible file must not have, and an archival one does not (ISO 14289-1, 7.11 to 7.20).
pub(super) fn accessible(document: &Document, reasons: &mut Vec<String>) {
    let mut found = Vec::new();
    each(document, &mut |_, dictionary| {
        let has_text = |key: &[u8]| {
            value(document, dictionary, key)
                .and_then(|it| it.as_str().ok())
                .is_some_and(|text| !text.is_empty())
        };
        if dictionary.has(b"EF") && !(has_text(b"F") && has_text(b"UF")) {
            found.push("an attached file has no name (ISO 14289-1, 7.11)");
        }
        if dictionary.has(b"XFA") {
            found.push("it has a form of XFA (ISO 14289-1, 7.15)");
        }
        if name(dictionary, b"S") == Some(b"MCD") && !(has_text(b"CT") && dictionary.has(b"Alt")) {
            found.push("a sound or film does not say what it is (ISO 14289-1, 7.18.6)");
        }
        if name(dictionary, b"Subtype") == Some(b"Form") && dictionary.has(b"Ref") {
            found.push("it shows a page of another file (ISO 14289-1, 7.20)");
        }
    });
    found.sort_unstable();
    found.dedup();
    reasons.extend(found.into_iter().map(str::to_owned));
}

/// Width and height of an area.
pub(super) fn sides(document: &Document, area: Option<&Object>) -> Option<(f32, f32)> {
    let [left, bottom, right, top] = numbers::<4>(document, area)?;
    Some(((right - left).abs(), (top - bottom).abs()))
}

/// Whether an area is as large as one of a page may be (6.1.13).
pub(super) fn is_size(sides: Option<(f32, f32)>) -> bool {
    let is_within = |side: f32| (3.0..=14_400.0).contains(&side);
    sides.is_some_and(|(width, height)| is_within(width) && is_within(height))
}

/// Whether the file has the program of a font.
pub(super) fn has_program(document: &Document, font: &Dictionary) -> bool {
    let has_file = |font: &Dictionary| {
        let descriptor = value(document, font, b"FontDescriptor").and_then(|it| it.as_dict().ok());
        descriptor.is_some_and(|descriptor| {
            [&b"FontFile"[..], b"FontFile2", b"FontFile3"]
                .iter()
                .any(|key| value(document, descriptor, key).is_some())
        })
    };
    match name(font, b"Subtype") {
        Some(b"Type3") => true,
        Some(b"Type0") => {
            let below = array(document, font.get(b"DescendantFonts").ok());
            below
                .iter()
                .filter_map(|font| dictionary(document, font))
                .all(has_file)
        }
        _ => has_file(font),
    }
}

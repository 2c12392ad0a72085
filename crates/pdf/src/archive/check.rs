//! Finds what keeps a file from being archival and cannot be mended.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{
    dictionaries::{each, name},
    once::Once,
};
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
/// Maximum number of bytes of all content that is looked at.
const MAX_CONTENT: usize = 256 << 20;

/// Checks `document`; the clauses are of ISO 19005-2.
pub(super) fn check(document: &Document, reasons: &mut Vec<String>) {
    fonts(document, reasons);
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
            Some(b"PS") if name(dictionary, b"Type") == Some(b"XObject") => {
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
            streams |= stream.dict.has(b"F") || stream.dict.has(b"FFilter");
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
    if has_ink_profile(document) {
        return;
    }
    match uses_inks(document) {
        Some(false) => {}
        Some(true) => reasons.push(
            "it has CMYK colors, but no profile says how they look (6.2.4.3): make it with RGB \
             colors, or with an output intent for CMYK"
                .to_owned(),
        ),
        None => reasons.push(
            "its content is damaged or too large to look for CMYK colors (6.2.4.3)".to_owned(),
        ),
    }
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

/// Fonts that are shown must be embedded (6.2.11.4).
fn fonts(document: &Document, reasons: &mut Vec<String>) {
    let mut shown: HashSet<ObjectId> = HashSet::new();
    let mut direct: Vec<Dictionary> = Vec::new();
    let mut once = Once::default();
    each(document, &mut |_, resources| {
        let Some(fonts) = once.follow(document, resources, b"Font") else {
            return;
        };
        for (_, font) in fonts {
            match font {
                Object::Reference(id) => {
                    shown.insert(*id);
                }
                Object::Dictionary(font) => direct.push(font.clone()),
                _ => {}
            }
        }
    });
    // The default resources of a form name fonts that its fields may never show.
    let unused = default_fonts(document);
    let indirect = shown
        .iter()
        .filter(|id| !unused.contains(id))
        .filter_map(|id| document.get_dictionary(*id).ok());
    for font in indirect.chain(&direct) {
        if !is_embedded(document, font) {
            let base = name(font, b"BaseFont").unwrap_or(b"without a name");
            let base = String::from_utf8_lossy(base);
            reasons.push(format!("the font {base} is not embedded (6.2.11.4)"));
        }
    }
}

/// Fonts that only the form's default resources name.
fn default_fonts(document: &Document) -> HashSet<ObjectId> {
    let named = |once: &mut Once, resources: &Dictionary| -> HashSet<ObjectId> {
        let fonts = once.follow(document, resources, b"Font");
        let fonts = fonts.into_iter().flat_map(Dictionary::iter);
        fonts
            .filter_map(|(_, font)| font.as_reference().ok())
            .collect()
    };
    let form = document.catalog().ok();
    let form = form.and_then(|catalog| value(document, catalog, b"AcroForm")?.as_dict().ok());
    let default = form.and_then(|form| value(document, form, b"DR")?.as_dict().ok());
    let Some(default) = default else {
        return HashSet::new();
    };
    let mut found = named(&mut Once::default(), default);
    let (mut once, mut fonts) = (Once::default(), Once::default());
    each(document, &mut |_, dictionary| {
        if let Some(resources) = once.follow(document, dictionary, b"Resources") {
            for used in named(&mut fonts, resources) {
                found.remove(&used);
            }
        }
    });
    found
}

fn is_embedded(document: &Document, font: &Dictionary) -> bool {
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

/// Whether the output intent is one for CMYK.
fn has_ink_profile(document: &Document) -> bool {
    let catalog = document.catalog().ok();
    let intents = catalog.map(|catalog| array(document, catalog.get(b"OutputIntents").ok()));
    intents.into_iter().flatten().any(|intent| {
        let profile = dictionary(document, intent)
            .and_then(|intent| value(document, intent, b"DestOutputProfile"));
        let channels = profile.and_then(|profile| profile.as_stream().ok()?.dict.get(b"N").ok());
        channels.and_then(|channels| channels.as_i64().ok()) == Some(4)
    })
}

/// Whether a color of the file is in device CMYK; `None` if that cannot be seen.
fn uses_inks(document: &Document) -> Option<bool> {
    fn names(object: &Object, depth: usize) -> bool {
        match object {
            Object::Name(name) => name == b"DeviceCMYK",
            Object::Array(items) if depth < 100 => items.iter().any(|it| names(it, depth + 1)),
            Object::Dictionary(dictionary) if depth < 100 => {
                dictionary.iter().any(|(_, it)| names(it, depth + 1))
            }
            Object::Stream(stream) => stream.dict.iter().any(|(_, it)| names(it, depth + 1)),
            _ => false,
        }
    }
    if document.objects.values().any(|object| names(object, 0)) {
        return Some(true);
    }
    let mut contents: HashSet<ObjectId> = HashSet::new();
    for page in document.page_iter() {
        contents.extend(document.get_page_contents(page));
    }
    let mut left = MAX_CONTENT;
    for (id, object) in &document.objects {
        let Object::Stream(stream) = object else {
            continue;
        };
        let draws = contents.contains(id)
            || name(&stream.dict, b"Subtype") == Some(b"Form")
            || stream.dict.has(b"PatternType")
            || stream.dict.has(b"PaintType");
        if !draws {
            continue;
        }
        let found = match stream.is_compressed() {
            true => {
                let content = stream.decompressed_content_with_limit(left).ok()?;
                left = left.saturating_sub(content.len());
                has_ink_operator(&content)
            }
            false => has_ink_operator(&stream.content),
        };
        if found {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether content sets a CMYK color: the operators `k` and `K`, outside of strings and pictures.
fn has_ink_operator(content: &[u8]) -> bool {
    let mut at = 0;
    let mut token: Vec<u8> = Vec::new();
    while at <= content.len() {
        let byte = content.get(at).copied().unwrap_or(b' ');
        let is_end = byte.is_ascii_whitespace() || b"()<>[]{}/%\0".contains(&byte);
        if !is_end {
            token.push(byte);
            at += 1;
            continue;
        }
        match token.as_slice() {
            b"k" | b"K" => return true,
            // A picture inside of the content: its bytes are no operators.
            b"ID" => match content[at..]
                .windows(3)
                .position(|it| it[0].is_ascii_whitespace() && &it[1..] == b"EI")
            {
                Some(length) => at += length + 3,
                None => return false,
            },
            _ => {}
        }
        token.clear();
        match byte {
            b'(' => at = end_of_string(content, at),
            b'/' => {
                // A name may be called `k`.
                at += 1;
                while content.get(at).is_some_and(|byte| {
                    !byte.is_ascii_whitespace() && !b"()<>[]{}/%\0".contains(byte)
                }) {
                    at += 1;
                }
            }
            b'%' => {
                while content.get(at).is_some_and(|byte| !b"\r\n".contains(byte)) {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    false
}

/// The place after the string that begins at `at`.
fn end_of_string(content: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(byte) = content.get(at) {
        match byte {
            b'\\' => at += 1,
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_operators_are_told_from_text() {
        assert!(has_ink_operator(b"0 0 0 1 k 1 0 0 rg"));
        assert!(has_ink_operator(b"q 1 1 1 0 K"));
        assert!(!has_ink_operator(b"(0 0 0 1 k) Tj /k gs 0 0 1 rg % k\nf"));
        assert!(!has_ink_operator(b"BI /W 1 ID \x01 k \x02 EI Q"));
        assert!(has_ink_operator(b"BI /W 1 ID \x01 \x02 EI 0 0 0 1 k"));
    }
}

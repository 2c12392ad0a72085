//! Dictionaries of fonts in archival files (ISO 19005-2, 6.2.11).

use lopdf::{Dictionary, Document, Object};

use super::{
    code_maps::{System, embedded, predefined},
    dictionaries::name,
};
use crate::{
    open::{array, dictionary as dictionary_of, value},
    text::{code_names, glyph_text},
};

/// Types of fonts (ISO 32000-1, table 110).
const KINDS: [&[u8]; 5] = [b"Type0", b"Type1", b"MMType1", b"Type3", b"TrueType"];
/// What a font that is shown breaks.
pub(super) fn problem(document: &Document, font: &Dictionary) -> Option<&'static str> {
    let kind = name(font, b"Subtype").unwrap_or_default();
    if !KINDS.contains(&kind) {
        return Some("is of an unknown type (6.2.11.2)");
    }
    if kind != b"Type3" && name(font, b"BaseFont").is_none() {
        return Some("has no name (6.2.11.2)");
    }
    if kind == b"Type0" {
        return composite(document, font);
    }
    let number = |key: &[u8]| value(document, font, key)?.as_i64().ok();
    let count = value(document, font, b"Widths")
        .and_then(|it| it.as_array().ok())
        .map(Vec::len);
    let span = number(b"FirstChar")
        .zip(number(b"LastChar"))
        .and_then(|(first, last)| usize::try_from(last.checked_sub(first)?.checked_add(1)?).ok());
    if span.is_none() || span != count {
        return Some("does not say the widths of all of its codes (6.2.11.2)");
    }
    let descriptor = value(document, font, b"FontDescriptor").and_then(|it| it.as_dict().ok());
    if let Some(wrong) = descriptor.and_then(|descriptor| program(document, descriptor)) {
        return Some(wrong);
    }
    match kind {
        b"TrueType" => true_type(document, font, descriptor?),
        _ => None,
    }
}

/// The stream with the program of a font says what it is, where it must.
fn program(document: &Document, descriptor: &Dictionary) -> Option<&'static str> {
    let stream = |key: &[u8]| value(document, descriptor, key)?.as_stream().ok();
    let kind = |key: &[u8]| Some(name(&stream(key)?.dict, b"Subtype").unwrap_or_default());
    let known: [&[u8]; 3] = [b"Type1C", b"CIDFontType0C", b"OpenType"];
    let is_wrong = kind(b"FontFile3").is_some_and(|kind| !known.contains(&kind))
        || [&b"FontFile"[..], b"FontFile2"]
            .iter()
            .filter_map(|key| kind(key))
            .any(|kind| !kind.is_empty() && !known.contains(&kind));
    is_wrong.then_some("has a program of an unknown type (6.2.11.2)")
}

fn composite(document: &Document, font: &Dictionary) -> Option<&'static str> {
    let below = array(document, font.get(b"DescendantFonts").ok());
    let Some(below) = below.first().and_then(|it| dictionary_of(document, it)) else {
        return Some("has no characters (6.2.11.2)");
    };
    if !matches!(
        name(below, b"Subtype"),
        Some(b"CIDFontType0" | b"CIDFontType2")
    ) {
        return Some("is of an unknown type (6.2.11.2)");
    }
    if name(below, b"BaseFont").is_none() {
        return Some("has no name (6.2.11.2)");
    }
    let descriptor = value(document, below, b"FontDescriptor").and_then(|it| it.as_dict().ok());
    if let Some(wrong) = descriptor.and_then(|descriptor| program(document, descriptor)) {
        return Some(wrong);
    }
    let system = value(document, below, b"CIDSystemInfo").and_then(|it| it.as_dict().ok());
    let own = system.and_then(|system| System::read(document, system));
    match value(document, font, b"Encoding") {
        Some(Object::Name(map)) => predefined(map, own.as_ref()),
        Some(Object::Stream(map)) => embedded(document, map, own.as_ref()),
        _ => Some("has no map of codes (6.2.11.3.3)"),
    }
}

/// The encoding of a TrueType font (6.2.11.6).
fn true_type(
    document: &Document,
    font: &Dictionary,
    descriptor: &Dictionary,
) -> Option<&'static str> {
    let flags = value(document, descriptor, b"Flags").and_then(|it| it.as_i64().ok());
    let encoding = value(document, font, b"Encoding");
    if flags.unwrap_or(0) & 4 != 0 {
        return encoding
            .is_some()
            .then_some("is symbolic and has an encoding (6.2.11.6)");
    }
    let base = match encoding {
        Some(Object::Dictionary(entries)) => value(document, entries, b"BaseEncoding"),
        other => other,
    };
    let base = base.and_then(|it| it.as_name().ok());
    let is_usual = matches!(base, Some(b"MacRomanEncoding" | b"WinAnsiEncoding"));
    let (names, _) = code_names(document, font);
    let are_known = names.values().all(|name| glyph_text(name).is_some());
    (!is_usual || !are_known).then_some("is not symbolic and has no usual encoding (6.2.11.6)")
}

/// Mends what does not change how a font looks: lists of the glyphs of a subset are often wrong, and need
/// not be there; the map from characters to glyphs of an embedded font must.
pub(super) fn mend(dictionary: &mut Dictionary) {
    if dictionary.has(b"FontName") {
        dictionary.remove(b"CIDSet");
        dictionary.remove(b"CharSet");
    }
    let kind = name(dictionary, b"Subtype").unwrap_or_default().to_vec();
    let kind = kind.as_slice();
    let is_character_font = kind == b"CIDFontType2" || kind == b"CIDFontType0";
    // A map that is none counts as the usual one.
    let is_mapped = match dictionary.get(b"CIDToGIDMap") {
        Ok(Object::Name(map)) => map == b"Identity",
        Ok(map) => !map.is_null(),
        Err(_) => false,
    };
    if kind == b"CIDFontType2" && !is_mapped {
        dictionary.set("CIDToGIDMap", "Identity");
    }
    let is_font = is_character_font || KINDS.contains(&kind);
    let names_a_font = dictionary.has(b"BaseFont") || dictionary.has(b"CharProcs");
    if is_font && names_a_font && name(dictionary, b"Type") != Some(b"Font") {
        dictionary.set("Type", "Font");
    }
}

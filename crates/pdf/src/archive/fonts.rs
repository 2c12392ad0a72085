//! Dictionaries of fonts in archival files (ISO 19005-2, 6.2.11).

use lopdf::{Dictionary, Document, Object};

use super::dictionaries::name;
use crate::{
    open::{array, dictionary as dictionary_of, value},
    text::{code_names, glyph_text},
};

/// Types of fonts (ISO 32000-1, table 110).
const KINDS: [&[u8]; 5] = [b"Type0", b"Type1", b"MMType1", b"Type3", b"TrueType"];
/// Predefined maps from codes to characters, and the order of characters that they are for (ISO 32000-1, table
/// 118); those for both directions end in `-H` and `-V`.
const MAPS: &[(&str, &[&str])] = &[
    (
        "GB1",
        &[
            "GB-EUC",
            "GBpc-EUC",
            "GBK-EUC",
            "GBKp-EUC",
            "GBK2K",
            "UniGB-UCS2",
            "UniGB-UTF16",
        ],
    ),
    (
        "CNS1",
        &[
            "B5pc",
            "HKscs-B5",
            "ETen-B5",
            "ETenms-B5",
            "CNS-EUC",
            "UniCNS-UCS2",
            "UniCNS-UTF16",
        ],
    ),
    (
        "Japan1",
        &[
            "83pv-RKSJ",
            "90ms-RKSJ",
            "90msp-RKSJ",
            "90pv-RKSJ",
            "Add-RKSJ",
            "EUC",
            "Ext-RKSJ",
            "",
            "UniJIS-UCS2",
            "UniJIS-UCS2-HW",
            "UniJIS-UTF16",
        ],
    ),
    (
        "Korea1",
        &[
            "KSC-EUC",
            "KSCms-UHC",
            "KSCms-UHC-HW",
            "KSCpc-EUC",
            "UniKS-UCS2",
            "UniKS-UTF16",
        ],
    ),
];

/// The newest supplement of these orders.
const MAX_SUPPLEMENT: i64 = 7;

/// What a font that is shown breaks. `is_embedded` tells fonts whose program the file has.
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
    let said = |system: Option<&Dictionary>| {
        let system = system?;
        let text = |key: &[u8]| {
            value(document, system, key)?
                .as_str()
                .ok()
                .map(<[u8]>::to_vec)
        };
        let supplement = value(document, system, b"Supplement")?.as_i64().ok()?;
        Some((text(b"Registry")?, text(b"Ordering")?, supplement))
    };
    let own = said(system);
    match value(document, font, b"Encoding") {
        Some(Object::Name(map)) if map == b"Identity-H" || map == b"Identity-V" => None,
        Some(Object::Name(map)) => {
            let map = String::from_utf8_lossy(map);
            let order = MAPS.iter().find(|(_, maps)| {
                maps.iter().any(|known| {
                    let stem = map
                        .strip_suffix("-H")
                        .or(map.strip_suffix("-V"))
                        .unwrap_or(&map);
                    stem == *known || known.is_empty() && ["H", "V"].contains(&stem)
                })
            });
            match (order, own) {
                (None, _) => Some("has a map of codes that is not known (6.2.11.3.3)"),
                (Some((order, _)), Some((registry, own, supplement)))
                    if registry == b"Adobe"
                        && own == order.as_bytes()
                        && supplement <= MAX_SUPPLEMENT =>
                {
                    None
                }
                _ => Some("has a map of codes for other characters (6.2.11.3.1)"),
            }
        }
        Some(Object::Stream(map)) => {
            let of_map =
                value(document, &map.dict, b"CIDSystemInfo").and_then(|it| it.as_dict().ok());
            let content = map
                .get_plain_content_with_limit(8 << 20)
                .unwrap_or_default();
            let text = String::from_utf8_lossy(&content);
            let after = |key: &str| text.split_once(key).map(|(_, rest)| rest.trim_start());
            let mode = after("/WMode").and_then(|rest| rest.chars().next());
            let said_mode = value(document, &map.dict, b"WMode").and_then(|it| it.as_i64().ok());
            let of_map = said(of_map);
            let fits = match (&own, &of_map) {
                (Some(own), Some(map)) => own.0 == map.0 && own.1 == map.1 && own.2 <= map.2,
                _ => false,
            };
            // What the map itself says must be the same.
            let order = after("/Ordering").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
            let is_same = order
                .is_none_or(|(order, _)| own.as_ref().is_some_and(|own| own.1 == order.as_bytes()));
            if !fits || !is_same {
                Some("has a map of codes for other characters (6.2.11.3.1)")
            } else if (mode == Some('1')) != (said_mode == Some(1)) {
                Some("has a map of codes of another direction (6.2.11.3.3)")
            } else if map.dict.has(b"UseCMap") || text.contains("usecmap") {
                Some("has a map of codes that uses another one (6.2.11.3.3)")
            } else {
                None
            }
        }
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

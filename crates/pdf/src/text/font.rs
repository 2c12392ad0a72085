//! Fonts as far as their texts and widths go (9.6 to 9.8).

use std::collections::HashMap;

use encoding_rs::Encoding;
use lopdf::{Dictionary, Document, Object};

use super::{cmap::CodeMap, names};
use crate::open::{array, dictionary as dictionary_of, resolve, value};

/// Maximum number of widths of a font.
const MAX_WIDTHS: usize = 70_000;
/// Width of a glyph of a standard font without widths, as a part of the font size: that of many.
const USUAL_WIDTH: f32 = 0.556;
/// Character sets of the predefined maps, by a part of their names.
const SETS: [(&str, &str); 9] = [
    ("RKSJ", "shift_jis"),
    ("GBK", "gb18030"),
    ("GB-", "gb18030"),
    ("GBpc", "gb18030"),
    ("B5", "big5"),
    ("HKscs", "big5"),
    ("KSC", "euc-kr"),
    ("EUC-", "euc-jp"),
    ("CNS-EUC", "big5"),
];

/// A font.
pub(super) struct Font {
    to_text: Option<CodeMap>,
    kind: Kind,
    widths: HashMap<u32, f32>,
    /// First and last glyph, and their width.
    ranges: Vec<(u32, u32, f32)>,
    usual_width: f32,
    /// Size of the maps that were read, in bytes.
    map_bytes: usize,
    pub(super) is_vertical: bool,
}

enum Kind {
    /// Texts of the 256 codes.
    Simple(Vec<Option<String>>),
    /// Codes of several bytes.
    Composite { codes: Option<CodeMap>, set: Set },
}

/// What codes without a text of their own are in.
enum Set {
    Unknown,
    Utf16,
    Of(&'static Encoding),
}

/// A glyph that is shown.
pub(super) struct Shown {
    pub(super) text: Option<String>,
    /// As a part of the font size.
    pub(super) width: f32,
    /// Whether word spacing applies (9.3.3).
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn read(document: &Document, font: &Dictionary) -> Self {
        let to_text = match value(document, font, b"ToUnicode") {
            Some(Object::Stream(stream)) => CodeMap::read(stream),
            _ => None,
        };
        let map_bytes = to_text.as_ref().map_or(0, |map| map.size);
        let to_text = to_text.filter(|map| !map.is_empty());
        let kind = value(document, font, b"Subtype").and_then(|it| it.as_name().ok());
        let mut made = match kind {
            Some(b"Type0") => composite(document, font, to_text),
            kind => simple(document, font, to_text, kind == Some(b"Type3")),
        };
        made.map_bytes += map_bytes;
        made
    }

    /// What reading it costs, in operations of a page.
    pub(super) fn cost(&self) -> usize {
        256 + self.map_bytes / 8 + self.widths.len()
    }

    /// Calls `take` with each glyph that `bytes` show.
    pub(super) fn each(&self, mut bytes: &[u8], take: &mut dyn FnMut(Shown)) {
        while !bytes.is_empty() {
            let length = match &self.kind {
                Kind::Simple(_) => 1,
                Kind::Composite { codes, set } => match (codes, set) {
                    (Some(codes), _) => codes.length(bytes, 2),
                    (None, Set::Of(_)) if bytes[0] < 0x80 => 1,
                    _ => 2,
                },
            };
            let (now, rest) = bytes.split_at(length.clamp(1, bytes.len()));
            let code = now
                .iter()
                .fold(0, |code, byte| code << 8 | u32::from(*byte));
            take(Shown {
                text: self.text(now, code),
                width: self.width(now.len(), code),
                is_space: now == b" ",
            });
            bytes = rest;
        }
    }

    fn text(&self, bytes: &[u8], code: u32) -> Option<String> {
        if let Some(text) = self
            .to_text
            .as_ref()
            .and_then(|map| map.text(bytes.len(), code))
        {
            return Some(text);
        }
        match &self.kind {
            Kind::Simple(table) => table.get(code as usize).cloned().flatten(),
            Kind::Composite {
                set: Set::Utf16, ..
            } => {
                let units: Vec<u16> = (bytes.as_chunks::<2>().0.iter())
                    .map(|pair| u16::from_be_bytes(*pair))
                    .collect();
                String::from_utf16(&units).ok()
            }
            Kind::Composite {
                set: Set::Of(set), ..
            } => {
                let (text, _, is_wrong) = set.decode(bytes);
                (!is_wrong).then(|| text.into_owned())
            }
            Kind::Composite {
                set: Set::Unknown, ..
            } => None,
        }
    }

    fn width(&self, length: usize, code: u32) -> f32 {
        let glyph = match &self.kind {
            Kind::Composite {
                codes: Some(codes), ..
            } => codes.glyph(length, code).unwrap_or(code),
            _ => code,
        };
        let of_range = || {
            let found = self
                .ranges
                .iter()
                .find(|range| (range.0..=range.1).contains(&glyph));
            found.map(|range| range.2)
        };
        let known = self.widths.get(&glyph).copied().or_else(of_range);
        known.unwrap_or(self.usual_width)
    }
}

fn simple(
    document: &Document,
    font: &Dictionary,
    to_text: Option<CodeMap>,
    is_drawn: bool,
) -> Font {
    let table = table(document, font);
    // The widths of fonts that are drawings are in their own units.
    let matrix = crate::flatten::numbers::<6>(document, font.get(b"FontMatrix").ok());
    let unit = match matrix {
        Some(matrix) if is_drawn => matrix[0].abs(),
        _ => 0.001,
    };
    let first = value(document, font, b"FirstChar").and_then(|it| it.as_i64().ok());
    let first = u32::try_from(first.unwrap_or(0)).unwrap_or(0);
    let list = array(document, font.get(b"Widths").ok());
    let mut widths = HashMap::new();
    for (index, width) in list.iter().take(256).enumerate() {
        if let Some(width) = resolve(document, width).and_then(|it| it.as_float().ok()) {
            widths.insert(first.saturating_add(index as u32), width * unit);
        }
    }
    let name = value(document, font, b"BaseFont").and_then(|it| it.as_name().ok());
    let is_fixed = name.is_some_and(|name| name.windows(7).any(|part| part == b"Courier"));
    Font {
        to_text,
        kind: Kind::Simple(table),
        widths,
        ranges: Vec::new(),
        usual_width: if is_fixed { 0.6 } else { USUAL_WIDTH },
        map_bytes: 0,
        is_vertical: false,
    }
}

/// The texts of the 256 codes of a simple font, by its encoding.
fn table(document: &Document, font: &Dictionary) -> Vec<Option<String>> {
    let encoding = value(document, font, b"Encoding");
    let mut table = match encoding {
        Some(Object::Name(name)) => names::of_encoding(name),
        Some(Object::Dictionary(encoding)) => {
            let base = value(document, encoding, b"BaseEncoding").and_then(|it| it.as_name().ok());
            let mut table = names::of_encoding(base.unwrap_or_default());
            let mut code = 0_usize;
            for object in array(document, encoding.get(b"Differences").ok())
                .iter()
                .take(1_000)
            {
                match object {
                    Object::Integer(number) => code = usize::try_from(*number).unwrap_or(256),
                    Object::Name(name) => {
                        if let Some(place) = table.get_mut(code) {
                            *place = names::of_glyph(name);
                        }
                        code += 1;
                    }
                    _ => {}
                }
            }
            table
        }
        _ => names::of_encoding(b""),
    };
    table.truncate(256);
    table
}

/// The texts of the codes of a font whose codes are one byte and its encoding a usual one; `None` for
/// other fonts.
pub(crate) fn usual_codes(document: &Document, font: &Dictionary) -> Option<Vec<Option<String>>> {
    let kind = value(document, font, b"Subtype")?.as_name().ok()?;
    let name = value(document, font, b"BaseFont").and_then(|it| it.as_name().ok());
    let has_own_letters = name.is_some_and(|name| name == b"Symbol" || name == b"ZapfDingbats");
    let is_usual = (kind == b"Type1" || kind == b"TrueType") && !has_own_letters;
    is_usual.then(|| table(document, font))
}

fn composite(document: &Document, font: &Dictionary, to_text: Option<CodeMap>) -> Font {
    let mut is_vertical = false;
    let mut set = Set::Unknown;
    let codes = match value(document, font, b"Encoding") {
        Some(Object::Stream(stream)) => CodeMap::read(stream),
        Some(Object::Name(name)) => {
            let name = String::from_utf8_lossy(name);
            is_vertical = name.ends_with("-V");
            set = set_of(&name);
            None
        }
        _ => None,
    };
    let below = array(document, font.get(b"DescendantFonts").ok());
    let below = below.first().and_then(|it| dictionary_of(document, it));
    let usual = below.and_then(|it| value(document, it, b"DW")?.as_float().ok());
    let mut made = Font {
        to_text,
        map_bytes: codes.as_ref().map_or(0, |map| map.size),
        kind: Kind::Composite { codes, set },
        widths: HashMap::new(),
        ranges: Vec::new(),
        usual_width: usual.unwrap_or(1_000.0) / 1_000.0,
        is_vertical,
    };
    if let Some(below) = below {
        read_widths(document, array(document, below.get(b"W").ok()), &mut made);
    }
    made
}

/// The widths of a composite font: `first [width …]` or `first last width` (9.7.4.3).
fn read_widths(document: &Document, list: &[Object], font: &mut Font) {
    let number = |object: Option<&Object>| resolve(document, object?)?.as_float().ok();
    let mut rest = list;
    let mut left = MAX_WIDTHS;
    while let (Some(first), Some(second), true) = (number(rest.first()), rest.get(1), left > 0) {
        let first = first.max(0.0) as u32;
        if let Some(Object::Array(widths)) = resolve(document, second) {
            for (index, width) in widths.iter().take(left).enumerate() {
                if let Some(width) = number(Some(width)) {
                    font.widths
                        .insert(first.saturating_add(index as u32), width / 1_000.0);
                }
            }
            left = left.saturating_sub(widths.len() + 1);
            rest = &rest[2..];
        } else {
            if let (Some(last), Some(width)) = (number(Some(second)), number(rest.get(2))) {
                // Few: each text looks at all of them.
                if font.ranges.len() < 1_000 {
                    font.ranges
                        .push((first, last.max(0.0) as u32, width / 1_000.0));
                }
            }
            left -= 1;
            rest = rest.get(3..).unwrap_or_default();
        }
    }
}

fn set_of(name: &str) -> Set {
    if name.starts_with("Uni") && (name.contains("UCS2") || name.contains("UTF16")) {
        return Set::Utf16;
    }
    let found = SETS.iter().find(|(part, _)| name.contains(part));
    let set = found.and_then(|(_, label)| Encoding::for_label(label.as_bytes()));
    set.map_or(Set::Unknown, Set::Of)
}

//! Fonts as far as their texts and widths go (9.6 to 9.8).

use std::collections::HashMap;

use encoding_rs::Encoding;
use lopdf::{Dictionary, Document, Object};

use super::{cmap::CodeMap, names, standard::Standard};
use crate::open::{array, dictionary as dictionary_of, resolve, value};

/// Maximum number of widths of a font.
const MAX_WIDTHS: usize = 70_000;
/// Width of a glyph of a standard font without widths, as a part of the font size: that of many.
const USUAL_WIDTH: f32 = 0.556;
/// Parts of the names of fonts whose signs are taller than letters, in lower case.
const SIGNS: [&str; 10] = [
    "math", "symbol", "cmex", "size", "msam", "dings", "music", "bravura", "maestro", "nastal",
];
/// What looking up the name of a glyph costs, in bytes of a map.
const NAME_BYTES: usize = 512;
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
pub(crate) struct Font {
    to_text: Option<CodeMap>,
    kind: Kind,
    widths: HashMap<u32, f32>,
    /// First and last glyph, and their width.
    ranges: Vec<(u32, u32, f32)>,
    usual_width: f32,
    /// Size of the maps that were read, in bytes.
    map_bytes: usize,
    pub(crate) is_vertical: bool,
    /// What the drawings of a Type 3 font are within, as parts of the font size: left, bottom, right
    /// and top; `Some(None)` where the font does not say so.
    pub(crate) drawn_within: Option<Option<[f32; 4]>>,
    /// Where its codes and widths are as the file says, so that places of glyphs are right.
    pub(crate) is_understood: bool,
    /// From where to where glyphs reach, as parts of the font size, if that is much farther than
    /// letters do.
    pub(crate) tall: Option<(f32, f32)>,
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
pub(crate) struct Shown {
    pub(crate) text: Option<String>,
    /// Number of bytes of its code.
    pub(crate) length: usize,
    /// As a part of the font size.
    pub(crate) width: f32,
    /// Whether that is what the font says, and not guessed.
    pub(crate) is_sure: bool,
    /// Whether word spacing applies (9.3.3).
    pub(crate) is_space: bool,
}

impl Font {
    pub(crate) fn read(document: &Document, font: &Dictionary) -> Self {
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
        made.tall = tall(document, font);
        made
    }

    /// What reading it costs, in operations of a page.
    pub(crate) fn cost(&self) -> usize {
        256 + self.map_bytes / 8 + self.widths.len()
    }

    /// Calls `take` with each code in `bytes`: its bytes, and its value.
    pub(crate) fn codes<'a>(&self, mut bytes: &'a [u8], take: &mut dyn FnMut(&'a [u8], u32)) {
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
            take(now, code);
            bytes = rest;
        }
    }

    /// Calls `take` with each glyph that `bytes` show.
    pub(crate) fn each(&self, bytes: &[u8], take: &mut dyn FnMut(Shown)) {
        self.codes(bytes, &mut |now, code| {
            let width = self.width(now.len(), code);
            take(Shown {
                text: self.text(now, code),
                length: now.len(),
                width: width.unwrap_or(self.usual_width),
                is_sure: width.is_some() || matches!(self.kind, Kind::Composite { .. }),
                is_space: now == b" ",
            });
        });
    }

    /// The width that the file says of a code of `length` bytes, in thousandths of the font size;
    /// `None` for a code of a simple font that its list of widths leaves out.
    pub(crate) fn said_width(&self, length: usize, code: u32) -> Option<f32> {
        let usual = matches!(self.kind, Kind::Composite { .. }).then_some(self.usual_width);
        Some(self.width(length, code).or(usual)? * 1_000.0)
    }

    /// The text of a code of `length` bytes, if the file says it.
    pub(crate) fn said_text(&self, length: usize, code: u32) -> Option<String> {
        let bytes = code.to_be_bytes();
        self.text(&bytes[bytes.len().saturating_sub(length)..], code)
    }

    /// The character (CID) that a code of a composite font stands for; `None` where that is not known.
    pub(crate) fn character(&self, length: usize, code: u32) -> Option<u32> {
        match &self.kind {
            Kind::Composite {
                codes: Some(codes), ..
            } => codes.glyph(length, code),
            Kind::Composite { codes: None, .. } if self.is_understood => Some(code),
            _ => None,
        }
    }

    /// The text of a code of a simple font by its encoding, whatever other maps say.
    pub(crate) fn encoded(&self, code: u32) -> Option<&str> {
        match &self.kind {
            Kind::Simple(table) => table.get(code as usize)?.as_deref(),
            Kind::Composite { .. } => None,
        }
    }

    /// Whether the font says the widths of its glyphs, or of some.
    pub(crate) fn has_widths(&self) -> bool {
        !self.widths.is_empty()
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

    /// The width of a glyph, if the font says it.
    fn width(&self, length: usize, code: u32) -> Option<f32> {
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
        self.widths.get(&glyph).copied().or_else(of_range)
    }
}

fn simple(
    document: &Document,
    font: &Dictionary,
    to_text: Option<CodeMap>,
    is_drawn: bool,
) -> Font {
    let (table, differences) = table(document, font);
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
    // One that is embedded may have a name that is not its own.
    let is_bare = widths.is_empty() && !is_drawn && !font.has(b"FontDescriptor");
    if let Some(standard) = name.filter(|_| is_bare).and_then(Standard::find) {
        let known = standard.widths();
        for (code, text) in (0..).zip(&table) {
            let mut letters = text.iter().flat_map(|it| it.chars());
            if let (Some(letter), None) = (letters.next(), letters.next())
                && let Some(width) = known.get(&letter)
            {
                widths.insert(code, f32::from(*width) / 1_000.0);
            }
        }
    }
    let drawn_within = is_drawn.then(|| {
        let area = crate::flatten::numbers::<4>(document, font.get(b"FontBBox").ok())?;
        let [x1, y1, x2, y2] = area;
        let [a, b, c, d, e, f] = matrix?;
        let has_area = x1 != x2 && y1 != y2;
        let is_upright = b == 0.0 && c == 0.0 && e == 0.0 && f == 0.0 && a > 0.0;
        // One without an area says nothing (9.6.5).
        let said = match has_area {
            true => [
                x1.min(x2) * a,
                (y1 * d).min(y2 * d),
                x1.max(x2) * a,
                (y1 * d).max(y2 * d),
            ],
            false => [-1.0, -1.0, 2.0, 2.0],
        };
        is_upright.then_some(said)
    });
    let is_fixed = name.is_some_and(|name| name.windows(7).any(|part| part == b"Courier"));
    Font {
        to_text,
        kind: Kind::Simple(table),
        widths,
        ranges: Vec::new(),
        usual_width: if is_fixed { 0.6 } else { USUAL_WIDTH },
        map_bytes: differences * NAME_BYTES,
        is_vertical: false,
        drawn_within,
        is_understood: true,
        tall: None,
    }
}

/// How far the glyphs of a font reach that are taller than letters, such as signs of sums and roots:
/// by the box of its descriptor (9.8.1). Those of fonts with glyphs for every script have a box that
/// few glyphs fill; what they say of letters counts for them.
fn tall(document: &Document, font: &Dictionary) -> Option<(f32, f32)> {
    let below = array(document, font.get(b"DescendantFonts").ok());
    let below = below.first().and_then(|it| dictionary_of(document, it));
    let descriptor = value(document, below.unwrap_or(font), b"FontDescriptor")?;
    let descriptor = descriptor.as_dict().ok()?;
    let area = crate::flatten::numbers::<4>(document, descriptor.get(b"FontBBox").ok())?;
    let (low, high) = (
        area[1].min(area[3]) / 1_000.0,
        area[1].max(area[3]) / 1_000.0,
    );
    let number = |key: &[u8]| value(document, descriptor, key)?.as_float().ok();
    let is_of_letters = number(b"Ascent").is_some_and(|it| (500.0..=1_400.0).contains(&it))
        && number(b"Descent").is_some_and(|it| (-600.0..0.0).contains(&it));
    let name = value(document, descriptor, b"FontName").and_then(|it| it.as_name().ok());
    let name = String::from_utf8_lossy(name.unwrap_or_default()).to_ascii_lowercase();
    let is_of_signs = SIGNS.iter().any(|part| name.contains(part));
    let is_tall = low < -1.2 || high > 1.8;
    (is_tall && (is_of_signs || !is_of_letters)).then_some((low, high))
}

/// The names that a simple font gives codes itself, and whether other codes are those of an encoding with
/// a name, rather than of the font.
pub(crate) fn code_names(document: &Document, font: &Dictionary) -> (HashMap<u32, Vec<u8>>, bool) {
    let mut names = HashMap::new();
    let is_known = |object: Option<&Object>| matches!(object, Some(Object::Name(_)));
    let encoding = value(document, font, b"Encoding");
    let Some(Object::Dictionary(entries)) = encoding else {
        return (names, is_known(encoding));
    };
    let mut code = 0_u32;
    let differences = array(document, entries.get(b"Differences").ok());
    for object in differences.iter().take(1_000) {
        match object {
            Object::Integer(number) => code = u32::try_from(*number).unwrap_or(256),
            Object::Name(name) => {
                if code < 256 {
                    names.insert(code, name.clone());
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    (names, is_known(value(document, entries, b"BaseEncoding")))
}

/// The texts of the 256 codes of a simple font, by its encoding, and how many of them have names.
fn table(document: &Document, font: &Dictionary) -> (Vec<Option<String>>, usize) {
    let encoding = value(document, font, b"Encoding");
    let base = match encoding {
        Some(Object::Dictionary(entries)) => value(document, entries, b"BaseEncoding"),
        other => other,
    };
    let base = base.and_then(|it| it.as_name().ok()).unwrap_or_default();
    let mut table = names::of_encoding(base);
    table.truncate(256);
    let (own, _) = code_names(document, font);
    for (code, name) in &own {
        if let Some(place) = table.get_mut(*code as usize) {
            *place = names::of_glyph(name);
        }
    }
    (table, own.len())
}

/// The texts of the codes of a font whose codes are one byte and its encoding a usual one; `None` for
/// other fonts.
pub(crate) fn usual_codes(document: &Document, font: &Dictionary) -> Option<Vec<Option<String>>> {
    let kind = value(document, font, b"Subtype")?.as_name().ok()?;
    let name = value(document, font, b"BaseFont").and_then(|it| it.as_name().ok());
    let has_own_letters = name.is_some_and(|name| name == b"Symbol" || name == b"ZapfDingbats");
    let is_usual = (kind == b"Type1" || kind == b"TrueType") && !has_own_letters;
    is_usual.then(|| table(document, font).0)
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
    // Maps of other programs, and those that the standard only names, may have codes of any length.
    let is_understood = matches!(value(document, font, b"Encoding"),
        Some(Object::Name(name)) if name == b"Identity-H" || name == b"Identity-V");
    let has_own_steps = below.is_some_and(|it| it.has(b"DW2") || it.has(b"W2"));
    let is_understood = is_understood && !(is_vertical && has_own_steps);
    let usual = below.and_then(|it| value(document, it, b"DW")?.as_float().ok());
    let mut made = Font {
        to_text,
        map_bytes: codes.as_ref().map_or(0, |map| map.size),
        kind: Kind::Composite { codes, set },
        widths: HashMap::new(),
        ranges: Vec::new(),
        usual_width: usual.unwrap_or(1_000.0) / 1_000.0,
        is_vertical,
        drawn_within: None,
        is_understood,
        tall: None,
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
    let mut is_cut = false;
    while let (Some(first), Some(second), true) = (number(rest.first()), rest.get(1), left > 0) {
        let first = first.max(0.0) as u32;
        if let Some(Object::Array(widths)) = resolve(document, second) {
            is_cut |= widths.len() > left;
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
                } else {
                    font.is_understood = false;
                }
            }
            left -= 1;
            rest = rest.get(3..).unwrap_or_default();
        }
    }
    font.is_understood &= rest.is_empty() && !is_cut;
}

fn set_of(name: &str) -> Set {
    if name.starts_with("Uni") && (name.contains("UCS2") || name.contains("UTF16")) {
        return Set::Utf16;
    }
    let found = SETS.iter().find(|(part, _)| name.contains(part));
    let set = found.and_then(|(_, label)| Encoding::for_label(label.as_bytes()));
    set.map_or(Set::Unknown, Set::Of)
}

//! Whether embedded fonts have the glyphs that are shown, and are as wide as the file says (ISO 19005-2,
//! 6.2.11.4.1, 6.2.11.5 and 6.2.11.8).

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object};
use skrifa::{
    Font as Program, GlyphId,
    font::{Kind, charmap::Encoding},
};

use super::{dictionaries::name, drawn::Shown};
use crate::{
    open::{array, dictionary as dictionary_of, value},
    text::{code_names, glyph_text},
};

/// Maximum size of an embedded font, in bytes.
const MAX_FONT: usize = 64 << 20;
/// How far widths may differ, in thousandths of the font size.
const TOLERANCE: f32 = 1.0;
/// How many glyphs are looked at before the work may end.
const CHECKED: usize = 16;

/// What is wrong with glyphs of a font.
enum Fault {
    Missing,
    Undefined,
    Width,
}

/// Says in `reasons` which fonts lack what is shown of them. Where it is not sure which glyph a code
/// stands for, nothing is said of it. `checkpoint` is called every few glyphs.
pub(super) fn check(
    document: &Document,
    shown: &[Shown<'_>],
    reasons: &mut Vec<String>,
    checkpoint: &dyn Fn(),
) {
    for font in shown {
        checkpoint();
        let Some(way) = Way::of(document, font.dictionary) else {
            continue;
        };
        let mut codes: Vec<_> = font.codes.iter().copied().collect();
        codes.sort_unstable();
        for (index, (length, code)) in codes.into_iter().enumerate() {
            if index.is_multiple_of(CHECKED) {
                checkpoint();
            }
            let Some(fault) = way.fault(font, length, code) else {
                continue;
            };
            let base = name(font.dictionary, b"BaseFont").unwrap_or(b"without a name");
            let base = String::from_utf8_lossy(base);
            reasons.push(match fault {
                Fault::Missing => {
                    format!("the font {base} lacks a glyph that is shown (6.2.11.4.1)")
                }
                Fault::Undefined => {
                    format!("text shows a character that the font {base} does not have (6.2.11.8)")
                }
                Fault::Width => {
                    format!("a glyph of the font {base} is not as wide as the file says (6.2.11.5)")
                }
            });
            break;
        }
    }
}

/// How codes lead to glyphs.
struct Way {
    program: Program,
    kind: Codes,
    /// Width of codes that the list of widths leaves out.
    missing_width: f32,
}

enum Codes {
    /// Characters are glyphs by a map of two bytes each, or are their numbers.
    Mapped(Option<Vec<u8>>),
    /// Characters are those of a CFF font.
    Characters,
    /// Codes have names, or the font knows them.
    Names {
        names: HashMap<u32, Vec<u8>>,
        by_text: HashMap<String, GlyphId>,
        has_encoding: bool,
    },
    /// Codes are in the tables of a TrueType font.
    Table {
        names: HashMap<u32, Vec<u8>>,
        is_symbolic: bool,
        has_encoding: bool,
    },
}

impl Way {
    fn of(document: &Document, font: &Dictionary) -> Option<Self> {
        let below = array(document, font.get(b"DescendantFonts").ok());
        let below = below.first().and_then(|it| dictionary_of(document, it));
        let kind = name(below.unwrap_or(font), b"Subtype")?;
        let descriptor = value(document, below.unwrap_or(font), b"FontDescriptor")?;
        let descriptor = descriptor.as_dict().ok()?;
        let keys = [&b"FontFile"[..], b"FontFile2", b"FontFile3"];
        let file = keys
            .iter()
            .find_map(|key| value(document, descriptor, key))?;
        let data = file
            .as_stream()
            .ok()?
            .get_plain_content_with_limit(MAX_FONT)
            .ok()?;
        let program = Program::new(data, 0)?;
        let number = |key: &[u8]| value(document, descriptor, key)?.as_float().ok();
        let flags = number(b"Flags").unwrap_or(0.0) as u32;
        let (names, has_encoding) = code_names(document, font);
        let is_sfnt = matches!(program.kind(), Kind::Sfnt(..));
        let kind = match kind {
            b"CIDFontType2" if is_sfnt => {
                Codes::Mapped(match value(document, below?, b"CIDToGIDMap") {
                    Some(Object::Stream(map)) => {
                        Some(map.get_plain_content_with_limit(1 << 18).ok()?)
                    }
                    _ => None,
                })
            }
            b"CIDFontType0" if program.is_cid_keyed() => Codes::Characters,
            b"CIDFontType0" => Codes::Mapped(None),
            b"Type1" | b"MMType1" if !is_sfnt => Codes::Names {
                by_text: texts(&program),
                names,
                has_encoding,
            },
            b"TrueType" if is_sfnt => Codes::Table {
                names,
                is_symbolic: flags & 4 != 0,
                has_encoding,
            },
            _ => return None,
        };
        Some(Self {
            program,
            kind,
            missing_width: number(b"MissingWidth").unwrap_or(0.0),
        })
    }

    fn fault(&self, shown: &Shown<'_>, length: usize, code: u32) -> Option<Fault> {
        let glyph = self.glyph(shown, length, code)?;
        if glyph == GlyphId::NOTDEF {
            return Some(Fault::Undefined);
        }
        if glyph.to_u32() >= self.program.num_glyphs() {
            return Some(Fault::Missing);
        }
        if shown.font.is_vertical {
            return None;
        }
        let said = shown
            .font
            .said_width(length, code)
            .unwrap_or(self.missing_width);
        let unit = f32::from(self.program.units_per_em().max(1)) / 1_000.0;
        let own = self.program.glyph_metrics().h_advance(glyph) / unit;
        ((said - own).abs() > TOLERANCE + 0.01).then_some(Fault::Width)
    }

    /// The glyph of a code, if that is sure.
    fn glyph(&self, shown: &Shown<'_>, length: usize, code: u32) -> Option<GlyphId> {
        match &self.kind {
            Codes::Mapped(map) => {
                let character = shown.font.character(length, code)?;
                Some(GlyphId::new(match map {
                    None => character,
                    Some(map) => {
                        let at = usize::try_from(character).ok()?.checked_mul(2)?;
                        // Beyond the end of the map is nothing.
                        map.get(at..at + 2)
                            .map_or(0, |pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                    }
                }))
            }
            Codes::Characters => {
                let character = shown.font.character(length, code)?;
                Some(
                    self.program
                        .glyph_by_cid(character)
                        .unwrap_or(GlyphId::NOTDEF),
                )
            }
            Codes::Names {
                names,
                by_text,
                has_encoding,
            } => match names.get(&code) {
                Some(name) => self.program.glyph_by_name(std::str::from_utf8(name).ok()?),
                None if *has_encoding => by_text.get(shown.font.encoded(code)?).copied(),
                None => self.built_in(u8::try_from(code).ok()?),
            },
            Codes::Table {
                names,
                is_symbolic,
                has_encoding,
            } => {
                let found = match *has_encoding && !is_symbolic {
                    true => {
                        let text = match names.get(&code) {
                            Some(name) => glyph_text(name)?,
                            None => shown.font.encoded(code)?.to_owned(),
                        };
                        let mut letters = text.chars();
                        let (letter, None) = (letters.next()?, letters.next()) else {
                            return None;
                        };
                        self.in_table((3, 1), u32::from(letter))
                    }
                    false => [0, 0xf000, 0xf100, 0xf200]
                        .iter()
                        .find_map(|offset| self.in_table((3, 0), offset + code))
                        .or_else(|| self.in_table((1, 0), code)),
                };
                found.filter(|glyph| *glyph != GlyphId::NOTDEF)
            }
        }
    }

    /// The glyph that the font itself has for a code.
    fn built_in(&self, code: u8) -> Option<GlyphId> {
        let found = match self.program.kind() {
            Kind::Type1(font) => font.encoding()?.map(code),
            Kind::Cff(font, _) => font.encoding()?.map(code),
            Kind::Sfnt(..) => None,
        };
        found.filter(|glyph| *glyph != GlyphId::NOTDEF)
    }

    fn in_table(&self, ids: (u16, u16), code: u32) -> Option<GlyphId> {
        let map = self.program.charmap();
        let mut encodings = map.encodings().into_iter();
        let encoding: Encoding = encodings.find(|it| it.sfnt_ids() == Some(ids))?;
        map.map_code(encoding, code)
    }
}

/// The glyphs of a font by the texts of their names.
fn texts(program: &Program) -> HashMap<String, GlyphId> {
    let mut found = HashMap::new();
    // Fonts of one byte for each code have few names that an encoding could mean.
    for glyph in (0..program.num_glyphs().min(4_096)).map(GlyphId::new) {
        let name = match program.kind() {
            Kind::Type1(font) => font.glyph_name(glyph).map(str::to_owned),
            Kind::Cff(font, _) => (|| {
                let name = font.string(font.charset()?.string_id(glyph)?)?;
                Some(std::str::from_utf8(name).ok()?.to_owned())
            })(),
            Kind::Sfnt(..) => None,
        };
        if let Some(text) = name.and_then(|name| glyph_text(name.as_bytes())) {
            found.entry(text).or_insert(glyph);
        }
    }
    found
}

//! Whether embedded fonts have the glyphs that are shown, and are as wide as the file says (ISO 19005-2,
//! 6.2.11.4.1, 6.2.11.5 and 6.2.11.8).

use std::{collections::HashMap, sync::LazyLock};

use lopdf::{Dictionary, Document, Object, content::Content};
use skrifa::{
    Font as Program, FontRef, GlyphId, Tag,
    font::{Kind, charmap::Encoding},
};

use super::{check::has_program, dictionaries::name, drawn::Shown, fonts};
use crate::{
    open::{array, dictionary as dictionary_of, resolve, value},
    text::{code_names, encoding_texts, glyph_text},
};

/// Maximum size of an embedded font, in bytes.
const MAX_FONT: usize = 64 << 20;
/// Maximum size of a drawing of a glyph, and how much of it says its width, in bytes.
const MAX_GLYPH: usize = 1 << 20;
const GLYPH_HEAD: usize = 1_024;
/// How far widths may differ, in thousandths of the font size.
const TOLERANCE: f32 = 1.0;
/// How many glyphs are looked at before the work may end.
const CHECKED: usize = 16;

/// What no font has.
const MISSING: GlyphId = GlyphId::new(u32::MAX);

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
        if !font.is_shown {
            continue;
        }
        let base = name(font.dictionary, b"BaseFont").unwrap_or(b"without a name");
        let base = String::from_utf8_lossy(base);
        if name(font.dictionary, b"Subtype") == Some(b"Type3") {
            reasons.extend(drawn(document, font, checkpoint).map(str::to_owned));
            continue;
        }
        if !has_program(document, font.dictionary) {
            reasons.push(format!("the font {base} is not embedded (6.2.11.4.1)"));
            continue;
        }
        if let Some(problem) = fonts::problem(document, font.dictionary) {
            reasons.push(format!("the font {base} {problem}"));
            continue;
        }
        let Some(way) = Way::of(document, font.dictionary) else {
            reasons.push(format!(
                "the font {base} is embedded, but cannot be read (6.2.11.4.1)"
            ));
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

/// What is wrong with a font whose glyphs are drawings: each that is shown is there, and is as wide as it
/// says itself (ISO 32000-1, 9.6.5).
fn drawn(document: &Document, shown: &Shown<'_>, checkpoint: &dyn Fn()) -> Option<&'static str> {
    let (names, _) = code_names(document, shown.dictionary);
    let glyphs = value(document, shown.dictionary, b"CharProcs")?
        .as_dict()
        .ok()?;
    let matrix = crate::flatten::numbers::<6>(document, shown.dictionary.get(b"FontMatrix").ok());
    let unit = matrix.map_or(0.001, |matrix| matrix[0].abs());
    shown.codes.iter().find_map(|(length, code)| {
        let glyph = names.get(code).and_then(|name| glyphs.get(name).ok());
        let Some(Object::Stream(glyph)) = glyph.and_then(|it| resolve(document, it)) else {
            return Some("a font of drawings lacks a glyph that is shown (6.2.11.4.1)");
        };
        checkpoint();
        let content = glyph.get_plain_content_with_limit(MAX_GLYPH).ok()?;
        let content = &content[..content.len().min(GLYPH_HEAD)];
        let first = Content::decode_iter(content).next()?.ok()?;
        let own = first.operands.first()?.as_float().ok()? * unit * 1_000.0;
        let said = shown.font.said_width(*length, *code).unwrap_or(0.0);
        let is_wrong = (own - said).abs() > TOLERANCE * unit * 1_000.0 + 0.01;
        is_wrong
            .then_some("a glyph of a font of drawings is not as wide as the file says (6.2.11.5)")
    })
}

/// Says in `reasons` which fonts show characters without a text (ISO 14289-1, 7.21.7).
pub(super) fn check_texts(document: &Document, shown: &[Shown<'_>], reasons: &mut Vec<String>) {
    for font in shown {
        let kind = name(font.dictionary, b"Subtype");
        let has = |key: &[u8]| value(document, font.dictionary, key).is_some();
        // The codes of a TrueType font without an encoding are its own.
        let has_own_codes = kind == Some(b"TrueType") && !has(b"Encoding") && !has(b"ToUnicode");
        let is_silent = |(length, code): &(usize, u32)| match font.font.said_text(*length, *code) {
            None => true,
            Some(text) => text
                .chars()
                .any(|it| ['\0', '\u{fffe}', '\u{feff}'].contains(&it)),
        };
        if font
            .codes
            .iter()
            .any(|code| has_own_codes || is_silent(code))
        {
            let base = name(font.dictionary, b"BaseFont").unwrap_or(b"without a name");
            let base = String::from_utf8_lossy(base);
            reasons.push(format!(
                "text in the font {base} does not say which characters it shows (ISO 14289-1, 7.21.7)"
            ));
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
        let is_whole = has_tables(&data);
        let program = Program::new(data, 0)?;
        if matches!(program.kind(), Kind::Sfnt(..)) && !is_whole {
            return None;
        }
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
                by_text: match has_encoding {
                    true => texts(&program),
                    false => HashMap::new(),
                },
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
                Some(name) => {
                    let name = std::str::from_utf8(name).ok()?;
                    Some(self.program.glyph_by_name(name).unwrap_or(MISSING))
                }
                None if *has_encoding => {
                    let text = shown.font.encoded(code)?;
                    // Spaces and hyphens of both kinds are one glyph (ISO 32000-1, annex D.2).
                    let other = match text {
                        "\u{a0}" => " ",
                        "\u{ad}" => "-",
                        text => text,
                    };
                    let glyph = by_text.get(text).or_else(|| by_text.get(other));
                    Some(glyph.copied().unwrap_or(MISSING))
                }
                None => Some(self.built_in(u8::try_from(code).ok()?).unwrap_or(MISSING)),
            },
            Codes::Table {
                names,
                is_symbolic,
                has_encoding,
            } => {
                let found = match *has_encoding && !is_symbolic {
                    true => self.encoded(shown, names.get(&code), code)?,
                    false => [0, 0xf000, 0xf100, 0xf200]
                        .iter()
                        .find_map(|offset| self.in_table((3, 0), offset + code))
                        .or_else(|| self.in_table((1, 0), code)),
                };
                let found = found.filter(|glyph| *glyph != GlyphId::NOTDEF);
                found.or(Some(MISSING))
            }
        }
    }

    /// The glyph of a TrueType font for a code that an encoding or a name gives a letter, if that is sure;
    /// `Some(None)` if the font has none.
    fn encoded(
        &self,
        shown: &Shown<'_>,
        name: Option<&Vec<u8>>,
        code: u32,
    ) -> Option<Option<GlyphId>> {
        let text = match name {
            Some(name) => glyph_text(name)?,
            None => shown.font.encoded(code)?.to_owned(),
        };
        let mut letters = text.chars();
        let (letter, None) = (letters.next()?, letters.next()) else {
            return None;
        };
        let own = name.and_then(|name| std::str::from_utf8(name).ok());
        let found = self
            .in_table((3, 1), u32::from(letter))
            .or_else(|| self.in_table((1, 0), mac_code(&text)?))
            .or_else(|| self.program.glyph_by_name(own?));
        Some(found)
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
        let mut encodings = map.encodings();
        let encoding: Encoding = encodings.find(|it| it.sfnt_ids() == Some(ids))?;
        map.map_code(encoding, code)
    }
}

/// The code of a letter in MacRomanEncoding.
fn mac_code(text: &str) -> Option<u32> {
    static CODES: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
        let texts = encoding_texts(b"MacRomanEncoding");
        // Of several codes of a letter the first counts.
        let all: Vec<_> = (0..)
            .zip(texts)
            .filter_map(|(code, text)| Some((text?, code)))
            .collect();
        all.into_iter().rev().collect()
    });
    CODES.get(text).copied()
}

/// Whether a font in tables has those with glyphs and their widths.
fn has_tables(data: &[u8]) -> bool {
    let Ok(font) = FontRef::new(data) else {
        return false;
    };
    let has = |tag: &[u8; 4]| font.table_data(Tag::new(tag)).is_some();
    // An OpenType font may have nothing but its outlines (ISO 32000-1, table 126).
    has(b"CFF ")
        || [b"head", b"hhea", b"hmtx", b"maxp", b"glyf", b"loca"]
            .into_iter()
            .all(has)
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

//! A loaded face: metrics, glyphs, and where it stands on the axes of a variable font.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use platen_document::font::FontAxis;
use skrifa::{
    FontRef, MetadataProvider, Tag,
    instance::{Location, LocationRef, Size},
    raw::TableProvider,
    string::StringId,
};

use crate::{
    color_glyph::{GlyphPicture, picture},
    color_layers::{drawing, is_layered},
    fonts::{FontBytes, Want},
    subsets::{Subset, Subsets},
};

/// Angle of an oblique face of a variable font, in degrees.
const SLANT: f32 = -12.0;

/// Largest font file of which a second form is kept for embedding, in bytes.
const LEAN_BYTES: usize = 2 << 20;

/// A loaded face.
pub struct FaceData {
    /// The font file.
    pub bytes: FontBytes,
    /// Index in a font collection.
    pub index: u32,
    /// Where a variable font stands on its axes; none where it stands at their defaults.
    pub variations: Vec<(Tag, f32)>,
    location: Location,
    /// Where advances stand in the file, each of 4 bytes (`hmtx`), and how many there are.
    advances: (usize, u16),
    /// Whether a document has embedded it, and its file without instructions, for
    /// [`FaceData::lean_file`].
    is_embedded: AtomicBool,
    lean: OnceLock<Option<Vec<u8>>>,
    /// What documents have embedded of it, for [`FaceData::subset`].
    subsets: Subsets,
    /// The face in the form that the shaper needs.
    pub(crate) shaping: harfrust::Font,
    /// Font units per em.
    pub units_per_em: f32,
    /// Height above the baseline, in em.
    pub ascent: f32,
    /// Depth below the baseline, in em, positive.
    pub descent: f32,
    /// Advance of the space character, in em.
    pub space: f32,
    /// Whether glyphs may be drawn from color tables alone, without an outline.
    colored: bool,
    /// Whether glyphs may be drawn as layers of colors.
    layered: bool,
    /// Whether it has serifs, which decides between fallback fonts.
    pub(crate) serif: bool,
    /// Whether glyphs are pictures rather than outlines.
    pub(crate) pictures: bool,
    /// Underline: distance of its top below the baseline, and thickness, in em.
    pub underline: (f32, f32),
    /// Glyph and advance (font units) of each ASCII character; glyph 0 if there is none.
    pub(crate) ascii: [(u16, u16); 128],
    /// The same of [`SIGNS`].
    signs: [(u16, u16); SIGNS.len()],
}

/// What amounts have beside ASCII: the minus sign, no-break spaces, an apostrophe between thousands,
/// and the signs and letters of currencies.
const SIGNS: [char; 10] = [
    '\u{2212}', '\u{a0}', '\u{202f}', '\u{2019}', '£', '€', '¥', '₹', 'ł', 'č',
];

impl FaceData {
    /// Reads a face. A variable font stands at its defaults, but for `variations`.
    pub(crate) fn load(bytes: FontBytes, index: u32, variations: Vec<(Tag, f32)>) -> Option<Self> {
        let shaping = match &bytes {
            FontBytes::Static(bytes) => harfrust::Font::new(*bytes, index)?,
            FontBytes::Shared(bytes) => {
                let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = bytes.clone();
                harfrust::Font::new(shared, index)?
            }
        };
        let shaping = match variations.is_empty() {
            true => shaping,
            false => {
                let instance = shaping.instance_builder();
                instance.variations(variations.iter().copied()).build()
            }
        };
        let font = FontRef::from_index(bytes.as_ref(), index).ok()?;
        let location = font.axes().location(variations.iter().copied());
        let metrics = font.metrics(Size::unscaled(), &location);
        let units = f32::from(metrics.units_per_em);
        if !(16.0..=16384.0).contains(&units) {
            return None;
        }
        let charmap = font.charmap();
        let advances = font.glyph_metrics(Size::unscaled(), &location);
        let entry = |code: u32| {
            let Some(glyph) = charmap.map(code) else {
                return (0, 0);
            };
            let advance = advances.advance_width(glyph).unwrap_or(0.0);
            (
                u16::try_from(glyph.to_u32()).unwrap_or(0),
                advance.clamp(0.0, 65535.0) as u16,
            )
        };
        let ascii: [(u16, u16); 128] = std::array::from_fn(|code| entry(code as u32));
        let signs = SIGNS.map(|sign| entry(sign as u32));
        let underline = metrics.underline.map_or((0.1, 0.05), |line| {
            (-line.offset / units, line.thickness / units)
        });
        let space = match ascii[b' ' as usize].1 {
            0 => 0.25,
            advance => f32::from(advance) / units,
        };
        let tables = [Tag::new(b"COLR"), Tag::new(b"CBDT"), Tag::new(b"sbix")];
        let colored = tables.into_iter().any(|tag| has_table(&font, tag));
        let layered = has_table(&font, Tag::new(b"COLR"));
        let (serif, pictures) = (has_serifs(&font), !has_outlines(&font));
        Some(Self {
            index,
            variations,
            location,
            is_embedded: AtomicBool::new(false),
            lean: OnceLock::new(),
            subsets: Subsets::default(),
            advances: advances_of(&font, bytes.as_ref()),
            colored,
            layered,
            shaping,
            units_per_em: units,
            ascent: (metrics.ascent / units).clamp(0.1, 3.0),
            descent: (-metrics.descent / units).clamp(0.0, 3.0),
            space,
            serif,
            pictures,
            underline,
            ascii,
            signs,
            bytes,
        })
    }

    /// The face for reading tables and outlines.
    #[must_use]
    pub fn font_ref(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(self.bytes.as_ref(), self.index).ok()
    }

    /// The font file as `make` makes it for embedding, from the second document on: making it takes
    /// longer than it saves for one, and a process in a sandbox makes only one. `None` for the first
    /// document, for files with several faces, for those above 2 MiB, and where `make` fails.
    pub fn lean_file(&self, make: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Option<&[u8]> {
        let bytes = self.bytes.as_ref();
        let is_second = self.is_embedded.swap(true, Ordering::Relaxed);
        if !is_second || self.index != 0 || bytes.len() > LEAN_BYTES {
            return None;
        }
        self.lean.get_or_init(|| make(bytes)).as_deref()
    }

    /// The part of the face with these glyphs in this order, as it stands in a file: made by `make`, or kept
    /// from an earlier document.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn subset<E>(
        &self,
        glyphs: &[u16],
        make: impl FnOnce() -> Result<Subset, E>,
    ) -> Result<Arc<Subset>, E> {
        self.subsets.get(glyphs, make)
    }

    /// Where it stands on the axes of a variable font, for metrics and outlines.
    #[must_use]
    pub fn location(&self) -> LocationRef<'_> {
        (&self.location).into()
    }

    /// Advance of a glyph in font units; 0 without one. Read from the file itself, as building the
    /// metrics of a font takes longer than all else about a glyph.
    #[must_use]
    pub fn advance(&self, glyph: u16) -> f32 {
        let (start, count) = self.advances;
        if self.variations.is_empty()
            && let Some(last) = count.checked_sub(1)
        {
            let at = start + 4 * usize::from(glyph.min(last));
            let bytes = self.bytes.as_ref().get(at..at + 2);
            return bytes.map_or(0.0, |it| f32::from(u16::from_be_bytes([it[0], it[1]])));
        }
        let advance = self.font_ref().and_then(|font| {
            let metrics = font.glyph_metrics(Size::unscaled(), self.location());
            metrics.advance_width(glyph.into())
        });
        advance.unwrap_or(0.0)
    }

    /// Whether the face has an OpenType feature, in any script.
    pub(crate) fn has_feature(&self, tag: [u8; 4]) -> bool {
        let tag = Tag::new(&tag);
        self.font_ref().is_some_and(|font| {
            let substitutions = font.gsub().and_then(|table| table.feature_list());
            let positions = font.gpos().and_then(|table| table.feature_list());
            [substitutions, positions]
                .into_iter()
                .flatten()
                .any(|list| {
                    let mut records = list.feature_records().iter();
                    records.any(|record| record.feature_tag() == tag)
                })
        })
    }

    /// Where the font would stand on its axes for `want` and `axes`; empty for its defaults.
    pub(crate) fn variations(&self, want: Want, axes: &[FontAxis]) -> Vec<(Tag, f32)> {
        let Some(font) = self.font_ref() else {
            return Vec::new();
        };
        let own = |tag: Tag| axes.iter().find(|axis| Tag::new(&axis.tag) == tag);
        let wanted = |tag: Tag, default: f32| match &tag.to_be_bytes() {
            _ if own(tag).is_some() => own(tag).map(|axis| axis.value),
            b"wght" => Some(f32::from(want.weight)),
            b"wdth" => Some(f32::from(want.width)),
            b"ital" => Some(f32::from(u8::from(want.italic))),
            b"slnt" if want.italic => Some(SLANT.min(default)),
            _ => None,
        };
        let place = |axis: skrifa::Axis| {
            let value = wanted(axis.tag(), axis.default_value())?;
            let value = value.clamp(axis.min_value(), axis.max_value());
            (value != axis.default_value()).then_some((axis.tag(), value))
        };
        font.axes().iter().filter_map(place).collect()
    }

    /// Glyph and advance, in font units, of a character of numbers: ASCII or one of [`SIGNS`]. Glyph
    /// 0 if there is none.
    pub(crate) fn number_sign(&self, character: char) -> (u16, u16) {
        let known = self.ascii.get(character as usize).copied();
        known.unwrap_or_else(|| {
            let place = SIGNS.iter().position(|sign| *sign == character);
            place.map_or((0, 0), |place| self.signs[place])
        })
    }

    /// Glyph of an ASCII character, if the face has one.
    #[must_use]
    pub fn ascii_glyph(&self, character: char) -> Option<u16> {
        let (glyph, _) = self.ascii.get(character as usize)?;
        (*glyph != 0).then_some(*glyph)
    }

    pub(crate) fn covers(&self, character: char) -> bool {
        if character.is_ascii() {
            return self.ascii[character as usize].0 != 0;
        }
        let glyph = self.shaping.charmap().map_unicode(character);
        glyph.is_some_and(|glyph| {
            !self.colored || self.draws(glyph.to_u32()) || self.has_picture(glyph.to_u32())
        })
    }

    /// Whether the glyph is a picture, and no outline.
    fn has_picture(&self, glyph: u32) -> bool {
        let glyph = u16::try_from(glyph).ok();
        glyph.is_some_and(|glyph| match self.layered {
            true => self.is_layered(glyph),
            false => self.picture(glyph).is_some(),
        })
    }

    /// Whether one of `glyphs` is drawn as a picture, not as text.
    pub(crate) fn draws_picture(&self, mut glyphs: impl Iterator<Item = u16>) -> bool {
        self.pictures || self.layered && glyphs.any(|glyph| self.is_layered(glyph))
    }

    fn is_layered(&self, glyph: u16) -> bool {
        self.layered && self.font_ref().is_some_and(|font| is_layered(&font, glyph))
    }

    /// The picture of a glyph of a font that draws with pictures.
    pub(crate) fn picture(&self, glyph: u16) -> Option<GlyphPicture> {
        let font = self.font_ref()?;
        match self.layered {
            true => drawing(&font, self.location(), glyph, self.units_per_em),
            false if self.pictures => picture(&font, glyph, self.units_per_em),
            false => None,
        }
    }

    /// Whether the glyph has an outline.
    fn draws(&self, glyph: u32) -> bool {
        let bounds = self.font_ref().and_then(|font| {
            let metrics = font.glyph_metrics(Size::unscaled(), self.location());
            metrics.bounds(skrifa::GlyphId::new(glyph))
        });
        bounds.is_some_and(|bounds| bounds.x_max > bounds.x_min)
    }
}

/// Offset of the table `hmtx` in the file, and the number of advances in it.
fn advances_of(font: &FontRef<'_>, file: &[u8]) -> (usize, u16) {
    let table = font.table_data(Tag::new(b"hmtx"));
    let start = table.map(|table| table.as_bytes().as_ptr().addr() - file.as_ptr().addr());
    let count = font.hhea().map_or(0, |table| table.number_of_h_metrics());
    let room = table.map_or(0, |table| table.as_bytes().len() / 4);
    let count = count.min(u16::try_from(room).unwrap_or(u16::MAX));
    start.map_or((0, 0), |start| (start, count))
}

/// Whether the PANOSE classification names serifs (ISO/IEC 14496-22 §5.2.7.17); without one, whether
/// the family's name does.
fn has_serifs(font: &FontRef<'_>) -> bool {
    const LATIN_TEXT: u8 = 2;
    let panose = font.os2().ok().map(|os2| os2.panose_10().to_vec());
    match panose.as_deref() {
        Some([LATIN_TEXT, style @ 2..=15, ..]) => *style <= 10,
        _ => {
            let names = font.localized_strings(StringId::FAMILY_NAME);
            let name = names
                .english_or_first()
                .map(|name| name.to_string().to_lowercase());
            name.is_some_and(|name| name.contains("serif") && !name.contains("sans"))
        }
    }
}

/// Whether the glyphs are pictures, which are drawn as images.
pub(crate) fn has_pictures(font: &FontRef<'_>) -> bool {
    [Tag::new(b"CBDT"), Tag::new(b"sbix")]
        .into_iter()
        .any(|tag| has_table(font, tag))
}

/// Whether the glyphs are outlines, which PDF can embed.
pub(crate) fn has_outlines(font: &FontRef<'_>) -> bool {
    [Tag::new(b"glyf"), Tag::new(b"CFF "), Tag::new(b"CFF2")]
        .into_iter()
        .any(|tag| has_table(font, tag))
}

fn has_table(font: &FontRef<'_>, tag: Tag) -> bool {
    let records = font.table_directory().table_records();
    records.iter().any(|record| record.tag() == tag)
}

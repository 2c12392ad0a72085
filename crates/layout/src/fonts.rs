//! Font faces, families, matching and fallback. Faces can be loaded on first use through a function
//! of the caller, so this crate opens no files.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use skrifa::{
    FontRef, MetadataProvider, Tag,
    instance::{LocationRef, Size},
    raw::{FileRef, TableProvider},
    string::StringId,
};

use crate::color_glyph::{GlyphPicture, picture};

/// The bytes of a font file.
#[derive(Clone)]
pub enum FontBytes {
    /// Compiled into the program.
    Static(&'static [u8]),
    /// Loaded at run time.
    Shared(Arc<Vec<u8>>),
}

impl AsRef<[u8]> for FontBytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// Index of a face in its [`FontLibrary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FaceId(pub u16);

/// Description of a face, available without loading the font.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaceInfo {
    /// Family name.
    pub family: String,
    /// OpenType weight class: 400 is regular, 700 is bold.
    pub weight: u16,
    /// Whether it is italic or oblique.
    pub italic: bool,
    /// Index in a font collection; 0 for a single font.
    pub index: u32,
    /// Where it comes from, such as a path, for messages.
    pub origin: String,
}

/// A loaded face.
pub struct FaceData {
    /// The font file.
    pub bytes: FontBytes,
    /// Index in a font collection.
    pub index: u32,
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
    /// Whether it has serifs, which decides between fallback fonts.
    pub(crate) serif: bool,
    /// Whether glyphs are pictures rather than outlines.
    pub(crate) pictures: bool,
    /// Underline: distance of its top below the baseline, and thickness, in em.
    pub underline: (f32, f32),
    /// Glyph and advance (font units) of each ASCII character; glyph 0 if there is none.
    pub(crate) ascii: [(u16, u16); 128],
}

impl FaceData {
    fn load(bytes: FontBytes, index: u32) -> Option<Self> {
        let shaping = match &bytes {
            FontBytes::Static(bytes) => harfrust::Font::new(*bytes, index)?,
            FontBytes::Shared(bytes) => {
                let shared: Arc<dyn AsRef<[u8]> + Send + Sync> = bytes.clone();
                harfrust::Font::new(shared, index)?
            }
        };
        let font = FontRef::from_index(bytes.as_ref(), index).ok()?;
        let metrics = font.metrics(Size::unscaled(), LocationRef::default());
        let units = f32::from(metrics.units_per_em);
        if !(16.0..=16384.0).contains(&units) {
            return None;
        }
        let charmap = font.charmap();
        let advances = font.glyph_metrics(Size::unscaled(), LocationRef::default());
        let mut ascii = [(0, 0); 128];
        for (code, entry) in ascii.iter_mut().enumerate() {
            if let Some(glyph) = charmap.map(code as u32) {
                let advance = advances.advance_width(glyph).unwrap_or(0.0);
                *entry = (
                    u16::try_from(glyph.to_u32()).unwrap_or(0),
                    advance.clamp(0.0, 65535.0) as u16,
                );
            }
        }
        let underline = metrics.underline.map_or((0.1, 0.05), |line| {
            (-line.offset / units, line.thickness / units)
        });
        let space = match ascii[b' ' as usize].1 {
            0 => 0.25,
            advance => f32::from(advance) / units,
        };
        let tables = [Tag::new(b"COLR"), Tag::new(b"CBDT"), Tag::new(b"sbix")];
        let colored = tables.into_iter().any(|tag| has_table(&font, tag));
        Some(Self {
            index,
            colored,
            shaping,
            units_per_em: units,
            ascent: (metrics.ascent / units).clamp(0.1, 3.0),
            descent: (-metrics.descent / units).clamp(0.0, 3.0),
            space,
            serif: has_serifs(&font),
            pictures: !has_outlines(&font),
            underline,
            ascii,
            bytes,
        })
    }

    /// The face for reading tables and outlines.
    #[must_use]
    pub fn font_ref(&self) -> Option<FontRef<'_>> {
        FontRef::from_index(self.bytes.as_ref(), self.index).ok()
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
        glyph.is_some_and(|glyph| self.picture(glyph).is_some())
    }

    /// The picture of a glyph of a font that draws with pictures.
    pub(crate) fn picture(&self, glyph: u16) -> Option<GlyphPicture> {
        let font = self.font_ref().filter(|_| self.pictures)?;
        picture(&font, glyph, self.units_per_em)
    }

    /// Whether the glyph has an outline.
    fn draws(&self, glyph: u32) -> bool {
        let bounds = self.font_ref().and_then(|font| {
            let metrics = font.glyph_metrics(Size::unscaled(), LocationRef::default());
            metrics.bounds(skrifa::GlyphId::new(glyph))
        });
        bounds.is_some_and(|bounds| bounds.x_max > bounds.x_min)
    }
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
fn has_pictures(font: &FontRef<'_>) -> bool {
    [Tag::new(b"CBDT"), Tag::new(b"sbix")]
        .into_iter()
        .any(|tag| has_table(font, tag))
}

/// Whether the glyphs are outlines, which PDF can embed.
fn has_outlines(font: &FontRef<'_>) -> bool {
    [Tag::new(b"glyf"), Tag::new(b"CFF ")]
        .into_iter()
        .any(|tag| has_table(font, tag))
}

fn has_table(font: &FontRef<'_>, tag: Tag) -> bool {
    let records = font.table_directory().table_records();
    records.iter().any(|record| record.tag() == tag)
}

/// The part of a font file that a loader must supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FontPart {
    /// The table directory and the tables `cmap`, `head` and `maxp`; the rest may be anything.
    Coverage,
    /// The whole file.
    All,
}

type Loader = Box<dyn Fn(FontPart) -> Option<FontBytes> + Send + Sync>;

struct Face {
    info: FaceInfo,
    loader: Loader,
    data: OnceLock<Option<Arc<FaceData>>>,
    /// Code point ranges in ascending order, kept without the font file.
    coverage: OnceLock<Vec<(u32, u32)>>,
}

impl Face {
    fn may_cover(&self, character: char) -> bool {
        let ranges = self.coverage.get_or_init(|| {
            (self.loader)(FontPart::Coverage)
                .and_then(|bytes| coverage(bytes.as_ref(), self.info.index))
                .unwrap_or_default()
        });
        let code = character as u32;
        let after = ranges.partition_point(|(first, _)| *first <= code);
        after > 0 && code <= ranges[after - 1].1
    }
}

fn coverage(bytes: &[u8], index: u32) -> Option<Vec<(u32, u32)>> {
    let font = FontRef::from_index(bytes, index).ok()?;
    let mut codes: Vec<u32> = font.charmap().mappings().map(|(code, _)| code).collect();
    codes.sort_unstable();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in codes {
        match ranges.last_mut() {
            Some((_, last)) if code <= *last + 1 => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    Some(ranges)
}

/// All faces available to a layout.
#[derive(Default)]
pub struct FontLibrary {
    faces: Vec<Face>,
    /// Faces by lower-case family name.
    families: HashMap<String, Vec<FaceId>>,
}

impl fmt::Debug for FontLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} faces", self.faces.len())
    }
}

/// Metric-compatible substitutes of common families, the same as fontconfig's.
const ALIASES: [(&str, &str); 13] = [
    ("arial", "liberation sans"),
    ("helvetica", "liberation sans"),
    ("arimo", "liberation sans"),
    ("sans-serif", "liberation sans"),
    ("sans", "liberation sans"),
    ("times new roman", "liberation serif"),
    ("times", "liberation serif"),
    ("tinos", "liberation serif"),
    ("serif", "liberation serif"),
    ("courier new", "liberation mono"),
    ("courier", "liberation mono"),
    ("cousine", "liberation mono"),
    ("monospace", "liberation mono"),
];

/// Maximum number of faces; ids have 16 bits.
const MAX_FACES: usize = 20_000;

impl FontLibrary {
    /// Reads the description of every face in a font file, for [`FontLibrary::add`]. Empty if the
    /// bytes are not a font. Skips faces that have neither outlines nor color pictures.
    #[must_use]
    pub fn inspect(bytes: &[u8], origin: &str) -> Vec<FaceInfo> {
        let Ok(file) = FileRef::new(bytes) else {
            return Vec::new();
        };
        file.fonts()
            .filter_map(Result::ok)
            .enumerate()
            .filter(|(_, font)| has_outlines(font) || has_pictures(font))
            .filter_map(|(index, font)| {
                let family = [StringId::TYPOGRAPHIC_FAMILY_NAME, StringId::FAMILY_NAME]
                    .into_iter()
                    .find_map(|id| font.localized_strings(id).english_or_first())?
                    .to_string();
                let attributes = font.attributes();
                Some(FaceInfo {
                    family,
                    weight: attributes.weight.value() as u16,
                    italic: attributes.style != skrifa::attribute::Style::Normal,
                    index: index as u32,
                    origin: origin.to_owned(),
                })
            })
            .collect()
    }

    /// Adds a face that `loader` loads on first use. If families collide, faces added earlier win.
    pub fn add(
        &mut self,
        info: FaceInfo,
        loader: impl Fn(FontPart) -> Option<FontBytes> + Send + Sync + 'static,
    ) {
        if self.faces.len() >= MAX_FACES {
            return;
        }
        let id = FaceId(self.faces.len() as u16);
        self.families
            .entry(info.family.to_lowercase())
            .or_default()
            .push(id);
        self.faces.push(Face {
            info,
            loader: Box::new(loader),
            data: OnceLock::new(),
            coverage: OnceLock::new(),
        });
    }

    /// Adds every face of a font file compiled into the program.
    pub fn add_static(&mut self, bytes: &'static [u8], origin: &str) {
        for info in Self::inspect(bytes, origin) {
            self.add(info, move |_| Some(FontBytes::Static(bytes)));
        }
    }

    /// Descriptions of all faces, in order of their ids.
    pub fn faces(&self) -> impl Iterator<Item = &FaceInfo> {
        self.faces.iter().map(|face| &face.info)
    }

    /// Loads a face. `None` if its file is missing or broken.
    #[must_use]
    pub fn face(&self, id: FaceId) -> Option<&Arc<FaceData>> {
        let face = self.faces.get(usize::from(id.0))?;
        face.data
            .get_or_init(|| {
                let bytes = (face.loader)(FontPart::All)?;
                FaceData::load(bytes, face.info.index).map(Arc::new)
            })
            .as_ref()
    }

    /// Whether this family or a substitute of it exists.
    #[must_use]
    pub fn has_family(&self, family: &str) -> bool {
        self.family(family).is_some()
    }

    fn family(&self, name: &str) -> Option<&[FaceId]> {
        let lower = name.to_lowercase();
        if let Some(ids) = self.families.get(&lower) {
            return Some(ids);
        }
        let (_, alias) = ALIASES.iter().find(|(known, _)| *known == lower)?;
        self.families.get(*alias).map(Vec::as_slice)
    }

    /// For each of `families` that exists, the face closest to the requested weight and slant.
    pub(crate) fn chain(&self, families: &[String], bold: bool, italic: bool) -> Vec<FaceId> {
        families
            .iter()
            .filter_map(|family| self.nearest(self.family(family)?, bold, italic))
            .collect()
    }

    fn nearest(&self, ids: &[FaceId], bold: bool, italic: bool) -> Option<FaceId> {
        let wanted: i32 = if bold { 700 } else { 400 };
        ids.iter().copied().min_by_key(|id| {
            let info = &self.faces[usize::from(id.0)].info;
            let slant = if info.italic == italic { 0 } else { 1000 };
            (i32::from(info.weight) - wanted).abs() + slant
        })
    }

    /// The first face, in order of addition, that covers `character`. Each family is tried only
    /// with its closest face, and faces that cannot be loaded are skipped.
    pub(crate) fn fallback(&self, character: char, bold: bool, italic: bool) -> Option<FaceId> {
        let mut tried: Vec<&str> = Vec::new();
        for face in &self.faces {
            let family = face.info.family.as_str();
            if tried.contains(&family) {
                continue;
            }
            tried.push(family);
            let ids = self.family(family)?;
            let Some(id) = self.nearest(ids, bold, italic) else {
                continue;
            };
            if self.faces[usize::from(id.0)].may_cover(character)
                && self.face(id).is_some_and(|data| data.covers(character))
            {
                return Some(id);
            }
        }
        None
    }
}

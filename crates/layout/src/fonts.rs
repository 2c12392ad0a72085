//! Font faces, families, matching and fallback. Faces can be loaded on first use through a function
//! of the caller, so this crate opens no files.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, OnceLock},
};

use skrifa::{FontRef, MetadataProvider, Tag, raw::FileRef, string::StringId};

use crate::face::{FaceData, has_outlines, has_pictures};

mod families;
#[cfg(test)]
mod tests;

pub use self::families::FontFamily;

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
    /// OpenType weight class: 400 is regular, 700 is bold. Of a variable font that of its default.
    pub weight: u16,
    /// Width in percent of the normal one. Of a variable font that of its default.
    pub width: u16,
    /// Whether it is italic or oblique.
    pub italic: bool,
    /// What a variable font can be.
    pub range: FaceRange,
    /// Index in a font collection; 0 for a single font.
    pub index: u32,
    /// Where it comes from, such as a path, for messages.
    pub origin: String,
}

/// The extents of the axes of a variable font; both ends are 0 without the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaceRange {
    /// Least and greatest weight.
    pub weight: (u16, u16),
    /// Least and greatest width, in percent.
    pub width: (u16, u16),
    /// Whether it can be italic or oblique.
    pub slant: bool,
}

/// The face that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Want {
    /// Weight, 1 to 1000.
    pub weight: u16,
    /// Width in percent of the normal one.
    pub width: u16,
    /// Whether it is italic.
    pub italic: bool,
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

/// Maximum number of mappings that are read from a font: one for each code point. A `cmap` whose
/// groups overlap could name each of them thousands of times.
const MAX_MAPPINGS: usize = char::MAX as usize + 1;

fn coverage(bytes: &[u8], index: u32) -> Option<Vec<(u32, u32)>> {
    let font = FontRef::from_index(bytes, index).ok()?;
    let mappings = font.charmap().mappings().take(MAX_MAPPINGS);
    let mut codes: Vec<u32> = mappings.map(|(code, _)| code).collect();
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
    faces: Vec<Arc<Face>>,
    /// Faces by lower-case family name.
    families: HashMap<String, Vec<FaceId>>,
}

impl fmt::Debug for FontLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} faces", self.faces.len())
    }
}

/// Metric-compatible substitutes of common families, the same as fontconfig's.
const ALIASES: [(&str, &str); 21] = [
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
    // Google's names of the fonts, which the packages of distributions call after their scripts.
    ("noto sans jp", "noto sans cjk jp"),
    ("noto sans kr", "noto sans cjk kr"),
    ("noto sans sc", "noto sans cjk sc"),
    ("noto sans tc", "noto sans cjk tc"),
    ("noto serif jp", "noto serif cjk jp"),
    ("noto serif kr", "noto serif cjk kr"),
    ("noto serif sc", "noto serif cjk sc"),
    ("noto serif tc", "noto serif cjk tc"),
];

/// Maximum number of faces of a file: each entry of a collection may name the same font.
const MAX_FACES_OF_FILE: usize = 256;
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
            .take(MAX_FACES_OF_FILE)
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
                    width: attributes.stretch.percentage().round() as u16,
                    range: face_range(&font),
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
        self.faces.push(Arc::new(Face {
            info,
            loader: Box::new(loader),
            data: OnceLock::new(),
            coverage: OnceLock::new(),
        }));
    }

    /// These fonts and those of the files `more`, each with its origin, which come last.
    #[must_use]
    pub fn extended(&self, more: &[(String, Arc<[u8]>)]) -> Self {
        let mut library = Self {
            faces: self.faces.clone(),
            families: self.families.clone(),
        };
        for (origin, bytes) in more {
            let shared = Arc::new(bytes.to_vec());
            for info in Self::inspect(bytes, origin) {
                let shared = Arc::clone(&shared);
                library.add(info, move |_| Some(FontBytes::Shared(Arc::clone(&shared))));
            }
        }
        library
    }

    /// Whether this family exists, rather than a substitute of it.
    #[must_use]
    pub fn has_own_family(&self, family: &str) -> bool {
        self.families.contains_key(&family.to_lowercase())
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
                FaceData::load(bytes, face.info.index, Vec::new()).map(Arc::new)
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
    pub(crate) fn chain(&self, families: &[String], want: Want) -> Vec<FaceId> {
        families
            .iter()
            .filter_map(|family| self.nearest(self.family(family)?, want))
            .collect()
    }

    fn nearest(&self, ids: &[FaceId], want: Want) -> Option<FaceId> {
        let distance = |value: u16, own: u16, (least, most): (u16, u16)| match most {
            0 => i32::from(own).abs_diff(i32::from(value)),
            _ => i32::from(value.clamp(least, most)).abs_diff(i32::from(value)),
        };
        ids.iter().copied().min_by_key(|id| {
            let info = &self.faces[usize::from(id.0)].info;
            let range = info.range;
            let slants = info.italic == want.italic || (want.italic && range.slant);
            let weight = distance(want.weight, info.weight, range.weight);
            // As in CSS: the width is chosen first, then the slant, then the weight.
            let width = distance(want.width, info.width, range.width) * 10_000;
            width + if slants { 0 } else { 1_000 } + weight
        })
    }

    /// The first face, in order of addition, that covers `character`. Each family is tried only
    /// with its closest face, and faces that cannot be loaded are skipped.
    pub(crate) fn fallback(&self, character: char, want: Want) -> Option<FaceId> {
        let mut tried: Vec<&str> = Vec::new();
        for face in &self.faces {
            let family = face.info.family.as_str();
            if tried.contains(&family) {
                continue;
            }
            tried.push(family);
            let ids = self.family(family)?;
            let Some(id) = self.nearest(ids, want) else {
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

/// The extents of a font's axes.
fn face_range(font: &FontRef<'_>) -> FaceRange {
    let axes = font.axes();
    let ends = |tag: &[u8; 4]| {
        let axis = axes.get_by_tag(Tag::new(tag))?;
        let whole = |value: f32| value.round().clamp(1.0, 1_000.0) as u16;
        Some((whole(axis.min_value()), whole(axis.max_value())))
    };
    let has = |tag: &[u8; 4]| axes.get_by_tag(Tag::new(tag)).is_some();
    FaceRange {
        weight: ends(b"wght").unwrap_or_default(),
        width: ends(b"wdth").unwrap_or_default(),
        slant: has(b"ital") || has(b"slnt"),
    }
}

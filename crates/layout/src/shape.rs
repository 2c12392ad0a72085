//! Shapes words to glyphs, each word once: this cache is what makes long tables cheap.
//!
//! A word is a stretch of text without a line break opportunity, in one face and one direction.
//! Numbers bypass the shaper and keep tabular widths.

mod chain;
mod itemize;
mod number;

use std::{collections::BTreeSet, hash::BuildHasher, sync::Arc};

use harfrust::{Buffer, Direction, Language, ShapeOptions, ShapePlan, ShaperFont};
use hashbrown::HashTable;
use platen_document::{font::FontFeature, work};
use rustc_hash::{FxBuildHasher, FxHashMap};

use self::{
    chain::{FontChain, Instances},
    number::is_number,
};
use crate::{
    color_glyph::GlyphPicture,
    face::FaceData,
    fonts::{FaceId, FontLibrary, Want},
    script::Script,
};

/// One glyph of a word. Lengths are in font units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// Glyph index in the face.
    pub id: u16,
    /// Horizontal advance.
    pub advance: i16,
    /// Horizontal offset from the pen.
    pub x_offset: i16,
    /// Vertical offset from the baseline, upwards.
    pub y_offset: i16,
    /// Byte offset in the word's text at which the glyph's cluster starts.
    pub cluster: u16,
}

/// A shaped word.
#[derive(Clone, Debug)]
pub struct Word {
    /// The face that all its glyphs come from.
    pub face: FaceId,
    /// Whether it is right-to-left. Glyphs are in visual order in any case.
    pub right_to_left: bool,
    /// Whether its glyphs are pictures, drawn as images.
    pub(crate) pictures: bool,
    /// Width in em.
    pub width: f32,
    /// Its text.
    pub text: Box<str>,
    /// Its glyphs, from left to right.
    pub glyphs: Box<[Glyph]>,
}

/// Index of a word in its [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WordId(pub u32);

/// Index of a combination of families, weight, slant and language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FontKey(u16);

/// How a face shapes texts of one script and language in one direction, with the same features.
struct Plan {
    face: FaceId,
    right_to_left: bool,
    script: Option<harfrust::Script>,
    language: Option<Language>,
    features: Arc<[FontFeature]>,
    plan: ShapePlan,
}

/// Words longer than this many bytes are split before shaping.
pub(crate) const MAX_WORD_BYTES: usize = 1024;
/// Maximum number of words kept from one layout to the next.
const MAX_KEPT_WORDS: usize = 60_000;
/// Maximum number of pictures of glyphs that are kept.
const MAX_PICTURES: usize = 1_000;
/// Maximum size of the words kept from one layout to the next, in bytes.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// Shapes words with the fonts of one library, and caches them across layouts.
pub struct Shaper {
    library: Arc<FontLibrary>,
    words: Vec<Word>,
    words_bytes: usize,
    /// Words by font, direction and text.
    index: HashTable<(u16, u32)>,
    chains: Vec<FontChain>,
    plans: Vec<Plan>,
    instances: Instances,
    language: Option<Language>,
    language_tag: String,
    /// Font key of each style of the current document, looked up once.
    style_keys: Vec<Option<FontKey>>,
    /// Faces for scripts that a chain lacks, best first.
    script_faces: FxHashMap<(FontKey, Script), Arc<[FaceId]>>,
    /// Faces for characters that those lack, too.
    fallbacks: FxHashMap<(char, Want), Option<FaceId>>,
    /// Pictures of glyphs that are drawn as images.
    pictures: FxHashMap<(FaceId, u16), Option<GlyphPicture>>,
    missing: BTreeSet<char>,
    unknown_families: BTreeSet<String>,
    /// Features that a style asks for and its first font lacks, with its first family.
    lacking: BTreeSet<(String, [u8; 4])>,
    buffer: Buffer,
}

impl Shaper {
    /// Creates a shaper for the fonts of `library`.
    #[must_use]
    pub fn new(library: Arc<FontLibrary>) -> Self {
        Self {
            library,
            words: Vec::new(),
            words_bytes: 0,
            index: HashTable::new(),
            chains: Vec::new(),
            plans: Vec::new(),
            instances: Instances::default(),
            language: None,
            language_tag: String::new(),
            style_keys: Vec::new(),
            script_faces: FxHashMap::default(),
            fallbacks: FxHashMap::default(),
            pictures: FxHashMap::default(),
            missing: BTreeSet::new(),
            unknown_families: BTreeSet::new(),
            lacking: BTreeSet::new(),
            buffer: Buffer::new(),
        }
    }

    /// The fonts.
    #[must_use]
    pub fn library(&self) -> &Arc<FontLibrary> {
        &self.library
    }

    /// Font units per em of a face.
    pub(crate) fn units_per_em(&self, face: FaceId) -> f32 {
        let face = self.face(face);
        face.map_or(1_000.0, |face| face.units_per_em)
    }

    /// The word of `id`.
    #[must_use]
    pub fn word(&self, id: WordId) -> &Word {
        &self.words[id.0 as usize]
    }

    /// Characters since [`Shaper::begin`] that no font covers.
    pub(crate) fn missing(&self) -> &BTreeSet<char> {
        &self.missing
    }

    /// Families requested since [`Shaper::begin`] for which neither they nor their alternatives
    /// exist.
    pub(crate) fn unknown_families(&self) -> Vec<String> {
        self.unknown_families.iter().cloned().collect()
    }

    /// Features that styles ask for since [`Shaper::begin`] and their first font lacks, with their
    /// first family.
    pub(crate) fn lacking_features(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.lacking.iter();
        all.map(|(family, tag)| {
            (
                family.as_str(),
                std::str::from_utf8(tag).unwrap_or_default(),
            )
        })
    }

    /// Whether the document asks for more instances of variable fonts than are made.
    pub(crate) fn has_too_many_instances(&self) -> bool {
        self.instances.too_many
    }

    /// The picture of a glyph of `face`.
    pub(crate) fn picture(&mut self, face: FaceId, glyph: u16) -> Option<GlyphPicture> {
        if self.pictures.len() > MAX_PICTURES {
            self.pictures.clear();
        }
        if let Some(known) = self.pictures.get(&(face, glyph)) {
            return known.clone();
        }
        let picture = self.face(face).and_then(|face| face.picture(glyph));
        self.pictures.insert((face, glyph), picture.clone());
        picture
    }

    /// Starts a document. Invalidates the words of the previous one if the cache has outgrown its
    /// limit, the language changed, or some of its characters had no glyph.
    pub(crate) fn begin(&mut self, language: &str) {
        // Cached words are not shaped again, and only shaping discovers missing characters.
        let is_whole = self.missing.is_empty();
        let many = self.has_many_faces();
        if many {
            self.chains.clear();
            self.instances = Instances::default();
            self.fallbacks.clear();
            self.pictures.clear();
        }
        self.instances.too_many = false;
        if many || self.is_full() || self.language_tag != language || !is_whole {
            self.words = Vec::new();
            self.words_bytes = 0;
            self.index.clear();
            self.plans.clear();
            self.script_faces.clear();
            self.language_tag = language.to_owned();
            self.language = Language::new(language);
        }
        self.style_keys.clear();
        self.missing.clear();
        self.unknown_families.clear();
        self.lacking.clear();
    }

    /// Whether it holds more words than are kept between layouts.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.words.len() > MAX_KEPT_WORDS || self.words_bytes > MAX_KEPT_BYTES
    }

    /// Shapes `text` and appends the result to `word_ids`: one word, or several in logical order if
    /// no single face covers it.
    pub(crate) fn shape(
        &mut self,
        key: FontKey,
        text: &str,
        right_to_left: bool,
        word_ids: &mut Vec<WordId>,
    ) {
        work::check();
        let tag = key.0 << 1 | u16::from(right_to_left);
        let hash = FxBuildHasher.hash_one((tag, text));
        let found = self.index.find(hash, |(known, word)| {
            *known == tag && *self.words[*word as usize].text == *text
        });
        if let Some((_, word)) = found {
            word_ids.push(WordId(*word));
            return;
        }
        if is_number(text)
            && self.chains[usize::from(key.0)].features.is_empty()
            && let Some(word) = self.number(key, text)
        {
            word_ids.push(self.remember(tag, hash, word));
            return;
        }
        let runs = self.faces_of(key, text);
        let single = runs.len() == 1;
        for (start, end, face) in runs {
            let word = self.shape_run(key, &text[start..end], face, right_to_left);
            if single {
                word_ids.push(self.remember(tag, hash, word));
            } else {
                word_ids.push(self.push(word));
            }
        }
    }

    /// A word with `count` signs that lengthen the connection before the letter at `at`, and its width
    /// in em. Its text stays that of the word, so that readers find and copy it.
    pub(crate) fn lengthened(
        &mut self,
        key: FontKey,
        id: WordId,
        at: usize,
        count: usize,
    ) -> (WordId, f32) {
        const TATWEEL: &str = "\u{640}";
        let (text, face) = (self.word(id).text.clone(), self.word(id).face);
        let signs = TATWEEL.repeat(count);
        let long = [&text[..at], &signs, &text[at..]].concat();
        let before = text[..at]
            .char_indices()
            .next_back()
            .map_or(0, |(start, _)| start);
        let mut word = self.shape_run(key, &long, face, true);
        for glyph in &mut word.glyphs {
            let cluster = usize::from(glyph.cluster);
            glyph.cluster = match cluster {
                _ if cluster < at => cluster,
                _ if cluster < at + signs.len() => before,
                _ => cluster - signs.len(),
            } as u16;
        }
        word.text = text;
        let width = word.width;
        (self.push(word), width)
    }

    /// Like [`Shaper::shape`], for a fragment of a long word that no other line contains. It is
    /// neither looked up nor cached, and [`Shaper::forget`] removes it again.
    pub(crate) fn shape_part(
        &mut self,
        key: FontKey,
        text: &str,
        right_to_left: bool,
        word_ids: &mut Vec<WordId>,
    ) {
        work::check();
        for (start, end, face) in self.faces_of(key, text) {
            let word = self.shape_run(key, &text[start..end], face, right_to_left);
            word_ids.push(self.push(word));
        }
    }

    /// Removes the most recent fragments shaped by [`Shaper::shape_part`].
    pub(crate) fn forget(&mut self, parts: &[WordId]) {
        for _ in parts {
            if let Some(word) = self.words.pop() {
                self.words_bytes -= size_bytes(&word);
            }
        }
    }

    fn push(&mut self, word: Word) -> WordId {
        self.words_bytes += size_bytes(&word);
        self.words.push(word);
        WordId((self.words.len() - 1) as u32)
    }

    fn remember(&mut self, tag: u16, hash: u64, word: Word) -> WordId {
        let id = self.push(word);
        let words = &self.words;
        self.index.insert_unique(hash, (tag, id.0), |(tag, word)| {
            FxBuildHasher.hash_one((*tag, &*words[*word as usize].text))
        });
        id
    }

    /// A number, set with the font's unkerned advances so that digits align in columns.
    fn number(&self, key: FontKey, text: &str) -> Option<Word> {
        let chain = &self.chains[usize::from(key.0)];
        let face = &chain.primary;
        let mut glyphs = Vec::with_capacity(text.len());
        let mut width = 0.0;
        for (cluster, sign) in text.char_indices() {
            let (id, advance) = face.number_sign(sign);
            if id == 0 {
                return None;
            }
            width += f32::from(advance);
            glyphs.push(Glyph {
                id,
                advance: i16::try_from(advance).ok()?,
                x_offset: 0,
                y_offset: 0,
                cluster: cluster as u16,
            });
        }
        Some(Word {
            face: *chain.faces.first()?,
            right_to_left: false,
            pictures: false,
            width: width / face.units_per_em,
            text: text.into(),
            glyphs: glyphs.into(),
        })
    }

    /// Index of the plan for a face, direction, script and language with `asked`, which are
    /// `features`.
    fn plan(
        &mut self,
        data: &FaceData,
        (face, direction, script): (FaceId, Direction, Option<harfrust::Script>),
        language: Option<Language>,
        asked: Arc<[FontFeature]>,
        features: &[harfrust::Feature],
    ) -> usize {
        let right_to_left = direction == Direction::RightToLeft;
        let known = self.plans.iter().position(|plan| {
            plan.face == face
                && plan.right_to_left == right_to_left
                && plan.script == script
                && plan.language == language
                && plan.features == asked
        });
        known.unwrap_or_else(|| {
            let plan = ShapePlan::new(
                &data.shaping,
                direction,
                script,
                language.as_ref(),
                features,
            );
            self.plans.push(Plan {
                face,
                right_to_left,
                script,
                language,
                features: asked,
                plan,
            });
            self.plans.len() - 1
        })
    }

    fn shape_run(&mut self, key: FontKey, text: &str, face: FaceId, right_to_left: bool) -> Word {
        let data = self.face(face).cloned().expect("a chosen face is loaded");
        let chain = &self.chains[usize::from(key.0)];
        let asked = Arc::clone(&chain.features);
        let language = chain.language.clone().or_else(|| self.language.clone());
        let direction = if right_to_left {
            Direction::RightToLeft
        } else {
            Direction::LeftToRight
        };
        let buffer = &mut self.buffer;
        buffer.reset();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        buffer.set_direction(direction);
        buffer.set_language(language.clone());
        let script = buffer.script();
        let font = ShaperFont::new(&data.shaping);
        let features: Vec<harfrust::Feature> = asked.iter().map(wanted).collect();
        let index = self.plan(&data, (face, direction, script), language, asked, &features);
        let options = ShapeOptions::new()
            .plan(Some(&self.plans[index].plan))
            .features(&features);
        let buffer = &mut self.buffer;
        let shaped = harfrust::shape(&font, buffer, options).is_ok();
        let mut width = 0.0;
        let glyphs: Box<[Glyph]> = if shaped {
            buffer
                .glyph_infos()
                .iter()
                .zip(buffer.glyph_positions())
                .map(|(info, position)| {
                    width += position.x_advance as f32;
                    Glyph {
                        id: info.glyph_id as u16,
                        advance: clamp(position.x_advance),
                        x_offset: clamp(position.x_offset),
                        y_offset: clamp(position.y_offset),
                        cluster: info.cluster as u16,
                    }
                })
                .collect()
        } else {
            Box::default()
        };
        Word {
            face,
            right_to_left,
            pictures: data.draws_picture(glyphs.iter().map(|glyph| glyph.id)),
            width: width / data.units_per_em,
            text: text.into(),
            glyphs,
        }
    }
}

/// A feature as the shaper takes it, for the whole text.
fn wanted(feature: &FontFeature) -> harfrust::Feature {
    harfrust::Feature::new(harfrust::Tag::new(&feature.tag), feature.value, ..)
}

/// Approximate memory of a word, in bytes.
fn size_bytes(word: &Word) -> usize {
    size_of::<Word>() + word.text.len() + size_of_val(&*word.glyphs)
}

fn clamp(units: i32) -> i16 {
    units.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
}

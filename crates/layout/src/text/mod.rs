//! Paragraph text: inline content becomes atoms (unbreakable stretches with a width), atoms become
//! lines, lines become placed words.

mod atoms;
mod clusters;
mod emit;
mod hanging;
mod hyphen;
mod justify;
mod kashida;
mod lines;
mod paragraph_fit;
mod pictures;
mod tabs;
mod total_fit;
mod values;

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use icu_segmenter::LineSegmenterBorrowed;
use platen_document::{
    Diagnostic,
    bound::{Baseline, Digits, Document, PageField, StyleId, StyleTable, TabLeader},
    numbering::Counter,
};

pub(crate) use self::{
    emit::{Placement, Sink},
    hyphen::Hyphenator,
    lines::Line,
    pictures::upright,
    tabs::decimal_place,
};
use crate::shape::{Shaper, WordId};

/// Line breaking behavior after an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// No break.
    Never,
    /// A line may end here.
    Allowed,
    /// A line must end here.
    Mandatory,
}

/// An unbreakable stretch of text with one style, link and direction.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub style: StyleId,
    /// Font size, reduced for superscripts.
    pub size: f32,
    /// Distance above the baseline.
    pub rise: f32,
    pub width: f32,
    /// Width of the spaces that follow it.
    pub space: f32,
    /// How much the gap that follows it may grow in a justified line that is still good, in points.
    pub stretch: f32,
    /// How much that gap may shrink at most, in points.
    pub shrink: f32,
    /// Blank part of a full-width sign at its end, which a line end drops.
    pub trim: f32,
    /// How far its first character hangs out at the start of a line.
    pub lead: f32,
    pub after: Break,
    /// Bidi embedding level (UAX #9); odd levels are right-to-left.
    pub level: u8,
    /// Range in [`Paragraph::words`], in logical order.
    pub words: Range<u32>,
    /// Index in [`Paragraph::links`].
    pub link: Option<u16>,
    /// Index of the footnote whose reference it is.
    pub footnote: Option<u32>,
    /// Whether it is a tab, and what fills it.
    pub tab: Option<TabLeader>,
    /// Whether it ends with a soft hyphen, drawn only if a line ends here.
    pub soft_hyphen: bool,
    /// Whether it ends with a hyphen that is not in the text.
    pub hyphen: bool,
}

/// The atoms of one paragraph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paragraph {
    pub atoms: Vec<Atom>,
    pub words: Vec<WordId>,
    pub links: Vec<Arc<str>>,
    pub right_to_left: bool,
    /// Whether there are tabs.
    pub has_tabs: bool,
    /// Last character of the last atom.
    pub last_character: Option<char>,
}

impl Paragraph {
    /// Footnotes referenced on `lines`.
    pub fn footnotes(&self, lines: &[Line]) -> impl Iterator<Item = u32> {
        lines
            .iter()
            .flat_map(|line| &self.atoms[line.atoms.clone()])
            .filter_map(|atom| atom.footnote)
    }
}

/// Values of page number fields.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    pub page_number: u32,
    /// Form of the page numbers.
    pub form: Counter,
    pub page_count: u32,
    /// Number of the page within its section.
    pub section_number: u32,
    /// Number of pages of the section.
    pub section_count: u32,
    /// The current heading of each level.
    pub heads: [Arc<str>; 6],
}

impl Fields {
    /// The text of `field`.
    pub fn text(&self, field: PageField, digits: Digits) -> String {
        match field {
            PageField::SectionNumber => digits.page(self.section_number, self.form),
            PageField::SectionCount => digits.page(self.section_count, self.form),
            PageField::RunningHead(level) => {
                let index = usize::from(level.clamp(1, 6)) - 1;
                self.heads[index].to_string()
            }
        }
    }
}

/// State shared by all text layout.
pub(crate) struct TextContext<'a> {
    pub document: &'a Document,
    /// The document's styles, followed by those that layout adds.
    pub styles: StyleTable,
    pub shaper: &'a mut Shaper,
    pub hyphenator: Hyphenator,
    pub fields: Fields,
    /// Printed page numbers of the blocks with ids, as far as the previous pass found them.
    pub target_pages: &'a BTreeMap<String, String>,
    /// Finds line break opportunities. Kept because loading its data is expensive.
    pub segmenter: LineSegmenterBorrowed<'static>,
    pub word_ids: Vec<WordId>,
    /// JSON pointer of the current template node, for warnings.
    pub node: Arc<str>,
    pub warnings: Vec<Diagnostic>,
}

/// Font size of superscripts and subscripts relative to the surrounding text.
const SCRIPT_SIZE: f32 = 0.65;

impl TextContext<'_> {
    /// Warns about the current node, once per `code`.
    pub fn warn(&mut self, code: &str, message: String, hint: &str) {
        let known = |other: &Diagnostic| other.code == code && *other.path == *self.node;
        if !self.warnings.iter().any(known) {
            let warning = Diagnostic::warning(code, &*self.node, message);
            self.warnings.push(warning.with_hint(hint));
        }
    }

    /// Font size and rise of a style, in points.
    pub fn size_and_rise(&self, style: StyleId) -> (f32, f32) {
        let style = &self.styles[style];
        match style.baseline {
            Baseline::Normal => (style.font_size, 0.0),
            Baseline::Superscript => (style.font_size * SCRIPT_SIZE, style.font_size / 3.0),
            Baseline::Subscript => (style.font_size * SCRIPT_SIZE, -style.font_size / 7.0),
        }
    }

    /// Height above and below the baseline of a line in `style`, including half the leading.
    pub fn extents(&mut self, style: StyleId) -> (f32, f32) {
        let key = self.shaper.key(style, &self.styles);
        let face = self.shaper.primary(key);
        let (ascent, descent) = (face.ascent, face.descent);
        let style = &self.styles[style];
        let size = style.font_size;
        let leading = size * style.line_height - (ascent + descent) * size;
        (
            ascent * size + leading / 2.0,
            descent * size + leading / 2.0,
        )
    }

    /// Width of `text` in `style` on one line, in points.
    pub fn measure(&mut self, text: &str, style: StyleId) -> f32 {
        let key = self.shaper.key(style, &self.styles);
        let space = self.shaper.primary(key).space;
        let letter_spacing = self.styles[style].letter_spacing;
        let (size, _) = self.size_and_rise(style);
        let mut width = 0.0;
        for (index, word) in text.split(' ').enumerate() {
            if index > 0 {
                width += space * size + letter_spacing;
            }
            if !word.is_empty() {
                width += self.shape_width(key, word, false, size, letter_spacing);
            }
        }
        width
    }

    /// Shapes a word into `self.word_ids`. Returns its width in points.
    fn shape_width(
        &mut self,
        key: crate::shape::FontKey,
        text: &str,
        right_to_left: bool,
        size: f32,
        letter_spacing: f32,
    ) -> f32 {
        self.word_ids.clear();
        self.shaper
            .shape(key, text, right_to_left, &mut self.word_ids);
        self.width(&self.word_ids, size, letter_spacing)
    }

    /// Width of `words`, in points.
    fn width(&self, words: &[WordId], size: f32, letter_spacing: f32) -> f32 {
        let mut width = 0.0;
        let mut glyphs = 0;
        for id in words {
            let word = self.shaper.word(*id);
            width += word.width;
            glyphs += word.glyphs.len();
        }
        width * size + glyphs as f32 * letter_spacing
    }
}

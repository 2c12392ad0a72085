//! Text runs as operators, ISO 32000-1 §9.4. Positions are tracked as a reader computes them, so
//! that rounding errors do not accumulate along a line.

use std::ops::Range;

use platen_layout::{
    FaceId, Shaper,
    page::{PlacedWord, TextRun},
    shape::{Glyph, Word},
};

use super::{
    file::File,
    font::{FontUse, Fonts},
    syntax::Syntax,
};

/// Smaller deviations than this are not corrected, in thousandths of an em.
const TOLERANCE: f32 = 0.3;
/// Maximum number of characters without a glyph that are kept for the report.
const MAX_MISSING: usize = 100;

/// Draws text runs.
#[derive(Default)]
pub(super) struct TextWriter {
    pub fonts: Fonts,
    /// Font index and size currently set in the content stream.
    set: Option<(usize, f32)>,
    /// Texts without a glyph.
    pub missing: Vec<String>,
    string: ShownText,
    /// What is known of each shaped word, by word id.
    words: Vec<Known>,
}

/// Whether a word's glyphs are enough to recover its text.
#[derive(Clone, Copy, Default, PartialEq)]
enum Known {
    #[default]
    Nothing,
    /// Its glyphs map back to its text.
    Plain,
    /// Some cluster needs `ActualText`, or has no glyph.
    Special,
}

/// Glyphs collected for one text-showing operator.
#[derive(Default)]
struct ShownText {
    bytes: Vec<u8>,
    /// Whether a string is open.
    open: bool,
    adjusted: bool,
    /// Position of the reader's pen, and where it should be, in thousandths of an em.
    pen: f32,
    wanted: f32,
    rise: f32,
    /// What the reader adds behind each glyph (`Tc`), in thousandths of an em.
    tracking: f32,
}

impl ShownText {
    fn start(&mut self, tracking: f32) {
        self.tracking = tracking;
        self.bytes.clear();
        self.open = false;
        self.adjusted = false;
        self.pen = 0.0;
        self.wanted = 0.0;
        self.rise = 0.0;
    }

    fn glyph(&mut self, code: u16, width: f32, at: f32) {
        let off = at - self.pen;
        if off.abs() > TOLERANCE {
            if self.open {
                self.bytes.push(b')');
                self.open = false;
            }
            let rounded = (off * 10.0).round() / 10.0;
            self.bytes.number(-rounded, 1);
            self.pen += rounded;
            self.adjusted = true;
        }
        if !self.open {
            self.bytes.push(b'(');
            self.open = true;
        }
        for byte in code.to_be_bytes() {
            self.bytes.escaped(byte);
        }
        self.pen += width + self.tracking;
    }

    /// Writes the collected glyphs.
    fn show(&mut self, out: &mut Vec<u8>) {
        if self.open {
            self.bytes.push(b')');
            self.open = false;
        }
        if self.bytes.is_empty() {
            return;
        }
        if self.adjusted {
            out.push(b'[');
            out.append(&mut self.bytes);
            out.raw("]TJ\n");
        } else {
            out.append(&mut self.bytes);
            out.raw("Tj\n");
        }
        self.adjusted = false;
    }
}

/// State outside the text writer that a run needs.
pub(super) struct RunContext<'a> {
    pub shaper: &'a Shaper,
    pub file: &'a mut File,
    /// Page height in points: PDF measures from the bottom.
    pub page_height: f32,
    /// Letter spacing, in points.
    pub letter_spacing: f32,
}

impl TextWriter {
    /// Starts a page, which inherits no font from the one before.
    pub fn begin_page(&mut self) {
        self.set = None;
    }

    pub fn draw(
        &mut self,
        out: &mut Vec<u8>,
        run: &TextRun,
        words: &[PlacedWord],
        context: &mut RunContext<'_>,
    ) {
        let mut index = 0;
        while index < words.len() {
            let face = context.shaper.word(words[index].word).face;
            let count = words[index..]
                .iter()
                .take_while(|placed| context.shaper.word(placed.word).face == face)
                .count();
            self.show_words(out, run, face, &words[index..index + count], context);
            index += count;
        }
    }

    /// Shows consecutive words of one face.
    fn show_words(
        &mut self,
        out: &mut Vec<u8>,
        run: &TextRun,
        face: FaceId,
        words: &[PlacedWord],
        context: &mut RunContext<'_>,
    ) {
        let index = self.fonts.index(face, context.shaper, context.file);
        let Some(font) = self.fonts.get(index) else {
            return;
        };
        if self.set != Some((index, run.size)) {
            self.set = Some((index, run.size));
            out.raw("/F").integer(index as i64).raw(" ");
            out.number(run.size, 2).raw(" Tf\n");
        }
        let left = words[0].x;
        let spacing = begin_text(out, run, left, context.page_height);
        let thousandths = 1000.0 / run.size;
        let tracking = spacing * thousandths;
        self.string.start(tracking);
        let space = context
            .shaper
            .face(face)
            .and_then(|data| data.ascii_glyph(' '));
        let units = context
            .shaper
            .face(face)
            .map_or(1000.0, |data| data.units_per_em);
        let scale = Scale {
            size: run.size,
            units: 1000.0 / units,
            spacing: context.letter_spacing * thousandths + tracking,
        };
        for (position, placed) in words.iter().enumerate() {
            if position > 0 && placed.space {
                space_between(font, space, &mut self.string);
            }
            self.string.wanted = (placed.x - left) * thousandths;
            let word = context.shaper.word(placed.word);
            let number = placed.word.0 as usize;
            if number >= self.words.len() {
                self.words.resize(number + 256, Known::Nothing);
            }
            if self.words[number] == Known::Nothing {
                self.words[number] = judge(font, word);
            }
            if self.words[number] == Known::Plain {
                for glyph in &word.glyphs {
                    show_glyph(out, font, glyph, &scale, &mut self.string);
                }
            } else {
                show_special(out, font, word, &scale, &mut self.string, &mut self.missing);
            }
        }
        self.string.show(out);
        if self.string.rise != 0.0 {
            out.raw("0 Ts ");
        }
        if spacing != 0.0 {
            out.raw("0 Tc ");
        }
        out.raw("ET\n");
    }
}

/// Opens a text object at `left` from the start of a run. Returns what the reader adds behind each
/// glyph, in points.
fn begin_text(out: &mut Vec<u8>, run: &TextRun, left: f32, page_height: f32) -> f32 {
    out.raw("BT ");
    if run.rotated {
        out.raw("0 1 -1 0 ").length(run.x).raw(" ");
        out.length(page_height - run.y + left).raw(" Tm ");
    } else {
        out.length(run.x + left).raw(" ");
        out.length(page_height - run.y).raw(" Td ");
    }
    let spacing = (run.tracking * 1000.0).round() / 1000.0;
    if spacing != 0.0 {
        out.number(spacing, 3).raw(" Tc ");
    }
    spacing
}

struct Scale {
    /// Font size, in points.
    size: f32,
    /// Thousandths of an em per font unit.
    units: f32,
    /// Letter spacing, in thousandths of an em.
    spacing: f32,
}

fn space_between(font: &mut FontUse, glyph: Option<u16>, string: &mut ShownText) {
    if let Some(glyph) = glyph {
        let (code, width) = font.code(glyph);
        font.mean(code, " ");
        string.glyph(code, width, string.wanted);
    }
}

fn show_glyph(
    out: &mut Vec<u8>,
    font: &mut FontUse,
    glyph: &Glyph,
    scale: &Scale,
    string: &mut ShownText,
) {
    let (code, width) = font.code(glyph.id);
    let rise = f32::from(glyph.y_offset) * scale.units;
    if rise != string.rise {
        string.show(out);
        string.rise = rise;
        // Text rise does not scale with the font size, ISO 32000-1 §9.3.7.
        out.number(rise / 1000.0 * scale.size, 3).raw(" Ts\n");
    }
    let at = string.wanted + f32::from(glyph.x_offset) * scale.units;
    string.glyph(code, width, at);
    string.wanted += f32::from(glyph.advance) * scale.units + scale.spacing;
}

/// Shows a word of which some cluster needs `ActualText` or has no glyph.
fn show_special(
    out: &mut Vec<u8>,
    font: &mut FontUse,
    word: &Word,
    scale: &Scale,
    string: &mut ShownText,
    missing: &mut Vec<String>,
) {
    for glyphs in clusters(word) {
        let text = cluster_text(word, glyphs.start);
        let actual = !means(font, word, glyphs.clone(), text);
        if actual {
            // Elsewhere the same glyphs stand for another text, so this cluster states its own, ISO
            // 32000-1 §14.9.4.
            string.show(out);
            out.raw("/Span<</ActualText").text(text).raw(">>BDC\n");
        }
        for glyph in &word.glyphs[glyphs] {
            if glyph.id == 0 && missing.len() < MAX_MISSING {
                missing.push(text.to_owned());
            }
            show_glyph(out, font, glyph, scale, string);
        }
        if actual {
            string.show(out);
            out.raw("EMC\n");
        }
    }
}

/// Determines once per word whether its glyphs are enough to recover the text.
fn judge(font: &mut FontUse, word: &Word) -> Known {
    let mut known = Known::Plain;
    for glyphs in clusters(word) {
        let text = cluster_text(word, glyphs.start);
        let found = word.glyphs[glyphs.clone()]
            .iter()
            .all(|glyph| glyph.id != 0);
        if !means(font, word, glyphs, text) || !found {
            known = Known::Special;
        }
    }
    known
}

/// The glyph range of each cluster.
fn clusters(word: &Word) -> impl Iterator<Item = Range<usize>> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let first = word.glyphs.get(next)?;
        let start = next;
        next += word.glyphs[start..]
            .iter()
            .take_while(|glyph| glyph.cluster == first.cluster)
            .count();
        Some(start..next)
    })
}

fn cluster_text(word: &Word, index: usize) -> &str {
    &word.text[usize::from(word.glyphs[index].cluster)..cluster_end(word, index)]
}

/// Records the text of a cluster's glyphs. False if their codes already stand for another text.
fn means(font: &mut FontUse, word: &Word, glyphs: Range<usize>, text: &str) -> bool {
    let glyphs = &word.glyphs[glyphs];
    if let [only] = glyphs {
        let (code, _) = font.code(only.id);
        return only.id == 0 || font.mean(code, text);
    }
    // One character per glyph in reading order; the last glyph gets the rest.
    let mut rest = text;
    let mut all = true;
    for position in 0..glyphs.len() {
        let glyph = if word.right_to_left {
            glyphs[glyphs.len() - 1 - position]
        } else {
            glyphs[position]
        };
        let last = position + 1 == glyphs.len();
        let length = rest.chars().next().map_or(0, char::len_utf8);
        let (own, after) = rest.split_at(if last { rest.len() } else { length });
        rest = after;
        let (code, _) = font.code(glyph.id);
        all &= if own.is_empty() {
            font.mean(code, text);
            false
        } else {
            font.mean(code, own)
        };
    }
    all
}

/// Byte offset in the text at which the cluster of a glyph ends.
fn cluster_end(word: &Word, index: usize) -> usize {
    let cluster = word.glyphs[index].cluster;
    let next = if word.right_to_left {
        word.glyphs[..index]
            .iter()
            .rev()
            .find(|glyph| glyph.cluster != cluster)
    } else {
        word.glyphs[index + 1..]
            .iter()
            .find(|glyph| glyph.cluster != cluster)
    };
    next.map_or(word.text.len(), |glyph| usize::from(glyph.cluster))
}

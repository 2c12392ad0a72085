//! Breaks atoms into lines: first fit, with hyphenation, and emergency breaks for words wider than
//! a line.
//!
//! Words come from data and may be a megabyte long, so every operation on one must take linear time
//! and memory.

use std::ops::Range;

use platen_document::{bound::StyleId, work};

use super::{Atom, Break, Paragraph, TextContext};
use crate::shape::WordId;

/// A line of a paragraph.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Range in [`Paragraph::atoms`].
    pub atoms: Range<usize>,
    /// Width without trailing spaces.
    pub width: f32,
    /// Height above the baseline, including half the leading.
    pub above: f32,
    /// Depth below the baseline, including half the leading.
    pub below: f32,
    /// Whether the paragraph or a mandatory break ends here; such a line is not justified.
    pub last: bool,
}

impl Line {
    /// Height of the line.
    pub fn height(&self) -> f32 {
        self.above + self.below
    }
}

/// Overhang that still counts as fitting, in points, since sums of floats are inexact.
const TOLERANCE: f32 = 0.01;
/// Longer words are not hyphenated. No language has such words, and each hyphen shapes the rest
/// again.
const MAX_HYPHENATED_BYTES: usize = 100;
/// Fragments of longer words are not cached.
const MAX_REMEMBERED_BYTES: usize = 256;

/// Longer texts of digits are not amounts or dates.
const MAX_VALUE_BYTES: usize = 48;
/// Minimum scale of a value that is shrunk to fit.
const MIN_SHRINK: f32 = 0.5;

/// A shaped fragment of an atom.
struct Part {
    width: f32,
    words: Vec<WordId>,
}

impl TextContext<'_> {
    /// Breaks `paragraph` into lines of `width` points, the first narrower by `first_indent`.
    /// `style` gives the height of empty lines. Returns at least one line.
    pub fn break_lines(
        &mut self,
        paragraph: &mut Paragraph,
        width: f32,
        first_indent: f32,
        style: StyleId,
    ) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let mut start = 0;
        while start < paragraph.atoms.len() {
            let limit = if lines.is_empty() {
                width - first_indent
            } else {
                width
            };
            let limits = [limit, width].map(|limit| limit.max(1.0) + TOLERANCE);
            let end = self.line_end(paragraph, start, limits);
            lines.push(self.line(paragraph, start..end, style));
            start = end;
        }
        let ends_with_break = paragraph
            .atoms
            .last()
            .is_none_or(|atom| atom.after == Break::Mandatory && atom.words.is_empty());
        if lines.is_empty() || (ends_with_break && lines.len() > 1) {
            let end = paragraph.atoms.len();
            if lines.is_empty() {
                lines.push(self.line(paragraph, end..end, style));
            }
        }
        if let Some(line) = lines.last_mut() {
            line.last = true;
        }
        lines
    }

    /// Index after the last atom of the line that starts at `start`. May split an atom. `limits`
    /// are the widths of this line and of the following ones.
    fn line_end(&mut self, paragraph: &mut Paragraph, start: usize, limits: [f32; 2]) -> usize {
        let [limit, _] = limits;
        let mut width = 0.0;
        let mut last_break = None;
        let mut index = start;
        while index < paragraph.atoms.len() {
            work::check();
            let atom = &paragraph.atoms[index];
            if width + atom.width > limit {
                return self.overflow(paragraph, start, index, limit - width, last_break, limits);
            }
            width += atom.width + atom.space;
            match atom.after {
                Break::Mandatory => return index + 1,
                Break::Allowed => last_break = Some(index + 1),
                Break::Never => {}
            }
            index += 1;
        }
        index
    }

    /// Where a line ends if its atom `index` does not fit into the remaining `room`.
    fn overflow(
        &mut self,
        paragraph: &mut Paragraph,
        start: usize,
        index: usize,
        room: f32,
        last_break: Option<usize>,
        [limit, next]: [f32; 2],
    ) -> usize {
        let style = paragraph.atoms[index].style;
        if self.styles[style].hyphenate && self.hyphenate(paragraph, index, room) {
            return index + 1;
        }
        if let Some(end) = last_break {
            return end;
        }
        if index > start && paragraph.atoms[index].width <= limit {
            // Atoms without a break opportunity: break between them rather than overflow.
            return index;
        }
        if let Some(value) = self.value(paragraph, index) {
            if index > start {
                return index;
            }
            if self.shrink(paragraph, index, limit) {
                self.warn(
                    "value-shrunk",
                    format!("`{value}` is wider than its line and is set smaller"),
                    "make its column wider, or the text smaller",
                );
                return index + 1;
            }
            self.warn(
                "value-broken",
                format!("`{value}` is much wider than its line and is broken inside"),
                "make its column wider, or the text smaller",
            );
        }
        // A word wider than its line is hyphenated, even if the style does not request it, before
        // it is cut at an arbitrary place.
        if index == start && self.hyphenate(paragraph, index, room) {
            return index + 1;
        }
        if self.cut(paragraph, index, room, next) || index == start {
            index + 1
        } else {
            index
        }
    }

    /// Splits the atom at its last hyphenation point that fits into `room`.
    fn hyphenate(&mut self, paragraph: &mut Paragraph, index: usize, room: f32) -> bool {
        let atom = paragraph.atoms[index].clone();
        let [word] = paragraph.words[atom.words.start as usize..atom.words.end as usize] else {
            return false;
        };
        let text = &self.shaper.word(word).text;
        if atom.level % 2 == 1 || atom.footnote.is_some() || text.len() > MAX_HYPHENATED_BYTES {
            return false;
        }
        let text = text.clone();
        let fitting = self.fitting_bytes(paragraph, &atom, room);
        let points = self.hyphenator.points(&text);
        // Kerning may make the first part narrower than the same letters inside the word, but not
        // by a whole syllable.
        let wider = points.iter().filter(|point| **point > fitting).count();
        let near = points.into_iter().rev().skip(wider.saturating_sub(1));
        for point in near {
            let head = format!("{}-", &text[..point]);
            if let Some(head) = self.part(&atom, &head, room, true) {
                let tail = self.part(&atom, &text[point..], f32::INFINITY, true);
                let parts = std::iter::once(head).chain(tail).collect();
                self.replace(paragraph, index, parts);
                return true;
            }
        }
        false
    }

    /// The text of an atom that would be misread if broken: an amount or a date.
    fn value(&self, paragraph: &Paragraph, index: usize) -> Option<String> {
        let atom = &paragraph.atoms[index];
        let words = &paragraph.words[atom.words.start as usize..atom.words.end as usize];
        let texts = words.iter().map(|id| &*self.shaper.word(*id).text);
        let length: usize = texts.clone().map(str::len).sum();
        if length > MAX_VALUE_BYTES {
            return None;
        }
        let text: String = texts.collect();
        is_value(&text).then_some(text)
    }

    /// Shrinks an atom to fit into `room`. False if it would become unreadable.
    fn shrink(&mut self, paragraph: &mut Paragraph, index: usize, room: f32) -> bool {
        let letter_spacing = self.styles[paragraph.atoms[index].style].letter_spacing;
        let atom = &mut paragraph.atoms[index];
        let words = &paragraph.words[atom.words.start as usize..atom.words.end as usize];
        let glyphs: usize = (words.iter())
            .map(|id| self.shaper.word(*id).glyphs.len())
            .sum();
        let spacing = glyphs as f32 * letter_spacing;
        let factor = (room - TOLERANCE - spacing) / (atom.width - spacing).max(0.01);
        if factor < MIN_SHRINK {
            return false;
        }
        atom.size *= factor;
        atom.width = (atom.width - spacing) * factor + spacing;
        true
    }

    /// Cuts an atom wider than a line into all its parts at once, so that each character is shaped
    /// a bounded number of times. The first part fits into `room`, the others into `width`.
    fn cut(&mut self, paragraph: &mut Paragraph, index: usize, room: f32, width: f32) -> bool {
        let atom = paragraph.atoms[index].clone();
        let text: String = paragraph.words[atom.words.start as usize..atom.words.end as usize]
            .iter()
            .map(|id| &*self.shaper.word(*id).text)
            .collect();
        // Addresses recur in tables; longer words do not.
        let remember = text.len() <= MAX_REMEMBERED_BYTES;
        let advances = self.advances(paragraph, &atom);
        let mut parts = Vec::new();
        let (mut start, mut room) = (0, room);
        while start < advances.len() {
            let mut end = start + 1;
            let mut sum = advances[start].1;
            while end < advances.len() && sum + advances[end].1 <= room {
                sum += advances[end].1;
                end += 1;
            }
            let offset = |index: usize| advances.get(index).map_or(text.len(), |one| one.0);
            // Letters on their own may be wider than joined ones; then take fewer.
            let part = loop {
                let part = &text[offset(start)..offset(end)];
                let room = if end == start + 1 {
                    f32::INFINITY
                } else {
                    room
                };
                match self.part(&atom, part, room, remember) {
                    Some(part) => break part,
                    None => end -= 1,
                }
            };
            if part.width > width + TOLERANCE {
                self.warn(
                    "line-too-narrow",
                    "a line is narrower than a letter, which overlaps its neighbors".into(),
                    "give the text more space",
                );
            }
            parts.push(part);
            start = end;
            room = width;
        }
        if parts.len() < 2 {
            return false;
        }
        self.replace(paragraph, index, parts);
        true
    }

    /// Byte offset and glyph width of each character of an atom.
    fn advances(&self, paragraph: &Paragraph, atom: &Atom) -> Vec<(usize, f32)> {
        let letter_spacing = self.styles[atom.style].letter_spacing;
        let mut advances: Vec<(usize, f32)> = Vec::new();
        let mut before = 0;
        for id in &paragraph.words[atom.words.start as usize..atom.words.end as usize] {
            let word = self.shaper.word(*id);
            let first = advances.len();
            let starts = word.text.char_indices().map(|(at, _)| (before + at, 0.0));
            advances.extend(starts);
            let units = self.shaper.units_per_em(word.face);
            for glyph in &word.glyphs {
                let at = before + usize::from(glyph.cluster);
                let place = advances[first..].partition_point(|one| one.0 < at);
                if let Some(one) = advances.get_mut(first + place) {
                    one.1 += f32::from(glyph.advance) / units * atom.size + letter_spacing;
                }
            }
            before += word.text.len();
        }
        advances
    }

    /// Number of bytes of an atom that fit into `room`, by their widths within the atom.
    fn fitting_bytes(&self, paragraph: &Paragraph, atom: &Atom, room: f32) -> usize {
        let mut sum = 0.0;
        let wider = |one: &(usize, f32)| {
            sum += one.1;
            sum > room
        };
        let advances = self.advances(paragraph, atom);
        advances
            .into_iter()
            .find(wider)
            .map_or(usize::MAX, |one| one.0)
    }

    /// Shapes `text` as a fragment of `atom`. `None` if it is wider than `room`.
    fn part(&mut self, atom: &Atom, text: &str, room: f32, remember: bool) -> Option<Part> {
        let key = self.shaper.key(atom.style, &self.styles);
        let letter_spacing = self.styles[atom.style].letter_spacing;
        let mut words = Vec::new();
        let right_to_left = atom.level % 2 == 1;
        match remember {
            true => self.shaper.shape(key, text, right_to_left, &mut words),
            false => self.shaper.shape_part(key, text, right_to_left, &mut words),
        }
        let width = self.width(&words, atom.size, letter_spacing);
        if width <= room {
            return Some(Part { width, words });
        }
        if !remember {
            self.shaper.forget(&words);
        }
        None
    }

    /// Replaces an atom by its fragments; a line may end after each.
    fn replace(&mut self, paragraph: &mut Paragraph, index: usize, parts: Vec<Part>) {
        let atom = paragraph.atoms[index].clone();
        let last = parts.len().saturating_sub(1);
        let words = &mut paragraph.words;
        let atoms = parts.into_iter().enumerate().map(|(place, part)| {
            let part_atom = Atom {
                width: part.width,
                words: append(words, &part.words),
                ..atom.clone()
            };
            match place == last {
                true => part_atom,
                false => Atom {
                    space: 0.0,
                    after: Break::Allowed,
                    footnote: None,
                    soft_hyphen: false,
                    ..part_atom
                },
            }
        });
        let atoms: Vec<Atom> = atoms.collect();
        paragraph.atoms.splice(index..=index, atoms);
    }

    fn line(&mut self, paragraph: &mut Paragraph, atoms: Range<usize>, style: StyleId) -> Line {
        let (mut above, mut below) = (0.0_f32, 0.0_f32);
        let mut width = 0.0;
        let mut known = None;
        if let Some(last) = atoms.clone().last()
            && paragraph.atoms[last].soft_hyphen
        {
            self.draw_hyphen(paragraph, last);
        }
        for atom in &paragraph.atoms[atoms.clone()] {
            width += atom.width + atom.space;
            if known != Some(atom.style) {
                known = Some(atom.style);
                let (over, under) = self.extents(atom.style);
                above = above.max(over);
                below = below.max(under);
            }
        }
        let slice = &paragraph.atoms[atoms.clone()];
        width -= slice.last().map_or(0.0, |atom| atom.space);
        if slice.is_empty() {
            (above, below) = self.extents(style);
        }
        let last = slice
            .last()
            .is_none_or(|atom| atom.after == Break::Mandatory);
        Line {
            atoms,
            width,
            above,
            below,
            last,
        }
    }

    /// Appends a visible hyphen to an atom that ends with a soft hyphen.
    fn draw_hyphen(&mut self, paragraph: &mut Paragraph, index: usize) {
        let atom = &mut paragraph.atoms[index];
        let key = self.shaper.key(atom.style, &self.styles);
        let (size, right_to_left) = (atom.size, atom.level % 2 == 1);
        let width = self.shape_width(key, "-", right_to_left, size, 0.0);
        let old = atom.words.start as usize..atom.words.end as usize;
        let mut words: Vec<WordId> = paragraph.words[old].to_vec();
        words.extend_from_slice(&self.word_ids);
        let range = append(&mut paragraph.words, &words);
        let atom = &mut paragraph.atoms[index];
        atom.width += width;
        atom.words = range;
        atom.soft_hyphen = false;
    }
}

/// Whether a text is an amount, date or other number, with at most a currency code.
fn is_value(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let part = |c: char| {
        c.is_alphanumeric()
            || ".,'’:/+-−–%‰()٫٬٪$¢£¤¥฿".contains(c)
            || matches!(
                c,
                '\u{20A0}'..='\u{20CF}' | '\u{A0}' | '\u{2007}' | '\u{2009}' | '\u{202F}'
            )
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{61C}')
    };
    letters <= 3 && text.chars().any(char::is_numeric) && text.chars().all(part)
}

fn append(words: &mut Vec<WordId>, more: &[WordId]) -> Range<u32> {
    let start = words.len() as u32;
    words.extend_from_slice(more);
    start..words.len() as u32
}

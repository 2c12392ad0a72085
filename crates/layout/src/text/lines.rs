//! Breaks atoms into lines: total fit for long paragraphs, first fit for one or two lines; emergency
//! breaks for words wider than a line.
//!
//! Words come from data and may be a megabyte long, so every operation on one must take linear time
//! and memory.

use std::ops::Range;

use platen_document::{bound::StyleId, work};

use super::{
    Atom, Break, Paragraph, TextContext,
    hyphen::MAX_HYPHENATED_BYTES,
    total_fit::{MAX_HYPHENS, TOLERANCE},
};
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
    /// Whether it ends with a hyphen that is not in the text.
    pub hyphen: bool,
    /// Whether it stays on the page of the next line, so that no hyphen ends a page.
    pub keep: bool,
}

impl Line {
    /// Height of the line.
    pub fn height(&self) -> f32 {
        self.above + self.below
    }
}

/// Fragments of longer words are not cached.
const MAX_REMEMBERED_BYTES: usize = 256;

/// A shaped fragment of an atom.
pub(super) struct Part {
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
        if paragraph.has_tabs {
            self.resolve_tabs(paragraph, width, first_indent, style);
        }
        let mut lines: Vec<Line> = Vec::new();
        let mut start = 0;
        let mut short = false;
        while start < paragraph.atoms.len() {
            let limit = if lines.is_empty() {
                width - first_indent
            } else {
                width
            };
            let limits = [limit, width].map(|limit| limit.max(1.0) + TOLERANCE);
            if !short && self.is_long(paragraph, start, limits, style) {
                let end = self.fit_lines(paragraph, start, limits, style, &mut lines);
                if end > start {
                    start = end;
                    continue;
                }
                // The first word is wider than the line.
            } else {
                short = true;
            }
            let end = self.line_end(paragraph, start, limits);
            let line = self.line(paragraph, start..end, style);
            short &= !line.last;
            lines.push(line);
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
        keep_hyphens(&mut lines);
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
        // No hyphen stands before the last line.
        let hyphenate = self.styles[style].hyphenate
            && last_break.is_none_or(|from| !rest_fits(&paragraph.atoms[from..], next));
        if hyphenate && self.hyphenate(paragraph, index, room) {
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
        let lang = self.styles[atom.style].lang.as_deref();
        let points = self.hyphenator.points(&text, lang);
        // Kerning may make the first part narrower than the same letters inside the word, but not
        // by a whole syllable.
        let wider = points.iter().filter(|point| **point > fitting).count();
        let near = points.into_iter().rev().skip(wider.saturating_sub(1));
        for point in near {
            let head = format!("{}-", &text[..point]);
            if let Some(head) = self.part(&atom, &head, room, true) {
                let tail = self.part(&atom, &text[point..], f32::INFINITY, true);
                let parts = std::iter::once(head).chain(tail).collect();
                let atoms = fragments(&mut paragraph.words, &atom, parts, true);
                paragraph.atoms.splice(index..=index, atoms);
                return true;
            }
        }
        false
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
        let atoms = fragments(&mut paragraph.words, &atom, parts, false);
        paragraph.atoms.splice(index..=index, atoms);
        true
    }

    /// Byte offset and glyph width of each character of an atom.
    pub(super) fn advances(&self, paragraph: &Paragraph, atom: &Atom) -> Vec<(usize, f32)> {
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
    pub(super) fn part(
        &mut self,
        atom: &Atom,
        text: &str,
        room: f32,
        remember: bool,
    ) -> Option<Part> {
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

    pub(super) fn line(
        &mut self,
        paragraph: &mut Paragraph,
        atoms: Range<usize>,
        style: StyleId,
    ) -> Line {
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
        width -= self.beyond(&paragraph.atoms[atoms.clone()]);
        let slice = &paragraph.atoms[atoms.clone()];
        if slice.is_empty() {
            (above, below) = self.extents(style);
        }
        let last = slice
            .last()
            .is_none_or(|atom| atom.after == Break::Mandatory);
        Line {
            hyphen: slice.last().is_some_and(|atom| atom.hyphen),
            atoms,
            width,
            above,
            below,
            last,
            keep: false,
        }
    }

    /// What a line of `atoms` does not count: the space behind it, that between the last letter and
    /// the next, and what hangs at its ends.
    fn beyond(&mut self, atoms: &[Atom]) -> f32 {
        let (Some(first), Some(last)) = (atoms.first(), atoms.last()) else {
            return 0.0;
        };
        let hyphen = if last.hyphen {
            self.hanging_hyphen(last)
        } else {
            0.0
        };
        let spacing = match last.words.is_empty() || last.level % 2 == 1 {
            true => 0.0,
            false => self.styles[last.style].letter_spacing,
        };
        first.lead + last.space + last.trim + hyphen + spacing
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
        atom.hyphen = true;
    }
}

/// Keeps lines that end with a hyphen on the page of the next. Where all lines do, since the words
/// are wider than the lines, a page may end anyway.
fn keep_hyphens(lines: &mut [Line]) {
    let mut hyphens = 0;
    for line in lines {
        hyphens = if line.hyphen { hyphens + 1 } else { 0 };
        line.keep = (1..=MAX_HYPHENS).contains(&hyphens);
    }
}

/// Whether the text of `atoms` up to the next mandatory break fits on a line of `width` points.
fn rest_fits(atoms: &[Atom], width: f32) -> bool {
    let mut room = width;
    for atom in atoms {
        room -= atom.width;
        if room < 0.0 || atom.after == Break::Mandatory {
            break;
        }
        room -= atom.space;
    }
    room >= 0.0
}

/// The atoms of the fragments of `atom`; a line may end after each. `hyphens` says whether each but
/// the last ends with a hyphen that is not in the text.
pub(super) fn fragments(
    words: &mut Vec<WordId>,
    atom: &Atom,
    parts: Vec<Part>,
    hyphens: bool,
) -> Vec<Atom> {
    let last = parts.len().saturating_sub(1);
    let atoms = parts.into_iter().enumerate().map(|(place, part)| {
        let part_atom = Atom {
            width: part.width,
            words: append(words, &part.words),
            ..atom.clone()
        };
        match place == last {
            true if place > 0 => Atom {
                lead: 0.0,
                ..part_atom
            },
            true => part_atom,
            false => Atom {
                space: 0.0,
                stretch: 0.0,
                shrink: 0.0,
                trim: 0.0,
                lead: if place == 0 { atom.lead } else { 0.0 },
                after: Break::Allowed,
                footnote: None,
                tab: None,
                soft_hyphen: false,
                hyphen: hyphens,
                ..part_atom
            },
        }
    });
    atoms.collect()
}

fn append(words: &mut Vec<WordId>, more: &[WordId]) -> Range<u32> {
    let start = words.len() as u32;
    words.extend_from_slice(more);
    start..words.len() as u32
}

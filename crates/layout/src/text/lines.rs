//! Atoms to lines: first fit, with hyphenation and emergency breaks for words wider than a line.

use std::ops::Range;

use platen_document::bound::StyleId;

use super::{Atom, Break, Paragraph, TextContext};
use crate::shape::WordId;

/// A line of a paragraph.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its atoms in [`Paragraph::atoms`].
    pub atoms: Range<usize>,
    /// Width without trailing spaces.
    pub width: f32,
    /// Height above the baseline, half the leading included.
    pub above: f32,
    /// Depth below the baseline.
    pub below: f32,
    /// The paragraph or a mandatory break ends here: not justified.
    pub last: bool,
}

impl Line {
    /// Height of the line.
    pub fn height(&self) -> f32 {
        self.above + self.below
    }
}

/// Widths within this much of the line's count as fitting; sums of floats are not exact.
const TOLERANCE: f32 = 0.01;

impl TextContext<'_> {
    /// Breaks `paragraph` into lines of `width`, the first narrower by `first_indent`.
    /// `style` gives the height of empty lines. At least one line.
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
            let end = self.line_end(paragraph, start, limit.max(1.0) + TOLERANCE);
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

    /// Index after the last atom of the line that starts at `start`. May split an atom.
    fn line_end(&mut self, paragraph: &mut Paragraph, start: usize, limit: f32) -> usize {
        let mut width = 0.0;
        let mut last_break = None;
        let mut index = start;
        while index < paragraph.atoms.len() {
            let atom = &paragraph.atoms[index];
            if width + atom.width > limit {
                return self.overflow(paragraph, start, index, limit - width, last_break, limit);
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

    /// Where the line ends whose atom `index` does not fit into `room`.
    fn overflow(
        &mut self,
        paragraph: &mut Paragraph,
        start: usize,
        index: usize,
        room: f32,
        last_break: Option<usize>,
        limit: f32,
    ) -> usize {
        let style = paragraph.atoms[index].style;
        if self.styles[style].hyphenate && self.hyphenate(paragraph, index, room) {
            return index + 1;
        }
        if let Some(end) = last_break {
            return end;
        }
        if index > start && paragraph.atoms[index].width <= limit {
            // Glued atoms without an opportunity: break between them rather than overflow.
            return index;
        }
        if self.split_by_width(paragraph, index, room) || index == start {
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
        if atom.level % 2 == 1 || atom.footnote.is_some() {
            return false;
        }
        let text = self.shaper.word(word).text.clone();
        for point in self.hyphenator.points(&text).into_iter().rev() {
            let head = format!("{}-", &text[..point]);
            if self.split_at(paragraph, index, &head, &text[point..], room) {
                return true;
            }
        }
        false
    }

    /// Splits an atom that is wider than a line after as many characters as fit into `room`.
    fn split_by_width(&mut self, paragraph: &mut Paragraph, index: usize, room: f32) -> bool {
        let atom = &paragraph.atoms[index];
        let text: String = paragraph.words[atom.words.start as usize..atom.words.end as usize]
            .iter()
            .map(|id| &*self.shaper.word(*id).text)
            .collect();
        let total = atom.width.max(0.01);
        let characters: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
        if characters.is_empty() {
            return false;
        }
        // Start near where the proportion says, then shrink until it fits.
        let guess = ((room / total) * characters.len() as f32).ceil() as usize + 2;
        for count in (1..=guess.min(characters.len())).rev() {
            let at = characters[count - 1];
            let (head, tail) = text.split_at(at);
            let (head, tail) = (head.to_owned(), tail.to_owned());
            let room = if count == 1 { f32::INFINITY } else { room };
            if self.split_at(paragraph, index, &head, &tail, room) {
                return true;
            }
        }
        false
    }

    /// Replaces an atom by two where the first is no wider than `room`.
    fn split_at(
        &mut self,
        paragraph: &mut Paragraph,
        index: usize,
        head: &str,
        tail: &str,
        room: f32,
    ) -> bool {
        let atom = paragraph.atoms[index].clone();
        let key = self.shaper.key(atom.style, &self.styles);
        let letter_spacing = self.styles[atom.style].letter_spacing;
        let right_to_left = atom.level % 2 == 1;
        let (width, _) = self.shape_width(key, head, right_to_left, atom.size, letter_spacing);
        if width > room {
            return false;
        }
        let head_words = append(&mut paragraph.words, &self.pieces);
        let (tail_width, _) = self.shape_width(key, tail, right_to_left, atom.size, letter_spacing);
        let tail_words = append(&mut paragraph.words, &self.pieces);
        let tail_atom = Atom {
            width: tail_width,
            words: tail_words,
            ..atom.clone()
        };
        paragraph.atoms[index] = Atom {
            width,
            space: 0.0,
            after: Break::Allowed,
            words: head_words,
            footnote: None,
            soft_hyphen: false,
            ..atom
        };
        paragraph.atoms.insert(index + 1, tail_atom);
        true
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

    /// Appends a visible hyphen to the atom that a soft hyphen ends.
    fn draw_hyphen(&mut self, paragraph: &mut Paragraph, index: usize) {
        let atom = &mut paragraph.atoms[index];
        let key = self.shaper.key(atom.style, &self.styles);
        let (size, right_to_left) = (atom.size, atom.level % 2 == 1);
        let (width, _) = self.shape_width(key, "-", right_to_left, size, 0.0);
        let old = atom.words.start as usize..atom.words.end as usize;
        let mut words: Vec<WordId> = paragraph.words[old].to_vec();
        words.extend_from_slice(&self.pieces);
        let range = append(&mut paragraph.words, &words);
        let atom = &mut paragraph.atoms[index];
        atom.width += width;
        atom.words = range;
        atom.soft_hyphen = false;
    }
}

fn append(words: &mut Vec<WordId>, more: &[WordId]) -> Range<u32> {
    let start = words.len() as u32;
    words.extend_from_slice(more);
    start..words.len() as u32
}

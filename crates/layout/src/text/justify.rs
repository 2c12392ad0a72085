//! Where a justified line gives and takes: word spaces; between the characters of Chinese and
//! Japanese and at their full-width punctuation; between the words and clusters of scripts that
//! write no spaces; and between letters, where word spaces alone would gape.
//!
//! Source: W3C, Requirements for Japanese Text Layout (JLReq), §3.1.9 and §3.8.

use super::{Atom, Paragraph, TextContext};
use crate::{script::Script, shape::WordId};

/// How much word spaces may grow in a line that is still good, relative to their natural width.
const SPACE_STRETCH: f32 = 0.5;
/// How much word spaces may shrink, relative to their natural width.
const SPACE_SHRINK: f32 = 0.4;
/// How much the gap between two Han characters or kana may grow in a line that is still good, in em.
const CHARACTER_STRETCH: f32 = 0.06;
/// How much the gap between words and clusters of Thai and its like may grow in a line that is still
/// good, in em.
const CLUSTER_STRETCH: f32 = 0.03;
/// How much of the blank half of full-width brackets and commas may go, in em.
const PUNCTUATION_SHRINK: f32 = 0.25;
/// The stretch ratio beyond which letters move apart before spaces grow further.
const TRACKING_FROM: f32 = 0.9;
/// How much wider letters may get by moving apart, relative to the line: 1.4 % of an em behind each
/// in most texts, too little to see.
const TRACKING: f32 = 0.03;
/// The blank half of a full-width sign, in em.
const BLANK_HALF: f32 = 0.5;
/// Minimum advance of a full-width sign, in em.
const FULL_WIDTH: f32 = 0.95;

/// What is `free` in a line that is `width` long: the part that goes between its letters, and how far
/// its gaps grow, relative to their `stretch`. All are in points.
pub(super) fn loosen(free: f32, stretch: f32, width: f32) -> (f32, f32) {
    let beyond = free - stretch * TRACKING_FROM;
    // Letters that overlap can make a line of no width, or of less.
    let letters = beyond.min(width * TRACKING).max(0.0);
    (letters, (free - letters) / stretch)
}

impl Atom {
    /// Makes the word spaces behind it flexible.
    pub(super) fn flex_spaces(&mut self) {
        self.stretch = self.space * SPACE_STRETCH;
        self.shrink = self.space * SPACE_SHRINK;
    }

    /// Makes the gap behind it flexible, which has no space: between the characters `before` and
    /// `behind`.
    pub(super) fn flex_between(&mut self, before: char, behind: char) {
        let wide = |c: char| Script::of(c) == Some(Script::Han);
        if wide(before) || wide(behind) {
            self.stretch = self.size * CHARACTER_STRETCH;
            let blank = is_closing(before) || is_opening(behind);
            self.shrink = if blank {
                self.size * PUNCTUATION_SHRINK
            } else {
                0.0
            };
        } else if is_spaceless(before) && is_spaceless(behind) {
            self.stretch = self.size * CLUSTER_STRETCH;
        }
    }
}

impl TextContext<'_> {
    /// Whether the letters of `atoms` may move apart: those of Latin, Greek and Cyrillic words, which
    /// stand apart anyway, and whose lines have no others.
    pub(super) fn may_track(&self, paragraph: &Paragraph, atoms: &[Atom]) -> bool {
        let western = |character: char| {
            character.is_ascii()
                || matches!(
                    Script::of(character),
                    None | Some(Script::Latin | Script::Greek | Script::Cyrillic)
                )
        };
        let of_words = |atom: &Atom| atom.words.start as usize..atom.words.end as usize;
        atoms.iter().all(|atom| {
            let words = &paragraph.words[of_words(atom)];
            let mut words = words.iter().map(|word| self.shaper.word(*word));
            atom.level % 2 == 0 && words.all(|word| word.text.chars().all(western))
        })
    }

    /// Number of glyphs of an atom.
    pub(super) fn glyph_count(&self, paragraph: &Paragraph, atom: &Atom) -> usize {
        let words = &paragraph.words[atom.words.start as usize..atom.words.end as usize];
        let count = |word: &WordId| self.shaper.word(*word).glyphs.len();
        words.iter().map(count).sum()
    }

    /// Width of the blank half of a full-width sign at the end of `text`, which is that of `atom`.
    pub(super) fn blank_end(&self, words: &[WordId], atom: &Atom, text: &str) -> f32 {
        let closes = |c: char| is_closing(c) || is_stop(c);
        let last = words.get(atom.words.start as usize..).and_then(<[_]>::last);
        let (Some(last), true) = (last, text.chars().next_back().is_some_and(closes)) else {
            return 0.0;
        };
        let word = self.shaper.word(*last);
        let advance = word
            .glyphs
            .last()
            .map_or(0.0, |glyph| f32::from(glyph.advance));
        match advance / self.shaper.units_per_em(word.face) >= FULL_WIDTH {
            true => atom.size * BLANK_HALF,
            false => 0.0,
        }
    }
}

/// Whether a character belongs to a script that writes no spaces and hangs marks on its letters.
pub(super) fn is_spaceless(character: char) -> bool {
    matches!(
        Script::of(character),
        Some(Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar)
    )
}

/// Full-width commas and closing brackets (JLReq classes cl-02 and cl-07), blank in their right
/// half.
fn is_closing(character: char) -> bool {
    matches!(
        character,
        '、' | '，'
            | '〉'
            | '》'
            | '」'
            | '』'
            | '】'
            | '〕'
            | '〗'
            | '〙'
            | '〟'
            | '）'
            | '］'
            | '｝'
            | '｠'
    )
}

/// Full-width full stops (cl-06), blank in their right half.
fn is_stop(character: char) -> bool {
    matches!(character, '。' | '．')
}

/// Full-width opening brackets (cl-01), blank in their left half.
fn is_opening(character: char) -> bool {
    matches!(
        character,
        '〈' | '《' | '「' | '『' | '【' | '〔' | '〖' | '〘' | '〝' | '（' | '［' | '｛' | '｟'
    )
}

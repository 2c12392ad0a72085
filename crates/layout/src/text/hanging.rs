//! Hanging punctuation: signs at the ends of lines stand beyond them in part, and letters with
//! slanted sides a little, so that the edges look straight.
//!
//! Source: H. T. Thành, "Micro-typographic extensions to the TeX typesetting system", TUGboat 21
//! (2000).

use super::{Atom, TextContext};
use crate::shape::WordId;

/// The part of a hyphen that hangs.
const HYPHEN: f32 = 0.6;

/// The part of a character's width that hangs at the end of a line.
fn hangs_at_end(character: char) -> f32 {
    match character {
        '.' | ',' | '\u{2026}' => 0.6,
        '-' | '\u{2010}' => HYPHEN,
        ':' | ';' | '\u{2013}' => 0.4,
        '\'' | '"' | '\u{2018}'..='\u{201F}' => 0.5,
        '\u{2014}' | '\u{AB}' | '\u{BB}' | '\u{2039}' | '\u{203A}' => 0.25,
        '!' | '?' | ')' | ']' => 0.1,
        'A' | 'K' | 'T' | 'V' | 'W' | 'Y' | 'v' | 'w' | 'y' | 'r' => 0.05,
        _ => 0.0,
    }
}

/// The part of a character's width that hangs at the start of a line.
fn hangs_at_start(character: char) -> f32 {
    match character {
        '\'' | '"' | '\u{2018}'..='\u{201F}' => 0.5,
        '\u{AB}' | '\u{BB}' | '\u{2039}' | '\u{203A}' => 0.25,
        '(' | '[' => 0.1,
        'A' | 'T' | 'V' | 'W' | 'Y' | 'v' | 'w' | 'y' => 0.05,
        _ => 0.0,
    }
}

impl TextContext<'_> {
    /// Lets the characters at the ends of `atom`, which holds `text`, hang at the ends of a line.
    pub(super) fn hang(&self, words: &[WordId], atom: &mut Atom, text: &str) {
        if atom.level % 2 == 1 {
            return;
        }
        let own = &words[atom.words.start as usize..];
        let advance = |id: &WordId, last: bool| {
            let word = self.shaper.word(*id);
            let glyph = if last {
                word.glyphs.last()
            } else {
                word.glyphs.first()
            };
            let units = self.shaper.units_per_em(word.face);
            glyph.map_or(0.0, |glyph| f32::from(glyph.advance) / units * atom.size)
        };
        let end = text.chars().next_back().map_or(0.0, hangs_at_end);
        if let (Some(last), true) = (own.last(), end > 0.0) {
            atom.trim = atom.trim.max(end * advance(last, true));
        }
        let start = text.chars().next().map_or(0.0, hangs_at_start);
        if let (Some(first), true) = (own.first(), start > 0.0) {
            atom.lead = start * advance(first, false);
        }
    }

    /// How much of a hyphen that the text does not have hangs at the end of a line, in points.
    pub(super) fn hanging_hyphen(&mut self, atom: &Atom) -> f32 {
        match self.styles[atom.style].hanging_punctuation {
            true => HYPHEN * self.hyphen_width(atom.style, atom.size),
            false => 0.0,
        }
    }
}

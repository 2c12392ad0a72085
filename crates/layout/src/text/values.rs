//! Amounts and dates, which would be misread if broken: they are set smaller instead.

use super::{Paragraph, TextContext, total_fit::TOLERANCE};

/// Longer texts of digits are not amounts or dates.
const MAX_VALUE_BYTES: usize = 48;
/// Minimum scale of a value that is shrunk to fit.
const MIN_SHRINK: f32 = 0.5;

impl TextContext<'_> {
    /// The text of an atom that would be misread if broken: an amount or a date.
    pub(super) fn value(&self, paragraph: &Paragraph, index: usize) -> Option<String> {
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
    pub(super) fn shrink(&mut self, paragraph: &mut Paragraph, index: usize, room: f32) -> bool {
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

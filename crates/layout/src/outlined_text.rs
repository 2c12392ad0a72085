//! Text on one line as outlines, for what is drawn rather than read: watermarks and drawings.

use platen_document::{bound::Style, work};
use unicode_bidi::BidiInfo;

use crate::{
    figure::{PathCommand, glyph_outline},
    shape::Shaper,
};

impl Shaper {
    /// The outlines of a text on one line, from the start of its baseline, one unit per em with the y
    /// axis down, and its width.
    pub fn outline_text(&mut self, text: &str, style: &Style) -> (Vec<PathCommand>, f32) {
        let key = self.chain_key(style);
        let space = self.primary(key).space;
        let mut commands = Vec::new();
        let mut x = 0.0;
        for (text, rtl) in visual_words(text) {
            work::check();
            if text == " " {
                x += space;
                continue;
            }
            let mut words = Vec::new();
            self.shape(key, text, rtl, &mut words);
            for id in words {
                let word = self.word(id);
                let Some(face) = self.face(word.face) else {
                    continue;
                };
                let units = face.units_per_em;
                let mut pen = x;
                for glyph in &word.glyphs {
                    let left = pen + f32::from(glyph.x_offset) / units;
                    let up = f32::from(glyph.y_offset) / units;
                    let outline = glyph_outline(face, glyph.id);
                    commands.extend(outline.iter().map(|it| it.moved(|x, y| (left + x, y - up))));
                    pen += f32::from(glyph.advance) / units;
                }
                x += word.width;
            }
        }
        (commands, x)
    }
}

/// The words and spaces of a line from left to right (UAX #9), and whether each is read from right
/// to left.
fn visual_words(line: &str) -> Vec<(&str, bool)> {
    let bidi = BidiInfo::new(line, None);
    let mut words = Vec::new();
    for paragraph in &bidi.paragraphs {
        let (levels, runs) = bidi.visual_runs(paragraph, paragraph.range.clone());
        for run in runs {
            let rtl = levels[run.start].is_rtl();
            let first = words.len();
            for word in line[run].split_inclusive(' ') {
                let (text, space) = match word.strip_suffix(' ') {
                    Some(text) => (text, Some(" ")),
                    None => (word, None),
                };
                let text = Some(text).filter(|text| !text.is_empty());
                words.extend(text.into_iter().chain(space).map(|piece| (piece, rtl)));
            }
            if rtl {
                words[first..].reverse();
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_watermark_stand_in_the_order_in_which_they_are_seen() {
        let seen = |line| visual_words(line);
        assert_eq!(seen("a b"), [("a", false), (" ", false), ("b", false)]);
        let hebrew = "\u{5d0}\u{5d1} \u{5d2}";
        assert_eq!(
            seen(hebrew),
            [("\u{5d2}", true), (" ", true), ("\u{5d0}\u{5d1}", true)]
        );
        let mixed = "No \u{5d0} \u{5d1}";
        assert_eq!(
            seen(mixed),
            [
                ("No", false),
                (" ", false),
                ("\u{5d1}", true),
                (" ", true),
                ("\u{5d0}", true)
            ]
        );
    }
}

//! Text runs to krilla glyphs.

use std::ops::Range;

use krilla::{
    geom::{Point, Transform},
    surface::{Location, Surface},
    text::{Glyph, GlyphId},
};
use platen_layout::{
    FaceId, Shaper,
    page::{PlacedWord, TextRun},
    shape::Word,
};

use super::FontCache;

/// A glyph with lengths in em.
#[derive(Clone, Debug)]
pub(super) struct PlacedGlyph {
    id: u32,
    range: Range<usize>,
    advance: f32,
    x_offset: f32,
    y_offset: f32,
}

impl Glyph for PlacedGlyph {
    fn glyph_id(&self) -> GlyphId {
        GlyphId::new(self.id)
    }
    fn text_range(&self) -> Range<usize> {
        self.range.clone()
    }
    fn x_advance(&self, size: f32) -> f32 {
        self.advance * size
    }
    fn x_offset(&self, size: f32) -> f32 {
        self.x_offset * size
    }
    fn y_offset(&self, size: f32) -> f32 {
        self.y_offset * size
    }
    fn y_advance(&self, _: f32) -> f32 {
        0.0
    }
    fn location(&self) -> Option<Location> {
        None
    }
}

/// Draws runs, with buffers that are used again.
#[derive(Default)]
pub(super) struct TextWriter {
    glyphs: Vec<PlacedGlyph>,
    text: String,
    /// Where the last glyph ends, from the run's left edge.
    end: f32,
}

/// What a run needs besides itself.
pub(super) struct RunContext<'a> {
    pub shaper: &'a Shaper,
    pub fonts: &'a FontCache,
    /// Glyph of the space in the face and its advance in em.
    pub letter_spacing: f32,
}

impl TextWriter {
    pub fn draw(
        &mut self,
        surface: &mut Surface<'_>,
        run: &TextRun,
        words: &[PlacedWord],
        context: &RunContext<'_>,
    ) {
        if run.rotated {
            let turn = Transform::from_row(0.0, -1.0, 1.0, 0.0, run.x, run.y);
            surface.push_transform(&turn);
            self.draw_at(surface, (0.0, 0.0), run, words, context);
            surface.pop();
        } else {
            self.draw_at(surface, (run.x, run.y), run, words, context);
        }
    }

    fn draw_at(
        &mut self,
        surface: &mut Surface<'_>,
        (x, y): (f32, f32),
        run: &TextRun,
        words: &[PlacedWord],
        context: &RunContext<'_>,
    ) {
        let mut index = 0;
        while index < words.len() {
            let face = context.shaper.word(words[index].word).face;
            self.glyphs.clear();
            self.text.clear();
            let left = words[index].x;
            self.end = left;
            let first = index;
            while index < words.len() {
                let placed = words[index];
                let word = context.shaper.word(placed.word);
                if word.face != face {
                    break;
                }
                if index > first {
                    self.gap(placed, face, run.size, context);
                }
                self.push(word, run.size, context);
                index += 1;
            }
            let Some(font) = context.fonts.get(face, context.shaper) else {
                continue;
            };
            if self.glyphs.is_empty() {
                continue;
            }
            let start = Point::from_xy(x + left, y);
            surface.draw_glyphs(start, &self.glyphs, font, &self.text, run.size, false);
        }
    }

    /// Bridges the distance to the next word: by a space where one stands in the text, else by a
    /// wider last glyph.
    fn gap(&mut self, next: PlacedWord, face: FaceId, size: f32, context: &RunContext<'_>) {
        let gap = (next.x - self.end) / size;
        self.end = next.x;
        if next.space {
            let start = self.text.len();
            self.text.push(' ');
            let glyph = context
                .shaper
                .library()
                .face(face)
                .and_then(|data| data.ascii_glyph(' '));
            if let Some(id) = glyph {
                self.glyphs.push(PlacedGlyph {
                    id: u32::from(id),
                    range: start..start + 1,
                    advance: gap,
                    x_offset: 0.0,
                    y_offset: 0.0,
                });
                return;
            }
        }
        if let Some(last) = self.glyphs.last_mut() {
            last.advance += gap;
        }
    }

    fn push(&mut self, word: &Word, size: f32, context: &RunContext<'_>) {
        let Some(data) = context.shaper.library().face(word.face) else {
            return;
        };
        let base = self.text.len();
        self.text.push_str(&word.text);
        let units = data.units_per_em;
        let spacing = context.letter_spacing / size;
        let mut width = 0.0;
        for (index, glyph) in word.glyphs.iter().enumerate() {
            let advance = f32::from(glyph.advance) / units + spacing;
            width += advance;
            let start = usize::from(glyph.cluster);
            let end = cluster_end(word, index);
            self.glyphs.push(PlacedGlyph {
                id: u32::from(glyph.id),
                range: base + start..base + end,
                advance,
                x_offset: f32::from(glyph.x_offset) / units,
                y_offset: f32::from(glyph.y_offset) / units,
            });
        }
        self.end += width * size;
    }
}

/// Byte after the cluster of a word's glyph.
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

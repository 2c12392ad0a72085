//! What is behind the text of a page: color, image, watermark, fold marks.

use std::sync::Arc;

use platen_document::{
    Color,
    bound::{Background, Crop, FoldMarks, LineStyle, Watermark},
};

use unicode_bidi::BidiInfo;

use super::composer::Composer;
use crate::{
    figure::{Figure, PathCommand, Shape, glyph_outline},
    page::{Area, Artifact, Item, Page},
};

/// Color of fold marks.
const MARK: Color = Color::from_rgb(0x80_8080);

impl Composer<'_> {
    /// Draws `background` below everything else on `page`.
    pub(super) fn draw_background(&mut self, background: &Background, page: &mut Page) {
        if *background == Background::default() {
            return;
        }
        let whole = Area {
            x: 0.0,
            y: 0.0,
            width: page.width,
            height: page.height,
        };
        let mut items = vec![Item::Artifact(Artifact::Decoration)];
        if let Some(color) = background.color {
            items.push(Item::Rect { area: whole, color });
        }
        if let Some(data) = &background.image {
            items.push(Item::Image {
                data: Arc::clone(data),
                area: whole,
                crop: Crop::default(),
            });
        }
        if let Some(watermark) = &background.watermark {
            items.extend(self.watermark(watermark, page));
        }
        if let Some(marks) = background.fold_marks {
            fold_marks(marks, page.height, &mut items);
        }
        items.append(&mut page.items);
        page.items = items;
    }

    /// The text as outlines, so that it is no text for readers, about the middle of the page.
    fn watermark(&mut self, watermark: &Watermark, page: &Page) -> Option<Item> {
        let color = self.style(watermark.style).color;
        let (commands, width) = self.text_outline(watermark);
        let (sin, cos) = watermark.angle.to_radians().sin_cos();
        let size = watermark.size_on((page.width, page.height), width);
        let turn = |x: f32, y: f32| {
            let (dx, dy) = (
                (x - width / 2.0) * size,
                (y + Watermark::CAPITALS / 2.0) * size,
            );
            (
                page.width / 2.0 + dx * cos + dy * sin,
                page.height / 2.0 - dx * sin + dy * cos,
            )
        };
        let commands: Vec<PathCommand> = commands.iter().map(|it| it.moved(turn)).collect();
        if commands.is_empty() {
            return None;
        }
        let figure = Figure {
            width: page.width,
            height: page.height,
            shapes: vec![Shape::Path {
                commands,
                fill: color,
            }],
        };
        Some(Item::Figure {
            figure: Arc::new(figure),
            at: (0.0, 0.0),
        })
    }

    /// The outlines of a text on one line, from the start of its baseline, one unit per em, and its
    /// width.
    fn text_outline(&mut self, watermark: &Watermark) -> (Vec<PathCommand>, f32) {
        let key = self.text.shaper.key(watermark.style, &self.text.styles);
        let space = self.text.shaper.primary(key).space;
        let line = watermark.text.split_whitespace().collect::<Vec<_>>();
        let line = line.join(" ");
        let mut commands = Vec::new();
        let mut x = 0.0;
        for (text, rtl) in visual_words(&line) {
            if text == " " {
                x += space;
                continue;
            }
            let mut words = Vec::new();
            self.text.shaper.shape(key, text, rtl, &mut words);
            for id in words {
                let word = self.text.shaper.word(id);
                let Some(face) = self.text.shaper.face(word.face) else {
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

/// Draws fold marks at the left edge of a page.
fn fold_marks(marks: FoldMarks, height: f32, items: &mut Vec<Item>) {
    let start = FoldMarks::START;
    for (y, length) in marks.on(height) {
        items.push(Item::Line {
            from: (start, y),
            to: (start + length, y),
            width: 0.25,
            color: MARK,
            style: LineStyle::Solid,
        });
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

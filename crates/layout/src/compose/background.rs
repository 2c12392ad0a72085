//! What is behind the text of a page: color, image, watermark, fold marks.

use std::sync::Arc;

use platen_document::{
    Color,
    bound::{Background, Crop, FoldMarks, LineStyle, Watermark},
};

use super::composer::Composer;
use crate::{
    figure::{Figure, PathCommand, Shape},
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

    /// The text as outlines, so that it is no text for readers, about the middle of the page; its lines
    /// below each other, without blank ones.
    fn watermark(&mut self, watermark: &Watermark, page: &Page) -> Option<Item> {
        let color = self.style(watermark.style).color;
        let style = &self.text.styles[watermark.style];
        let lines = watermark.text.lines();
        let lines: Vec<_> = lines
            .filter(|line| !line.trim().is_empty())
            .map(|line| self.text.shaper.outline_text(line, style))
            .collect();
        let widest = lines.iter().map(|it| it.1).fold(0.0, f32::max);
        let (sin, cos) = watermark.angle.to_radians().sin_cos();
        let size = watermark.size_on((page.width, page.height), widest, lines.len());
        let mut commands: Vec<PathCommand> = Vec::new();
        for (index, (outline, width)) in lines.iter().enumerate() {
            let below = index as f32 - (lines.len() - 1) as f32 / 2.0;
            let baseline = below * Watermark::LINE + Watermark::CAPITALS / 2.0;
            let left = (widest - width) * watermark.across - widest / 2.0;
            let turn = |x: f32, y: f32| {
                let (dx, dy) = ((x + left) * size, (y + baseline) * size);
                (
                    page.width / 2.0 + dx * cos + dy * sin,
                    page.height / 2.0 - dx * sin + dy * cos,
                )
            };
            commands.extend(outline.iter().map(|it| it.moved(turn)));
        }
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

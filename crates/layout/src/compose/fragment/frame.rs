//! Backgrounds, borders and padding of boxes.

use platen_document::bound::{Border, Borders, LineStyle, Sides};

use crate::{
    page::{Area, Artifact, Item},
    text::Sink,
};

/// Background, borders and padding of a box.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    pub background: Option<platen_document::Color>,
    pub borders: Borders,
    pub padding: Sides<f32>,
}

/// Where the borders of a box are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Within the box, so that nothing sticks out of the column.
    Inside,
    /// Their middles on the edges, which cells share with their neighbors.
    Centered,
}

impl Frame {
    /// Whether there is nothing to draw and no padding.
    pub fn is_empty(&self) -> bool {
        let sides = &self.borders;
        self.background.is_none()
            && sides.top.is_none()
            && sides.right.is_none()
            && sides.bottom.is_none()
            && sides.left.is_none()
            && self.padding == Sides::default()
    }

    /// Sum of the padding above and below.
    pub fn vertical_padding(&self) -> f32 {
        self.padding.top + self.padding.bottom
    }

    /// Draws the background; must precede the content.
    pub fn draw_background(&self, area: Area, sink: &mut Sink) {
        if let Some(color) = self.background {
            sink.items.push(Item::Artifact(Artifact::Decoration));
            sink.items.push(Item::Rect { area, color });
        }
    }

    /// Draws the borders.
    pub fn draw_borders(&self, area: Area, stroke: Stroke, sink: &mut Sink) {
        let inset = |side: Option<Border>| match stroke {
            Stroke::Inside => side.map_or(0.0, |border| border.width / 2.0),
            Stroke::Centered => 0.0,
        };
        let left = area.x + inset(self.borders.left);
        let top = area.y + inset(self.borders.top);
        let right = area.x + area.width - inset(self.borders.right);
        let bottom = area.y + area.height - inset(self.borders.bottom);
        // Lines end at the middle of those that they meet: these fill the corners. Dashes would
        // move.
        let half = |side: Option<Border>| {
            let solid = side.filter(|border| border.style == LineStyle::Solid);
            solid.map_or(0.0, |border| border.width / 2.0)
        };
        let (from, to) = (
            left - half(self.borders.left),
            right + half(self.borders.right),
        );
        let sides = [
            (self.borders.top, (from, top), (to, top)),
            (self.borders.bottom, (from, bottom), (to, bottom)),
            (self.borders.left, (left, top), (left, bottom)),
            (self.borders.right, (right, top), (right, bottom)),
        ];
        let mut marked = false;
        for (border, from, to) in sides {
            let Some(border) = border else { continue };
            if !marked {
                sink.items.push(Item::Artifact(Artifact::Decoration));
                marked = true;
            }
            sink.items.push(Item::Line {
                from,
                to,
                width: border.width,
                color: border.color,
                style: border.style,
            });
        }
    }
}

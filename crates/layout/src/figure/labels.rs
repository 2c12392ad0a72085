//! Labels of values: each is drawn where it covers no other, or not at all.

use platen_document::Color;
use rustc_hash::FxHashMap;

use super::{
    Anchor, Shape,
    pen::{CAP_HEIGHT, Pen},
};

/// Left, top, right and bottom.
type Box = (f32, f32, f32, f32);

/// The labels drawn so far.
pub(super) struct Labels {
    /// Boxes by the squares that they touch, so that a label is compared with its neighbors only.
    squares: FxHashMap<(i32, i32), Vec<Box>>,
    side: f32,
    figure: (f32, f32),
}

impl Labels {
    /// Labels of a figure of the given width and height; `size` is their font size.
    pub fn new(size: f32, figure: (f32, f32)) -> Self {
        Self {
            squares: FxHashMap::default(),
            side: size * 3.0,
            figure,
        }
    }

    /// Draws a level label if nothing is there and it is within the figure; true if it was drawn.
    pub fn level(
        &mut self,
        pen: &mut Pen<'_>,
        (x, y): (f32, f32),
        text: &str,
        color: Color,
        anchor: Anchor,
    ) -> bool {
        let width = pen.width(text);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let place = (left, y - pen.size * CAP_HEIGHT, left + width, y);
        let drawn = self.claim(place);
        if drawn {
            pen.label(x, y, text, color, anchor);
        }
        drawn
    }

    /// Draws a label that reads upwards from `y`, with its baseline at `x`, under the same conditions.
    pub fn upward(
        &mut self,
        pen: &mut Pen<'_>,
        (x, y): (f32, f32),
        text: &str,
        color: Color,
    ) -> bool {
        let place = (x - pen.size * CAP_HEIGHT, y - pen.width(text), x, y);
        let drawn = self.claim(place);
        if drawn {
            pen.rotated(x, y, text, color, Anchor::Start);
        }
        drawn
    }

    /// Draws a level label on a white ground, so that it is readable on bars; true if it was drawn.
    pub fn on_white(
        &mut self,
        pen: &mut Pen<'_>,
        at: (f32, f32),
        text: &str,
        color: Color,
        anchor: Anchor,
    ) -> bool {
        let below = pen.shapes.len();
        let drawn = self.level(pen, at, text, color, anchor);
        if drawn {
            let width = pen.width(text);
            let left = match anchor {
                Anchor::Start => at.0,
                Anchor::Middle => at.0 - width / 2.0,
                Anchor::End => at.0 - width,
            };
            let frame = pen.size * 0.15;
            pen.shapes.insert(
                below,
                Shape::Rect {
                    x: left - frame,
                    y: at.1 - pen.size * CAP_HEIGHT - frame,
                    width: width + 2.0 * frame,
                    height: pen.size * CAP_HEIGHT + 2.0 * frame,
                    fill: Color::WHITE,
                },
            );
        }
        drawn
    }

    /// Takes a place if it is free and within the figure.
    fn claim(&mut self, place: Box) -> bool {
        let (left, top, right, bottom) = place;
        let inside = left >= 0.0 && top >= 0.0 && right <= self.figure.0 && bottom <= self.figure.1;
        if !inside || right <= left {
            return false;
        }
        let square = |at: f32| (at / self.side) as i32;
        let touched = || {
            (square(left)..=square(right))
                .flat_map(|across| (square(top)..=square(bottom)).map(move |down| (across, down)))
        };
        let is_free = touched().all(|at| {
            self.squares.get(&at).is_none_or(|boxes| {
                boxes.iter().all(|other| {
                    other.2 <= left || other.0 >= right || other.3 <= top || other.1 >= bottom
                })
            })
        });
        if is_free {
            for at in touched().collect::<Vec<_>>() {
                self.squares.entry(at).or_default().push(place);
            }
        }
        is_free
    }
}

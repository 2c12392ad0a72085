//! Labels of values: each is drawn where it covers no other, or not at all.

use platen_document::Color;
use rustc_hash::FxHashMap;

use super::{
    Anchor, Shape,
    pen::{CAP_HEIGHT, Pen},
};

/// Lines this close to a label touch it, in points.
const NEAR: f32 = 0.8;

/// Left, top, right and bottom.
type Box = (f32, f32, f32, f32);

/// The labels drawn so far.
pub(super) struct Labels {
    /// Boxes by the squares that they touch, so that a label is compared with its neighbors only.
    squares: FxHashMap<(i32, i32), Vec<Box>>,
    /// All boxes.
    places: Vec<Box>,
    side: f32,
    figure: (f32, f32),
}

impl Labels {
    /// Labels of a figure of the given width and height; `size` is their font size.
    pub fn new(size: f32, figure: (f32, f32)) -> Self {
        Self {
            squares: FxHashMap::default(),
            places: Vec::new(),
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

    /// Interrupts the lines of the grid and of targets where labels stand.
    pub fn interrupt_lines(&self, pen: &mut Pen<'_>) {
        let grid = pen.grid;
        for shape in std::mem::take(&mut pen.shapes) {
            match &shape {
                Shape::Line {
                    points,
                    color,
                    dash,
                    ..
                } if *color == grid || dash.is_some() => {
                    let parts = match points.as_slice() {
                        [from, to] => self.beside_labels(*from, *to, pen.size * 0.2),
                        _ => vec![points.clone()],
                    };
                    pen.shapes.extend(parts.into_iter().map(|part| {
                        let mut line = shape.clone();
                        if let Shape::Line { points, .. } = &mut line {
                            *points = part;
                        }
                        line
                    }));
                }
                _ => pen.shapes.push(shape),
            }
        }
    }

    /// The parts of a level or upright line that are at least `gap` from any label on it.
    fn beside_labels(&self, from: (f32, f32), to: (f32, f32), gap: f32) -> Vec<Vec<(f32, f32)>> {
        let level = from.1 == to.1;
        let (across, start, end) = match level {
            true => (from.1, from.0.min(to.0), from.0.max(to.0)),
            false => (from.0, from.1.min(to.1), from.1.max(to.1)),
        };
        let mut taken: Vec<(f32, f32)> = (self.places.iter())
            .map(|&(left, top, right, bottom)| match level {
                true => ((top, bottom), (left, right)),
                false => ((left, right), (top, bottom)),
            })
            .filter(|(sides, _)| sides.0 - NEAR < across && across < sides.1 + NEAR)
            .map(|(_, ends)| (ends.0 - gap, ends.1 + gap))
            .collect();
        taken.sort_by(|a, b| a.0.total_cmp(&b.0));
        let point = |along: f32| match level {
            true => (along, across),
            false => (across, along),
        };
        left_over((start, end), &taken)
            .into_iter()
            .map(|(from, to)| vec![point(from), point(to)])
            .collect()
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
            self.places.push(place);
            for at in touched().collect::<Vec<_>>() {
                self.squares.entry(at).or_default().push(place);
            }
        }
        is_free
    }
}

/// What `taken`, in order, leaves of a range.
fn left_over((mut start, end): (f32, f32), taken: &[(f32, f32)]) -> Vec<(f32, f32)> {
    let mut free = Vec::new();
    for &(from, to) in taken {
        if from.min(end) > start {
            free.push((start, from.min(end)));
        }
        start = start.max(to);
    }
    if end > start {
        free.push((start, end));
    }
    free
}

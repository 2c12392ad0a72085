//! The text state (9.3) and the matrices of content.

use std::rc::Rc;

use lopdf::{Object, content::Operation};

use super::font::Font;
use crate::drawn::times;

pub(crate) const UNIT: [f32; 6] = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// The text state, and the matrix of the graphics state.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) matrix: [f32; 6],
    pub(crate) font: Option<Rc<Font>>,
    pub(crate) size: f32,
    pub(crate) spacing: f32,
    pub(crate) word_spacing: f32,
    pub(crate) stretch: f32,
    pub(crate) leading: f32,
    pub(crate) rise: f32,
    pub(crate) is_invisible: bool,
}

/// The matrices of a text object.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) now: [f32; 6],
    pub(crate) line: [f32; 6],
    /// How much farther it may be along the line, where widths are not known.
    pub(crate) slack: f32,
    /// Whether a glyph before it, whose width is not known, was taken out.
    pub(crate) is_guessed: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            now: UNIT,
            line: UNIT,
            slack: 0.0,
            is_guessed: false,
        }
    }
}

impl State {
    /// The state at the beginning of content.
    pub(crate) fn new(matrix: [f32; 6]) -> Self {
        Self {
            matrix,
            font: None,
            size: 0.0,
            spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            is_invisible: false,
        }
    }

    /// What an operation does to the state and the place, except for showing glyphs and choosing a
    /// font.
    pub(crate) fn set(&mut self, operation: &Operation, place: &mut Place) {
        let operands = &operation.operands;
        let number = |index: usize| operands.get(index).and_then(|it| it.as_float().ok());
        match operation.operator.as_str() {
            "BT" => *place = Place::default(),
            "Tc" => self.spacing = number(0).unwrap_or(0.0),
            "Tw" => self.word_spacing = number(0).unwrap_or(0.0),
            "Tz" => self.stretch = number(0).unwrap_or(100.0) / 100.0,
            "TL" => self.leading = number(0).unwrap_or(0.0),
            "Ts" => self.rise = number(0).unwrap_or(0.0),
            // Neither filled nor stroked (9.3.6).
            "Tr" => self.is_invisible = number(0).is_some_and(|mode| mode == 3.0 || mode == 7.0),
            "Td" | "TD" => {
                let (x, y) = (number(0).unwrap_or(0.0), number(1).unwrap_or(0.0));
                if operation.operator == "TD" {
                    self.leading = -y;
                }
                place.next_line(x, y);
            }
            "Tm" => {
                if let Some(matrix) = floats(operands) {
                    *place = Place {
                        now: matrix,
                        line: matrix,
                        slack: 0.0,
                        is_guessed: false,
                    };
                }
            }
            "T*" | "'" => place.next_line(0.0, -self.leading),
            "\"" => {
                if let (Some(word), Some(spacing)) = (number(0), number(1)) {
                    self.word_spacing = word;
                    self.spacing = spacing;
                }
                place.next_line(0.0, -self.leading);
            }
            _ => {}
        }
    }

    /// Moves the place back by thousandths of the font size, as a number in `TJ` does.
    pub(crate) fn back(&self, by: f32, place: &mut Place) {
        let vertical = self.font.as_ref().is_some_and(|it| it.is_vertical);
        place.advance(-by / 1_000.0 * self.size, self.stretch, vertical);
    }
}

impl Place {
    fn next_line(&mut self, x: f32, y: f32) {
        self.line = times([1.0, 0.0, 0.0, 1.0, x, y], self.line);
        self.now = self.line;
        self.slack = 0.0;
        self.is_guessed = false;
    }

    /// Moves on by a width in the space of the text.
    pub(crate) fn advance(&mut self, by: f32, stretch: f32, is_vertical: bool) {
        let (x, y) = match is_vertical {
            true => (0.0, by),
            false => (by * stretch, 0.0),
        };
        self.now = times([1.0, 0.0, 0.0, 1.0, x, y], self.now);
    }
}

/// Six numbers.
pub(crate) fn floats(operands: &[Object]) -> Option<[f32; 6]> {
    let all: Option<Vec<f32>> = operands
        .iter()
        .take(7)
        .map(|it| it.as_float().ok())
        .collect();
    all?.try_into().ok()
}

//! The area in which the values of a chart are drawn.

use super::scale::Scale;

/// The area in which values are drawn. Values grow upwards, or to the right if it is horizontal.
pub(super) struct Plot {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
    pub horizontal: bool,
    /// Number of categories, at least 1.
    pub slots: usize,
    pub primary: Scale,
    pub secondary: Option<Scale>,
}

impl Plot {
    pub fn scale(&self, secondary: bool) -> &Scale {
        self.secondary
            .as_ref()
            .filter(|_| secondary)
            .unwrap_or(&self.primary)
    }

    /// The coordinate of a share of the value axis: y, or x if the plot is horizontal.
    pub fn along(&self, share: f32) -> f32 {
        if self.horizontal {
            self.left + self.width * share
        } else {
            self.top + self.height * (1.0 - share)
        }
    }

    /// The coordinate of a value.
    pub fn at(&self, value: f64, secondary: bool) -> f32 {
        self.along(self.scale(secondary).share(value))
    }

    /// The coordinate at which bars and areas start.
    pub fn base(&self, secondary: bool) -> f32 {
        self.along(self.scale(secondary).base())
    }

    /// Width of a category, or its height if the plot is horizontal.
    pub fn slot(&self) -> f32 {
        let length = if self.horizontal {
            self.height
        } else {
            self.width
        };
        length / self.slots as f32
    }

    /// The coordinate of the center of a category: x, or y if the plot is horizontal.
    pub fn middle(&self, category: usize) -> f32 {
        let start = if self.horizontal { self.top } else { self.left };
        start + (category as f32 + 0.5) * self.slot()
    }

    pub fn right(&self) -> f32 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}

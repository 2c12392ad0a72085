//! Areas of pages.

use lopdf::Document;

/// How far things may reach into an area without being in it, in points.
const TOLERANCE: f32 = 0.01;

/// Maximum number of parts that areas may leave of another.
const MAX_PARTS: usize = 64;

/// A rectangle in the space of a page's content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    left: f32,
    bottom: f32,
    right: f32,
    top: f32,
}

impl Area {
    /// What encloses a rectangle (left, bottom, right, top; in any order) after a transformation.
    pub(super) fn around([x1, y1, x2, y2]: &[f32; 4], matrix: [f32; 6]) -> Self {
        let corners = [(*x1, *y1), (*x1, *y2), (*x2, *y1), (*x2, *y2)];
        let mut points = corners.map(|point| transformed(point, matrix)).into_iter();
        let (x, y) = points.next().unwrap_or_default();
        points.fold(Self::at(x, y), |area, (x, y)| area.with(x, y))
    }

    /// A point.
    pub(super) fn at(x: f32, y: f32) -> Self {
        Self {
            left: x,
            bottom: y,
            right: x,
            top: y,
        }
    }

    /// What encloses it and a point. A number that is none makes it endless: `min` and `max` would
    /// leave it out.
    pub(super) fn with(self, x: f32, y: f32) -> Self {
        let least = |one: f32, two: f32| match one.is_nan() || two.is_nan() {
            true => f32::NEG_INFINITY,
            false => one.min(two),
        };
        let most = |one: f32, two: f32| match one.is_nan() || two.is_nan() {
            true => f32::INFINITY,
            false => one.max(two),
        };
        Self {
            left: least(self.left, x),
            bottom: least(self.bottom, y),
            right: most(self.right, x),
            top: most(self.top, y),
        }
    }

    /// Whether they have more than their edges in common. What is not known is taken for common.
    pub(super) fn touches(&self, other: &Self) -> bool {
        let apart = self.left >= other.right - TOLERANCE && self.left > other.left
            || other.left >= self.right - TOLERANCE && other.left > self.left
            || self.bottom >= other.top - TOLERANCE && self.bottom > other.bottom
            || other.bottom >= self.top - TOLERANCE && other.bottom > self.bottom;
        !apart
    }

    /// Whether areas cover it together. What is not known is taken for covered.
    pub(super) fn is_covered(&self, areas: &[Self]) -> bool {
        if !self.edges().iter().all(|edge| edge.is_finite()) {
            return true;
        }
        let mut rest = vec![*self];
        for area in areas.iter().filter(|one| one.touches(self)) {
            rest = rest.iter().flat_map(|part| part.without(area)).collect();
            if rest.len() > MAX_PARTS {
                return true;
            }
        }
        rest.is_empty()
    }

    /// What is left of it beside, below and above an area.
    fn without(&self, area: &Self) -> Vec<Self> {
        if !self.touches(area) {
            return vec![*self];
        }
        let (left, right) = (self.left.max(area.left), self.right.min(area.right));
        let mut rest = Vec::new();
        if area.left > self.left + TOLERANCE {
            rest.push(Self {
                right: area.left,
                ..*self
            });
        }
        if area.right < self.right - TOLERANCE {
            rest.push(Self {
                left: area.right,
                ..*self
            });
        }
        if area.bottom > self.bottom + TOLERANCE {
            rest.push(Self {
                left,
                right,
                top: area.bottom,
                ..*self
            });
        }
        if area.top < self.top - TOLERANCE {
            rest.push(Self {
                left,
                right,
                bottom: area.top,
                ..*self
            });
        }
        rest
    }

    /// What is within a distance of it.
    pub(super) fn grown(self, by: f32) -> Self {
        Self {
            left: self.left - by,
            bottom: self.bottom - by,
            right: self.right + by,
            top: self.top + by,
        }
    }

    /// Its corners: left, bottom, right, top.
    pub(super) fn edges(&self) -> [f32; 4] {
        [self.left, self.bottom, self.right, self.top]
    }

    /// Width and height.
    pub(super) fn size(&self) -> (f32, f32) {
        (self.right - self.left, self.top - self.bottom)
    }
}

/// A point after a transformation.
pub(super) fn transformed((x, y): (f32, f32), matrix: [f32; 6]) -> (f32, f32) {
    let [a, b, c, d, e, f] = matrix;
    (a * x + c * y + e, b * x + d * y + f)
}

/// The transformation back; `None` if there is none.
pub(super) fn inverse(matrix: [f32; 6]) -> Option<[f32; 6]> {
    let [a, b, c, d, e, f] = matrix.map(f64::from);
    let area = a * d - b * c;
    if !area.is_finite() || area.abs() < 1e-12 {
        return None;
    }
    let made = [
        d / area,
        -b / area,
        -c / area,
        a / area,
        (c * f - d * e) / area,
        (b * e - a * f) / area,
    ];
    Some(made.map(|number| number as f32))
}

/// The box of a form after a transformation; `None` if it has none.
pub(super) fn form_area(
    document: &Document,
    form: &lopdf::Dictionary,
    matrix: [f32; 6],
) -> Option<Area> {
    let edges = crate::flatten::numbers::<4>(document, form.get(b"BBox").ok())?;
    Some(Area::around(&edges, matrix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_do_not_touch_and_what_is_unknown_does() {
        let area = Area::around(&[10.0, 10.0, 20.0, 20.0], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let of = |edges: [f32; 4]| Area::around(&edges, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        assert!(!area.touches(&of([20.0, 10.0, 30.0, 20.0])));
        assert!(!of([20.0, 10.0, 30.0, 20.0]).touches(&area));
        assert!(area.touches(&of([19.0, 19.0, 30.0, 30.0])));
        assert!(area.touches(&of([0.0, 0.0, 30.0, 30.0])));
        assert!(area.touches(&Area::at(15.0, 15.0)), "a point within");
        assert!(area.touches(&of([15.0, 15.0, 15.0, 15.0])));
        assert!(area.touches(&of([f32::NAN, 0.0, 1.0, 1.0])));
        assert!(of([10.0, 10.0, 20.0, 20.0]).is_covered(&[area]));
        assert!(!of([10.0, 10.0, 20.1, 20.0]).is_covered(&[area]));
        assert!(of([f32::NAN, 15.0, 16.0, 16.0]).is_covered(&[area]));
    }

    #[test]
    fn areas_cover_together() {
        let of = |edges: [f32; 4]| Area::around(&edges, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        let whole = of([0.0, 0.0, 30.0, 20.0]);
        let tiles = [
            of([-1.0, -1.0, 10.0, 30.0]),
            of([10.0, 0.0, 40.0, 12.0]),
            of([5.0, 11.0, 30.0, 20.0]),
        ];
        assert!(whole.is_covered(&tiles));
        for left_out in 0..3 {
            let mut some = tiles.to_vec();
            some.remove(left_out);
            assert!(!whole.is_covered(&some), "without {left_out}");
        }
        assert!(!whole.is_covered(&[]));
        // A line.
        assert!(of([5.0, 5.0, 5.0, 15.0]).is_covered(&tiles[..1]));
        assert!(!of([20.0, 5.0, 20.0, 15.0]).is_covered(&tiles[1..2]));
    }

    #[test]
    fn a_transformation_has_a_way_back() {
        let matrix = [2.0, 1.0, -1.0, 3.0, 40.0, 50.0];
        let back = inverse(matrix).unwrap();
        let (x, y) = transformed(transformed((7.0, 9.0), matrix), back);
        assert!((x - 7.0).abs() < 1e-4 && (y - 9.0).abs() < 1e-4);
        assert_eq!(inverse([1.0, 1.0, 1.0, 1.0, 0.0, 0.0]), None);
    }
}

//! Pure geometry of charts and barcodes. PDF, PNG, SVG and HTML all draw the same shapes, so a
//! chart looks the same in each.
//!
//! The origin is the top left corner, the y axis points down, lengths are in points.

mod area;
mod axes;
mod barcode;
mod categories;
mod labels;
mod legend;
mod outline;
mod pen;
mod pie;
mod plot;
mod points;
mod scale;

use platen_document::{
    Color,
    bound::{Chart, Direction, Document},
};

pub(crate) use self::barcode::barcode_middle;
use self::pen::Pen;
pub use self::pen::text_on;
pub use self::{barcode::barcode_rects, outline::glyph_outline};

/// A chart or barcode as shapes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Width in points.
    pub width: f32,
    /// Height in points.
    pub height: f32,
    /// Shapes in drawing order, from back to front.
    pub shapes: Vec<Shape>,
}

/// A shape of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Left edge.
        x: f32,
        /// Top edge.
        y: f32,
        /// Width, never negative.
        width: f32,
        /// Height, never negative.
        height: f32,
        /// Fill.
        fill: Color,
    },
    /// A stroked polyline with round joins.
    Line {
        /// At least two points.
        points: Vec<(f32, f32)>,
        /// Width of the stroke.
        width: f32,
        /// Color of the stroke.
        color: Color,
        /// Lengths of dash and gap; `None` draws a solid line.
        dash: Option<(f32, f32)>,
    },
    /// A filled path.
    Path {
        /// Outline, starting with [`PathCommand::MoveTo`].
        commands: Vec<PathCommand>,
        /// Fill.
        fill: Color,
    },
    /// A line of text in the document's `small` style.
    Text {
        /// The x coordinate that `anchor` refers to.
        x: f32,
        /// The y coordinate of the baseline.
        y: f32,
        /// The text, in logical order.
        text: String,
        /// Font size.
        size: f32,
        /// Whether it is bold.
        bold: bool,
        /// Color.
        color: Color,
        /// Which part of the text is at `x`.
        anchor: Anchor,
        /// Whether it is rotated by 90 degrees counter-clockwise about (`x`, `y`), so that it reads
        /// upwards.
        rotated: bool,
    },
}

/// A path segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathCommand {
    /// Starts an outline.
    MoveTo(f32, f32),
    /// A straight line.
    LineTo(f32, f32),
    /// A cubic Bézier curve: two control points and the end point.
    CurveTo(f32, f32, f32, f32, f32, f32),
    /// A straight line back to the start of the outline.
    Close,
}

impl PathCommand {
    /// The command with every point moved by `point`.
    #[must_use]
    pub fn moved(&self, point: impl Fn(f32, f32) -> (f32, f32)) -> Self {
        match *self {
            Self::MoveTo(x, y) => {
                let (x, y) = point(x, y);
                Self::MoveTo(x, y)
            }
            Self::LineTo(x, y) => {
                let (x, y) = point(x, y);
                Self::LineTo(x, y)
            }
            Self::CurveTo(x1, y1, x2, y2, x, y) => {
                let (x1, y1) = point(x1, y1);
                let (x2, y2) = point(x2, y2);
                let (x, y) = point(x, y);
                Self::CurveTo(x1, y1, x2, y2, x, y)
            }
            Self::Close => Self::Close,
        }
    }
}

/// Which part of a text is at its x coordinate. Left and right are physical, whatever the direction
/// of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// Width of a text in points, given its font size and whether it is bold.
pub type Measure<'a> = dyn Fn(&str, f32, bool) -> f32 + 'a;

/// Lays out `chart` at `width` points, or at its own width if that is smaller. `measure` returns
/// the width of text in the chart's style.
#[must_use]
pub fn chart_figure(
    chart: &Chart,
    width: f32,
    document: &Document,
    measure: &Measure<'_>,
) -> Figure {
    let width = chart.width.map_or(width, |own| own.min(width)).max(1.0);
    let height = chart.height.max(1.0);
    let mut pen = Pen::new(chart, document, measure);
    if chart.kind.is_round() {
        pie::draw(&mut pen, chart, &document.theme.chart, width, height);
    } else {
        axes::draw(&mut pen, chart, width, height);
    }
    let mut figure = Figure {
        width,
        height,
        shapes: pen.shapes,
    };
    if document.direction == Direction::RightToLeft {
        mirror(&mut figure);
    }
    figure
}

/// Mirrors the figure horizontally and keeps texts readable.
fn mirror(figure: &mut Figure) {
    let across = figure.width;
    for shape in &mut figure.shapes {
        match shape {
            Shape::Rect { x, width, .. } => *x = across - *x - *width,
            Shape::Line { points, .. } => {
                for (x, _) in points {
                    *x = across - *x;
                }
            }
            Shape::Path { commands, .. } => {
                for command in commands {
                    match command {
                        PathCommand::MoveTo(x, _) | PathCommand::LineTo(x, _) => *x = across - *x,
                        PathCommand::CurveTo(x1, _, x2, _, x, _) => {
                            (*x1, *x2, *x) = (across - *x1, across - *x2, across - *x);
                        }
                        PathCommand::Close => {}
                    }
                }
            }
            Shape::Text {
                x,
                anchor,
                rotated,
                size,
                ..
            } => {
                *x = across - *x;
                if *rotated {
                    // Rotated letters stay on the left of their baseline, so the baseline moves to
                    // the right.
                    *x += *size * pen::CAP_HEIGHT;
                } else {
                    *anchor = match anchor {
                        Anchor::Start => Anchor::End,
                        Anchor::Middle => Anchor::Middle,
                        Anchor::End => Anchor::Start,
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Lines, rectangles, figures and images in a content stream, ISO 32000-1 §8.5. In the layout the y
//! axis points down, in PDF up.

use platen_document::{
    Color,
    bound::{Crop, LineStyle},
};
use platen_layout::{
    figure::{Figure, PathCommand, Shape},
    page::Area,
};

use super::syntax::Syntax;

/// The graphics state that a content stream has set so far; only changes are written.
pub(super) struct Graphics {
    page_height: f32,
    fill: Option<Color>,
    stroke: Option<Color>,
    width: Option<f32>,
    dashed: bool,
}

impl Graphics {
    pub fn new(page_height: f32) -> Self {
        Self {
            page_height,
            fill: None,
            stroke: None,
            width: None,
            dashed: false,
        }
    }

    /// Sets the color of areas and text.
    pub fn fill(&mut self, out: &mut Vec<u8>, color: Color) {
        if self.fill != Some(color) {
            self.fill = Some(color);
            color_operands(out, color);
            out.raw("rg\n");
        }
    }

    fn pen(&mut self, out: &mut Vec<u8>, color: Color, width: f32, dash: Option<(f32, f32)>) {
        if self.stroke != Some(color) {
            self.stroke = Some(color);
            color_operands(out, color);
            out.raw("RG\n");
        }
        if self.width != Some(width) {
            self.width = Some(width);
            out.number(width, 3).raw(" w\n");
        }
        if let Some((on, off)) = dash {
            self.dashed = true;
            out.push(b'[');
            out.number(on, 3).raw(" ").number(off, 3).raw("]0 d\n");
        } else if self.dashed {
            self.dashed = false;
            out.raw("[]0 d\n");
        }
    }

    pub fn rectangle(&mut self, out: &mut Vec<u8>, area: Area, color: Color) {
        self.fill(out, color);
        out.length(area.x).raw(" ");
        out.length(self.page_height - area.y - area.height).raw(" ");
        out.length(area.width).raw(" ");
        out.length(area.height).raw(" re f\n");
    }

    pub fn line(
        &mut self,
        out: &mut Vec<u8>,
        from: (f32, f32),
        to: (f32, f32),
        width: f32,
        color: Color,
        style: LineStyle,
    ) {
        let dash = match style {
            LineStyle::Solid => None,
            LineStyle::Dashed => Some((width * 4.0, width * 3.0)),
            LineStyle::Dotted => Some((width, width * 2.0)),
        };
        self.pen(out, color, width, dash);
        for ((x, y), operator) in [(from, " m "), (to, " l S\n")] {
            out.length(x).raw(" ");
            out.length(self.page_height - y).raw(operator);
        }
    }

    pub fn image(&mut self, out: &mut Vec<u8>, index: usize, shown: Area, crop: Crop) {
        out.raw("q ");
        if !crop.is_none() {
            out.length(shown.x).raw(" ");
            out.length(self.page_height - shown.y - shown.height);
            out.raw(" ").length(shown.width).raw(" ");
            out.length(shown.height).raw(" re W n ");
        }
        let area = shown.uncropped(crop);
        out.length(area.width).raw(" 0 0 ");
        out.length(area.height).raw(" ").length(area.x).raw(" ");
        out.length(self.page_height - area.y - area.height);
        out.raw(" cm/I").integer(index as i64).raw(" Do Q\n");
    }

    /// Draws the shapes of a figure. Its texts are separate items of the page.
    pub fn figure(&mut self, out: &mut Vec<u8>, figure: &Figure, at: (f32, f32)) {
        out.raw("q 1 0 0 -1 ").length(at.0).raw(" ");
        // Round line joins, for the lines of charts.
        out.length(self.page_height - at.1).raw(" cm 1 j\n");
        let mut inner = Self::new(0.0);
        // The graphics state is inherited inside `q` and restored after `Q`.
        (inner.fill, inner.stroke, inner.width) = (self.fill, self.stroke, self.width);
        inner.dashed = self.dashed;
        for shape in &figure.shapes {
            inner.shape(out, shape);
        }
        out.raw("Q\n");
    }

    fn shape(&mut self, out: &mut Vec<u8>, shape: &Shape) {
        match shape {
            Shape::Rect {
                x,
                y,
                width,
                height,
                fill,
            } => {
                self.fill(out, *fill);
                for edge in [x, y, width, height] {
                    out.number(*edge, 3).raw(" ");
                }
                out.raw("re f\n");
            }
            Shape::Line {
                points,
                width,
                color,
                dash,
            } => {
                self.pen(out, *color, *width, *dash);
                for (index, (x, y)) in points.iter().enumerate() {
                    out.number(*x, 3).raw(" ").number(*y, 3);
                    out.raw(if index == 0 { " m\n" } else { " l\n" });
                }
                out.raw("S\n");
            }
            Shape::Path { commands, fill } => {
                self.fill(out, *fill);
                path(out, commands);
                out.raw("f\n");
            }
            Shape::Text { .. } => {}
        }
    }
}

fn path(out: &mut Vec<u8>, commands: &[PathCommand]) {
    let point = |out: &mut Vec<u8>, x: f32, y: f32| {
        out.number(x, 3).raw(" ").number(y, 3).raw(" ");
    };
    for command in commands {
        match *command {
            PathCommand::MoveTo(x, y) => {
                point(out, x, y);
                out.raw("m\n");
            }
            PathCommand::LineTo(x, y) => {
                point(out, x, y);
                out.raw("l\n");
            }
            PathCommand::CurveTo(x1, y1, x2, y2, x, y) => {
                point(out, x1, y1);
                point(out, x2, y2);
                point(out, x, y);
                out.raw("c\n");
            }
            PathCommand::Close => {
                out.raw("h\n");
            }
        }
    }
}

fn color_operands(out: &mut Vec<u8>, color: Color) {
    for part in [color.red, color.green, color.blue] {
        out.number(f32::from(part) / 255.0, 3).raw(" ");
    }
}

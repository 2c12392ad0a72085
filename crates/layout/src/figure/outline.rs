//! Outlines of glyphs as paths.

use skrifa::{
    GlyphId, MetadataProvider,
    instance::Size,
    outline::{DrawSettings, OutlinePen},
};

use super::PathCommand;
use crate::face::FaceData;

/// The outline of a glyph, one unit per em, with the y axis down; empty if it has none.
#[must_use]
pub fn glyph_outline(face: &FaceData, glyph: u16) -> Vec<PathCommand> {
    let mut pen = Pen::default();
    let Some(font) = face.font_ref() else {
        return pen.commands;
    };
    let settings = DrawSettings::unhinted(Size::new(1.0), face.location());
    if let Some(outline) = font.outline_glyphs().get(GlyphId::new(u32::from(glyph))) {
        // A glyph that cannot be drawn stays empty, as in other viewers.
        let _ = outline.draw(settings, &mut pen);
    }
    pen.commands
}

#[derive(Default)]
struct Pen {
    commands: Vec<PathCommand>,
    at: (f32, f32),
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = (x, -y);
        self.commands.push(PathCommand::MoveTo(x, -y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.at = (x, -y);
        self.commands.push(PathCommand::LineTo(x, -y));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        // A quadratic curve as a cubic one: the new control points are at two thirds of the way to
        // the old.
        let third = |from: f32, control: f32| from + (control - from) * 2.0 / 3.0;
        let (x0, y0) = self.at;
        self.at = (x, -y);
        self.commands.push(PathCommand::CurveTo(
            third(x0, cx),
            third(y0, -cy),
            third(x, cx),
            third(-y, -cy),
            x,
            -y,
        ));
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        self.at = (x, -y);
        self.commands
            .push(PathCommand::CurveTo(cx0, -cy0, cx1, -cy1, x, -y));
    }

    fn close(&mut self) {
        self.commands.push(PathCommand::Close);
    }
}

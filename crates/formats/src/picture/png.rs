//! A page as PNG.

use std::collections::HashMap;

use platen_document::{
    Color,
    bound::{Crop, ImageData, LineStyle},
    work,
};
use platen_layout::{
    Layout, Shaper,
    figure::{Figure, PathCommand, Shape},
    page::{Area, Item, Page, TextRun},
};
use tiny_skia::{
    FillRule, FilterQuality, LineJoin, Mask, Paint, PathBuilder, Pixmap, PixmapPaint,
    PremultipliedColorU8, Rect, Stroke, StrokeDash, Transform,
};

use super::{decode::decode, outline::Outlines, weight};

/// Maximum number of pixels in an image: 256 MB of RGBA.
const MAX_PIXELS: f32 = 64e6;

/// Draws the page with the given index at `dots_per_inch`, clamped to 4 to 1200. `None` if there is
/// no such page, it exceeds 64 million pixels, or a drawing takes too much time or memory with so many.
#[must_use]
pub fn write(
    layout: &Layout,
    shaper: &Shaper,
    index: usize,
    dots_per_inch: f32,
) -> Option<Vec<u8>> {
    let page = layout.pages.get(index)?;
    let scale = dots_per_inch.clamp(4.0, 1200.0) / 72.0;
    let (width, height) = ((page.width * scale).round(), (page.height * scale).round());
    if width * height > MAX_PIXELS {
        return None;
    }
    let mut pixmap = Pixmap::new((width as u32).max(1), (height as u32).max(1))?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let mut canvas = Canvas {
        pixmap,
        base: Transform::from_scale(scale, scale),
        layout,
        shaper,
        outlines: Outlines::new(shaper),
        images: HashMap::new(),
        is_refused: false,
    };
    for item in &page.items {
        canvas.draw(page, item);
        if canvas.is_refused {
            return None;
        }
    }
    canvas.pixmap.encode_png().ok()
}

struct Canvas<'a> {
    pixmap: Pixmap,
    base: Transform,
    layout: &'a Layout,
    shaper: &'a Shaper,
    outlines: Outlines<'a>,
    images: HashMap<*const ImageData, Option<Pixmap>>,
    /// Whether a drawing takes too much.
    is_refused: bool,
}

impl Canvas<'_> {
    fn draw(&mut self, page: &Page, item: &Item) {
        work::check();
        match item {
            Item::Text(run) => self.text(page, run),
            Item::Rect { area, color } => self.rect(*area, *color, self.base),
            Item::Line {
                from,
                to,
                width,
                color,
                style,
            } => {
                let dash = match style {
                    LineStyle::Solid => None,
                    LineStyle::Dashed => Some((width * 4.0, width * 3.0)),
                    LineStyle::Dotted => Some((*width, width * 2.0)),
                };
                self.line(&[*from, *to], *width, *color, dash, self.base);
            }
            Item::Image { data, area, crop } => self.image(data, *area, *crop),
            Item::Figure { figure, at } => {
                let transform = self.base.pre_translate(at.0, at.1);
                self.figure(figure, transform);
            }
            Item::Link { .. }
            | Item::SignatureField { .. }
            | Item::FormField { .. }
            | Item::Tag(_)
            | Item::Artifact(_) => {}
        }
    }

    fn text(&mut self, page: &Page, run: &TextRun) {
        let style = &self.layout.styles[run.style];
        let (color, letter_spacing) = (style.color, style.letter_spacing + run.tracking);
        let mut origin = self.base.pre_translate(run.x, run.y);
        if run.rotated {
            origin = origin.pre_concat(Transform::from_row(0.0, -1.0, 1.0, 0.0, 0.0, 0.0));
        }
        for placed in &page.words[run.words.start as usize..run.words.end as usize] {
            let word = self.shaper.word(placed.word);
            let Some(face) = self.shaper.face(word.face) else {
                continue;
            };
            let scale = run.size / face.units_per_em;
            let mut x = placed.x;
            for glyph in &word.glyphs {
                let outline = self.outlines.get(word.face, glyph.id);
                let dx = x + f32::from(glyph.x_offset) * scale;
                let dy = -f32::from(glyph.y_offset) * scale;
                let transform = origin.pre_translate(dx, dy).pre_scale(run.size, run.size);
                self.path(&outline, color, transform);
                x += f32::from(glyph.advance) * scale + letter_spacing;
            }
        }
    }

    fn path(&mut self, commands: &[PathCommand], color: Color, transform: Transform) {
        let mut path = PathBuilder::new();
        for command in commands {
            match *command {
                PathCommand::MoveTo(x, y) => path.move_to(x, y),
                PathCommand::LineTo(x, y) => path.line_to(x, y),
                PathCommand::CurveTo(x1, y1, x2, y2, x, y) => path.cubic_to(x1, y1, x2, y2, x, y),
                PathCommand::Close => path.close(),
            }
        }
        if let Some(path) = path.finish() {
            self.pixmap
                .fill_path(&path, &paint(color), FillRule::Winding, transform, None);
        }
    }

    fn rect(&mut self, area: Area, color: Color, transform: Transform) {
        if let Some(rect) = Rect::from_xywh(area.x, area.y, area.width, area.height) {
            self.pixmap.fill_rect(rect, &paint(color), transform, None);
        }
    }

    fn line(
        &mut self,
        points: &[(f32, f32)],
        width: f32,
        color: Color,
        dash: Option<(f32, f32)>,
        transform: Transform,
    ) {
        let mut path = PathBuilder::new();
        for (index, (x, y)) in points.iter().enumerate() {
            if index == 0 {
                path.move_to(*x, *y);
            } else {
                path.line_to(*x, *y);
            }
        }
        let Some(path) = path.finish() else { return };
        let stroke = Stroke {
            width,
            line_join: LineJoin::Round,
            dash: dash.and_then(|(on, off)| StrokeDash::new(vec![on, off], 0.0)),
            ..Stroke::default()
        };
        self.pixmap
            .stroke_path(&path, &paint(color), &stroke, transform, None);
    }

    fn image(&mut self, data: &std::sync::Arc<ImageData>, shown: Area, crop: Crop) {
        let area = shown.uncropped(crop);
        let mask = if crop.is_none() {
            None
        } else {
            self.mask_of(shown)
        };
        if let Some(drawing) = &data.drawing {
            let size = drawing.size();
            let (x, y) = (area.width / size.width(), area.height / size.height());
            let transform = self.base.pre_translate(area.x, area.y).pre_scale(x, y);
            let (across, down) = (self.pixmap.width(), self.pixmap.height());
            if !weight::fits(drawing, transform, across, down) {
                self.is_refused = true;
                return;
            }
            let Some(mask) = mask else {
                resvg::render(drawing, transform, &mut self.pixmap.as_mut());
                return;
            };
            // Drawn on a layer of its own, as resvg knows no mask.
            let Some(mut layer) = Pixmap::new(across, down) else {
                return;
            };
            resvg::render(drawing, transform, &mut layer.as_mut());
            layer.apply_mask(&mask);
            let (paint, whole) = (PixmapPaint::default(), Transform::identity());
            self.pixmap
                .draw_pixmap(0, 0, layer.as_ref(), &paint, whole, None);
            return;
        }
        let image = self
            .images
            .entry(std::sync::Arc::as_ptr(data))
            .or_insert_with(|| to_pixmap(data));
        let Some(image) = image else { return };
        let (x, y) = (
            area.width / image.width() as f32,
            area.height / image.height() as f32,
        );
        let transform = self.base.pre_translate(area.x, area.y).pre_scale(x, y);
        let paint = PixmapPaint {
            quality: FilterQuality::Bilinear,
            ..PixmapPaint::default()
        };
        self.pixmap
            .draw_pixmap(0, 0, image.as_ref(), &paint, transform, mask.as_ref());
    }

    /// Lets only `area` of the page through.
    fn mask_of(&self, area: Area) -> Option<Mask> {
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        let rect = Rect::from_xywh(area.x, area.y, area.width, area.height)?;
        let path = PathBuilder::from_rect(rect);
        mask.fill_path(&path, FillRule::Winding, true, self.base);
        Some(mask)
    }

    fn figure(&mut self, figure: &Figure, transform: Transform) {
        for shape in &figure.shapes {
            match shape {
                Shape::Rect {
                    x,
                    y,
                    width,
                    height,
                    fill,
                } => {
                    let area = Area {
                        x: *x,
                        y: *y,
                        width: *width,
                        height: *height,
                    };
                    self.rect(area, *fill, transform);
                }
                Shape::Line {
                    points,
                    width,
                    color,
                    dash,
                } => {
                    self.line(points, *width, *color, *dash, transform);
                }
                Shape::Path { commands, fill } => self.path(commands, *fill, transform),
                Shape::Text { .. } => {}
            }
        }
    }
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(color.red, color.green, color.blue, 255);
    paint
}

fn to_pixmap(data: &ImageData) -> Option<Pixmap> {
    let pixels = decode(data)?;
    let mut pixmap = Pixmap::new(pixels.width, pixels.height)?;
    for (target, pixel) in pixmap
        .pixels_mut()
        .iter_mut()
        .zip(pixels.rgba.chunks_exact(4))
    {
        let color = tiny_skia::ColorU8::from_rgba(pixel[0], pixel[1], pixel[2], pixel[3]);
        let premultiplied: PremultipliedColorU8 = color.premultiply();
        *target = premultiplied;
    }
    Some(pixmap)
}

//! Color glyphs of layers (OpenType 1.9.1, tables COLR and CPAL) as drawings, so that they stay
//! vectors where a format has them.

use std::{fmt::Write as _, sync::Arc};

use platen_document::{bind::svg_picture, work};
use skrifa::{
    FontRef, GlyphId, MetadataProvider,
    color::{Brush, Color, ColorPainter, ColorStop, CompositeMode, Extend, Transform},
    instance::{LocationRef, Size},
    metrics::BoundingBox,
    outline::{DrawSettings, pen::SvgPen},
    raw::types::BoundingBox as ClipBox,
};

use crate::color_glyph::GlyphPicture;

/// Maximum number of painted operations of a glyph; emoji have a few dozen.
const MAX_OPERATIONS: usize = 10_000;
/// Maximum size of a drawing, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Side of what is filled where only a clip path limits it, in font units.
const EVERYWHERE: f32 = 65_536.0;
/// Index of the color of the text around, which is black here: the picture of a glyph is the same in
/// texts of all colors.
const FOREGROUND: u16 = 0xFFFF;

/// Whether a glyph is drawn in colors.
pub(crate) fn is_layered(font: &FontRef<'_>, glyph: u16) -> bool {
    font.color_glyphs().get(GlyphId::from(glyph)).is_some()
}

/// The drawing of a glyph of a font with color layers: its layers, or else its outline in black.
pub(crate) fn drawing(
    font: &FontRef<'_>,
    location: LocationRef<'_>,
    glyph: u16,
    units_per_em: f32,
) -> Option<GlyphPicture> {
    let id = GlyphId::from(glyph);
    let palettes = font.color_palettes();
    let palette = palettes.get(0);
    let mut painter = Painter {
        font,
        location,
        palette: palette.as_ref().map_or(&[], |palette| palette.colors()),
        body: String::new(),
        definitions: String::new(),
        count: 0,
        bounds: None,
    };
    let mut clip = None;
    match font.color_glyphs().get(id) {
        Some(layers) => {
            layers.paint(location, &mut painter).ok()?;
            clip = layers.bounding_box(location, Size::unscaled());
        }
        None => painter.fill_glyph(
            id,
            None,
            Brush::Solid {
                palette_index: FOREGROUND,
                alpha: 1.0,
            },
        ),
    }
    if painter.is_full() {
        return None;
    }
    let whole = clip.or(painter.bounds)?;
    let (width, height) = (whole.x_max - whole.x_min, whole.y_max - whole.y_min);
    if !(width > 0.0 && height > 0.0 && width < EVERYWHERE && height < EVERYWHERE) {
        return None;
    }
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{} {} {width} {height}\"><defs>{}</defs><g transform=\"scale(1 -1)\">{}</g></svg>",
        whole.x_min, -whole.y_max, painter.definitions, painter.body
    );
    Some(GlyphPicture {
        data: Arc::new(svg_picture(&Arc::from(svg.into_bytes()))?),
        left: whole.x_min / units_per_em,
        top: -whole.y_max / units_per_em,
        width: width / units_per_em,
        height: height / units_per_em,
    })
}

/// Writes what a glyph paints as SVG, in font units.
struct Painter<'a> {
    font: &'a FontRef<'a>,
    location: LocationRef<'a>,
    palette: &'a [Color],
    body: String,
    definitions: String,
    /// Operations so far, which number the definitions.
    count: usize,
    /// Extent of the glyphs that were filled, without transforms.
    bounds: Option<ClipBox<f32>>,
}

impl Painter<'_> {
    fn is_full(&self) -> bool {
        self.count > MAX_OPERATIONS || self.body.len() + self.definitions.len() > MAX_BYTES
    }

    /// Counts an operation. False if there were too many.
    fn goes_on(&mut self) -> bool {
        work::check();
        self.count += 1;
        !self.is_full()
    }

    fn outline(&self, glyph: GlyphId) -> String {
        let mut pen = SvgPen::new();
        if let Some(outline) = self.font.outline_glyphs().get(glyph) {
            let _ = outline.draw(
                DrawSettings::unhinted(Size::unscaled(), self.location),
                &mut pen,
            );
        }
        pen.to_string()
    }

    fn grow(&mut self, glyph: GlyphId) {
        let metrics = self.font.glyph_metrics(Size::unscaled(), self.location);
        let Some(BoundingBox {
            x_min,
            y_min,
            x_max,
            y_max,
        }) = metrics.bounds(glyph)
        else {
            return;
        };
        let own = ClipBox {
            x_min,
            y_min,
            x_max,
            y_max,
        };
        let known = self.bounds.unwrap_or(own);
        self.bounds = Some(ClipBox {
            x_min: known.x_min.min(x_min),
            y_min: known.y_min.min(y_min),
            x_max: known.x_max.max(x_max),
            y_max: known.y_max.max(y_max),
        });
    }

    /// A color of the palette as `rgb()`, and its opacity.
    fn color(&self, index: u16, alpha: f32) -> (String, f32) {
        let black = Color {
            blue: 0,
            green: 0,
            red: 0,
            alpha: 255,
        };
        let color = self.palette.get(usize::from(index)).unwrap_or(&black);
        let opacity = f32::from(color.alpha) / 255.0 * alpha.clamp(0.0, 1.0);
        (
            format!("rgb({},{},{})", color.red, color.green, color.blue),
            opacity,
        )
    }

    /// The attributes that fill a shape with the color of a stop; nothing without one.
    fn solid(&self, stop: Option<&ColorStop>) -> String {
        let (index, alpha) = stop.map_or((FOREGROUND, 0.0), |it| (it.palette_index, it.alpha));
        let (color, opacity) = self.color(index, alpha);
        format!("fill=\"{color}\" fill-opacity=\"{opacity}\"")
    }

    /// The attributes that fill a shape with `brush`.
    fn paint(&mut self, brush: &Brush<'_>, transform: Option<Transform>) -> String {
        let (element, place, stops, extend) = match brush {
            Brush::Solid {
                palette_index,
                alpha,
            } => {
                let stop = ColorStop {
                    offset: 0.0,
                    palette_index: *palette_index,
                    alpha: *alpha,
                };
                return self.solid(Some(&stop));
            }
            Brush::LinearGradient {
                p0,
                p1,
                color_stops,
                extend,
            } => (
                "linearGradient",
                format!(
                    "x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"",
                    p0.x, p0.y, p1.x, p1.y
                ),
                color_stops.to_vec(),
                *extend,
            ),
            Brush::RadialGradient { extend, .. } => {
                let (place, stops) = circles(brush);
                ("radialGradient", place, stops, *extend)
            }
            // SVG has no gradients around a point: the color halfway is the nearest.
            Brush::SweepGradient { color_stops, .. } => {
                return self.solid(color_stops.get(color_stops.len() / 2));
            }
        };
        if stops.len() < 2 {
            return self.solid(stops.first());
        }
        let name = format!("p{}", self.count);
        let spread = match extend {
            Extend::Repeat => "repeat",
            Extend::Reflect => "reflect",
            _ => "pad",
        };
        let transform = transform.map_or_else(String::new, |it| {
            format!(" gradientTransform=\"{}\"", matrix(it))
        });
        let _ = write!(
            self.definitions,
            "<{element} id=\"{name}\" gradientUnits=\"userSpaceOnUse\" spreadMethod=\"{spread}\" \
             {place}{transform}>"
        );
        for stop in stops {
            let (color, opacity) = self.color(stop.palette_index, stop.alpha);
            let _ = write!(
                self.definitions,
                "<stop offset=\"{}\" stop-color=\"{color}\" stop-opacity=\"{opacity}\"/>",
                stop.offset
            );
        }
        let _ = write!(self.definitions, "</{element}>");
        format!("fill=\"url(#{name})\"")
    }

    fn push_clip(&mut self, shape: &str) {
        if !self.goes_on() {
            return;
        }
        let count = self.count;
        let _ = write!(
            self.definitions,
            "<clipPath id=\"c{count}\">{shape}</clipPath>"
        );
        let _ = write!(self.body, "<g clip-path=\"url(#c{count})\">");
    }

    fn close(&mut self) {
        if !self.is_full() {
            self.body.push_str("</g>");
        }
    }
}

impl ColorPainter for Painter<'_> {
    fn push_transform(&mut self, transform: Transform) {
        if self.goes_on() {
            let _ = write!(self.body, "<g transform=\"{}\">", matrix(transform));
        }
    }

    fn pop_transform(&mut self) {
        self.close();
    }

    fn push_clip_glyph(&mut self, glyph: GlyphId) {
        self.grow(glyph);
        let shape = format!("<path d=\"{}\"/>", self.outline(glyph));
        self.push_clip(&shape);
    }

    fn push_clip_box(&mut self, area: ClipBox<f32>) {
        let shape = format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            area.x_min,
            area.y_min,
            (area.x_max - area.x_min).max(0.0),
            (area.y_max - area.y_min).max(0.0)
        );
        self.push_clip(&shape);
    }

    fn pop_clip(&mut self) {
        self.close();
    }

    fn fill(&mut self, brush: Brush<'_>) {
        if self.goes_on() {
            let fill = self.paint(&brush, None);
            let (from, side) = (-EVERYWHERE / 2.0, EVERYWHERE);
            let _ = write!(
                self.body,
                "<rect x=\"{from}\" y=\"{from}\" width=\"{side}\" height=\"{side}\" {fill}/>"
            );
        }
    }

    fn fill_glyph(&mut self, glyph: GlyphId, transform: Option<Transform>, brush: Brush<'_>) {
        if self.goes_on() {
            self.grow(glyph);
            let fill = self.paint(&brush, transform);
            let outline = self.outline(glyph);
            let _ = write!(self.body, "<path d=\"{outline}\" {fill}/>");
        }
    }

    fn push_layer(&mut self, mode: CompositeMode) {
        if self.goes_on() {
            let blend = blend(mode);
            let _ = write!(
                self.body,
                "<g style=\"isolation:isolate;mix-blend-mode:{blend}\">"
            );
        }
    }

    fn pop_layer(&mut self) {
        self.close();
    }
}

/// The circles of a radial gradient as attributes of SVG, which has the smaller one first, and its
/// stops in that order.
fn circles(brush: &Brush<'_>) -> (String, Vec<ColorStop>) {
    let Brush::RadialGradient {
        c0,
        r0,
        c1,
        r1,
        color_stops,
        ..
    } = brush
    else {
        return (String::new(), Vec::new());
    };
    let mut stops = color_stops.to_vec();
    let ((inner, from), (outer, to)) = if r0 <= r1 {
        ((c0, r0), (c1, r1))
    } else {
        stops.reverse();
        for stop in &mut stops {
            stop.offset = 1.0 - stop.offset;
        }
        ((c1, r1), (c0, r0))
    };
    let place = format!(
        "fx=\"{}\" fy=\"{}\" fr=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"",
        inner.x,
        inner.y,
        from.max(0.0),
        outer.x,
        outer.y,
        to.max(0.01)
    );
    (place, stops)
}

fn matrix(it: Transform) -> String {
    format!(
        "matrix({} {} {} {} {} {})",
        it.xx, it.yx, it.xy, it.yy, it.dx, it.dy
    )
}

/// The blend mode of SVG. Layers that cut others (`SrcIn` and its like) are drawn over them.
fn blend(mode: CompositeMode) -> &'static str {
    match mode {
        CompositeMode::Screen => "screen",
        CompositeMode::Overlay => "overlay",
        CompositeMode::Darken => "darken",
        CompositeMode::Lighten => "lighten",
        CompositeMode::ColorDodge => "color-dodge",
        CompositeMode::ColorBurn => "color-burn",
        CompositeMode::HardLight => "hard-light",
        CompositeMode::SoftLight => "soft-light",
        CompositeMode::Difference => "difference",
        CompositeMode::Exclusion => "exclusion",
        CompositeMode::Multiply => "multiply",
        CompositeMode::HslHue => "hue",
        CompositeMode::HslSaturation => "saturation",
        CompositeMode::HslColor => "color",
        CompositeMode::HslLuminosity => "luminosity",
        _ => "normal",
    }
}

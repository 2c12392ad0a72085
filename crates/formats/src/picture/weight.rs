//! What drawing an SVG takes, counted before it is drawn: resvg looks at no bound while it draws. It
//! puts each translucent, masked, clipped or filtered group on a layer of its own, of up to five times
//! the width and height of the picture.

use platen_document::work;
use usvg::{
    ClipPath, Group, Image, ImageKind, Mask, Node, Paint, Path, Pattern, Rect, Stroke, Transform,
    Tree,
    filter::{Filter, Kind},
    tiny_skia_path::{self, PathSegment},
};

/// Most bytes of layers, tiles and decoded pictures at a time. One layer of five times each side of
/// the largest picture has 900 MB.
const MAX_BYTES: f64 = 1e9;
/// Most steps, about a nanosecond each. A full layer of 3,000 by 3,000 pixels takes a 400th, a shadow
/// over all of it a tenth.
const MAX_STEPS: f64 = 3e10;
/// Steps of a node, and of a segment of a path.
const NODE: f64 = 200.0;
const SEGMENT: f64 = 60.0;
/// Steps of a pixel that an edge crosses: four lines each.
const CROSSED: f64 = 20.0;
/// Steps of a pixel of a layer, which is cleared, drawn, and laid onto what is below; of a mask or clip
/// path; of a picture or tile.
const LAYER: f64 = 8.0;
const MASKED: f64 = 12.0;
const SAMPLED: f64 = 20.0;
/// Most dashes that are drawn of a path.
const MAX_DASHES: f64 = 1e6;

/// Whether a drawing can be drawn within bounds, on a picture of this size.
pub(super) fn fits(tree: &Tree, transform: Transform, width: u32, height: u32) -> bool {
    let mut weigher = Weigher {
        held: 0.0,
        steps: 0.0,
        exceeded: false,
    };
    if let Some(canvas) = Canvas::whole(f64::from(width), f64::from(height)) {
        weigher.nodes(tree.root(), canvas, transform);
    }
    !weigher.exceeded
}

/// What is drawn on, from its upper left corner.
#[derive(Clone, Copy)]
struct Canvas {
    width: f64,
    height: f64,
    /// Where layers on it may be.
    reach: Rect,
}

impl Canvas {
    fn whole(width: f64, height: f64) -> Option<Self> {
        let (x, y) = (width as f32, height as f32);
        let reach = Rect::from_ltrb(-2.0 * x, -2.0 * y, 3.0 * x, 3.0 * y)?;
        Some(Self {
            width,
            height,
            reach,
        })
    }

    fn pixels(self) -> f64 {
        self.width * self.height
    }

    /// Pixels of a rectangle on it, all of them if it has no place.
    fn covered(self, rect: Rect, transform: Transform) -> f64 {
        let Some(rect) = rect.transform(transform) else {
            return self.pixels();
        };
        let part = |from: f32, to: f32, length: f64| {
            let (from, to) = (f64::from(from) - 1.0, f64::from(to) + 1.0);
            (to.min(length) - from.max(0.0)).max(0.0)
        };
        let across = part(rect.left(), rect.right(), self.width);
        across * part(rect.top(), rect.bottom(), self.height)
    }
}

/// The lines of a path.
struct Outline {
    segments: f64,
    /// Pixels that they go up and down.
    height: f64,
    /// Their length before it is transformed.
    length: f64,
}

struct Weigher {
    held: f64,
    steps: f64,
    exceeded: bool,
}

impl Weigher {
    fn spend(&mut self, steps: f64) {
        self.steps += steps;
        self.exceeded |= self.steps.is_nan() || self.steps > MAX_STEPS;
    }

    /// Weighs what happens while so many bytes are held.
    fn hold(&mut self, bytes: f64, inside: impl FnOnce(&mut Self)) {
        self.held += bytes;
        self.exceeded |= self.held.is_nan() || self.held > MAX_BYTES;
        if !self.exceeded {
            inside(self);
        }
        self.held -= bytes;
    }

    fn nodes(&mut self, parent: &Group, canvas: Canvas, transform: Transform) {
        for node in parent.children() {
            work::check();
            self.spend(NODE);
            if self.exceeded {
                return;
            }
            match node {
                Node::Group(group) => self.group(group, canvas, transform),
                Node::Path(path) => self.path(path, canvas, transform),
                Node::Image(image) => self.image(image, canvas, transform),
                Node::Text(text) => self.nodes(text.flattened(), canvas, transform),
            }
        }
    }

    fn group(&mut self, group: &Group, canvas: Canvas, transform: Transform) {
        let transform = transform.pre_concat(group.transform());
        if !group.should_isolate() {
            self.nodes(group, canvas, transform);
        } else if let Some((layer, transform)) = layer(group, canvas.reach, transform) {
            self.spend(layer.pixels() * LAYER);
            self.hold(layer.pixels() * 4.0, |this| {
                this.nodes(group, layer, transform);
                for filter in group.filters() {
                    this.filter(filter, layer, transform);
                }
                if let Some(clip) = group.clip_path() {
                    this.clip(clip, layer, transform);
                }
                if let Some(mask) = group.mask() {
                    this.mask(mask, layer, transform);
                }
            });
        }
    }

    /// Results of all primitives are kept until the last one is done.
    fn filter(&mut self, filter: &Filter, layer: Canvas, transform: Transform) {
        let (scale_x, scale_y) = transform.get_scale();
        let results = filter.primitives().len() as f64 + 4.0;
        self.hold(layer.pixels() * 4.0 * results, |this| {
            for primitive in filter.primitives() {
                work::check();
                // How many pixels each one is made of, on either side.
                let window = |radius: f32, scale: f32, most: f64| {
                    (f64::from(radius * scale).round() * 2.0 + 1.0).min(most)
                };
                let steps = match primitive.kind() {
                    Kind::GaussianBlur(_) | Kind::DropShadow(_) => 80.0,
                    Kind::DiffuseLighting(_) | Kind::SpecularLighting(_) => 80.0,
                    Kind::Turbulence(noise) => 80.0 * f64::from(noise.num_octaves()),
                    Kind::Merge(merge) => SAMPLED * merge.inputs().len() as f64,
                    Kind::ConvolveMatrix(convolve) => 8.0 * convolve.matrix().data().len() as f64,
                    Kind::Morphology(morphology) => {
                        let across = window(morphology.radius_x().get(), scale_x, layer.width);
                        let down = window(morphology.radius_y().get(), scale_y, layer.height);
                        2.0 * across * down
                    }
                    _ => SAMPLED,
                };
                this.spend(layer.pixels() * (SAMPLED + steps));
                if this.exceeded {
                    return;
                }
                if let Kind::Image(image) = primitive.kind() {
                    let own = Transform::from_scale(scale_x, scale_y);
                    this.nodes(image.root(), layer, own);
                }
            }
        });
    }

    fn clip(&mut self, clip: &ClipPath, layer: Canvas, transform: Transform) {
        self.spend(layer.pixels() * MASKED);
        self.hold(layer.pixels() * 5.0, |this| {
            let own = transform.pre_concat(clip.transform());
            this.clipping(clip.root(), layer, own);
            if let Some(next) = clip.clip_path() {
                this.clip(next, layer, transform);
            }
        });
    }

    fn clipping(&mut self, parent: &Group, layer: Canvas, transform: Transform) {
        for node in parent.children() {
            work::check();
            self.spend(NODE);
            if self.exceeded {
                return;
            }
            match node {
                Node::Group(group) => {
                    let transform = transform.pre_concat(group.transform());
                    let Some(clip) = group.clip_path() else {
                        self.clipping(group, layer, transform);
                        continue;
                    };
                    self.spend(layer.pixels() * LAYER);
                    self.hold(layer.pixels() * 4.0, |this| {
                        this.clipping(group, layer, transform);
                        this.clip(clip, layer, transform);
                    });
                }
                Node::Path(path) => self.path(path, layer, transform),
                Node::Text(text) => self.clipping(text.flattened(), layer, transform),
                Node::Image(_) => {}
            }
        }
    }

    fn mask(&mut self, mask: &Mask, layer: Canvas, transform: Transform) {
        self.spend(layer.pixels() * MASKED);
        self.hold(layer.pixels() * 5.0, |this| {
            this.nodes(mask.root(), layer, transform);
            if let Some(next) = mask.mask() {
                this.mask(next, layer, transform);
            }
        });
    }

    fn path(&mut self, path: &Path, canvas: Canvas, transform: Transform) {
        if !path.is_visible() {
            return;
        }
        let outline = outline(path.data(), transform, canvas.height);
        if let Some(fill) = path.fill() {
            self.spend(outline.segments * SEGMENT + outline.height * CROSSED);
            let pixels = canvas.covered(path.bounding_box(), transform);
            self.paint(fill.paint(), pixels, canvas, transform);
        }
        if let Some(stroke) = path.stroke() {
            let pixels = canvas.covered(path.stroke_bounding_box(), transform);
            let (steps, drawn) = stroked(stroke, &outline, transform, canvas.height);
            self.spend(steps);
            self.paint(stroke.paint(), pixels.min(drawn), canvas, transform);
        }
    }

    fn paint(&mut self, paint: &Paint, pixels: f64, canvas: Canvas, transform: Transform) {
        match paint {
            Paint::Color(_) => self.spend(pixels),
            Paint::LinearGradient(gradient) => {
                self.spend(pixels * (4.0 + gradient.stops().len() as f64));
            }
            Paint::RadialGradient(gradient) => {
                self.spend(pixels * (8.0 + gradient.stops().len() as f64));
            }
            Paint::Pattern(pattern) => {
                self.spend(pixels * SAMPLED);
                self.tile(pattern, canvas, transform);
            }
        }
    }

    fn tile(&mut self, pattern: &Pattern, canvas: Canvas, transform: Transform) {
        let (across, down) = transform.pre_concat(pattern.transform()).get_scale();
        let rect = pattern.rect();
        let tile = Canvas {
            width: f64::from(rect.width() * across).round(),
            height: f64::from(rect.height() * down).round(),
            reach: canvas.reach,
        };
        self.spend(tile.pixels());
        self.hold(tile.pixels() * 4.0, |this| {
            this.nodes(pattern.root(), tile, Transform::from_scale(across, down));
        });
    }

    /// A picture is decoded again each time.
    fn image(&mut self, image: &Image, canvas: Canvas, transform: Transform) {
        if !image.is_visible() {
            return;
        }
        if let ImageKind::SVG(tree) = image.kind() {
            self.spend(canvas.pixels() * LAYER);
            if let Some(layer) = Canvas::whole(canvas.width, canvas.height) {
                self.hold(layer.pixels() * 4.0, |this| {
                    this.nodes(tree.root(), layer, transform);
                });
            }
            return;
        }
        let (width, height) = (image.size().width(), image.size().height());
        let pixels = f64::from(width) * f64::from(height);
        self.spend(pixels * SAMPLED);
        // The decoder has its own copy.
        self.hold(pixels * 8.0, |_| {});
        if let Some(rect) = Rect::from_xywh(0.0, 0.0, width, height) {
            self.spend(canvas.covered(rect, transform) * SAMPLED);
        }
    }
}

/// The layer of an isolated group and what transforms onto it, as resvg chooses them. `None` if
/// nothing of it can be seen.
fn layer(group: &Group, reach: Rect, transform: Transform) -> Option<(Canvas, Transform)> {
    let is_plain = group.filters().is_empty();
    // Filters work on what is not turned.
    let turned = if is_plain {
        Transform::identity()
    } else {
        let x = transform.sx.hypot(transform.ky);
        let y = transform.kx.hypot(transform.sy);
        let (sx, ky) = (transform.sx / x, transform.ky / x);
        let (kx, sy) = (transform.kx / y, transform.sy / y);
        Transform::from_row(sx, ky, kx, sy, 0.0, 0.0)
    };
    let back = turned.invert()?;
    let reach = reach.transform(back)?;
    let transform = back.pre_concat(transform);
    let rect = group.layer_bounding_box().transform(transform)?;
    let margin = if is_plain { 2.0 } else { 0.0 };
    let left = (rect.left().floor() - margin).max(reach.left());
    let top = (rect.top().floor() - margin).max(reach.top());
    let right = (rect.right().ceil() + margin + 1.0).min(reach.right());
    let bottom = (rect.bottom().ceil() + margin + 1.0).min(reach.bottom());
    if left >= right || top >= bottom {
        return None;
    }
    let canvas = Canvas {
        width: f64::from(right - left),
        height: f64::from(bottom - top),
        reach,
    };
    Some((canvas, transform.post_translate(-left, -top)))
}

/// Curves count as the lines between their points, which are longer.
fn outline(path: &tiny_skia_path::Path, transform: Transform, most: f64) -> Outline {
    let mut outline = Outline {
        segments: 0.0,
        height: 0.0,
        length: 0.0,
    };
    let (mut pen, mut start) = ((0.0_f32, 0.0_f32), (0.0_f32, 0.0_f32));
    let mut line = |pen: &mut (f32, f32), x: f32, y: f32| {
        let (across, down) = (x - pen.0, y - pen.1);
        let height = (across * transform.ky + down * transform.sy).abs();
        outline.height += f64::from(height).min(most);
        outline.length += f64::from(across.hypot(down));
        *pen = (x, y);
    };
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(to) => {
                pen = (to.x, to.y);
                start = pen;
            }
            PathSegment::LineTo(to) => line(&mut pen, to.x, to.y),
            PathSegment::QuadTo(first, to) => {
                line(&mut pen, first.x, first.y);
                line(&mut pen, to.x, to.y);
            }
            PathSegment::CubicTo(first, second, to) => {
                line(&mut pen, first.x, first.y);
                line(&mut pen, second.x, second.y);
                line(&mut pen, to.x, to.y);
            }
            PathSegment::Close => line(&mut pen, start.0, start.1),
        }
    }
    outline.segments = path.verbs().len() as f64;
    outline
}

/// Steps of the outline of a stroke, and pixels that it covers at most.
fn stroked(stroke: &Stroke, path: &Outline, transform: Transform, most: f64) -> (f64, f64) {
    let (across, down) = transform.get_scale();
    let scale = f64::from(across.max(down));
    let width = f64::from(stroke.width().get()) * scale;
    let dashes = stroke.dasharray().map_or(0.0, |list| {
        let whole: f64 = list.iter().copied().map(f64::from).sum();
        (path.length * list.len() as f64 / whole).min(MAX_DASHES)
    });
    let segments = path.segments + dashes;
    // Two sides, and a join or end of each segment.
    let height = 3.0 * path.height + segments * 4.0 * width.min(most);
    let steps = segments * 4.0 * SEGMENT + height * CROSSED;
    let ends = (segments + 1.0) * (width + 2.0) * (width + 2.0);
    (steps, (path.length * scale + 1.0) * (width + 2.0) + ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits_at(body: &str, side: u32) -> bool {
        let source = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{side}\" height=\"{side}\">{body}</svg>"
        );
        let tree = Tree::from_str(&source, &usvg::Options::default()).unwrap();
        fits(&tree, Transform::identity(), side, side)
    }

    #[test]
    fn drawings_that_take_too_much_are_found() {
        let whole = "<path d=\"M0 0H3000V3000H0z\"/>";
        let nested = format!(
            "{}{whole}{}",
            "<g opacity=\".9\">".repeat(110),
            "</g>".repeat(110)
        );
        let filter = |primitive: &str| {
            format!("<filter id=\"f\">{primitive}</filter><g filter=\"url(#f)\">{whole}</g>")
        };
        let zigzag = format!("<path d=\"M0 0{}\"/>", "l1 3000l-1-3000".repeat(300_000));
        for body in [
            nested,
            format!("<g opacity=\".5\">{whole}</g>").repeat(9_000),
            filter("<feMorphology radius=\"900\"/>"),
            filter("<feTurbulence baseFrequency=\".1\" numOctaves=\"900000\"/>"),
            filter(&"<feFlood/>".repeat(90)),
            zigzag,
        ] {
            assert!(!fits_at(&body, 3_000), "{}", &body[..60]);
        }
    }

    #[test]
    fn drawings_as_people_make_them_fit() {
        let whole = "<path d=\"M0 0H3000V3000H0z\"/>";
        let groups = format!("<g opacity=\".9\">{whole}</g>").repeat(20);
        let shadow = "<filter id=\"f\"><feGaussianBlur stdDeviation=\"20\"/><feOffset dx=\"9\"/>\
                      <feMerge><feMergeNode/><feMergeNode in=\"SourceGraphic\"/></feMerge></filter>";
        let masked =
            "<mask id=\"m\"><circle cx=\"1500\" cy=\"1500\" r=\"900\" fill=\"#fff\"/></mask>";
        let dotted: String = (0..5_000)
            .map(|at| {
                format!("<path stroke=\"#000\" stroke-dasharray=\"2 3\" d=\"M0 {at}H3000\"/>")
            })
            .collect();
        for body in [
            groups,
            format!("{shadow}<g filter=\"url(#f)\">{whole}</g>"),
            format!("{masked}<g mask=\"url(#m)\">{whole}</g>"),
            dotted,
        ] {
            assert!(fits_at(&body, 3_000), "{}", &body[..60]);
        }
    }
}

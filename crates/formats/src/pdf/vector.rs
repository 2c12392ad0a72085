//! SVG drawings as form XObjects, so that they stay vectors (ISO 32000-1 §8.10).
//!
//! A form is drawn in the unit square like an image. What PDF has no equal for (filters, masks,
//! patterns, blend modes, gradients with translucent stops) makes the whole drawing pixels.

use std::fmt::Write as _;

use usvg::{
    BlendMode, ClipPath, FillRule, Group, LineCap, LineJoin, Node, Paint, PaintOrder, Path,
    SpreadMethod, Stop, Stroke, Transform, Tree,
    tiny_skia_path::{self, PathSegment},
};

use super::{
    file::File,
    image::Written,
    syntax::{Reference, Syntax},
};

/// Writes a drawing; `None` if PDF cannot express it.
pub(super) fn write(file: &mut File, tree: &Tree) -> Option<Written> {
    if !is_expressible(tree.root()) {
        return None;
    }
    let resources = file.reserve();
    let mut drawing = Drawing {
        file,
        resources,
        states: Vec::new(),
        patterns: Vec::new(),
        forms: Vec::new(),
    };
    let mut content = Vec::new();
    drawing.group(tree.root(), Transform::identity(), &mut content);
    let (width, height) = (tree.size().width(), tree.size().height());
    // The unit square, with the y axis of PDF.
    let matrix = Transform::from_row(1.0 / width, 0.0, 0.0, -1.0 / height, 0.0, 1.0);
    let entries = form_entries(resources, (0.0, 0.0, width, height), matrix, "");
    let reference = drawing.file.reserve();
    drawing.file.stream(reference, &entries, &content);
    let translucent = !drawing.forms.is_empty()
        || drawing
            .states
            .iter()
            .any(|state| *state != (1.0_f32.to_bits(), 1.0_f32.to_bits()));
    drawing.write_resources();
    Some(Written {
        reference,
        translucent,
        archival: true,
    })
}

fn is_expressible(group: &Group) -> bool {
    group.filters().is_empty()
        && group.mask().is_none()
        && group.blend_mode() == BlendMode::Normal
        && group.clip_path().is_none_or(is_plain_clip)
        && group.children().iter().all(|child| match child {
            Node::Group(group) => is_expressible(group),
            Node::Path(path) => {
                let fill = path.fill().map(usvg::Fill::paint);
                let stroke = path.stroke().map(Stroke::paint);
                fill.into_iter().chain(stroke).all(is_plain_paint)
            }
            Node::Image(_) | Node::Text(_) => false,
        })
}

/// Whether a clip is an outline: paths of one rule in groups without clips of their own.
fn is_plain_clip(clip: &ClipPath) -> bool {
    fn plain(group: &Group) -> bool {
        group.clip_path().is_none()
            && group.children().iter().all(|child| match child {
                Node::Group(group) => plain(group),
                Node::Path(_) => true,
                Node::Image(_) | Node::Text(_) => false,
            })
    }
    clip.clip_path().is_none() && plain(clip.root())
}

fn is_plain_paint(paint: &Paint) -> bool {
    let (spread, stops) = match paint {
        Paint::Color(_) => return true,
        Paint::LinearGradient(gradient) => (gradient.spread_method(), gradient.stops()),
        Paint::RadialGradient(gradient) => (gradient.spread_method(), gradient.stops()),
        Paint::Pattern(_) => return false,
    };
    spread == SpreadMethod::Pad
        && !stops.is_empty()
        && stops.iter().all(|stop| stop.opacity().get() >= 1.0)
}

struct Drawing<'f> {
    file: &'f mut File,
    /// The dictionary that all forms of the drawing share.
    resources: Reference,
    /// Opacities of fill and stroke, as bits.
    states: Vec<(u32, u32)>,
    patterns: Vec<Reference>,
    /// Groups with an opacity of their own.
    forms: Vec<Reference>,
}

impl Drawing<'_> {
    /// Draws a group; `outer` leads from its parent's space to that of the form.
    fn group(&mut self, group: &Group, outer: Transform, out: &mut Vec<u8>) {
        let own = outer.pre_concat(group.transform());
        out.raw("q ");
        concat(out, group.transform());
        if let Some(clip) = group.clip_path() {
            self.clip(clip, out);
        }
        if group.opacity().get() < 1.0 {
            self.translucent_group(group, out);
        } else {
            self.children(group, own, out);
        }
        out.raw("Q\n");
    }

    fn children(&mut self, group: &Group, own: Transform, out: &mut Vec<u8>) {
        for child in group.children() {
            match child {
                Node::Group(group) => self.group(group, own, out),
                Node::Path(path) if path.is_visible() => self.path(path, own, out),
                Node::Path(_) | Node::Image(_) | Node::Text(_) => {}
            }
        }
    }

    /// Draws a group as a whole with its opacity (a transparency group, §11.6.6).
    fn translucent_group(&mut self, group: &Group, out: &mut Vec<u8>) {
        let mut content = Vec::new();
        self.children(group, Transform::identity(), &mut content);
        let bounds = group.stroke_bounding_box();
        let area = (
            bounds.left() - 1.0,
            bounds.top() - 1.0,
            bounds.right() + 1.0,
            bounds.bottom() + 1.0,
        );
        let entries = form_entries(
            self.resources,
            area,
            Transform::identity(),
            "/Group<</S/Transparency/CS/DeviceRGB/I true>>",
        );
        let reference = self.file.reserve();
        self.file.stream(reference, &entries, &content);
        self.forms.push(reference);
        let opacity = group.opacity().get();
        self.state(opacity, opacity, out);
        out.raw("/F")
            .integer(self.forms.len() as i64 - 1)
            .raw(" Do\n");
    }

    /// Clips to the union of the clip's outlines.
    fn clip(&mut self, clip: &ClipPath, out: &mut Vec<u8>) {
        let mut even_odd = false;
        let mut paths = 0;
        fn outlines<'p>(
            group: &'p Group,
            outer: Transform,
            found: &mut Vec<(&'p Path, Transform)>,
        ) {
            let own = outer.pre_concat(group.transform());
            for child in group.children() {
                match child {
                    Node::Group(group) => outlines(group, own, found),
                    Node::Path(path) => found.push((path, own)),
                    Node::Image(_) | Node::Text(_) => {}
                }
            }
        }
        let mut found = Vec::new();
        outlines(clip.root(), clip.transform(), &mut found);
        for (path, transform) in found {
            if let Some(data) = path.data().clone().transform(transform) {
                segments(out, &data);
                paths += 1;
                even_odd = path
                    .fill()
                    .is_some_and(|fill| fill.rule() == FillRule::EvenOdd);
            }
        }
        if paths == 0 {
            // An empty clip hides everything.
            out.raw("0 0 0 0 re ");
        }
        out.raw(if even_odd && paths == 1 {
            "W* n\n"
        } else {
            "W n\n"
        });
    }

    fn path(&mut self, path: &Path, own: Transform, out: &mut Vec<u8>) {
        match path.paint_order() {
            PaintOrder::FillAndStroke => {
                self.fill(path, own, out);
                self.stroke(path, own, out);
            }
            PaintOrder::StrokeAndFill => {
                self.stroke(path, own, out);
                self.fill(path, own, out);
            }
        }
    }

    fn fill(&mut self, path: &Path, own: Transform, out: &mut Vec<u8>) {
        let Some(fill) = path.fill() else { return };
        out.raw("q ");
        let opacity = fill.opacity().get();
        self.state(opacity, opacity, out);
        self.paint(fill.paint(), own, out, ("rg", "cs", "scn"));
        segments(out, path.data());
        out.raw(match fill.rule() {
            FillRule::NonZero => "f Q\n",
            FillRule::EvenOdd => "f* Q\n",
        });
    }

    fn stroke(&mut self, path: &Path, own: Transform, out: &mut Vec<u8>) {
        let Some(stroke) = path.stroke() else { return };
        out.raw("q ");
        let opacity = stroke.opacity().get();
        self.state(opacity, opacity, out);
        self.paint(stroke.paint(), own, out, ("RG", "CS", "SCN"));
        out.number(stroke.width().get(), 4).raw(" w ");
        let cap = match stroke.linecap() {
            LineCap::Butt => 0,
            LineCap::Round => 1,
            LineCap::Square => 2,
        };
        let join = match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => 0,
            LineJoin::Round => 1,
            LineJoin::Bevel => 2,
        };
        out.integer(cap).raw(" J ").integer(join).raw(" j ");
        out.number(stroke.miterlimit().get(), 3).raw(" M ");
        if let Some(dashes) = stroke.dasharray() {
            out.raw("[");
            for dash in dashes {
                out.number(*dash, 3).raw(" ");
            }
            out.raw("] ").number(stroke.dashoffset(), 3).raw(" d ");
        }
        segments(out, path.data());
        out.raw("S Q\n");
    }

    /// Selects opacities of fill and stroke, unless both are full.
    fn state(&mut self, fill: f32, stroke: f32, out: &mut Vec<u8>) {
        if fill >= 1.0 && stroke >= 1.0 {
            return;
        }
        let wanted = (fill.to_bits(), stroke.to_bits());
        let known = self.states.iter().position(|state| *state == wanted);
        let index = known.unwrap_or_else(|| {
            self.states.push(wanted);
            self.states.len() - 1
        });
        out.raw("/G").integer(index as i64).raw(" gs ");
    }

    fn paint(
        &mut self,
        paint: &Paint,
        own: Transform,
        out: &mut Vec<u8>,
        (color, space, pattern): (&str, &str, &str),
    ) {
        let reference = match paint {
            Paint::Color(rgb) => {
                for part in [rgb.red, rgb.green, rgb.blue] {
                    out.number(f32::from(part) / 255.0, 3).raw(" ");
                }
                out.raw(color).raw(" ");
                return;
            }
            Paint::LinearGradient(gradient) => {
                let mut ends = String::new();
                for end in [gradient.x1(), gradient.y1(), gradient.x2(), gradient.y2()] {
                    push_number(&mut ends, end);
                }
                let matrix = own.pre_concat(gradient.transform());
                self.shading(2, &ends, gradient.stops(), matrix)
            }
            Paint::RadialGradient(gradient) => {
                let mut ends = String::new();
                for end in [
                    gradient.fx(),
                    gradient.fy(),
                    gradient.fr().get(),
                    gradient.cx(),
                    gradient.cy(),
                    gradient.r().get(),
                ] {
                    push_number(&mut ends, end);
                }
                let matrix = own.pre_concat(gradient.transform());
                self.shading(3, &ends, gradient.stops(), matrix)
            }
            // Such a drawing has become pixels.
            Paint::Pattern(_) => return,
        };
        self.patterns.push(reference);
        let index = self.patterns.len() as i64 - 1;
        out.raw("/Pattern ").raw(space).raw(" /P").integer(index);
        out.raw(" ").raw(pattern).raw(" ");
    }

    /// Writes a shading pattern (§8.7.4). Its matrix leads to the space of the form.
    fn shading(&mut self, kind: u8, ends: &str, stops: &[Stop], matrix: Transform) -> Reference {
        let function = stitched(stops);
        let mut body = String::from("<</PatternType 2/Matrix[");
        push_matrix(&mut body, matrix);
        let _ = write!(
            body,
            "]/Shading<</ShadingType {kind}/ColorSpace/DeviceRGB/Coords[{ends}]/Extend[true true]\
             /Function {function}>>>>"
        );
        self.file.add(|out| {
            out.raw(&body);
        })
    }

    fn write_resources(self) {
        let Self {
            file,
            resources,
            states,
            patterns,
            forms,
        } = self;
        file.object(resources, |out| {
            out.raw("<</ExtGState<<");
            for (index, (fill, stroke)) in states.iter().enumerate() {
                out.raw("/G").integer(index as i64).raw("<</ca ");
                out.number(f32::from_bits(*fill), 3).raw("/CA ");
                out.number(f32::from_bits(*stroke), 3).raw(">>");
            }
            out.raw(">>/Pattern<<");
            for (index, pattern) in patterns.iter().enumerate() {
                out.raw("/P")
                    .integer(index as i64)
                    .raw(" ")
                    .reference(*pattern);
            }
            out.raw(">>/XObject<<");
            for (index, form) in forms.iter().enumerate() {
                out.raw("/F")
                    .integer(index as i64)
                    .raw(" ")
                    .reference(*form);
            }
            out.raw(">>>>");
        });
    }
}

/// The dictionary entries of a form.
fn form_entries(
    resources: Reference,
    (left, top, right, bottom): (f32, f32, f32, f32),
    matrix: Transform,
    more: &str,
) -> String {
    let mut entries = String::from("/Type/XObject/Subtype/Form/BBox[");
    for side in [left, top, right, bottom] {
        push_number(&mut entries, side);
    }
    entries.push_str("]/Matrix[");
    push_matrix(&mut entries, matrix);
    let _ = write!(entries, "]/Resources {} 0 R{more}", resources.0);
    entries
}

/// A function from 0 to 1 through the colors of all stops (§7.10.4).
fn stitched(stops: &[Stop]) -> String {
    let mut points: Vec<(f32, [f32; 3])> = Vec::with_capacity(stops.len() + 2);
    for stop in stops {
        let color = stop.color();
        let parts = [color.red, color.green, color.blue].map(|part| f32::from(part) / 255.0);
        // Bounds must grow; stops at the same place are a sharp edge.
        let least = points.last().map_or(0.0, |(offset, _)| offset + 1e-4);
        points.push((stop.offset().get().max(least), parts));
    }
    if let Some((first, color)) = points.first().copied()
        && first > 0.0
    {
        points.insert(0, (0.0, color));
    }
    if let Some((last, color)) = points.last().copied()
        && (last < 1.0 || points.len() == 1)
    {
        points.push(((last + 1e-4).max(1.0), color));
    }
    let segment = |from: &[f32; 3], to: &[f32; 3]| {
        let mut text = String::from("<</FunctionType 2/Domain[0 1]/N 1/C0[");
        from.iter().for_each(|part| push_number(&mut text, *part));
        text.push_str("]/C1[");
        to.iter().for_each(|part| push_number(&mut text, *part));
        text.push_str("]>>");
        text
    };
    let mut functions = String::new();
    let mut bounds = String::new();
    let mut encode = String::new();
    for (index, pair) in points.windows(2).enumerate() {
        functions.push_str(&segment(&pair[0].1, &pair[1].1));
        encode.push_str("0 1 ");
        if index > 0 {
            push_number(&mut bounds, pair[0].0);
        }
    }
    let mut domain_end = String::new();
    push_number(
        &mut domain_end,
        points.last().map_or(1.0, |(offset, _)| *offset),
    );
    format!(
        "<</FunctionType 3/Domain[0 {domain_end}]/Functions[{functions}]/Bounds[{bounds}]\
         /Encode[{encode}]>>"
    )
}

fn push_number(text: &mut String, value: f32) {
    let mut out = Vec::new();
    out.number(value, 5).raw(" ");
    text.push_str(&String::from_utf8_lossy(&out));
}

fn push_matrix(text: &mut String, matrix: Transform) {
    for part in [
        matrix.sx, matrix.ky, matrix.kx, matrix.sy, matrix.tx, matrix.ty,
    ] {
        push_number(text, part);
    }
}

fn concat(out: &mut Vec<u8>, matrix: Transform) {
    if !matrix.is_identity() {
        let mut text = String::new();
        push_matrix(&mut text, matrix);
        out.raw(&text).raw("cm\n");
    }
}

fn segments(out: &mut Vec<u8>, path: &tiny_skia_path::Path) {
    let point = |out: &mut Vec<u8>, at: tiny_skia_path::Point| {
        out.number(at.x, 3).raw(" ").number(at.y, 3).raw(" ");
    };
    let mut last = tiny_skia_path::Point::zero();
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(to) => {
                point(out, to);
                out.raw("m\n");
                last = to;
            }
            PathSegment::LineTo(to) => {
                point(out, to);
                out.raw("l\n");
                last = to;
            }
            PathSegment::QuadTo(control, to) => {
                // The cubic curve of the same shape.
                let toward = |from: tiny_skia_path::Point| {
                    tiny_skia_path::Point::from_xy(
                        from.x + (control.x - from.x) * 2.0 / 3.0,
                        from.y + (control.y - from.y) * 2.0 / 3.0,
                    )
                };
                point(out, toward(last));
                point(out, toward(to));
                point(out, to);
                out.raw("c\n");
                last = to;
            }
            PathSegment::CubicTo(first, second, to) => {
                point(out, first);
                point(out, second);
                point(out, to);
                out.raw("c\n");
                last = to;
            }
            PathSegment::Close => {
                out.raw("h\n");
            }
        }
    }
}

//! A page as SVG 1.1: a run of text is one path, images are `data:` URLs.
//!
//! Each line of its body is drawn by itself, so that a viewer of changing pages may draw only the lines that differ.
//!
//! Browsers take several times as long for a reference (`<use>`) to each glyph: they copy what it refers to.

use std::{collections::HashMap, fmt::Write, rc::Rc};

use base64::{Engine, prelude::BASE64_STANDARD};
use platen_document::{
    Color,
    bound::{Crop, Document, ImageData, ImageFormat, LineStyle},
    work,
};
use platen_layout::{
    FaceId, Layout, Shaper,
    figure::{Figure, PathCommand, Shape, glyph_outline},
    page::{Area, Item, Page, TextRun},
};

/// Steps of an em that points of glyph outlines are rounded to: 0.005 pt in text of 10 pt.
const STEPS: f32 = 2048.0;

/// Draws the page with the given index; `None` if there is no such page.
#[must_use]
pub fn write(
    document: &Document,
    layout: &Layout,
    shaper: &Shaper,
    index: usize,
) -> Option<Vec<u8>> {
    let page = layout.pages.get(index)?;
    let mut writer = Writer {
        layout,
        shaper,
        glyphs: HashMap::new(),
        body: String::new(),
    };
    for item in &page.items {
        let length = writer.body.len();
        writer.draw(page, item);
        if writer.body.len() > length {
            writer.body.push('\n');
        }
    }
    let (width, height) = (Number(page.width), Number(page.height));
    let title = escape(&document.metadata.title);
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
        writer.body,
    );
    Some(svg.into_bytes())
}

/// Displays a number with at most three decimals and no trailing zeros.
struct Number(f32);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (f64::from(self.0) * 1000.0).round() / 1000.0;
        write!(f, "{}", if rounded == 0.0 { 0.0 } else { rounded })
    }
}

struct Writer<'a> {
    layout: &'a Layout,
    shaper: &'a Shaper,
    /// Path data of outlines, relative to the glyph's origin, in [`STEPS`].
    glyphs: HashMap<(FaceId, u16), Rc<str>>,
    body: String,
}

impl Writer<'_> {
    fn draw(&mut self, page: &Page, item: &Item) {
        work::check();
        match item {
            Item::Text(run) => self.text(page, run),
            Item::Rect { area, color } => self.rect(*area, *color),
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
                self.line(&[*from, *to], *width, *color, dash);
            }
            Item::Image { data, area, crop } => self.image(data, *area, *crop),
            Item::Figure { figure, at } => {
                self.push(format_args!(
                    "<g transform=\"translate({} {})\">",
                    Number(at.0),
                    Number(at.1)
                ));
                self.figure(figure);
                self.push(format_args!("</g>"));
            }
            Item::Link { target, area, .. } => self.link(target, *area),
            Item::SignatureField { .. }
            | Item::FormField { .. }
            | Item::Tag(_)
            | Item::Artifact(_) => {}
        }
    }

    fn push(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(arguments);
    }

    fn text(&mut self, page: &Page, run: &TextRun) {
        let style = &self.layout.styles[run.style];
        let (color, letter_spacing) = (style.color, style.letter_spacing + run.tracking);
        let turn = if run.rotated { " rotate(-90)" } else { "" };
        // One path for each face in turn: outlines that overlap add up only where they run in the same direction.
        let mut path: Option<FaceId> = None;
        for placed in &page.words[run.words.start as usize..run.words.end as usize] {
            let word = self.shaper.word(placed.word);
            let Some(face) = self.shaper.face(word.face) else {
                continue;
            };
            let units = face.units_per_em;
            let mut x = placed.x / run.size;
            for glyph in &word.glyphs {
                work::check();
                let outline = self.glyph(word.face, glyph.id);
                if !outline.is_empty() {
                    if path != Some(word.face) {
                        self.push(format_args!(
                            "{}<path fill=\"{color}\" transform=\"translate({} {}){turn} scale({})\" d=\"",
                            if path.is_some() { "\"/>" } else { "" },
                            Number(run.x),
                            Number(run.y),
                            run.size / STEPS
                        ));
                        path = Some(word.face);
                    }
                    let dx = steps(x + f32::from(glyph.x_offset) / units);
                    let dy = steps(-f32::from(glyph.y_offset) / units);
                    self.push(format_args!("M{dx} {dy}{outline}"));
                }
                x += f32::from(glyph.advance) / units + letter_spacing / run.size;
            }
        }
        if path.is_some() {
            self.push(format_args!("\"/>"));
        }
    }

    /// The outline of a glyph; empty if it has none.
    fn glyph(&mut self, face: FaceId, glyph: u16) -> Rc<str> {
        let shaper = self.shaper;
        let data = self.glyphs.entry((face, glyph)).or_insert_with(|| {
            let outline = shaper.face(face).map(|data| glyph_outline(data, glyph));
            Rc::from(relative_path(&outline.unwrap_or_default()))
        });
        Rc::clone(data)
    }

    fn rect(&mut self, area: Area, color: Color) {
        self.push(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{color}\"/>",
            Number(area.x),
            Number(area.y),
            Number(area.width),
            Number(area.height)
        ));
    }

    fn line(&mut self, points: &[(f32, f32)], width: f32, color: Color, dash: Option<(f32, f32)>) {
        let mut list = String::new();
        for (x, y) in points {
            let _ = write!(list, "{},{} ", Number(*x), Number(*y));
        }
        let dash = dash.map_or(String::new(), |(on, off)| {
            format!(" stroke-dasharray=\"{} {}\"", Number(on), Number(off))
        });
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}/>",
            list.trim_end(),
            Number(width)
        ));
    }

    fn image(&mut self, data: &ImageData, shown: Area, crop: Crop) {
        let media_type = match data.format {
            ImageFormat::Png => "png",
            ImageFormat::Jpeg => "jpeg",
            ImageFormat::Gif => "gif",
            ImageFormat::WebP => "webp",
            ImageFormat::Svg => "svg+xml",
            ImageFormat::Pdf => return,
        };
        let encoded = BASE64_STANDARD.encode(&data.bytes);
        let area = shown.uncropped(crop);
        let (open, close) = if crop.is_none() {
            (String::new(), "")
        } else {
            // A nested drawing cuts off what is beyond its view.
            let (x, y) = (Number(shown.x), Number(shown.y));
            let (width, height) = (Number(shown.width), Number(shown.height));
            let open = format!(
                "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 viewBox=\"{x} {y} {width} {height}\">"
            );
            (open, "</svg>")
        };
        self.push(format_args!(
            "{open}<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             xlink:href=\"data:image/{media_type};base64,{encoded}\"/>{close}",
            Number(area.x),
            Number(area.y),
            Number(area.width),
            Number(area.height)
        ));
    }

    fn link(&mut self, target: &str, area: Area) {
        if target.starts_with('#') {
            return;
        }
        self.push(format_args!("<a xlink:href=\"{}\">", escape(target)));
        self.push(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"0\"/></a>",
            Number(area.x),
            Number(area.y),
            Number(area.width),
            Number(area.height)
        ));
    }

    fn figure(&mut self, figure: &Figure) {
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
                    self.rect(area, *fill);
                }
                Shape::Line {
                    points,
                    width,
                    color,
                    dash,
                } => self.line(points, *width, *color, *dash),
                Shape::Path { commands, fill } => {
                    let data = path_data(commands);
                    self.push(format_args!("<path d=\"{data}\" fill=\"{fill}\"/>"));
                }
                Shape::Text { .. } => {}
            }
        }
    }
}

/// An em's part in [`STEPS`].
#[expect(clippy::cast_possible_truncation, reason = "positions on a page")]
fn steps(ems: f32) -> i32 {
    (ems * STEPS).round() as i32
}

/// The path data of an outline in ems, in [`STEPS`] and relative to where the path is.
fn relative_path(outline: &[PathCommand]) -> String {
    let mut path = RelativePath::default();
    for command in outline {
        match *command {
            PathCommand::MoveTo(x, y) => {
                path.push('m', &[(x, y)]);
                path.start = path.at;
            }
            PathCommand::LineTo(x, y) => path.push('l', &[(x, y)]),
            PathCommand::CurveTo(x1, y1, x2, y2, x, y) => {
                match path.quadratic((x1, y1), (x2, y2), (x, y)) {
                    Some(control) => path.push('q', &[control, (x, y)]),
                    None => path.push('c', &[(x1, y1), (x2, y2), (x, y)]),
                }
            }
            PathCommand::Close => {
                path.data.push('z');
                path.at = path.start;
            }
        }
    }
    path.data
}

#[derive(Default)]
struct RelativePath {
    data: String,
    at: (i32, i32),
    /// Where the contour began.
    start: (i32, i32),
}

impl RelativePath {
    fn push(&mut self, letter: char, points: &[(f32, f32)]) {
        self.data.push(letter);
        let from = self.at;
        for (index, (x, y)) in points.iter().enumerate() {
            self.at = (steps(*x), steps(*y));
            // Outlines of broken fonts may be anywhere.
            let dx = self.at.0.saturating_sub(from.0);
            let dy = self.at.1.saturating_sub(from.1);
            for (number, is_first) in [(dx, index == 0), (dy, false)] {
                // A minus sign separates numbers, too.
                let separator = if is_first || number < 0 { "" } else { " " };
                let _ = write!(self.data, "{separator}{number}");
            }
        }
    }

    /// The control point of the quadratic curve that a cubic one was made of, as in TrueType fonts: it is shorter.
    #[expect(clippy::cast_precision_loss, reason = "positions in a glyph")]
    fn quadratic(
        &self,
        first: (f32, f32),
        second: (f32, f32),
        end: (f32, f32),
    ) -> Option<(f32, f32)> {
        let from = (self.at.0 as f32 / STEPS, self.at.1 as f32 / STEPS);
        let one = (1.5 * first.0 - from.0 / 2.0, 1.5 * first.1 - from.1 / 2.0);
        let other = (1.5 * second.0 - end.0 / 2.0, 1.5 * second.1 - end.1 / 2.0);
        let is_near = |a: f32, b: f32| (a - b).abs() * STEPS <= 1.0;
        (is_near(one.0, other.0) && is_near(one.1, other.1)).then_some(other)
    }
}

fn path_data(commands: &[PathCommand]) -> String {
    let mut data = String::new();
    for command in commands {
        let written = match *command {
            PathCommand::MoveTo(x, y) => write!(data, "M{} {}", Number(x), Number(y)),
            PathCommand::LineTo(x, y) => write!(data, "L{} {}", Number(x), Number(y)),
            PathCommand::CurveTo(x1, y1, x2, y2, x, y) => write!(
                data,
                "C{} {} {} {} {} {}",
                Number(x1),
                Number(y1),
                Number(x2),
                Number(y2),
                Number(x),
                Number(y)
            ),
            PathCommand::Close => write!(data, "Z"),
        };
        debug_assert!(written.is_ok());
    }
    data
}

/// `text` for XML, without the characters that it does not have.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_only_characters_of_xml() {
        assert_eq!(escape("a\u{1}\u{fffe}<\"\u{ffff}\u{9b}b"), "a&lt;&quot;b");
    }

    #[test]
    fn an_outline_is_relative_and_its_quadratic_curves_are_found() {
        let em = |steps: f32| steps / STEPS;
        let outline = [
            PathCommand::MoveTo(em(100.0), em(-50.0)),
            PathCommand::LineTo(em(90.0), em(-50.0)),
            // A quadratic curve with the control point (90, -80), to (120, -80).
            PathCommand::CurveTo(
                em(90.0),
                em(-70.0),
                em(100.0),
                em(-80.0),
                em(120.0),
                em(-80.0),
            ),
            PathCommand::Close,
            PathCommand::MoveTo(em(110.0), em(-40.0)),
            PathCommand::CurveTo(em(110.0), em(-30.0), em(0.0), em(7.0), em(120.0), em(-40.0)),
            PathCommand::Close,
        ];
        assert_eq!(
            relative_path(&outline),
            "m100-50l-10 0q0-30 30-30zm10 10c0 10-110 47 10 0z"
        );
        assert_eq!(relative_path(&[]), "");
    }
}

//! A page as SVG 1.1: each glyph outline is defined once and reused; images are `data:` URLs.

use std::{collections::HashMap, fmt::Write};

use base64::{Engine, prelude::BASE64_STANDARD};
use platen_document::{
    Color,
    bound::{Crop, Document, ImageData, ImageFormat, LineStyle},
    work,
};
use platen_layout::{
    FaceId, Layout, Shaper,
    figure::{Figure, PathCommand, Shape},
    page::{Area, Item, Page, TextRun},
};

use super::outline::Outlines;

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
        outlines: Outlines::new(shaper),
        glyphs: HashMap::new(),
        definitions: String::new(),
        body: String::new(),
    };
    for item in &page.items {
        writer.draw(page, item);
    }
    let (width, height) = (Number(page.width), Number(page.height));
    let title = escape(&document.metadata.title);
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         width=\"{width}pt\" height=\"{height}pt\" viewBox=\"0 0 {width} {height}\">\n\
         <title>{title}</title>\n<defs>\n{}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
        writer.definitions, writer.body,
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
    outlines: Outlines<'a>,
    glyphs: HashMap<(FaceId, u16), usize>,
    definitions: String,
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
                    "<g transform=\"translate({} {})\">\n",
                    Number(at.0),
                    Number(at.1)
                ));
                self.figure(figure);
                self.push(format_args!("</g>\n"));
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
        self.push(format_args!(
            "<g fill=\"{color}\" transform=\"translate({} {}){turn} scale({})\">",
            Number(run.x),
            Number(run.y),
            Number(run.size)
        ));
        for placed in &page.words[run.words.start as usize..run.words.end as usize] {
            let word = self.shaper.word(placed.word);
            let Some(face) = self.shaper.face(word.face) else {
                continue;
            };
            let units = face.units_per_em;
            let mut x = placed.x / run.size;
            for glyph in &word.glyphs {
                if let Some(id) = self.glyph(word.face, glyph.id) {
                    let dx = x + f32::from(glyph.x_offset) / units;
                    let dy = -f32::from(glyph.y_offset) / units;
                    self.push(format_args!(
                        "<use xlink:href=\"#g{id}\" x=\"{}\" y=\"{}\"/>",
                        Number(dx),
                        Number(dy)
                    ));
                }
                x += f32::from(glyph.advance) / units + letter_spacing / run.size;
            }
        }
        self.push(format_args!("</g>\n"));
    }

    /// Id of a glyph's definition; `None` for a glyph without an outline.
    fn glyph(&mut self, face: FaceId, glyph: u16) -> Option<usize> {
        if let Some(id) = self.glyphs.get(&(face, glyph)) {
            return Some(*id);
        }
        let outline = self.outlines.get(face, glyph);
        if outline.is_empty() {
            return None;
        }
        let id = self.glyphs.len();
        self.glyphs.insert((face, glyph), id);
        let _ = writeln!(
            self.definitions,
            "<path id=\"g{id}\" d=\"{}\"/>",
            path_data(&outline)
        );
        Some(id)
    }

    fn rect(&mut self, area: Area, color: Color) {
        self.push(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{color}\"/>\n",
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
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}/>\n",
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
             xlink:href=\"data:image/{media_type};base64,{encoded}\"/>{close}\n",
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
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"0\"/></a>\n",
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
                    self.push(format_args!("<path d=\"{data}\" fill=\"{fill}\"/>\n"));
                }
                Shape::Text { .. } => {}
            }
        }
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

fn escape(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).fold(
        String::with_capacity(text.len()),
        |mut escaped, c| {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                other => escaped.push(other),
            }
            escaped
        },
    )
}

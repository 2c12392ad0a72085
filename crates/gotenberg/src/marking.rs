//! Watermarks and stamps of a form, with the options of pdfcpu, which Gotenberg hands on.

use std::sync::Arc;

use platen_document::Color;
use platen_engine::{Engine, StampText};
use platen_fault::Code;
use platen_pdf::{Place, Stamp, Turn};
use platen_render::RenderOptions;
use platen_server::{
    intake::content::{Content, full},
    problem::Problem,
    rendering::slots::Ticket,
};
use serde_json::{Map, Value as Json};

use crate::{form::Form, value::Values};

/// Points of a pixel of a picture: it is drawn at 96 dots per inch, where pdfcpu has 72.
const PIXEL: f32 = 0.75;
/// Font size of texts without one, in points.
const FONT_SIZE: f32 = 24.0;
/// Part of the page's width that a text or picture without a size takes.
const PART: f32 = 0.5;

/// What is drawn on pages.
#[derive(Debug)]
pub(crate) struct Marking {
    source: Source,
    pages: Option<String>,
    above: bool,
    look: Look,
}

#[derive(Debug)]
enum Source {
    Text(String),
    Picture(Content),
    Pdf(Content),
}

/// How it is drawn.
#[derive(Clone, Debug, PartialEq)]
struct Look {
    font: Option<String>,
    points: Option<f32>,
    color: Color,
    opacity: f32,
    turn: Option<Turn>,
    /// Across and upwards, from 0 to 1.
    position: (f32, f32),
    offset: (f32, f32),
    /// A multiple of its own size; or, if negative, a part of the page's width.
    scale: Option<f32>,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            font: None,
            points: None,
            color: Color::from_rgb(0x80_8080),
            opacity: 1.0,
            turn: None,
            position: (0.5, 0.5),
            offset: (0.0, 0.0),
            scale: None,
        }
    }
}

impl Marking {
    /// Reads the fields of `kind`, which is `watermark` or `stamp`.
    pub(crate) fn of(form: &mut Form, kind: &str) -> Option<Self> {
        let field = |name: &str| format!("{kind}{name}");
        let pages = form.values.text(&field("Pages"));
        let options = form.values.json::<Map<String, Json>>(&field("Options"));
        let source = form.values.text(&field("Source"))?;
        let expression = form.values.needed(&field("Expression"));
        let look = Look::of(&options, &mut form.values, &field("Options"));
        let mut file = || {
            let found = form.take_aside(kind, &expression);
            if found.is_none() && !expression.is_empty() {
                let why = format!("no form file of the field '{kind}' has this name");
                form.values.wrong(&field("Expression"), &expression, &why);
            }
            found
        };
        let source = match source.as_str() {
            "text" => Source::Text(expression),
            "image" => Source::Picture(file()?),
            "pdf" => Source::Pdf(file()?),
            _ => {
                let why = "it is not text, image or pdf";
                form.values.wrong(&field("Source"), &source, why);
                return None;
            }
        };
        Some(Self {
            source,
            pages,
            above: kind == "stamp",
            look,
        })
    }

    /// Draws what is drawn on pages. Blocks.
    pub(crate) fn into_stamp(self, engine: &Engine, ticket: &Ticket) -> Result<Stamp, Problem> {
        let look = self.look;
        let options = RenderOptions {
            stop: Some(Arc::clone(&ticket.stop)),
            ..RenderOptions::default()
        };
        let read = |content: Content| content.read().map_err(|error| full(&error));
        // How large it is without a scale, and what an absolute scale of 1 is.
        let (file, own, unit) = match self.source {
            Source::Text(text) => {
                let text = StampText {
                    text,
                    font_size: look.points.unwrap_or(FONT_SIZE),
                    font: look.font,
                    color: look.color,
                };
                let own = look.points.map_or(-PART, |_| 1.0);
                (engine.stamp_of_text(&text, &options)?, Some(own), 1.0)
            }
            Source::Picture(content) => {
                let made = engine.stamp_of_picture(&read(content)?, &options)?;
                (made, Some(-PART), 1.0 / PIXEL)
            }
            Source::Pdf(content) => (read(content)?.to_vec(), None, 1.0),
        };
        let trimmed = own.is_some();
        let scale = look
            .scale
            .map(|scale| scale * if scale > 0.0 { unit } else { 1.0 });
        let place = match scale.or(own) {
            None => Place::Whole,
            Some(scale) => Place::At {
                across: look.position.0,
                up: look.position.1,
                offset: look.offset,
                scale,
            },
        };
        Ok(Stamp {
            file,
            page: 1,
            trimmed,
            above: self.above,
            pages: self.pages,
            opacity: look.opacity,
            turn: look.turn.unwrap_or(Turn::Degrees(0.0)),
            place,
        })
    }
}

impl Look {
    fn of(options: &Map<String, Json>, values: &mut Values, field: &str) -> Self {
        let mut look = Self::default();
        for (name, value) in options {
            let text = match value {
                Json::String(text) => text.trim().to_owned(),
                other => other.to_string(),
            };
            if look.set(name, &text).is_none() {
                let shown = format!("{name}: {text}");
                values.wrong(field, &shown, "the option is unknown or its value is wrong");
            }
        }
        look
    }

    /// Sets an option by any of its names in pdfcpu; `None` if it has no such option or value.
    fn set(&mut self, name: &str, text: &str) -> Option<()> {
        let number = || text.parse::<f32>().ok().filter(|number| number.is_finite());
        match name.to_ascii_lowercase().as_str() {
            "font" | "fontname" => self.font = Some(text.to_owned()),
            "points" => self.points = Some(number().filter(|it| (1.0..=500.0).contains(it))?),
            "color" | "fillcolor" | "strokecolor" => self.color = color(text)?,
            "opacity" => self.opacity = number().filter(|it| (0.0..=1.0).contains(it))?,
            "rotation" => self.turn = Some(Turn::Degrees(number()?)),
            "diagonal" => {
                self.turn = Some(match text {
                    "0" => Turn::Degrees(0.0),
                    "1" => Turn::Upwards,
                    "2" => Turn::Downwards,
                    _ => return None,
                });
            }
            "position" | "pos" => self.position = position(text)?,
            "offset" => {
                let mut both = text.split([' ', ',']).filter(|part| !part.is_empty());
                let mut next = || both.next()?.parse::<f32>().ok().filter(|it| it.is_finite());
                self.offset = (next()?, next()?);
            }
            "scale" | "scalefactor" => {
                let (factor, kind) = text.split_once(' ').unwrap_or((text, "rel"));
                let factor = factor
                    .parse::<f32>()
                    .ok()
                    .filter(|it| *it > 0.0 && *it <= 100.0)?;
                self.scale = Some(match kind.trim() {
                    "abs" => factor,
                    "rel" => -factor.min(1.0),
                    _ => return None,
                });
            }
            _ => return None,
        }
        Some(())
    }
}

/// A color as `#808080`, a name, or three numbers from 0 to 1.
fn color(text: &str) -> Option<Color> {
    if let Ok(color) = text.parse() {
        return Some(color);
    }
    let mut parts = text.split([' ', ',']).filter(|part| !part.is_empty());
    let mut next = || {
        let part = parts.next()?.parse::<f32>().ok()?;
        (0.0..=1.0)
            .contains(&part)
            .then(|| (part * 255.0).round() as u32)
    };
    let (red, green, blue) = (next()?, next()?, next()?);
    Some(Color::from_rgb(red << 16 | green << 8 | blue))
}

/// Across and upwards, from 0 to 1.
fn position(text: &str) -> Option<(f32, f32)> {
    Some(match text {
        "tl" => (0.0, 1.0),
        "tc" => (0.5, 1.0),
        "tr" => (1.0, 1.0),
        "l" => (0.0, 0.5),
        "c" | "full" => (0.5, 0.5),
        "r" => (1.0, 0.5),
        "bl" => (0.0, 0.0),
        "bc" => (0.5, 0.0),
        "br" => (1.0, 0.0),
        _ => return None,
    })
}

/// The mistake of a route that needs a watermark or stamp and got none.
pub(crate) fn is_missing(kind: &str) -> Problem {
    let detail = format!("Invalid form data: form field '{kind}Source' is required");
    Problem::new(Code::InvalidRequest, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_pdfcpu_names_them() {
        let options = serde_json::json!({
            "font": "Helvetica", "points": 48, "color": "1 0 0", "rotation": "45",
            "opacity": 0.15, "scale": "0.5 abs", "pos": "tl", "offset": "10 -20",
        });
        let mut values = Values::default();
        let options = options.as_object().expect("an object");
        let look = Look::of(options, &mut values, "stampOptions");
        values.finish().expect("nothing is wrong");
        assert_eq!(look.color, Color::from_rgb(0xff_0000));
        assert_eq!((look.points, look.scale), (Some(48.0), Some(0.5)));
        assert_eq!((look.position, look.offset), ((0.0, 1.0), (10.0, -20.0)));
        assert_eq!(look.turn, Some(Turn::Degrees(45.0)));
        for (name, text) in [
            ("opacity", "2"),
            ("scale", "0"),
            ("position", "x"),
            ("color", "1 2 3"),
            ("points", "NaN"),
            ("url", "https://example.org/"),
        ] {
            assert_eq!(Look::default().set(name, text), None, "{name}: {text}");
        }
    }
}

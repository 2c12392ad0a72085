//! Watermarks and stamps of a form, with the options of pdfcpu, which Gotenberg hands on.

use std::sync::Arc;

use platen_document::Color;
use platen_engine::{Engine, StampLook, StampSource};
use platen_fault::Code;
use platen_pdf::{Piece, Stamp, StampPage, Turn};
use platen_render::RenderOptions;
use platen_server::{
    intake::content::{Content, full},
    problem::Problem,
    rendering::slots::Ticket,
};
use serde_json::{Map, Value as Json};

use crate::{changes::selection, core_font::core_font, form::Form, value::Values};

/// Largest number of drawings of one kind.
const MAX_COUNT: usize = 100;

/// What is drawn on pages.
#[derive(Debug)]
pub(crate) struct Marking {
    source: Source,
    look: StampLook,
}

#[derive(Debug)]
enum Source {
    Text(String),
    Picture(Content),
    Pdf(Content),
}

impl Marking {
    /// Reads the fields of `kind`, which is `watermark` or `stamp`: one drawing for each source, in
    /// their order. The other fields belong to the source at the same position.
    pub(crate) fn all_of(form: &mut Form, kind: &str) -> Vec<Self> {
        let field = |name: &str| format!("{kind}{name}");
        let [sources, expressions, pages, options] = ["Source", "Expression", "Pages", "Options"]
            .map(|name| form.values.texts(&field(name)).into_iter());
        let mut others = [expressions, pages, options];
        if sources.len() > MAX_COUNT {
            let mistake = format!("form field '{kind}Source' occurs more than {MAX_COUNT} times");
            form.values.mistake(mistake);
        }
        let is_given = sources.as_slice().iter().any(|source| !source.is_empty());
        let sources = sources.take(if is_given { MAX_COUNT } else { 0 });
        let mut found = Vec::new();
        for source in sources {
            let [expression, pages, options] =
                (others.each_mut()).map(|all| all.next().filter(|text| !text.is_empty()));
            let marking = Self::of(form, kind, &source, expression.unwrap_or_default());
            let mut look = look_of(options, &mut form.values, &field("Options"));
            look.pages = pages.as_deref().map(selection);
            look.above = kind == "stamp";
            found.extend(marking.map(|source| Self { source, look }));
        }
        found
    }

    fn of(form: &mut Form, kind: &str, source: &str, expression: String) -> Option<Source> {
        let field = format!("{kind}Expression");
        let mut file = || {
            let found = form.take_aside(kind, &expression);
            if found.is_none() {
                let mistake = format!("a {kind} file is required for image or pdf source");
                form.values.mistake(mistake);
            }
            found
        };
        match source {
            "text" => {
                if expression.is_empty() {
                    form.values.missing(&field);
                }
                Some(Source::Text(expression))
            }
            "image" => file().map(Source::Picture),
            "pdf" => file().map(Source::Pdf),
            _ => {
                let why = "wrong value, expected either 'text', 'image' or 'pdf'";
                form.values.wrong(&format!("{kind}Source"), source, why);
                None
            }
        }
    }

    /// Draws what is drawn on pages. Blocks.
    pub(crate) fn into_stamp(self, engine: &Engine, ticket: &Ticket) -> Result<Stamp, Problem> {
        let options = options_of(ticket);
        let read = |content: Content| {
            let bytes = content.read().map_err(|error| full(&error))?;
            Ok::<_, Problem>(bytes.to_vec())
        };
        let source = match self.source {
            Source::Text(text) => {
                // As pdfcpu writes the number of the page and of all pages, and where a line ends.
                let text = text.replace("\\n", "\n");
                let pieces = Piece::all_of(&text, "%p", "%P");
                match pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
                    true => StampSource::Text(text),
                    false => StampSource::Numbered(pieces),
                }
            }
            Source::Picture(content) => StampSource::Picture(read(content)?),
            Source::Pdf(content) => StampSource::Pdf(read(content)?, StampPage::Each),
        };
        Ok(engine.stamp(source, self.look, &options)?)
    }
}

/// How texts and pictures are set while a ticket is valid.
pub(crate) fn options_of(ticket: &Ticket) -> RenderOptions {
    RenderOptions {
        stop: Some(Arc::clone(&ticket.stop)),
        ..RenderOptions::default()
    }
}

/// Reads the options of one drawing; what is wrong with them is recorded.
fn look_of(options: Option<String>, values: &mut Values, field: &str) -> StampLook {
    let mut look = usual_look();
    let options = options.unwrap_or_else(|| "{}".to_owned());
    let Ok(options) = serde_json::from_str::<Map<String, Json>>(&options) else {
        values.mistake(format!("form field '{field}' is invalid"));
        return look;
    };
    for (name, value) in &options {
        let text = match value {
            Json::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        if set(&mut look, name, &text).is_none() {
            let shown = format!("{name}: {text}");
            values.wrong(field, &shown, "the option is unknown or its value is wrong");
        }
    }
    look
}

/// How pdfcpu draws what has no options.
fn usual_look() -> StampLook {
    StampLook {
        turn: Turn::Upwards,
        anchored: true,
        bold: false,
        ..StampLook::default()
    }
}

/// Names of options in pdfcpu.
const NAMES: [&str; 21] = [
    "aligntext",
    "backgroundcolor",
    "bgcolor",
    "border",
    "color",
    "diagonal",
    "fillcolor",
    "fontname",
    "margins",
    "mode",
    "offset",
    "opacity",
    "points",
    "position",
    "rendermode",
    "rotation",
    "rtl",
    "scalefactor",
    "scriptname",
    "strokecolor",
    "url",
];

/// The whole name of an option: pdfcpu takes any beginning that only one name has.
fn whole_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let mut found = NAMES.iter().filter(|known| known.starts_with(&name));
    let first = found.next()?;
    (!name.is_empty() && found.next().is_none()).then_some(*first)
}

/// Sets an option; `None` if it has no such option or value.
fn set(look: &mut StampLook, name: &str, text: &str) -> Option<()> {
    let number = || text.parse::<f32>().ok().filter(|number| number.is_finite());
    match whole_name(name)? {
        "fontname" => match core_font(text) {
            Some(font) => {
                look.font = Some(font.family.to_owned());
                (look.bold, look.italic, look.line) = (font.bold, font.italic, font.line);
            }
            None => look.font = Some(text.to_owned()),
        },
        "aligntext" => {
            look.align = Some(match text.to_ascii_lowercase().as_str() {
                "l" | "left" => 0.0,
                "c" | "center" => 0.5,
                "r" | "right" => 1.0,
                _ => return None,
            });
        }
        "points" => look.font_size = Some(number().filter(|it| (1.0..=500.0).contains(it))?),
        "color" | "fillcolor" | "strokecolor" => look.color = color(text)?,
        "opacity" => look.opacity = number().filter(|it| (0.0..=1.0).contains(it))?,
        "rotation" => {
            let degrees = number().filter(|it| (-180.0..=180.0).contains(it))?;
            look.turn = Turn::Degrees(degrees);
        }
        "diagonal" => {
            look.turn = match text {
                "0" => Turn::Degrees(0.0),
                "1" => Turn::Upwards,
                "2" => Turn::Downwards,
                _ => return None,
            };
        }
        "position" => look.position = position(text)?,
        "offset" => {
            let mut both = text.split([' ', ',']).filter(|part| !part.is_empty());
            let mut next = || both.next()?.parse::<f32>().ok().filter(|it| it.is_finite());
            look.offset = (next()?, next()?);
        }
        "scalefactor" => look.scale = Some(scale(text)?),
        _ => return None,
    }
    Some(())
}

/// A multiple of the own size, or, if negative, a part of the page's. Without `abs` or `rel`, factors up
/// to 1 are parts.
fn scale(text: &str) -> Option<f32> {
    let (factor, kind) = text.split_once(' ').unwrap_or((text, ""));
    let factor = factor.parse::<f32>().ok();
    let factor = factor.filter(|it| *it > 0.0 && *it <= 100.0)?;
    match kind.trim() {
        "a" | "abs" | "absolute" => Some(factor),
        "r" | "rel" | "relative" if factor <= 1.0 => Some(-factor),
        "" => Some(if factor <= 1.0 { -factor } else { factor }),
        _ => None,
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
            "op": 0.15, "scale": "0.5 abs", "pos": "tl", "off": "10 -20",
        });
        let mut values = Values::default();
        let look = look_of(Some(options.to_string()), &mut values, "stampOptions");
        values.finish().expect("nothing is wrong");
        assert_eq!(look.color, Color::from_rgb(0xff_0000));
        assert_eq!((look.font_size, look.scale), (Some(48.0), Some(0.5)));
        assert_eq!((look.position, look.offset), ((0.0, 1.0), (10.0, -20.0)));
        assert_eq!(look.turn, Turn::Degrees(45.0));
        assert_eq!(look.font.as_deref(), Some("Liberation Sans"));
        for (text, factor) in [("0.4", -0.4), ("2", 2.0), ("1 a", 1.0), ("1 rel", -1.0)] {
            assert_eq!(scale(text), Some(factor), "{text}");
        }
        for (name, text) in [
            ("opacity", "2"),
            ("scale", "0"),
            ("rotation", "270"),
            ("scale", "2 rel"),
            ("scale", "1 foo"),
            ("position", "x"),
            ("color", "1 2 3"),
            ("points", "NaN"),
            ("url", "https://example.org/"),
            ("o", "1"),
        ] {
            assert_eq!(
                set(&mut StampLook::default(), name, text),
                None,
                "{name}: {text}"
            );
        }
    }
}

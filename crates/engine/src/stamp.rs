//! What is drawn on the pages of PDF files: a text as outlines in any script, a picture, or
//! a page of another file.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_document::{Color, bound::Watermark};
use platen_pdf::{
    Anchored, Extent, NumberedText, Piece, Place, Selection, Stamp, StampPage, TextLook, Turn,
};
use platen_render::{Format, RenderOptions};
use serde_json::json;

use crate::{Data, Engine, Error, Job, Origin, Product};

/// Maximum length of a text, in bytes.
const MAX_TEXT: usize = 500;
/// Maximum number of its lines.
const MAX_LINES: usize = 50;
/// No file has so many pages.
const LONGEST_NUMBER: usize = 99_999;
/// Width of the page of a picture, which a larger one is shrunk to, in points.
const PICTURE_POINTS: f32 = 4_000.0;

/// Points of a pixel of a picture, which is drawn at 96 dots per inch.
const PIXEL: f32 = 0.75;
/// Font size of a text without one, in points.
const FONT_SIZE: f32 = 24.0;
/// Part of the page's width that a text or picture without a size takes.
const PART: f32 = 0.5;
/// Descent and ascent of a line, in ems: those of Helvetica's bounding box (Adobe Font Metrics).
const LINE: (f32, f32) = (0.225, 0.931);

/// What is drawn on pages.
#[derive(Clone, Debug, PartialEq)]
pub enum StampSource {
    /// A text, whose lines stand below each other.
    Text(String),
    /// The same with page numbers.
    Numbered(Vec<Piece>),
    /// A picture: PNG, JPEG, GIF, WebP or SVG.
    Picture(Vec<u8>),
    /// A PDF file, and which page of it.
    Pdf(Vec<u8>, StampPage),
}

/// Where the lower left corner of a stamp is, which it is turned around, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StampCorner {
    /// To the right of the lower left corner of the page and above it, in points.
    pub at: (f32, f32),
    /// Width and height in points; one of them without the other keeps the proportions.
    pub size: (Option<f32>, Option<f32>),
}

/// How it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct StampLook {
    /// Pages; all without it.
    pub pages: Option<Selection>,
    /// Whether it is above the content of pages, and not below.
    pub above: bool,
    /// Font family of a text; the usual one if it is missing or unknown.
    pub font: Option<String>,
    /// Font size of a text, in points, from 1 to 500.
    pub font_size: Option<f32>,
    /// Color of a text.
    pub color: Color,
    /// Whether a text is bold.
    pub bold: bool,
    /// Whether a text is italic.
    pub italic: bool,
    /// Where the shorter lines of a text stand: from 0, the left, to 1; where the stamp does without it.
    pub align: Option<f32>,
    /// Descent and ascent of a line in ems, for a text that is `anchored`.
    pub line: (f32, f32),
    /// From 0, which is invisible, to 1.
    pub opacity: f32,
    /// How it is turned.
    pub turn: Turn,
    /// Across and upwards: from 0, the left or lower edge, to 1.
    pub position: (f32, f32),
    /// Moved to the right and upwards, in points.
    pub offset: (f32, f32),
    /// Width and height at a position, in points; one of them keeps the proportions.
    pub size: (Option<f32>, Option<f32>),
    /// Instead of a position, an offset and a size.
    pub corner: Option<StampCorner>,
    /// Whether `position` is an anchor as in pdfcpu ([`Anchored`]). A text is then as high as a line,
    /// and a stamp without a scale takes half of the page.
    pub anchored: bool,
    /// Size as a multiple of its own, or, if negative, its width as a part of the page's. Without it a
    /// PDF covers the page, a picture or a text without a font size takes half of the width, and if
    /// `anchored` all take half of the page.
    pub scale: Option<f32>,
}

impl Default for StampLook {
    fn default() -> Self {
        Self {
            pages: None,
            above: true,
            font: None,
            font_size: None,
            color: Color::from_rgb(0x80_8080),
            bold: true,
            italic: false,
            align: None,
            line: LINE,
            opacity: 1.0,
            turn: Turn::Degrees(0.0),
            position: (0.5, 0.5),
            offset: (0.0, 0.0),
            size: (None, None),
            corner: None,
            anchored: false,
            scale: None,
        }
    }
}

impl Engine {
    /// Draws `source`, to be drawn on pages. Blocks.
    ///
    /// # Errors
    /// A text that is empty or too long, a file that is no picture, or an error of the engine.
    pub fn stamp(
        &self,
        source: StampSource,
        look: StampLook,
        options: &RenderOptions,
    ) -> Result<Stamp, Error> {
        let said = match &source {
            StampSource::Text(text) => Some(text.clone()),
            StampSource::Numbered(_) | StampSource::Picture(_) | StampSource::Pdf(..) => None,
        };
        let numbered = match &source {
            StampSource::Numbered(pieces) => Some(numbered(pieces, &look)?),
            _ => None,
        };
        let measure = Measure::of(&source, &look);
        let (file, page) = match source {
            StampSource::Text(text) => (
                self.text(&text, &text_look(&look), options)?,
                StampPage::Number(1),
            ),
            StampSource::Numbered(_) => (Vec::new(), StampPage::Number(1)),
            StampSource::Picture(bytes) => (self.picture(&bytes, options)?, StampPage::Number(1)),
            StampSource::Pdf(bytes, page) => (bytes, page),
        };
        Ok(Stamp {
            file,
            page,
            extent: measure.extent,
            text: said,
            numbered,
            place: measure.place(&look),
            above: look.above,
            pages: look.pages,
            opacity: look.opacity,
            turn: look.turn,
        })
    }

    /// Sets what a text with page numbers says on a page: a PDF with one page.
    ///
    /// # Errors
    /// An error of the engine, which the log has.
    pub fn set_text(
        &self,
        text: &NumberedText,
        line: &str,
        options: &RenderOptions,
    ) -> Result<Vec<u8>, platen_pdf::Error> {
        self.text(line, &text.look, options).map_err(|error| {
            tracing::debug!(%error, "the text of a stamp cannot be set");
            platen_pdf::Error::BadStamp("has a text that cannot be set")
        })
    }

    /// A PDF with one page, on which nothing but `text` is drawn, somewhere.
    fn text(&self, text: &str, look: &TextLook, options: &RenderOptions) -> Result<Vec<u8>, Error> {
        let lines = check_text(text)?;
        let size = size_of_text(look.font_size);
        let align = match look.across {
            across if across < 0.25 => "left",
            across if across > 0.75 => "right",
            _ => "center",
        };
        // Large enough for any characters; what is drawn counts, and not the page.
        let longest = lines.lines().map(|line| line.chars().count()).max();
        let width = (longest.unwrap_or_default() as f32 + 2.0) * size * 1.6;
        let height = size * (4.0 + more_lines(&lines)) + 10.0;
        let mut template = json!({
            "kind": "document",
            "key": "stamp",
            "page": {
                "size": {"width": format!("{}pt", width.clamp(20.0, 14_000.0)), "height": format!("{}pt", height.min(14_000.0))},
                "margins": "0pt",
                "background": {"watermark": {
                    "text": "{{ text }}", "fontSize": format!("{size}pt"), "angle": 0,
                    "color": look.color, "bold": look.bold, "italic": look.italic, "align": align,
                }},
            },
            "body": [{"type": "spacer", "height": "1pt"}],
        });
        if let Some(font) = look.font.as_deref().filter(|font| self.has_family(font)) {
            template["theme"] = json!({"styles": {"body": {"fontFamily": font}}});
        }
        self.sheet(template.to_string(), json!({"text": lines}), options)
    }

    /// A PDF with one page, on which nothing but the picture is drawn, somewhere.
    pub(crate) fn picture(&self, bytes: &[u8], options: &RenderOptions) -> Result<Vec<u8>, Error> {
        let page = format!("{PICTURE_POINTS}pt");
        let template = json!({
            "kind": "document",
            "key": "stamp",
            "page": {"size": {"width": page, "height": page}, "margins": "0pt"},
            "body": [{"type": "image", "source": "{{ picture }}", "alt": ""}],
        });
        let picture = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes));
        self.sheet(template.to_string(), json!({"picture": picture}), options)
    }

    pub(crate) fn sheet(
        &self,
        template: String,
        data: serde_json::Value,
        options: &RenderOptions,
    ) -> Result<Vec<u8>, Error> {
        let source: Arc<[u8]> = template.into_bytes().into();
        let template = self.prepare(&source, Origin::Stranger)?;
        let options = RenderOptions {
            untagged: true,
            ..options.clone()
        };
        let made = self.produce(Job {
            template: &template,
            data: Data::Value(data),
            formats: &[Format::Pdf],
            options: &options,
        })?;
        match made.into_iter().next() {
            Some(Product::Document(document)) => Ok(document.bytes),
            _ => Err(Error::bug("a stamp is no document")),
        }
    }
}

/// How large a stamp is.
struct Measure {
    extent: Extent,
    /// The scale of a stamp without one; without this, the stamp covers the page.
    usual: Option<f32>,
    /// What a scale is a multiple of, in points.
    unit: f32,
    /// Whether it is text.
    is_text: bool,
}

impl Measure {
    fn of(source: &StampSource, look: &StampLook) -> Self {
        let (extent, usual, unit, is_text) = match source {
            StampSource::Text(_) | StampSource::Numbered(_) if look.anchored => {
                let size = size_of_text(look.font_size);
                // The sheet has the middle of capitals in its own middle.
                let baseline = Watermark::CAPITALS / 2.0;
                let (below, above) = (look.line.0 + baseline, look.line.1 - baseline);
                let more = more_lines(&text_of(source)) / 2.0;
                let line = Extent::Line((below + more) * size, (above + more) * size);
                (line, Some(-PART), 1.0, true)
            }
            StampSource::Text(_) | StampSource::Numbered(_) => {
                let usual = look.font_size.map_or(-PART, |_| 1.0);
                (Extent::Drawn, Some(usual), 1.0, true)
            }
            StampSource::Picture(_) => (Extent::Drawn, Some(-PART), 1.0 / PIXEL, false),
            StampSource::Pdf(..) => (Extent::Page, look.anchored.then_some(-PART), 1.0, false),
        };
        Self {
            extent,
            usual,
            unit,
            is_text,
        }
    }

    fn place(&self, look: &StampLook) -> Place {
        let (across, up) = look.position;
        let unit = |scale: f32| if scale > 0.0 { self.unit } else { 1.0 };
        let scale = look.scale.map(|scale| scale * unit(scale));
        if let Some(StampCorner { at, size }) = look.corner {
            let scale = scale.unwrap_or(self.unit);
            return Place::Corner { at, size, scale };
        }
        if look.anchored {
            return Place::Anchored(Anchored {
                across,
                up,
                offset: look.offset,
                scale: scale.or(self.usual).unwrap_or(-PART),
                by_longer_side: !self.is_text,
            });
        }
        let has_size = look.size.0.is_some() || look.size.1.is_some();
        match scale.or(self.usual).or(has_size.then_some(1.0)) {
            None => Place::Whole,
            Some(scale) => Place::At {
                across,
                up,
                offset: look.offset,
                size: look.size,
                scale,
                fits: self.is_text && look.scale.is_none(),
            },
        }
    }
}

/// How the text of a stamp looks.
fn text_look(look: &StampLook) -> TextLook {
    let place = match look.corner {
        Some(_) => 0.5,
        None => look.position.0,
    };
    TextLook {
        font: look.font.clone(),
        font_size: look.font_size,
        color: look.color.to_string(),
        bold: look.bold,
        italic: look.italic,
        across: look.align.unwrap_or(place),
    }
}

/// The font size of a text that may say one, in points.
fn size_of_text(font_size: Option<f32>) -> f32 {
    font_size.unwrap_or(FONT_SIZE).clamp(1.0, 500.0)
}

/// How much higher the lines of a text are than one, in ems.
fn more_lines(text: &str) -> f32 {
    text.lines().count().saturating_sub(1) as f32 * Watermark::LINE
}

/// What a stamp says, with one sign for each number of a page.
fn text_of(source: &StampSource) -> String {
    let text = match source {
        StampSource::Text(text) => text.clone(),
        StampSource::Numbered(pieces) => {
            let pieces = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                _ => "0",
            });
            pieces.collect()
        }
        StampSource::Picture(_) | StampSource::Pdf(..) => String::new(),
    };
    lines_of(&text)
}

/// The lines of a text that say something, without more white space than they need.
fn lines_of(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// The lines of a text, if it has some that are not too long and not too many.
fn check_text(text: &str) -> Result<String, Error> {
    let lines = lines_of(text);
    let count = lines.lines().count();
    match lines.is_empty() || lines.len() > MAX_TEXT || count > MAX_LINES {
        true => Err(Error::Data(format!(
            "the text of a stamp has 1 to {MAX_TEXT} bytes, on at most {MAX_LINES} lines"
        ))),
        false => Ok(lines),
    }
}

/// A text with page numbers, if it has one that is not too long with the longest numbers.
fn numbered(pieces: &[Piece], look: &StampLook) -> Result<NumberedText, Error> {
    let text = NumberedText {
        pieces: pieces.to_vec(),
        look: text_look(look),
    };
    check_text(&text.on(LONGEST_NUMBER, LONGEST_NUMBER))?;
    Ok(text)
}

//! Stamps as they are asked for in JSON.

use platen_document::Color;
use platen_pdf::{Piece, StampPage, Turn};
use serde::Deserialize;

use super::error::{PdfChangeError, wrong};
use crate::{StampCorner, StampLook, StampSource};

/// Maximum width and height of a stamp, in points.
const MAX_SIZE: f32 = 14_400.0;

/// A text, a picture or a PDF that is drawn on pages. It is a text, or comes beside the files.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StampChange {
    /// A text, of one line or several.
    pub text: Option<String>,
    /// Whether `{page}` and `{pages}` in the text are the number of the page and of all pages.
    pub numbered: bool,
    /// Name of a picture or PDF.
    pub file: Option<String>,
    /// The page of a PDF that is drawn, from 1; the first without it.
    pub page: Option<u32>,
    /// Whether the first page of a PDF is drawn on the first page, the second on the second, and its
    /// last on all pages after it.
    pub each_page: bool,
    /// Whether it is below the content of pages, and not above.
    pub below: bool,
    /// Pages, as in `1-3,7`; all without it.
    pub pages: Option<String>,
    /// Font family of a text.
    pub font: Option<String>,
    /// Font size of a text, in points.
    pub font_size: Option<f32>,
    /// Color of a text; gray without it.
    pub color: Option<Color>,
    /// Whether a text is bold; it is without this.
    pub bold: Option<bool>,
    /// Whether a text is italic.
    pub italic: bool,
    /// From 0, which is invisible, to 1, the default.
    pub opacity: Option<f32>,
    /// Counter-clockwise, in degrees.
    pub rotation: Option<f32>,
    /// Turned along the diagonal of the page, upwards.
    pub diagonal: bool,
    /// `top-left`, `top`, `top-right`, `left`, `center` (the default), `right`, `bottom-left`,
    /// `bottom`, `bottom-right`.
    pub position: Option<String>,
    /// Moved to the right and upwards, in points.
    pub offset: (f32, f32),
    /// Instead of `position` and `offset`: where its lower left corner is, which it is turned around,
    /// in points from the lower left corner of the page.
    pub at: Option<(f32, f32)>,
    /// Width and height in points; one of both keeps the proportions.
    pub size: (Option<f32>, Option<f32>),
    /// A multiple of its own size.
    pub scale: Option<f32>,
    /// Width as a part of the page's, above 0 and at most 1.
    pub width: Option<f32>,
}

impl StampChange {
    pub(super) fn read(
        self,
        beside: &dyn Fn(&str) -> Result<Vec<u8>, PdfChangeError>,
    ) -> Result<(StampSource, StampLook), PdfChangeError> {
        let position = self.position.as_deref().unwrap_or("center");
        let position = place(position)
            .ok_or_else(|| wrong(format!("`{position}` is no `position` of a stamp")))?;
        let scale = match (self.scale, self.width) {
            (None, None) => None,
            (Some(scale), None) if scale > 0.0 && scale <= 100.0 => Some(scale),
            (None, Some(width)) if width > 0.0 && width <= 1.0 => Some(-width),
            _ => {
                let message = "a stamp takes either `scale`, above 0 and at most 100, or `width`, \
                               above 0 and at most 1";
                return Err(wrong(message));
            }
        };
        let corner = self.corner()?;
        let page = match (self.page, self.each_page) {
            (number, false) => StampPage::Number(number.unwrap_or(1)),
            (None, true) if self.file.is_some() => StampPage::Each,
            _ => return Err(wrong("a stamp with `eachPage` takes `file`, and no `page`")),
        };
        let source = match (self.text, self.file) {
            (Some(text), None) if self.numbered => {
                StampSource::Numbered(Piece::all_of(&text, "{page}", "{pages}"))
            }
            (Some(text), None) => StampSource::Text(text),
            (None, Some(_)) if self.numbered => {
                return Err(wrong("a stamp with `numbered` takes `text`"));
            }
            (None, Some(name)) => {
                let bytes = beside(&name)?;
                match bytes.starts_with(b"%PDF-") {
                    true => StampSource::Pdf(bytes, page),
                    false if self.each_page => {
                        return Err(wrong("a stamp with `eachPage` takes a PDF"));
                    }
                    false => StampSource::Picture(bytes),
                }
            }
            _ => return Err(wrong("a stamp takes either `text` or `file`")),
        };
        let look = StampLook {
            pages: self.pages.map(Into::into),
            above: !self.below,
            font: self.font,
            font_size: self.font_size,
            color: self.color.unwrap_or(StampLook::default().color),
            bold: self.bold.unwrap_or(true),
            italic: self.italic,
            align: None,
            line: StampLook::default().line,
            opacity: self.opacity.unwrap_or(1.0),
            turn: match (self.diagonal, self.rotation) {
                (true, _) => Turn::Upwards,
                (false, degrees) => Turn::Degrees(degrees.unwrap_or(0.0)),
            },
            position,
            offset: self.offset,
            size: self.size,
            corner,
            anchored: false,
            scale,
        };
        Ok((source, look))
    }

    fn corner(&self) -> Result<Option<StampCorner>, PdfChangeError> {
        let is_size = |side: Option<f32>| side.is_none_or(|it| it > 0.0 && it <= MAX_SIZE);
        let has_size = self.size.0.is_some() || self.size.1.is_some();
        let is_placed = self.position.is_some() || self.diagonal || self.width.is_some();
        if has_size && (self.scale.is_some() || self.width.is_some()) {
            return Err(wrong("a stamp takes either `size`, `scale` or `width`"));
        }
        if !is_size(self.size.0) || !is_size(self.size.1) {
            return Err(wrong(format!(
                "the `size` of a stamp is above 0 and at most {MAX_SIZE} points"
            )));
        }
        match self.at {
            None => Ok(None),
            Some(_) if is_placed => Err(wrong(
                "a stamp with `at` takes no `position`, `diagonal` and `width`",
            )),
            Some(at) => Ok(Some(StampCorner {
                at,
                size: self.size,
            })),
        }
    }
}

/// Across and upwards, from 0 to 1.
fn place(name: &str) -> Option<(f32, f32)> {
    Some(match name {
        "top-left" => (0.0, 1.0),
        "top" => (0.5, 1.0),
        "top-right" => (1.0, 1.0),
        "left" => (0.0, 0.5),
        "center" => (0.5, 0.5),
        "right" => (1.0, 0.5),
        "bottom-left" => (0.0, 0.0),
        "bottom" => (0.5, 0.0),
        "bottom-right" => (1.0, 0.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn read(stamp: Json, file: &[u8]) -> Result<StampSource, String> {
        let stamp: StampChange =
            serde_json::from_value(stamp).map_err(|error| error.to_string())?;
        let read = stamp.read(&|_| Ok(file.to_vec()));
        read.map(|(source, _)| source)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn stamps_that_contradict_themselves_are_refused() {
        let pdf = b"%PDF-1.7";
        for (stamp, message) in [
            (json!({}), "either `text` or `file`"),
            (
                json!({"text": "A", "file": "a.pdf"}),
                "either `text` or `file`",
            ),
            (json!({"file": "a.pdf", "numbered": true}), "takes `text`"),
            (
                json!({"file": "a.pdf", "page": 1, "eachPage": true}),
                "no `page`",
            ),
            (json!({"text": "A", "eachPage": true}), "takes `file`"),
            (
                json!({"text": "A", "position": "middle"}),
                "`middle` is no `position`",
            ),
            (json!({"text": "A", "scale": 0}), "`scale`, above 0"),
            (
                json!({"text": "A", "scale": 1, "width": 1}),
                "either `scale`",
            ),
            (
                json!({"text": "A", "size": [10, null], "width": 1}),
                "either `size`",
            ),
            (
                json!({"text": "A", "size": [0, null]}),
                "above 0 and at most",
            ),
            (
                json!({"text": "A", "at": [1, 2], "diagonal": true}),
                "no `position`",
            ),
        ] {
            let refused = read(stamp.clone(), pdf).expect_err("a refusal");
            assert!(refused.contains(message), "{stamp}: {refused}");
        }
        let each = json!({"file": "a.pdf", "eachPage": true});
        let refused = read(each.clone(), b"\x89PNG").expect_err("a refusal");
        assert!(refused.contains("takes a PDF"), "{refused}");
        let source = read(each, pdf).expect("a stamp");
        assert!(matches!(source, StampSource::Pdf(_, StampPage::Each)));
    }
}

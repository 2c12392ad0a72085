//! Documents to be drawn on others: a line of text as outlines in any script, or a picture.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_document::Color;
use platen_render::{Format, RenderOptions};
use serde_json::json;

use crate::{Data, Engine, Error, Job, Origin, Product};

/// Maximum length of a text, in bytes.
const MAX_TEXT: usize = 500;
/// Width of the page of a picture, which a larger one is shrunk to, in points.
const PICTURE_POINTS: f32 = 4_000.0;

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct StampText {
    /// The text; line feeds count as spaces.
    pub text: String,
    /// Font size, in points, from 1 to 500.
    pub font_size: f32,
    /// Font family; the usual one if it is missing or unknown.
    pub font: Option<String>,
    /// Color.
    pub color: Color,
}

impl Engine {
    /// A PDF with one page, on which nothing but `text` is drawn, somewhere.
    ///
    /// # Errors
    /// The text is empty or too long, or an error of the engine.
    pub fn stamp_of_text(
        &self,
        text: &StampText,
        options: &RenderOptions,
    ) -> Result<Vec<u8>, Error> {
        let line = text.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() || line.len() > MAX_TEXT {
            let message = format!("the text of a stamp has 1 to {MAX_TEXT} bytes");
            return Err(Error::Data(message));
        }
        let size = text.font_size.clamp(1.0, 500.0);
        // Wide enough for any characters; what is drawn counts, and not the page.
        let width = (line.chars().count() as f32 + 2.0) * size * 1.6;
        let mut template = json!({
            "kind": "document",
            "key": "stamp",
            "page": {
                "size": {"width": format!("{}pt", width.clamp(20.0, 14_000.0)), "height": format!("{}pt", size * 4.0 + 10.0)},
                "margins": "0pt",
                "background": {"watermark": {
                    "text": "{{ text }}", "fontSize": format!("{size}pt"), "angle": 0,
                    "color": text.color.to_string(),
                }},
            },
            "body": [{"type": "spacer", "height": "1pt"}],
        });
        if let Some(font) = text.font.as_deref().filter(|font| self.has_family(font)) {
            template["theme"] = json!({"styles": {"body": {"fontFamily": font}}});
        }
        self.stamp(template.to_string(), json!({"text": line}), options)
    }

    /// A PDF with one page, on which nothing but the picture is drawn, somewhere.
    ///
    /// # Errors
    /// The file is no picture, or an error of the engine.
    pub fn stamp_of_picture(
        &self,
        bytes: &[u8],
        options: &RenderOptions,
    ) -> Result<Vec<u8>, Error> {
        let page = format!("{PICTURE_POINTS}pt");
        let template = json!({
            "kind": "document",
            "key": "stamp",
            "page": {"size": {"width": page, "height": page}, "margins": "0pt"},
            "body": [{"type": "image", "source": "{{ picture }}", "alt": ""}],
        });
        let picture = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(bytes));
        self.stamp(template.to_string(), json!({"picture": picture}), options)
    }

    fn stamp(
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

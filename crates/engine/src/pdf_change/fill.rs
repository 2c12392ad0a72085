//! Form fields that are filled in, with texts that the fonts of a form lack in our own layout.

use bytes::Bytes;
use platen_document::work;
use platen_pdf::{FieldText, FieldValues, FileError, Limits, NamedFile, fill_form};
use platen_render::RenderOptions;
use serde_json::{Value as Json, json};

use super::error::PdfChangeError;
use crate::Engine;

/// Font sizes of fields that leave it open, in points.
const LARGEST: f32 = 12.0;
const SMALLEST: f32 = 4.0;
/// Width of a character as a part of the font size, at most as many take.
const CHARACTER: f32 = 0.9;

impl Engine {
    /// Fills in the form of each file.
    pub(super) fn fill_files(
        &self,
        files: &mut [NamedFile<Bytes>],
        values: &FieldValues,
        options: &RenderOptions,
    ) -> Result<(), PdfChangeError> {
        let draw = |field: &FieldText| {
            let data = json!({ "text": field.text });
            let made = self.sheet(page_of(field).to_string(), data, options);
            made.map_err(|error| error.to_string())
        };
        for file in files {
            let made = fill_form(&file.bytes, values, &draw, &Limits::default(), &work::look);
            let made = made.map_err(|error| FileError {
                name: Some(file.name.clone()),
                error,
            })?;
            file.bytes = made.into();
        }
        Ok(())
    }
}

/// A page of the size of the field, with its text.
fn page_of(field: &FieldText) -> Json {
    let (width, height) = field.size;
    let size = match field.font_size {
        size if size > 0.0 => size,
        _ => open_size(field),
    };
    let [red, green, blue] = field.color.map(|part| (part * 255.0).round() as u8);
    let align = match field.alignment {
        1 => "center",
        2 => "right",
        _ => "left",
    };
    // A single line stands in the middle of its box.
    let above = match field.multiline {
        true => 2.0,
        false => ((height - size * 1.3) / 2.0).max(0.0),
    };
    let style = json!({
        "fontSize": format!("{size}pt"), "spaceAfter": "0pt", "lineHeight": 1.2, "align": align,
        "color": format!("#{red:02x}{green:02x}{blue:02x}"),
    });
    json!({
        "kind": "document",
        "key": "field",
        "page": {
            "size": {"width": format!("{}pt", width.max(8.0)), "height": format!("{}pt", height.max(8.0))},
            "margins": {
                "top": format!("{above}pt"), "right": "2pt", "bottom": "0pt", "left": "2pt",
            },
        },
        "body": [{"type": "text", "content": "{{ text }}", "style": style}],
    })
}

/// The largest size at which the text surely fits.
fn open_size(field: &FieldText) -> f32 {
    let (width, height) = field.size;
    let count = field.text.chars().count().max(1) as f32;
    let room = (width - 4.0).max(1.0);
    let fits = match field.multiline {
        true => (room * (height - 4.0).max(1.0) / (count * CHARACTER * 1.3)).sqrt(),
        false => (room / (count * CHARACTER)).min(height * 0.65),
    };
    fits.clamp(SMALLEST, LARGEST)
}

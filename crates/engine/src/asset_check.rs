//! Checks files that are to be stored as assets.

use std::sync::{Arc, atomic::AtomicBool};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_document::{Diagnostic, bind::media_type_of_picture};
use platen_layout::{FontFamily, FontLibrary};
use platen_pdf::page_form;
use platen_render::{Format, RenderOptions, chain};
use serde_json::json;

use crate::{Data, Engine, Error, Job, Origin};

/// What a file is that templates can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetKind {
    /// Media type, by the content.
    pub media_type: &'static str,
    /// The families of a font file, sorted.
    pub families: Vec<String>,
}

impl AssetKind {
    /// The kind of a file by its first bytes and, for fonts, its tables; `None` if templates cannot
    /// use it.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let media_type = match bytes.first_chunk::<4>() {
            Some(b"%PDF") => "application/pdf",
            Some(b"OTTO") => "font/otf",
            Some(b"ttcf") => "font/collection",
            Some(b"true" | [0, 1, 0, 0]) => "font/ttf",
            _ => media_type_of_picture(bytes)?,
        };
        let mut families: Vec<String> = match media_type.starts_with("font/") {
            true => FontLibrary::inspect(bytes, "")
                .into_iter()
                .map(|face| face.family)
                .collect(),
            false => Vec::new(),
        };
        families.sort_unstable();
        families.dedup();
        Some(Self {
            media_type,
            families,
        })
    }

    /// Whether it is a font.
    #[must_use]
    pub fn is_font(&self) -> bool {
        self.media_type.starts_with("font/")
    }
}

/// The families of a font file that is stored.
#[must_use]
pub fn families_of(file: &Arc<[u8]>) -> Vec<FontFamily> {
    let files = [(String::new(), Arc::clone(file))];
    FontLibrary::default().extended(&files).families()
}

impl Engine {
    /// Shows a picture as documents would: all of it is read, in a sandbox if there is one. Reads the
    /// first page of a PDF file. Blocks.
    ///
    /// # Errors
    /// It is damaged, too large, or takes too long.
    pub fn check_asset(
        &self,
        kind: &AssetKind,
        bytes: &[u8],
        stop: &Arc<AtomicBool>,
    ) -> Result<(), Error> {
        if kind.media_type == "application/pdf" {
            let mut number = 0;
            let form = page_form(bytes, 1, &mut || {
                number += 1;
                number
            });
            return form.map(drop).map_err(|error| {
                Error::mistakes(vec![Diagnostic::error("invalid-image", "", chain(&error))])
            });
        }
        let template = json!({
            "kind": "document",
            "key": "asset",
            "page": {"size": {"width": "200pt", "height": "200pt"}, "margins": "0pt"},
            "body": [{
                "type": "image", "source": "{{ file }}", "alt": "",
                "width": "200pt", "height": "199pt", "fit": "contain"
            }]
        });
        let source: Arc<[u8]> = template.to_string().into_bytes().into();
        let address = format!(
            "data:{};base64,{}",
            kind.media_type,
            BASE64_STANDARD.encode(bytes)
        );
        let template = self.prepare(&source, Origin::Stranger)?;
        let options = RenderOptions {
            dots_per_inch: Some(72.0),
            stop: Some(Arc::clone(stop)),
            ..RenderOptions::default()
        };
        self.produce(Job {
            template: &template,
            data: Data::Value(json!({"file": address})),
            formats: &[Format::Png],
            options: &options,
        })?;
        Ok(())
    }
}

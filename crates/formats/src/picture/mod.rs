//! Pages as images: PNG with `tiny-skia`, SVG as text. Both draw glyphs as outlines, so that
//! viewers need no fonts.

pub(crate) mod decode;
mod outline;
pub mod png;
mod raster;
pub mod svg;
mod weight;

use platen_document::{
    Diagnostic,
    bound::{Document, ImageFormat},
};

/// What pictures of the pages lack: the page of a PDF behind the text.
#[must_use]
pub fn loss(document: &Document) -> Option<Diagnostic> {
    let backgrounds = document.sections.iter().flat_map(|section| {
        let first = section.first_background.as_ref();
        std::iter::once(&section.background).chain(first)
    });
    let mut images = backgrounds.filter_map(|background| background.image.as_ref());
    let lost = images.any(|image| image.format == ImageFormat::Pdf);
    let message = "pictures of pages lack the page of a PDF behind the text";
    lost.then(|| Diagnostic::warning("page-setup-omitted", "/page", message))
}

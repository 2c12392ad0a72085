//! Images and barcodes of a bound document.

use std::sync::Arc;

use super::Inline;
use crate::template::Align;
pub use crate::template::Symbology;

/// An image.
#[derive(Clone, Debug)]
pub struct Image {
    /// The encoded image.
    pub data: Arc<ImageData>,
    /// Drawn width, in points.
    pub width: f32,
    /// Drawn height, in points.
    pub height: f32,
    /// What is cut off to fill that size.
    pub crop: Crop,
    /// Alternative text; empty for decoration.
    pub alt: String,
    /// Alignment.
    pub align: Align,
    /// Caption below it.
    pub caption: Option<Vec<Inline>>,
    /// An address, or the `#id` of a block.
    pub link: Option<Arc<str>>,
}

/// What is cut off an image on all sides, as fractions of the whole image below 0.5.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crop {
    /// At the left and again at the right, as a fraction of the width.
    pub sides: f32,
    /// At the top and again at the bottom, as a fraction of the height.
    pub ends: f32,
}

impl Crop {
    /// Whether nothing is cut off.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The crop that makes `width` by `height` of something fill a place of another ratio.
    #[must_use]
    pub fn to_cover((width, height): (f32, f32), place: (f32, f32)) -> Self {
        let scale = (place.0 / width).max(place.1 / height);
        let rest =
            |part: f32, whole: f32| ((1.0 - part / (whole * scale)) / 2.0).clamp(0.0, 0.4999);
        Self {
            sides: rest(place.0, width),
            ends: rest(place.1, height),
        }
    }
}

/// An encoded image whose header and size were checked during binding.
#[derive(Clone)]
pub struct ImageData {
    /// The file.
    pub bytes: Arc<[u8]>,
    /// Its format.
    pub format: ImageFormat,
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// The page, from 1, for [`ImageFormat::Pdf`] only.
    pub page: u32,
    /// The drawing, for [`ImageFormat::Svg`] only.
    pub drawing: Option<Arc<usvg::Tree>>,
}

impl ImageData {
    /// Width and height in pixels, which an SVG has fractions of.
    #[must_use]
    pub fn size(&self) -> (f32, f32) {
        match &self.drawing {
            Some(drawing) => (drawing.size().width(), drawing.size().height()),
            None => (self.width_px as f32, self.height_px as f32),
        }
    }
}

impl PartialEq for ImageData {
    fn eq(&self, other: &Self) -> bool {
        self.format == other.format && self.page == other.page && self.bytes == other.bytes
    }
}

impl Eq for ImageData {}

impl std::fmt::Debug for ImageData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} {}x{} px, {} bytes",
            self.format,
            self.width_px,
            self.height_px,
            self.bytes.len()
        )
    }
}

/// Format of an image file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF; only the first frame is shown.
    Gif,
    /// WebP.
    WebP,
    /// SVG.
    Svg,
    /// A page of a PDF, behind the text of a page only.
    Pdf,
}

/// An encoded barcode.
#[derive(Clone, Debug)]
pub struct Barcode {
    /// Symbology.
    pub symbology: Symbology,
    /// The encoded value.
    pub value: String,
    /// Its modules.
    pub modules: Modules,
    /// Drawn width in points, including the quiet zone.
    pub width: f32,
    /// Drawn height in points, excluding the text below.
    pub height: f32,
    /// Alignment.
    pub align: Align,
    /// Human-readable text below.
    pub text: Option<Vec<Inline>>,
    /// Alternative text.
    pub alt: String,
}

/// The modules of a barcode, row by row, including the quiet zone. One-dimensional codes have one
/// row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modules {
    /// Modules per row.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// `width * height` values; true is dark.
    pub dark: Vec<bool>,
}

//! Pictures of glyphs, as emoji fonts hold them in the tables CBDT and sbix (OpenType 1.9.1): drawn
//! as images, since PDF cannot embed such fonts as text.

use std::sync::Arc;

use platen_document::bound::{ImageData, ImageFormat};
use skrifa::{
    FontRef, GlyphId,
    bitmap::{BitmapData, BitmapStrikes, Origin},
    instance::Size,
};

/// The picture of a glyph, with its place relative to the pen: lengths in em, y downwards from the
/// baseline.
#[derive(Clone, Debug)]
pub(crate) struct GlyphPicture {
    pub data: Arc<ImageData>,
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
}

/// Size for which the strike of a font is chosen, in pixels per em: enough for print.
const PIXELS_PER_EM: f32 = 128.0;

/// The picture of a glyph. `None` if it has none that can be drawn.
pub(crate) fn picture(font: &FontRef<'_>, glyph: u16, units_per_em: f32) -> Option<GlyphPicture> {
    let strikes = BitmapStrikes::new(font);
    let glyph = strikes.glyph_for_size(Size::new(PIXELS_PER_EM), GlyphId::from(glyph))?;
    let BitmapData::Png(bytes) = glyph.data else {
        return None;
    };
    let (width_px, height_px) = png_size(bytes)?;
    let (across, down) = (glyph.ppem_x.max(1.0), glyph.ppem_y.max(1.0));
    let height = height_px as f32 / down;
    let left = glyph.bearing_x / units_per_em + glyph.inner_bearing_x / across;
    let bearing = glyph.bearing_y / units_per_em + glyph.inner_bearing_y / down;
    let top = match glyph.placement_origin {
        Origin::TopLeft => -bearing,
        Origin::BottomLeft => -bearing - height,
    };
    Some(GlyphPicture {
        data: Arc::new(ImageData {
            bytes: Arc::from(bytes),
            format: ImageFormat::Png,
            width_px,
            height_px,
            page: 0,
            drawing: None,
        }),
        left,
        top,
        width: width_px as f32 / across,
        height,
    })
}

/// Width and height in the header of a PNG file (ISO/IEC 15948 §11.2.1).
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let (width, height) = (number(16)?, number(20)?);
    let is_png = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.get(12..16) == Some(b"IHDR");
    let is_sound = (1..=4096).contains(&width) && (1..=4096).contains(&height);
    (is_png && is_sound).then_some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_png_files_are_read_and_checked() {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x88\0\0\0\x80".to_vec();
        assert_eq!(png_size(&file), Some((136, 128)));
        file[16] = 1;
        assert_eq!(png_size(&file), None);
        assert_eq!(png_size(b"GIF89a"), None);
    }
}

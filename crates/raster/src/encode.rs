//! Pixels as PNG.

use png::{BitDepth, ColorType, Compression, Encoder, PixelDimensions, Unit};

/// Inches of a meter.
const INCHES: f32 = 39.370_08;

/// A PNG of opaque `pixels` (red, green, blue and alpha) of so many columns, which says how large they
/// are. Pages without colors become gray: a third of the bytes.
pub(crate) fn png(pixels: &[u8], columns: u32, dots_per_inch: f32) -> Option<Vec<u8>> {
    let rows = u32::try_from(pixels.len() / 4).ok()? / columns.max(1);
    let is_gray = (pixels.chunks_exact(4)).all(|one| one[0] == one[1] && one[1] == one[2]);
    let parts = if is_gray { 1 } else { 3 };
    let mut samples = Vec::with_capacity(pixels.len() / 4 * parts);
    for pixel in pixels.chunks_exact(4) {
        samples.extend_from_slice(&pixel[..parts]);
    }
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, columns, rows);
    encoder.set_color(if is_gray {
        ColorType::Grayscale
    } else {
        ColorType::Rgb
    });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    let pixels_of_meter = (dots_per_inch * INCHES).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions {
        xppu: pixels_of_meter,
        yppu: pixels_of_meter,
        unit: Unit::Meter,
    }));
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&samples).ok()?;
    writer.finish().ok()?;
    Some(file)
}

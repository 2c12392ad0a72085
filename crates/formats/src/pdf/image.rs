//! Images as XObjects, ISO 32000-1 §8.9.

use platen_document::bound::{ImageData, ImageFormat};

use super::{
    background,
    error::Error,
    file::File,
    syntax::{Reference, Syntax},
    vector,
};
use crate::picture::decode::{Pixels, decode};

/// An image that is in the file.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub reference: Reference,
    /// Whether it has a soft mask.
    pub translucent: bool,
    /// Whether it may be in a PDF/A file.
    pub archival: bool,
}

/// Writes an image. A JPEG of a kind that PDF supports is embedded unchanged.
///
/// # Errors
/// [`Error::Image`] if it is broken.
pub(super) fn write(file: &mut File, data: &ImageData, archival: bool) -> Result<Written, Error> {
    if data.format == ImageFormat::Jpeg
        && let Some(frame) = JpegFrame::read(&data.bytes)
        // PDF/A with an RGB output intent allows no device CMYK, so such images are converted.
        && !(archival && frame.components == 4)
    {
        let reference = file.reserve();
        file.plain_stream(reference, &frame.entries(), &data.bytes);
        return Ok(Written {
            reference,
            translucent: false,
            archival: true,
        });
    }
    if let Some(drawing) = &data.drawing
        && let Some(written) = vector::write(file, drawing)
    {
        return Ok(written);
    }
    if data.format == ImageFormat::Pdf {
        return background::write(file, data);
    }
    let pixels = decode(data).ok_or_else(|| Error::Image(format!("{:?}", data.format)))?;
    Ok(write_pixels(file, &pixels))
}

fn write_pixels(file: &mut File, pixels: &Pixels) -> Written {
    let pixel_count = pixels.rgba.len() / 4;
    let opaque = pixels.rgba.chunks_exact(4).all(|pixel| pixel[3] == 255);
    let gray = pixels
        .rgba
        .chunks_exact(4)
        .all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2]);
    let width = pixels.width as usize;
    let mask = (!opaque).then(|| {
        let alpha: Vec<u8> = pixels.rgba.chunks_exact(4).map(|pixel| pixel[3]).collect();
        let reference = file.reserve();
        let entries = entries(pixels, "/DeviceGray", 1);
        file.stream(reference, &entries, &predicted(&alpha, width));
        reference
    });
    let (color_space, colors) = if gray {
        ("/DeviceGray", 1)
    } else {
        ("/DeviceRGB", 3)
    };
    let mut samples = Vec::with_capacity(pixel_count * colors);
    for pixel in pixels.rgba.chunks_exact(4) {
        samples.extend_from_slice(&pixel[..colors]);
    }
    let mut entries = entries(pixels, color_space, colors).into_bytes();
    if let Some(mask) = mask {
        entries.raw("/SMask ").reference(mask);
    }
    let reference = file.reserve();
    let entries = String::from_utf8_lossy(&entries).into_owned();
    file.stream(reference, &entries, &predicted(&samples, width * colors));
    Written {
        reference,
        translucent: !opaque,
        archival: true,
    }
}

fn entries(pixels: &Pixels, color_space: &str, colors: usize) -> String {
    let (width, height) = (pixels.width, pixels.height);
    format!(
        "/Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace{color_space}\
         /BitsPerComponent 8/DecodeParms<</Predictor 15/Colors {colors}/Columns {width}>>"
    )
}

/// Encodes rows as differences from the row above, which compress better: PNG filter type 2, PNG
/// §9.2.
fn predicted(samples: &[u8], row_bytes: usize) -> Vec<u8> {
    let rows = samples.len() / row_bytes.max(1);
    let mut out = Vec::with_capacity(samples.len() + rows);
    let mut above: &[u8] = &[];
    for row in samples.chunks_exact(row_bytes.max(1)) {
        if above.is_empty() {
            out.push(0);
            out.extend_from_slice(row);
        } else {
            out.push(2);
            out.extend(
                row.iter()
                    .zip(above)
                    .map(|(new, old)| new.wrapping_sub(*old)),
            );
        }
        above = row;
    }
    out
}

/// The frame header of a JPEG file, ISO/IEC 10918-1 §B.2.
#[derive(Debug, PartialEq)]
struct JpegFrame {
    width: u16,
    height: u16,
    components: u8,
    /// Written by Adobe software, which stores CMYK inverted.
    adobe: bool,
}

impl JpegFrame {
    /// Reads the frame header. `None` if the file is broken or of a kind that PDF does not support.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut at = 2;
        let mut adobe = false;
        if bytes.get(..2)? != [0xff, 0xd8] {
            return None;
        }
        loop {
            while *bytes.get(at + 1)? == 0xff {
                at += 1;
            }
            if bytes[at] != 0xff {
                return None;
            }
            let marker = bytes[at + 1];
            let length = usize::from(u16::from_be_bytes([
                *bytes.get(at + 2)?,
                *bytes.get(at + 3)?,
            ]));
            let body = bytes.get(at + 4..at + 2 + length.max(2))?;
            match marker {
                0xee => adobe |= body.starts_with(b"Adobe"),
                0xc0..=0xc2 => {
                    let frame = Self {
                        height: u16::from_be_bytes([*body.get(1)?, *body.get(2)?]),
                        width: u16::from_be_bytes([*body.get(3)?, *body.get(4)?]),
                        components: *body.get(5)?,
                        adobe,
                    };
                    let shown = body[0] == 8 && matches!(frame.components, 1 | 3 | 4);
                    return (shown && frame.width > 0 && frame.height > 0).then_some(frame);
                }
                0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf | 0xd9 | 0xda => return None,
                _ => {}
            }
            at += 2 + length.max(2);
        }
    }

    fn entries(&self) -> String {
        let color_space = match self.components {
            1 => "Gray",
            3 => "RGB",
            _ => "CMYK",
        };
        let inverted = if self.components == 4 && self.adobe {
            "/Decode[1 0 1 0 1 0 1 0]"
        } else {
            ""
        };
        format!(
            "/Type/XObject/Subtype/Image/Width {}/Height {}/ColorSpace/Device{color_space}\
             /BitsPerComponent 8/Filter/DCTDecode{inverted}",
            self.width, self.height
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_found_behind_other_segments() {
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2];
        bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 20, 0, 30, 1, 1, 0x11, 0]);
        let frame = JpegFrame::read(&bytes);
        let expected = JpegFrame {
            width: 30,
            height: 20,
            components: 1,
            adobe: false,
        };
        assert_eq!(frame, Some(expected));
        for end in 0..bytes.len() {
            let _ = JpegFrame::read(&bytes[..end]);
        }
    }
}

//! Image files decoded to RGBA pixels.

use platen_document::bound::{ImageData, ImageFormat};
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use super::raster::rasterize;

/// A decoded image: straight (not premultiplied) RGBA, 8 bits per channel.
pub(crate) struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

/// Decodes an image; `None` if it is broken, or takes too much to draw.
pub(crate) fn decode(data: &ImageData) -> Option<Pixels> {
    let pixels = match data.format {
        ImageFormat::Png => decode_png(&data.bytes),
        ImageFormat::Jpeg => decode_jpeg(&data.bytes),
        ImageFormat::Gif => decode_gif(&data.bytes),
        ImageFormat::WebP => decode_webp(&data.bytes),
        ImageFormat::Svg => data.drawing.as_deref().and_then(rasterize),
        ImageFormat::Pdf => None,
    }?;
    let expected = (pixels.width as usize)
        .checked_mul(pixels.height as usize)?
        .checked_mul(4)?;
    (pixels.rgba.len() == expected).then_some(pixels)
}

fn decode_png(bytes: &[u8]) -> Option<Pixels> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(
        png::Transformations::normalize_to_color8() | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().ok()?;
    let mut buffer = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut buffer).ok()?;
    buffer.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => buffer,
        png::ColorType::GrayscaleAlpha => buffer
            .chunks_exact(2)
            .flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]])
            .collect(),
        _ => return None,
    };
    Some(Pixels {
        width: info.width,
        height: info.height,
        rgba,
    })
}

fn decode_jpeg(bytes: &[u8]) -> Option<Pixels> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGBA);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let rgba = decoder.decode().ok()?;
    let (width, height) = decoder.dimensions()?;
    Some(Pixels {
        width: width as u32,
        height: height as u32,
        rgba,
    })
}

fn decode_gif(bytes: &[u8]) -> Option<Pixels> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).ok()?;
    let frame = decoder.read_next_frame().ok()??;
    Some(Pixels {
        width: u32::from(frame.width),
        height: u32::from(frame.height),
        rgba: frame.buffer.to_vec(),
    })
}

fn decode_webp(bytes: &[u8]) -> Option<Pixels> {
    let mut decoder = image_webp::WebPDecoder::new(std::io::Cursor::new(bytes)).ok()?;
    let (width, height) = decoder.dimensions();
    let mut buffer = vec![0; decoder.output_buffer_size()?];
    decoder.read_image(&mut buffer).ok()?;
    let rgba = if decoder.has_alpha() {
        buffer
    } else {
        buffer
            .chunks_exact(3)
            .flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255])
            .collect()
    };
    Some(Pixels {
        width,
        height,
        rgba,
    })
}

//! Images of a package: equal ones are stored once, WebP and SVG become PNG, barcodes are rasterized.

use std::{io::Cursor, sync::Arc};

use platen_document::bound::{Barcode, Crop, ImageData, ImageFormat, Modules};

use crate::{Error, picture::decode::decode};

/// Why a picture is left out, for the loss report.
pub(crate) const UNDRAWN: &str = "this picture cannot be decoded, or takes too much to draw";
/// What readers lose of an SVG drawing, for the loss report.
pub(crate) const RASTERIZED: &str = "Office shows SVG drawings as pixels here, and not as vectors";

/// The images of a package.
#[derive(Default)]
pub(crate) struct Media {
    files: Vec<(Source, &'static str, Arc<[u8]>)>,
}

/// The key by which equal images are recognized.
#[derive(PartialEq)]
enum Source {
    Image(Arc<ImageData>),
    Barcode(Modules),
}

impl Media {
    /// File name of an image, such as `image1.png`. `None` if it cannot be decoded, or takes too much
    /// to draw.
    pub fn image(&mut self, data: &Arc<ImageData>) -> Result<Option<String>, Error> {
        let found = self.files.iter().position(|(source, _, _)| {
            matches!(source, Source::Image(other) if Arc::ptr_eq(other, data) || other == data)
        });
        if let Some(index) = found {
            return Ok(Some(self.name(index)));
        }
        let (extension, bytes) = match data.format {
            ImageFormat::Png => ("png", Arc::clone(&data.bytes)),
            ImageFormat::Jpeg => ("jpeg", Arc::clone(&data.bytes)),
            ImageFormat::Gif => ("gif", Arc::clone(&data.bytes)),
            ImageFormat::WebP => match webp_to_png(&data.bytes)? {
                Some(png) => ("png", Arc::from(png)),
                None => return Ok(None),
            },
            ImageFormat::Svg => match svg_to_png(data)? {
                Some(png) => ("png", Arc::from(png)),
                None => return Ok(None),
            },
            // Behind pages only, which these formats do not show.
            ImageFormat::Pdf => return Ok(None),
        };
        self.files
            .push((Source::Image(Arc::clone(data)), extension, bytes));
        Ok(Some(self.name(self.files.len() - 1)))
    }

    /// File name of a barcode's image.
    pub fn barcode(&mut self, barcode: &Barcode) -> Result<String, Error> {
        let found = self.files.iter().position(
            |(source, _, _)| matches!(source, Source::Barcode(other) if *other == barcode.modules),
        );
        if let Some(index) = found {
            return Ok(self.name(index));
        }
        let png = barcode_png(barcode)?;
        self.files.push((
            Source::Barcode(barcode.modules.clone()),
            "png",
            Arc::from(png),
        ));
        Ok(self.name(self.files.len() - 1))
    }

    fn name(&self, index: usize) -> String {
        format!("image{}.{}", index + 1, self.files[index].1)
    }

    /// File names and contents.
    pub fn files(&self) -> impl Iterator<Item = (String, &[u8])> {
        (0..self.files.len()).map(|index| (self.name(index), self.files[index].2.as_ref()))
    }
}

/// Draws an SVG as PNG. `None` if that takes too much time or memory.
pub(crate) fn svg_to_png(data: &ImageData) -> Result<Option<Vec<u8>>, Error> {
    let Some(pixels) = decode(data) else {
        return Ok(None);
    };
    let (width, height) = (pixels.width, pixels.height);
    let depth = png::BitDepth::Eight;
    encode(width, height, png::ColorType::Rgba, depth, &pixels.rgba).map(Some)
}

/// Converts WebP, which Office before 2021 cannot show, to PNG. `None` if it cannot be decoded.
pub(crate) fn webp_to_png(bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let Ok(mut decoder) = image_webp::WebPDecoder::new(Cursor::new(bytes)) else {
        return Ok(None);
    };
    let (width, height) = decoder.dimensions();
    let color = if decoder.has_alpha() {
        png::ColorType::Rgba
    } else {
        png::ColorType::Rgb
    };
    let Some(size) = decoder.output_buffer_size() else {
        return Ok(None);
    };
    let mut pixels = vec![0; size];
    if decoder.read_image(&mut pixels).is_err() {
        return Ok(None);
    }
    encode(width, height, color, png::BitDepth::Eight, &pixels).map(Some)
}

/// A barcode as a black-and-white PNG in which every module is a whole number of pixels, so that it
/// stays sharp.
pub(crate) fn barcode_png(barcode: &Barcode) -> Result<Vec<u8>, Error> {
    let modules = &barcode.modules;
    let across = modules.width.clamp(1, 4096) as usize;
    let down = modules.height.clamp(1, 4096) as usize;
    let scale = (1200 / across).clamp(1, 12);
    let width = across * scale;
    // The rows of a one-dimensional code are as high as the drawn height requires.
    let row_height = if down == 1 {
        let ratio = f64::from(barcode.height) / f64::from(barcode.width.max(1.0));
        ((width as f64 * ratio) as usize).clamp(1, 2000)
    } else {
        scale
    };
    let stride = width.div_ceil(8);
    let mut pixels = Vec::with_capacity(stride * row_height * down);
    for row in 0..down {
        let mut line = vec![0xFFu8; stride];
        for x in 0..width {
            if modules.dark.get(row * across + x / scale) == Some(&true) {
                line[x / 8] &= !(0x80 >> (x % 8));
            }
        }
        (0..row_height).for_each(|_| pixels.extend_from_slice(&line));
    }
    let height = (row_height * down) as u32;
    encode(
        width as u32,
        height,
        png::ColorType::Grayscale,
        png::BitDepth::One,
        &pixels,
    )
}

fn encode(
    width: u32,
    height: u32,
    color: png::ColorType,
    depth: png::BitDepth,
    pixels: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

/// What is cut off a picture, in thousandths of a percent (ECMA-376-1 §20.1.8.55).
pub(crate) fn source_rectangle(crop: Crop) -> String {
    if crop.is_none() {
        return String::new();
    }
    let of = |part: f32| (part * 100_000.0).round() as i32;
    let (sides, ends) = (of(crop.sides), of(crop.ends));
    format!("<a:srcRect l=\"{sides}\" t=\"{ends}\" r=\"{sides}\" b=\"{ends}\"/>")
}

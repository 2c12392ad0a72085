//! Photos as they are to be seen. Cameras store what their sensor sees, and say in a tag how it is
//! turned (Exif 2.32 §4.6.4). PDF, Office programs and browsers disagree about that tag, so the
//! pixels of such a photo are turned once, and the tag is gone.

use std::sync::Arc;

use jpeg_encoder::{Encoder, ImageBuffer, JpegColorType, SamplingFactor, rgb_to_ycbcr};
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use crate::{bound::ImageData, work};

/// Maximum number of segments of a file that are looked at.
const MAX_SEGMENTS: usize = 1_000;
/// The tag that says how a picture is turned.
const ORIENTATION: u16 = 0x0112;
/// The type of its value: a number of 16 bits.
const SHORT: u16 = 3;
/// Of the turned picture.
const QUALITY: u8 = 90;

/// How the pixels of a picture are to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    /// Whether columns become rows.
    transposed: bool,
    /// Whether the stored columns are in reverse order.
    columns_reversed: bool,
    /// Whether the stored rows are.
    rows_reversed: bool,
}

impl Turn {
    /// The turn of a value of the tag; `None` if the picture is upright.
    fn of(value: u16) -> Option<Self> {
        matches!(value, 2..=8).then_some(Self {
            transposed: value >= 5,
            columns_reversed: matches!(value, 2 | 3 | 7 | 8),
            rows_reversed: matches!(value, 3 | 4 | 6 | 7),
        })
    }
}

/// A JPEG whose size is checked, upright. One that is damaged, or of a kind that no camera makes,
/// stays as it is.
pub(super) fn upright(stored: ImageData) -> ImageData {
    let turned = turn(&stored.bytes).and_then(|turn| turned(&stored, turn));
    turned.unwrap_or(stored)
}

/// How a JPEG is to be turned, by its first Exif segment.
fn turn(bytes: &[u8]) -> Option<Turn> {
    let exif = segments(bytes).find_map(|(marker, body)| {
        // What follows the name is filled up with a byte.
        let (0xe1, Some([_, tiff @ ..])) = (marker, body.strip_prefix(b"Exif\0")) else {
            return None;
        };
        Some(tiff)
    });
    Turn::of(orientation(exif?)?)
}

/// Whether the colors of a JPEG have fewer samples than its brightness, as those of cameras do: then
/// more of them would make the file larger and show nothing new.
fn is_subsampled(bytes: &[u8]) -> bool {
    let mut frames = segments(bytes).filter(|(marker, _)| is_frame(*marker));
    let components = frames.next().and_then(|(_, body)| body.get(6..));
    let mut samples = components.unwrap_or_default().chunks_exact(3);
    let sampling = |component: &[u8]| component.get(1).copied();
    let brightness = samples.next().and_then(sampling);
    samples.any(|color| sampling(color) != brightness)
}

/// Whether a marker starts a frame, ISO/IEC 10918-1 table B.1.
fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

/// The markers of a JPEG before its pixels, with what belongs to each.
fn segments(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8").unwrap_or_default();
    let next = move || {
        // A marker may have more bytes of this value before it.
        while let [0xff, 0xff, ..] = rest {
            rest = rest.get(1..)?;
        }
        let [0xff, marker, after @ ..] = rest else {
            return None;
        };
        // The pixels, or the end.
        if matches!(marker, 0xda | 0xd9) {
            return None;
        }
        let length = usize::from(short(after, false)?);
        let body = after.get(2..length)?;
        rest = after.get(length..)?;
        Some((*marker, body))
    };
    std::iter::from_fn(next).take(MAX_SEGMENTS)
}

/// The value of the tag in the first directory, TIFF 6.0 §2.
fn orientation(tiff: &[u8]) -> Option<u16> {
    let little_endian = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |bytes: &[u8]| short(bytes, little_endian);
    let start = *tiff.get(4..)?.first_chunk::<4>()?;
    let start = match little_endian {
        true => u32::from_le_bytes(start),
        false => u32::from_be_bytes(start),
    };
    let directory = tiff.get(usize::try_from(start).ok()?..)?;
    let count = usize::from(short(directory)?);
    let mut entries = directory.get(2..)?.chunks_exact(12).take(count);
    let entry = entries.find(|entry| short(entry) == Some(ORIENTATION))?;
    if short(entry.get(2..)?)? != SHORT {
        return None;
    }
    short(entry.get(8..)?)
}

/// The number of 16 bits at the start of `bytes`.
fn short(bytes: &[u8], little_endian: bool) -> Option<u16> {
    let bytes = *bytes.first_chunk::<2>()?;
    Some(match little_endian {
        true => u16::from_le_bytes(bytes),
        false => u16::from_be_bytes(bytes),
    })
}

/// The picture with its pixels turned; `None` if it cannot be decoded. Its size is that which was
/// checked: another one is not decoded.
fn turned(stored: &ImageData, turn: Turn) -> Option<ImageData> {
    let width = u16::try_from(stored.width_px).ok()?;
    let height = u16::try_from(stored.height_px).ok()?;
    let options = DecoderOptions::default()
        .set_max_width(usize::from(width))
        .set_max_height(usize::from(height));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&*stored.bytes), options);
    decoder.decode_headers().ok()?;
    let (color, channels) = match (decoder.input_colorspace()?, decoder.info()?.components) {
        (ColorSpace::Luma, 1) => (ColorSpace::Luma, 1),
        (ColorSpace::YCbCr | ColorSpace::RGB, 3) => (ColorSpace::RGB, 3),
        _ => return None,
    };
    if decoder.dimensions()? != (usize::from(width), usize::from(height)) {
        return None;
    }
    let profile = decoder.icc_profile();
    // The colors that are wanted must be known before the headers are read.
    let options = options.jpeg_set_out_colorspace(color);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&*stored.bytes), options);
    let samples = decoder.decode().ok()?;
    let picture = Turned {
        samples: &samples,
        width,
        height,
        channels,
        turn,
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, QUALITY);
    if channels == 3 && is_subsampled(&stored.bytes) {
        encoder.set_sampling_factor(SamplingFactor::F_2_2);
    }
    if let Some(profile) = profile {
        encoder.add_icc_profile(&profile).ok()?;
    }
    let (width_px, height_px) = (u32::from(picture.width()), u32::from(picture.height()));
    encoder.encode_image(picture).ok()?;
    Some(ImageData {
        bytes: Arc::from(bytes),
        width_px,
        height_px,
        ..stored.clone()
    })
}

/// The stored samples of a picture, read as it is to be seen.
struct Turned<'s> {
    samples: &'s [u8],
    /// Width as stored.
    width: u16,
    /// Height as stored.
    height: u16,
    /// Samples of a pixel: one of gray, or red, green and blue.
    channels: usize,
    turn: Turn,
}

impl Turned<'_> {
    /// The samples of the pixel that is to be seen in the column `x` of the row `y`.
    fn pixel(&self, x: u16, y: u16) -> &[u8] {
        let (column, row) = match self.turn.transposed {
            true => (y, x),
            false => (x, y),
        };
        let place = |index: u16, count: u16, is_reversed: bool| match is_reversed {
            true => usize::from(count.saturating_sub(index).saturating_sub(1)),
            false => usize::from(index),
        };
        let column = place(column, self.width, self.turn.columns_reversed);
        let row = place(row, self.height, self.turn.rows_reversed);
        let start = (row * usize::from(self.width) + column) * self.channels;
        let pixel = self.samples.get(start..start + self.channels);
        pixel.unwrap_or_default()
    }
}

impl ImageBuffer for Turned<'_> {
    fn get_jpeg_color_type(&self) -> JpegColorType {
        match self.channels {
            1 => JpegColorType::Luma,
            _ => JpegColorType::Ycbcr,
        }
    }

    fn width(&self) -> u16 {
        match self.turn.transposed {
            true => self.height,
            false => self.width,
        }
    }

    fn height(&self) -> u16 {
        match self.turn.transposed {
            true => self.width,
            false => self.height,
        }
    }

    fn fill_buffers(&self, y: u16, [first, second, third, _]: &mut [Vec<u8>; 4]) {
        work::check();
        for x in 0..self.width() {
            match self.pixel(x, y) {
                [gray] => first.push(*gray),
                [red, green, blue] => {
                    let (luma, blueness, redness) = rgb_to_ycbcr(*red, *green, *blue);
                    first.push(luma);
                    second.push(blueness);
                    third.push(redness);
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jpeg_encoder::ColorType;

    use super::*;
    use crate::bound::ImageFormat;

    /// Colors of the four quarters of the stored picture: left and right above, then below.
    const QUARTERS: [[u8; 3]; 4] = [RED, GREEN, BLUE, WHITE];
    const RED: [u8; 3] = [255, 0, 0];
    const GREEN: [u8; 3] = [0, 255, 0];
    const BLUE: [u8; 3] = [0, 0, 255];
    const WHITE: [u8; 3] = [255, 255, 255];

    /// The tag with a value, in an Exif segment.
    fn segment(value: u8, little_endian: bool) -> Vec<u8> {
        let tiff: &[u8] = if little_endian {
            b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0"
        } else {
            b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0"
        };
        let mut segment = b"\xff\xe1\0\x22Exif\0\0".to_vec();
        segment.extend_from_slice(tiff);
        let at = if little_endian { 28 } else { 29 };
        segment[at] = value;
        segment
    }

    /// A picture of 48 by 32 pixels with other segments before that of the tag.
    fn photo(value: u8, little_endian: bool) -> ImageData {
        let pixels: Vec<u8> = (0..48 * 32)
            .flat_map(|at| QUARTERS[at / 48 / 16 * 2 + at % 48 / 24])
            .collect();
        let mut plain = Vec::new();
        let mut encoder = Encoder::new(&mut plain, 95);
        encoder.add_icc_profile(b"a profile of colors").unwrap();
        encoder.encode(&pixels, 48, 32, ColorType::Rgb).unwrap();
        // Behind the JFIF segment of 18 bytes, with a byte to fill up.
        let mut bytes = plain[..20].to_vec();
        bytes.push(0xff);
        bytes.extend(segment(value, little_endian));
        bytes.extend_from_slice(&plain[20..]);
        ImageData {
            bytes: Arc::from(bytes),
            format: ImageFormat::Jpeg,
            width_px: 48,
            height_px: 32,
            page: 0,
            drawing: None,
        }
    }

    /// Indexes in [`QUARTERS`] of what is to be seen in the four quarters of a picture.
    fn seen(data: &ImageData) -> Vec<usize> {
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&*data.bytes), options);
        let samples = decoder.decode().unwrap();
        assert_eq!(decoder.icc_profile().unwrap(), b"a profile of colors");
        let (width, height) = decoder.dimensions().unwrap();
        assert_eq!(
            (width, height),
            (data.width_px as usize, data.height_px as usize)
        );
        let color = |x: usize, y: usize| {
            let start = (y * width + x) * 3;
            let near = |quarter: &[u8; 3]| {
                let mut pixel = samples[start..start + 3].iter().zip(quarter);
                pixel.all(|(one, other)| one.abs_diff(*other) < 40)
            };
            QUARTERS.iter().position(near).unwrap()
        };
        let (right, lower) = (width * 3 / 4, height * 3 / 4);
        let (left, upper) = (width / 4, height / 4);
        [(left, upper), (right, upper), (left, lower), (right, lower)]
            .map(|(x, y)| color(x, y))
            .to_vec()
    }

    #[test]
    fn photos_stand_upright_whatever_their_tag_says() {
        for (value, expected) in [
            (1, [0, 1, 2, 3]),
            (2, [1, 0, 3, 2]),
            (3, [3, 2, 1, 0]),
            (4, [2, 3, 0, 1]),
            (5, [0, 2, 1, 3]),
            (6, [2, 0, 3, 1]),
            (7, [3, 1, 2, 0]),
            (8, [1, 3, 0, 2]),
            (9, [0, 1, 2, 3]),
        ] {
            for little_endian in [true, false] {
                let stored = photo(value, little_endian);
                let made = upright(stored.clone());
                assert_eq!(seen(&made), expected, "{value}");
                let is_turned = (2..=8).contains(&value);
                assert_eq!(made != stored, is_turned, "{value}");
                assert_eq!(turn(&made.bytes), None, "{value}");
                let size = match value {
                    5..=8 => (32, 48),
                    _ => (48, 32),
                };
                assert_eq!((made.width_px, made.height_px), size, "{value}");
            }
        }
    }

    #[test]
    fn colors_keep_as_many_samples_as_they_have() {
        use jpeg_encoder::SamplingFactor::{F_1_1, F_2_1, F_2_2};
        for (stored, expected) in [(F_1_1, false), (F_2_1, true), (F_2_2, true)] {
            let mut plain = Vec::new();
            let mut encoder = Encoder::new(&mut plain, 95);
            encoder.set_sampling_factor(stored);
            let pixels = [0x80; 48 * 32 * 3];
            encoder.encode(&pixels, 48, 32, ColorType::Rgb).unwrap();
            let mut photo = photo(6, true);
            let bytes = [&plain[..20], &segment(6, true)[..], &plain[20..]].concat();
            photo.bytes = Arc::from(bytes);
            assert_eq!(is_subsampled(&photo.bytes), expected);
            let made = upright(photo.clone());
            assert_ne!(made, photo);
            assert_eq!(is_subsampled(&made.bytes), expected);
        }
    }

    #[test]
    fn gray_photos_are_turned() {
        let pixels: Vec<u8> = (0..48 * 32).map(|at| (at % 48 / 24 * 200) as u8).collect();
        let mut plain = Vec::new();
        let encoder = Encoder::new(&mut plain, 95);
        encoder.encode(&pixels, 48, 32, ColorType::Luma).unwrap();
        let mut stored = photo(6, true);
        let bytes = [&plain[..20], &segment(6, true)[..], &plain[20..]].concat();
        stored.bytes = Arc::from(bytes);
        let made = upright(stored);
        assert_eq!((made.width_px, made.height_px), (32, 48));
        let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::Luma);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&*made.bytes), options);
        let samples = decoder.decode().unwrap();
        assert!(samples[0] < 20 && samples[32 * 47] > 180);
    }

    #[test]
    fn what_is_damaged_or_of_another_size_stays_as_it_is() {
        let stored = photo(6, true);
        for end in 0..stored.bytes.len() {
            let _ = turn(&stored.bytes[..end]);
        }
        for at in 0..64 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = stored.bytes.to_vec();
                bytes[at] = value;
                let _ = turn(&bytes);
            }
        }
        let larger = ImageData {
            width_px: 49,
            ..stored.clone()
        };
        assert_eq!(upright(larger).width_px, 49);
        let cut = ImageData {
            bytes: Arc::from(&stored.bytes[..80]),
            ..stored
        };
        assert_eq!(upright(cut.clone()), cut);
    }
}

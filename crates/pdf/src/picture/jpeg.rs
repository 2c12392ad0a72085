//! JPEG files, and smaller samples.

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

use super::Samples;

/// Reads a JPEG file of this size in gray, or red, green and blue; `None` if it is damaged, of
/// another size, or in other colors.
pub(super) fn decode(
    bytes: &[u8],
    (width, height): (usize, usize),
    most: usize,
) -> Option<Samples> {
    if !is_interleaved(bytes) {
        return None;
    }
    let options = DecoderOptions::default()
        .set_max_width(width)
        .set_max_height(height);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().ok()?;
    let channels = match decoder.input_colorspace()? {
        ColorSpace::Luma => 1,
        ColorSpace::YCbCr | ColorSpace::RGB => 3,
        _ => return None,
    };
    if decoder.dimensions()? != (width, height) || width * height * channels > most {
        return None;
    }
    let wanted = match channels {
        1 => ColorSpace::Luma,
        _ => ColorSpace::RGB,
    };
    let options = options.jpeg_set_out_colorspace(wanted);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let bytes = decoder.decode().ok()?;
    let is_whole = bytes.len() == width * height * channels;
    is_whole.then_some(Samples {
        width,
        height,
        channels,
        bytes,
    })
}

/// Whether the colors of a sequential file are in one scan. Others are rare, and the decoder mixes
/// up their colors.
fn is_interleaved(bytes: &[u8]) -> bool {
    let mut components = None;
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let [0xff, marker, more @ ..] = rest {
        let [high, low, ..] = more else { return false };
        let length = usize::from(u16::from_be_bytes([*high, *low])).max(2);
        match (marker, components) {
            (0xff, _) => {
                rest = &rest[1..];
                continue;
            }
            (0xc0 | 0xc1, _) => components = more.get(7).copied(),
            (0xda, Some(count)) => return more.get(2) == Some(&count),
            (0xda, None) => return true,
            _ => {}
        }
        rest = more.get(length..).unwrap_or_default();
    }
    false
}

/// Writes a JPEG file.
pub(crate) fn encode(samples: &Samples, quality: u8) -> Option<Vec<u8>> {
    let width = u16::try_from(samples.width).ok()?;
    let height = u16::try_from(samples.height).ok()?;
    let color = match samples.channels {
        1 => ColorType::Luma,
        _ => ColorType::Rgb,
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, quality);
    if quality < 90 {
        encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    }
    encoder.encode(&samples.bytes, width, height, color).ok()?;
    Some(bytes)
}

/// Samples in another size, no larger: each is the mean of those that it stands for.
pub(crate) fn scaled(samples: &Samples, width: usize, height: usize) -> Samples {
    let (width, height) = (
        width.clamp(1, samples.width),
        height.clamp(1, samples.height),
    );
    let channels = samples.channels;
    let mut bytes = Vec::with_capacity(width * height * channels);
    let span = |index: usize, to: usize, from: usize| {
        let begin = index * from / to;
        begin..((index + 1) * from / to).max(begin + 1)
    };
    for y in 0..height {
        let rows = span(y, height, samples.height);
        for x in 0..width {
            let columns = span(x, width, samples.width);
            let count = (rows.len() * columns.len()) as u64;
            for channel in 0..channels {
                let mut sum = count / 2;
                for row in rows.clone() {
                    let start = row * samples.width;
                    let row = columns
                        .clone()
                        .map(|column| (start + column) * channels + channel);
                    sum += row.map(|at| u64::from(samples.bytes[at])).sum::<u64>();
                }
                bytes.push((sum / count) as u8);
            }
        }
    }
    Samples {
        width,
        height,
        channels,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_coded_and_shrunk() {
        let bytes: Vec<u8> = (0..64 * 48).flat_map(|_| [200, 100, 0]).collect();
        let samples = Samples {
            width: 64,
            height: 48,
            channels: 3,
            bytes,
        };
        let coded = encode(&samples, 80).expect("a file");
        let read = decode(&coded, (64, 48), 1 << 20).expect("samples");
        let near = |one: u8, two: u8| one.abs_diff(two) < 6;
        assert!(
            read.bytes
                .iter()
                .zip(&samples.bytes)
                .all(|(one, two)| near(*one, *two))
        );
        assert_eq!(decode(&coded, (64, 47), 1 << 20), None, "of another size");
        assert_eq!(decode(&coded, (64, 48), 100), None, "too large");
        assert_eq!(decode(&coded[..40], (64, 48), 1 << 20), None, "damaged");
        let small = scaled(&samples, 10, 7);
        assert_eq!((small.width, small.height), (10, 7));
        assert!(
            small
                .bytes
                .as_chunks::<3>()
                .0
                .iter()
                .all(|it| *it == [200, 100, 0])
        );
    }
}

//! PNG files of pages, made small: a palette of the most frequent colors.

use std::{
    collections::HashMap,
    io::{Cursor, Error, Result},
};

/// Colors of a palette.
const COLORS: usize = 64;

/// Rows below the content of a page.
const MARGIN: usize = 14;

/// Which part of a page is shown.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// All of it.
    All,
    /// What is above the blank rest.
    Content,
}

/// The PNG `file` with a palette of at most [`COLORS`] colors; transparency is laid on white.
pub fn reduce(file: &[u8], keep: Keep) -> Result<Vec<u8>> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(Error::other)?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| Error::other("the picture is too large"))?;
    let mut samples = vec![0; size];
    let frame = reader.next_frame(&mut samples).map_err(Error::other)?;
    samples.truncate(frame.buffer_size());
    let pixels = colors(&samples, frame.color_type)?;
    let (pixels, height) = match keep {
        Keep::All => (&pixels[..], frame.height),
        Keep::Content => content(&pixels, frame.width),
    };
    encode(pixels, &palette(pixels), frame.width, height)
}

/// The rows down to the last that is not white, and a margin; how many there are.
fn content(pixels: &[[u8; 3]], width: u32) -> (&[[u8; 3]], u32) {
    let wide = width as usize;
    let mut rows = pixels.chunks_exact(wide);
    let last = rows.rposition(|row| row.iter().any(|pixel| *pixel != [255; 3]));
    let high = last
        .map_or(1, |last| last + 1 + MARGIN)
        .min(pixels.len() / wide);
    (&pixels[..high * wide], high as u32)
}

/// The pixels, on white.
fn colors(samples: &[u8], kind: png::ColorType) -> Result<Vec<[u8; 3]>> {
    let on_white = |value: u8, alpha: u8| {
        let mixed = u32::from(value) * u32::from(alpha) + 255 * u32::from(255 - alpha);
        u8::try_from(mixed / 255).unwrap_or(u8::MAX)
    };
    match kind {
        png::ColorType::Rgb => Ok(samples.as_chunks().0.to_vec()),
        png::ColorType::Rgba => Ok(samples
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&[red, green, blue, alpha]| {
                [red, green, blue].map(|value| on_white(value, alpha))
            })
            .collect()),
        other => Err(Error::other(format!("a picture of {other:?}"))),
    }
}

/// The most frequent colors, of which no two are near each other.
fn palette(pixels: &[[u8; 3]]) -> Vec<[u8; 3]> {
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    for &pixel in pixels {
        *counts.entry(pixel).or_default() += 1;
    }
    let mut ordered: Vec<([u8; 3], usize)> = counts.into_iter().collect();
    ordered.sort_by_key(|&(color, count)| (std::cmp::Reverse(count), color));
    let mut palette: Vec<[u8; 3]> = Vec::new();
    for least in [18 * 18, 8 * 8, 1] {
        for &(color, _) in &ordered {
            if palette.len() < COLORS
                && palette.iter().all(|&known| distance(known, color) >= least)
            {
                palette.push(color);
            }
        }
    }
    palette
}

/// The square of the distance of two colors.
fn distance(left: [u8; 3], right: [u8; 3]) -> u32 {
    left.into_iter()
        .zip(right)
        .map(|(left, right)| u32::from(left.abs_diff(right)).pow(2))
        .sum()
}

fn encode(pixels: &[[u8; 3]], palette: &[[u8; 3]], width: u32, height: u32) -> Result<Vec<u8>> {
    let mut nearest: HashMap<[u8; 3], u8> = HashMap::new();
    let indices: Vec<u8> = pixels
        .iter()
        .map(|&pixel| {
            *nearest.entry(pixel).or_insert_with(|| {
                (0_u8..)
                    .zip(palette)
                    .min_by_key(|&(_, &color)| distance(color, pixel))
                    .map_or(0, |(index, _)| index)
            })
        })
        .collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(Error::other)?;
    writer.write_image_data(&indices).map_err(Error::other)?;
    writer.finish().map_err(Error::other)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(pixels: &[[u8; 3]], width: u32) -> Vec<u8> {
        let mut file = Vec::new();
        let height = u32::try_from(pixels.len()).unwrap() / width;
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&pixels.concat()).unwrap();
        writer.finish().unwrap();
        file
    }

    fn pixels(file: &[u8]) -> Vec<[u8; 3]> {
        let mut decoder = png::Decoder::new(Cursor::new(file));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut samples = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut samples).unwrap();
        samples.as_chunks().0.to_vec()
    }

    #[test]
    fn few_colors_stay_as_they_are() {
        let found: Vec<[u8; 3]> = (0..60_u8).map(|step| [step * 4, 255 - step, 7]).collect();
        assert_eq!(
            pixels(&reduce(&picture(&found, 10), Keep::All).unwrap()),
            found
        );
    }

    #[test]
    fn the_blank_rest_of_a_page_is_cut_off() {
        let mut found = vec![[255; 3]; 40];
        found[4] = [0; 3];
        let kept = pixels(&reduce(&picture(&found, 1), Keep::Content).unwrap());
        assert_eq!(kept, found[..5 + MARGIN]);
    }

    #[test]
    fn many_colors_come_near() {
        let found: Vec<[u8; 3]> = (0..=255_u8).map(|step| [step, step, step]).collect();
        let reduced = pixels(&reduce(&picture(&found, 16), Keep::All).unwrap());
        for (before, after) in found.into_iter().zip(reduced) {
            assert!(distance(before, after) < 16 * 16, "{before:?} {after:?}");
        }
    }
}

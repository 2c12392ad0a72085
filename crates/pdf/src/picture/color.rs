//! Color spaces (8.6) whose samples become gray, or red, green and blue.

use lopdf::{Document, Object};

use crate::open::{resolve, value};

/// Depth of color spaces within color spaces.
const MAX_DEPTH: usize = 4;
/// Maximum size of a palette, in bytes.
const MAX_PALETTE: usize = 1_024;

/// A color space.
pub(super) enum Space {
    Gray,
    Rgb,
    Cmyk,
    /// A palette of red, green and blue.
    Indexed(Vec<[u8; 3]>),
}

impl Space {
    /// Reads a color space; `None` if it is another.
    pub(super) fn read(document: &Document, object: &Object, depth: usize) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        let object = resolve(document, object)?;
        if let Object::Name(name) = object {
            return match name.as_slice() {
                b"DeviceGray" | b"G" | b"CalGray" => Some(Self::Gray),
                b"DeviceRGB" | b"RGB" | b"CalRGB" => Some(Self::Rgb),
                b"DeviceCMYK" | b"CMYK" => Some(Self::Cmyk),
                _ => None,
            };
        }
        let list = object.as_array().ok()?;
        let kind = resolve(document, list.first()?)?.as_name().ok()?;
        match kind {
            b"DeviceGray" | b"CalGray" => Some(Self::Gray),
            b"DeviceRGB" | b"CalRGB" => Some(Self::Rgb),
            b"DeviceCMYK" => Some(Self::Cmyk),
            b"ICCBased" => {
                let profile = resolve(document, list.get(1)?)?.as_stream().ok()?;
                match value(document, &profile.dict, b"N")?.as_i64().ok()? {
                    1 => Some(Self::Gray),
                    3 => Some(Self::Rgb),
                    4 => Some(Self::Cmyk),
                    _ => None,
                }
            }
            b"Indexed" | b"I" => {
                let base = Self::read(document, list.get(1)?, depth + 1)?;
                let palette = match resolve(document, list.get(3)?)? {
                    Object::String(bytes, _) => bytes.clone(),
                    Object::Stream(stream) => {
                        stream.get_plain_content_with_limit(MAX_PALETTE * 4).ok()?
                    }
                    _ => return None,
                };
                let palette = &palette[..palette.len().min(MAX_PALETTE)];
                Some(Self::Indexed(match base {
                    Self::Gray => palette.iter().map(|gray| [*gray; 3]).collect(),
                    Self::Rgb => palette.as_chunks::<3>().0.to_vec(),
                    Self::Cmyk => (palette.as_chunks::<4>().0.iter())
                        .map(|it| without_black(*it))
                        .collect(),
                    Self::Indexed(_) => return None,
                }))
            }
            _ => None,
        }
    }

    /// Channels of the samples that come of it.
    pub(super) fn channels(&self) -> usize {
        match self {
            Self::Gray => 1,
            _ => 3,
        }
    }

    /// Samples of one byte each from rows of samples of `bits` bits.
    pub(super) fn to_samples(
        &self,
        rows: &[u8],
        (width, height): (usize, usize),
        bits: usize,
        inverted: bool,
    ) -> Option<Vec<u8>> {
        let components = match self {
            Self::Gray | Self::Indexed(_) => 1,
            Self::Rgb => 3,
            Self::Cmyk => 4,
        };
        if ![1, 2, 4, 8, 16].contains(&bits) {
            return None;
        }
        let stride = (width * components * bits).div_ceil(8);
        if rows.len() < stride.checked_mul(height)? {
            return None;
        }
        let is_palette = matches!(self, Self::Indexed(_));
        let mut plain = Vec::with_capacity(width * height * components);
        for row in rows.chunks_exact(stride).take(height) {
            match bits {
                8 => plain.extend(&row[..width * components]),
                16 => plain.extend(row.as_chunks::<2>().0.iter().map(|pair| pair[0])),
                _ => {
                    let most = (1_u16 << bits) - 1;
                    let factor = if is_palette { 1 } else { 255 / most };
                    for index in 0..width * components {
                        let bit = index * bits;
                        let shift = 8 - bits - bit % 8;
                        let raw = u16::from(row[bit / 8] >> shift) & most;
                        plain.push((raw * factor) as u8);
                    }
                }
            }
        }
        if inverted {
            plain.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Some(match self {
            Self::Gray | Self::Rgb => plain,
            Self::Cmyk => (plain.as_chunks::<4>().0.iter())
                .flat_map(|it| without_black(*it))
                .collect(),
            Self::Indexed(palette) => (plain.iter())
                .flat_map(|index| {
                    palette
                        .get(usize::from(*index))
                        .copied()
                        .unwrap_or_default()
                })
                .collect(),
        })
    }
}

/// Red, green and blue of cyan, magenta, yellow and black (10.3.5).
fn without_black([cyan, magenta, yellow, black]: [u8; 4]) -> [u8; 3] {
    [cyan, magenta, yellow].map(|ink| {
        let light = (255 - u16::from(ink)) * (255 - u16::from(black)) / 255;
        light as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_any_depth_become_bytes() {
        let gray =
            |rows: &[u8], size, bits, inverted| Space::Gray.to_samples(rows, size, bits, inverted);
        assert_eq!(
            gray(&[0b1010_0000], (3, 1), 1, false),
            Some(vec![255, 0, 255])
        );
        assert_eq!(gray(&[0b1010_0000], (3, 1), 1, true), Some(vec![0, 255, 0]));
        assert_eq!(gray(&[0x1f, 0xf0], (1, 2), 4, false), Some(vec![17, 255]));
        assert_eq!(gray(&[1, 2, 3, 4], (2, 1), 16, false), Some(vec![1, 3]));
        assert_eq!(gray(&[1], (2, 1), 8, false), None, "too short");
        let palette = Space::Indexed(vec![[1, 2, 3], [4, 5, 6]]);
        let made = palette.to_samples(&[0b0100_0000], (2, 1), 1, false);
        assert_eq!(made, Some(vec![1, 2, 3, 4, 5, 6]));
        let made = Space::Cmyk.to_samples(&[0, 255, 0, 0, 0, 0, 0, 255], (2, 1), 8, false);
        assert_eq!(made, Some(vec![255, 0, 255, 0, 0, 0]));
    }
}

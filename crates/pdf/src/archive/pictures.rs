//! JPEG 2000 pictures of archival files (ISO 19005-2, 6.2.8.3).

use lopdf::{Dictionary, Document, Object};

use super::dictionaries::name;
use crate::open::{filters, value};

/// Maximum number of boxes of a picture that are looked at.
const MAX_BOXES: usize = 1_000;

/// Checks the JPEG 2000 pictures of `document`.
pub(super) fn check(document: &Document, reasons: &mut Vec<String>) {
    for object in document.objects.values() {
        let Object::Stream(stream) = object else {
            continue;
        };
        if name(&stream.dict, b"Subtype") == Some(b"Image") {
            bits(document, &stream.dict, reasons);
        }
        let kinds = filters(document, stream).unwrap_or_default();
        if kinds.last().is_none_or(|last| last != b"JPXDecode") {
            continue;
        }
        // Other filters around it are undone where the picture is used.
        let problem = match kinds.len() {
            1 => Picture::read(&stream.content).problem(),
            _ => Some("a JPEG 2000 picture is compressed once more"),
        };
        if let Some(problem) = problem {
            reasons.push(format!("{problem} (6.2.8.3)"));
        }
    }
}

/// Whether a picture, or a mask, may have so many bits for each component (6.2.8).
pub(super) fn has_right_bits(bits: Option<i64>, is_mask: bool) -> bool {
    match bits {
        None => true,
        Some(bits) if is_mask => bits == 1,
        Some(bits) => [1, 2, 4, 8, 16].contains(&bits),
    }
}

fn bits(document: &Document, picture: &Dictionary, reasons: &mut Vec<String>) {
    let of = |picture: &Dictionary| value(document, picture, b"BitsPerComponent")?.as_i64().ok();
    let is_mask = value(document, picture, b"ImageMask") == Some(&Object::Boolean(true));
    let mask = value(document, picture, b"Mask").and_then(|it| it.as_stream().ok());
    let is_right = has_right_bits(of(picture), is_mask)
        && mask.is_none_or(|mask| has_right_bits(of(&mask.dict), true));
    if !is_right {
        reasons.push("a picture has a number of bits that it must not have (6.2.8)".to_owned());
    }
}

/// What the boxes of a picture say (ISO 15444-1, annex I).
#[derive(Default)]
struct Picture {
    channels: Option<u16>,
    /// Bits of each channel, less one; 255 where they differ.
    depth: u8,
    /// Method, and whether it is the best, of each color specification.
    colors: Vec<(u8, bool, u32)>,
    has_depths: bool,
}

impl Picture {
    fn read(bytes: &[u8]) -> Self {
        let mut picture = Self::default();
        picture.boxes(bytes, &mut MAX_BOXES.clone());
        picture
    }

    fn boxes(&mut self, mut bytes: &[u8], left: &mut usize) {
        while let (Some(head), true) = (bytes.get(..8), *left > 0) {
            *left -= 1;
            let word = |at: usize| {
                bytes
                    .get(at..at + 4)
                    .map_or(0, |it| u32::from_be_bytes([it[0], it[1], it[2], it[3]]))
            };
            let (start, length) = match word(0) {
                0 => (8, bytes.len()),
                1 => (
                    16,
                    usize::try_from((u64::from(word(8)) << 32) | u64::from(word(12)))
                        .unwrap_or(usize::MAX),
                ),
                length => (8, length as usize),
            };
            let length = length.min(bytes.len());
            if length < start {
                return;
            }
            let content = &bytes[start..length];
            match &head[4..8] {
                b"jp2h" => self.boxes(content, left),
                b"ihdr" if content.len() >= 11 => {
                    self.channels = Some(u16::from_be_bytes([content[8], content[9]]));
                    self.depth = content[10];
                }
                b"bpcc" => self.has_depths = true,
                b"colr" if content.len() >= 3 => {
                    let space = content
                        .get(3..7)
                        .map_or(0, |it| u32::from_be_bytes([it[0], it[1], it[2], it[3]]));
                    self.colors.push((content[0], content[2] == 1, space));
                }
                _ => {}
            }
            bytes = &bytes[length..];
        }
    }

    fn problem(&self) -> Option<&'static str> {
        let Some(channels) = self.channels else {
            return Some("a JPEG 2000 picture is a bare codestream");
        };
        let bits = |depth: u8| (depth & 0x7f) + 1;
        let best = self
            .colors
            .iter()
            .filter(|(_, is_best, _)| *is_best)
            .count();
        if !matches!(channels, 1 | 3 | 4) {
            return Some("a JPEG 2000 picture does not have 1, 3 or 4 channels");
        }
        if self.colors.len() > 1 && best != 1 {
            return Some("a JPEG 2000 picture does not say which of its colors count");
        }
        let counted = |(_, is_best, _): &&(u8, bool, u32)| self.colors.len() == 1 || *is_best;
        match self.colors.iter().find(counted) {
            Some((1, _, 12)) => return Some("a JPEG 2000 picture has CMYK colors"),
            Some((1, _, 19)) => return Some("a JPEG 2000 picture has colors of CIEJab"),
            Some((1..=3, ..)) => {}
            _ => return Some("a JPEG 2000 picture does not say what its colors are"),
        }
        // Each channel has a depth of its own where a box says so.
        (self.has_depths || self.depth == 255 || bits(self.depth) > 38)
            .then_some("channels of a JPEG 2000 picture have other depths")
    }
}

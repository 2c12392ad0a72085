//! Pictures: their pixels in the areas go, and so does a picture that is in an area as a whole.

use lopdf::{
    Document, Object, ObjectId, Stream,
    content::{Content, Operation},
};

use super::{
    area::{Area, inverse},
    graphics::Graphics,
    part::{Walk, weight},
    rewriter::Rewriter,
    taken::impossible,
};
use crate::{
    Error,
    flate::deflate,
    open::{resolve, value},
    picture::{Coded, coded, encode, inverted, number, samples, size},
};

/// Maximum size of the samples of a picture, in bytes.
const MAX_SAMPLES: usize = 256 << 20;
/// Maximum number of pictures of a page that are changed.
const MAX_PICTURES: usize = 2_000;
/// JPEG spreads what it shows over blocks of this many pixels both ways.
const BLOCK: usize = 16;
const QUALITY: u8 = 92;
const LEVEL: u32 = 6;
/// Keys of a picture that may hold more of it.
const MORE: [&str; 5] = ["Metadata", "PieceInfo", "Alternates", "OPI", "AF"];
/// Keys of pictures within content, short and long.
const KEYS: [(&[u8], &[u8]); 9] = [
    (b"W", b"Width"),
    (b"H", b"Height"),
    (b"BPC", b"BitsPerComponent"),
    (b"CS", b"ColorSpace"),
    (b"D", b"Decode"),
    (b"DP", b"DecodeParms"),
    (b"F", b"Filter"),
    (b"IM", b"ImageMask"),
    (b"I", b"Interpolate"),
];

/// Pixels of a picture: columns and rows, from the upper left corner; the ends are not part of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Rewriter<'_> {
    /// Draws a picture without what is in the areas.
    pub(super) fn draw_picture(
        &mut self,
        (name, id, stream): (&[u8], ObjectId, &Stream),
        state: &Graphics,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        let matrix = state.text.matrix;
        let area = Area::around(&[0.0, 0.0, 1.0, 1.0], matrix);
        if !self.is_hit(&area) {
            Self::keep(name, walk);
            return Ok(());
        }
        self.not_patterned(is_mask(self.document, stream), state)?;
        let masks: Vec<(&[u8], ObjectId)> = [b"SMask".as_slice(), b"Mask"]
            .into_iter()
            .filter_map(|key| {
                let (id, _) = self.document.dereference(stream.dict.get(key).ok()?).ok()?;
                Some((key, id?))
            })
            .collect();
        let back = inverse(matrix).filter(|_| !self.is_inside(&area));
        let Some(back) = back else {
            self.replaced.insert(id);
            self.replaced.extend(masks.iter().map(|(_, mask)| *mask));
            walk.lose(&mut self.taken);
            return Ok(());
        };
        // The areas in the space of the picture, whose rows go down.
        let parts: Vec<Area> = (self.areas.iter())
            .filter(|one| one.touches(&area))
            .map(|one| Area::around(&one.edges(), back))
            .collect();
        if self.made.len() >= MAX_PICTURES {
            return Err(impossible("too many pictures have a part in it"));
        }
        let Some(made) = self.without(stream, &masks, &parts)? else {
            Self::keep(name, walk);
            return Ok(());
        };
        self.replaced.insert(id);
        self.replaced.extend(masks.iter().map(|(_, mask)| *mask));
        let new = self.new_id()?;
        self.made.insert(new, made.into());
        walk.lose(&mut self.taken);
        self.draw_new(new, walk);
        Ok(())
    }

    /// A picture and its masks without what they show in `parts`, and without what hangs on it and may
    /// show more; `None` if there is nothing of it.
    fn without(
        &mut self,
        stream: &Stream,
        masks: &[(&[u8], ObjectId)],
        parts: &[Area],
    ) -> Result<Option<Stream>, Error> {
        let mut made = self.blank(stream, parts, Ink::of(self.document, stream))?;
        for (key, mask) in masks {
            let Ok(Object::Stream(mask)) = self.document.get_object(*mask) else {
                continue;
            };
            let ink = match *key {
                // 0 is transparent, unless it is inverted.
                b"SMask" if inverted(self.document, mask) == Some(true) => Ink::White,
                b"SMask" => Ink::None,
                _ => Ink::of(self.document, mask),
            };
            if let Some(mask) = self.blank(mask, parts, ink)? {
                self.budget.make(mask.content.len())?;
                let id = self.new_id()?;
                self.made.insert(id, mask.into());
                let changed = made.get_or_insert_with(|| stream.clone());
                changed.dict.set(*key, id);
            }
        }
        let has_more = MORE.iter().any(|key| stream.dict.has(key.as_bytes()));
        let made = made.or_else(|| has_more.then(|| stream.clone()));
        let Some(mut made) = made else {
            return Ok(None);
        };
        for key in MORE {
            made.dict.remove(key.as_bytes());
        }
        self.budget
            .make(made.content.len() + weight(&made.dict) * 8)?;
        Ok(Some(made))
    }

    /// A picture within the content goes as a whole.
    pub(super) fn inline_picture(
        &mut self,
        operation: &Operation,
        state: &Graphics,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        let area = Area::around(&[0.0, 0.0, 1.0, 1.0], state.text.matrix);
        let [Object::Stream(picture)] = operation.operands.as_slice() else {
            return Err(unread());
        };
        if self.is_hit(&area) {
            self.not_patterned(
                picture.dict.has(b"IM") || picture.dict.has(b"ImageMask"),
                state,
            )?;
        }
        // Programs look for the end of the data in different ways.
        let has_end = picture.content.windows(2).any(|part| part == b"EI");
        let has = |key: &[u8]| picture.dict.has(key);
        let is_twofold = KEYS.iter().any(|(short, long)| has(short) && has(long));
        if has_end || is_twofold {
            return Err(impossible(
                "a picture within the content may end at other places",
            ));
        }
        if self.is_hit(&area) {
            walk.lose(&mut self.taken);
            return Ok(());
        }
        let one = Content {
            operations: vec![operation.clone()],
        };
        walk.part.raw(&one.encode()?);
        Ok(())
    }

    /// A stencil in an area must not be painted with a pattern, which would still be there.
    fn not_patterned(&self, is_mask: bool, state: &Graphics) -> Result<(), Error> {
        match is_mask && state.is_patterned("f") {
            true => Err(impossible(
                "a picture in it is painted with a pattern of drawings",
            )),
            false => Ok(()),
        }
    }

    /// A picture whose pixels in `parts` show nothing; `None` if there are none.
    fn blank(
        &mut self,
        stream: &Stream,
        parts: &[Area],
        ink: Ink,
    ) -> Result<Option<Stream>, Error> {
        let sides = size(self.document, stream).ok_or_else(unread)?;
        // Each pixel is looked at, however often the picture is drawn.
        self.spend(sides.0 * sides.1 / 64 + stream.content.len() / 64 + weight(&stream.dict))?;
        match coded(self.document, stream, MAX_SAMPLES).ok_or_else(unread)? {
            Coded::Rows(rows) => {
                self.spend(rows.len() / 64)?;
                self.blank_rows(stream, rows, &holes(parts, sides, 1), ink)
            }
            Coded::Jpeg(_) => self.blank_jpeg(stream, &holes(parts, sides, BLOCK), ink),
            _ => Err(impossible(
                "a picture of which only a part is in it has a coding that is not read",
            )),
        }
    }

    fn blank_rows(
        &mut self,
        stream: &Stream,
        mut rows: Vec<u8>,
        holes: &[Hole],
        ink: Ink,
    ) -> Result<Option<Stream>, Error> {
        let (width, height) = size(self.document, stream).ok_or_else(unread)?;
        let bits = self.bits_of_pixel(stream, ink).ok_or_else(unread)?;
        let row = (width * bits).div_ceil(8);
        if rows.len() < row * height {
            return Err(unread());
        }
        rows.truncate(row * height);
        let before = rows.clone();
        for hole in holes {
            for line in rows.chunks_mut(row).take(hole.bottom).skip(hole.top) {
                fill(line, hole.left * bits, hole.right * bits, ink.is_one());
            }
        }
        if rows == before {
            return Ok(None);
        }
        let data = deflate(&rows, LEVEL, &|| self.look()).map_err(Error::NotWritten)?;
        Ok(Some(with_data(stream, data, "FlateDecode")))
    }

    fn blank_jpeg(
        &mut self,
        stream: &Stream,
        holes: &[Hole],
        ink: Ink,
    ) -> Result<Option<Stream>, Error> {
        if holes.is_empty() {
            return Ok(None);
        }
        if stream.dict.has(b"DecodeParms") {
            return Err(unread());
        }
        let mut pixels = samples(self.document, stream, MAX_SAMPLES).ok_or_else(unread)?;
        let bits = self.bits_of_pixel(stream, ink).ok_or_else(unread)?;
        let channels = pixels.channels;
        if bits != channels * 8 {
            return Err(unread());
        }
        let mut is_white = true;
        for hole in holes {
            let lines = pixels.bytes.chunks_mut(pixels.width * channels);
            for line in lines.take(hole.bottom).skip(hole.top) {
                let part = &mut line[hole.left * channels..hole.right * channels];
                is_white &= part.iter().all(|byte| *byte >= self.white);
                part.fill(u8::MAX);
            }
        }
        if is_white {
            return Ok(None);
        }
        let data = encode(&pixels, QUALITY).ok_or_else(unread)?;
        Ok(Some(with_data(stream, data, "DCTDecode")))
    }

    fn bits_of_pixel(&self, stream: &Stream, ink: Ink) -> Option<usize> {
        if ink.is_mask() {
            return Some(1);
        }
        let bits = number(self.document, stream, b"BitsPerComponent")?;
        let space = value(self.document, &stream.dict, b"ColorSpace")?;
        let channels = channels(self.document, space)?;
        (bits <= 16 && (1..=32).contains(&channels)).then_some(bits * channels)
    }
}

fn unread() -> Error {
    impossible("a picture in it cannot be read")
}

/// A picture with other data in another coding.
fn with_data(stream: &Stream, data: Vec<u8>, filter: &str) -> Stream {
    let mut made = Stream::new(stream.dict.clone(), data);
    for key in MORE.iter().chain(&["DecodeParms"]) {
        made.dict.remove(key.as_bytes());
    }
    made.dict.set("Filter", filter);
    made
}

/// What is in place of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ink {
    /// Ones: white, for colors of light.
    White,
    /// Zeros: nothing, for colors of ink, and for masks of transparency.
    None,
    /// What a mask of one bit does not paint: this bit.
    Mask(bool),
}

impl Ink {
    fn of(document: &Document, stream: &Stream) -> Self {
        let read = |key: &[u8]| value(document, &stream.dict, key);
        if is_mask(document, stream) {
            // 0 paints, unless the mask is inverted (8.9.6.2).
            let is_inverted = matches!(read(b"Decode"), Some(Object::Array(list))
                if list.first().and_then(|it| it.as_float().ok()) == Some(1.0));
            return Self::Mask(!is_inverted);
        }
        let name = match read(b"ColorSpace") {
            Some(Object::Name(name)) => name.as_slice(),
            Some(Object::Array(list)) => {
                list.first().and_then(|it| it.as_name().ok()).unwrap_or(b"")
            }
            _ => b"",
        };
        let ink = match name {
            b"DeviceCMYK" | b"Indexed" | b"Separation" | b"DeviceN" => Self::None,
            // A profile of inks.
            b"ICCBased" if read(b"ColorSpace").and_then(|it| channels(document, it)) == Some(4) => {
                Self::None
            }
            _ => Self::White,
        };
        match inverted(document, stream) {
            Some(true) => ink.inverted(),
            _ => ink,
        }
    }

    /// The same for samples that are inverted.
    fn inverted(self) -> Self {
        match self {
            Self::White => Self::None,
            Self::None => Self::White,
            mask => mask,
        }
    }

    fn is_one(self) -> bool {
        matches!(self, Self::White | Self::Mask(true))
    }

    fn is_mask(self) -> bool {
        matches!(self, Self::Mask(_))
    }
}

/// Whether a picture is a stencil.
fn is_mask(document: &Document, stream: &Stream) -> bool {
    value(document, &stream.dict, b"ImageMask").is_some_and(|it| *it == Object::Boolean(true))
}

/// Number of components of a color space (8.6).
fn channels(document: &Document, space: &Object) -> Option<usize> {
    let (name, rest) = match space {
        Object::Name(name) => (name.as_slice(), None),
        Object::Array(list) => (list.first()?.as_name().ok()?, list.get(1)),
        _ => return None,
    };
    match name {
        b"DeviceGray" | b"CalGray" | b"Indexed" | b"Separation" => Some(1),
        b"DeviceRGB" | b"CalRGB" | b"Lab" => Some(3),
        b"DeviceCMYK" => Some(4),
        b"ICCBased" => {
            let profile = resolve(document, rest?)?.as_stream().ok()?;
            let count = value(document, &profile.dict, b"N")?.as_i64().ok()?;
            usize::try_from(count).ok()
        }
        b"DeviceN" => Some(resolve(document, rest?)?.as_array().ok()?.len()),
        _ => None,
    }
}

/// The pixels that parts of the unit square touch, in whole blocks of `block` pixels.
fn holes(parts: &[Area], (width, height): (usize, usize), block: usize) -> Vec<Hole> {
    let pixel = |at: f32, most: usize| (at.clamp(0.0, 1.0) * most as f32) as usize;
    let up = |at: f32, most: usize| ((at.clamp(0.0, 1.0) * most as f32).ceil() as usize).min(most);
    let hole = |part: &Area| {
        let [left, bottom, right, top] = part.edges();
        let (left, top) = (pixel(left, width), pixel(1.0 - top, height));
        let (right, bottom) = (up(right, width), up(1.0 - bottom, height));
        (left < right && top < bottom).then(|| Hole {
            left: left / block * block,
            top: top / block * block,
            right: right.next_multiple_of(block).min(width),
            bottom: bottom.next_multiple_of(block).min(height),
        })
    };
    parts.iter().filter_map(hole).collect()
}

/// Sets bits of a row, from `first` to before `end`.
fn fill(row: &mut [u8], first: usize, end: usize, is_one: bool) {
    for bit in first..end {
        if bit.is_multiple_of(8) && bit + 8 <= end {
            continue;
        }
        let mask = 0x80 >> (bit % 8);
        match is_one {
            true => row[bit / 8] |= mask,
            false => row[bit / 8] &= !mask,
        }
    }
    let whole = first.div_ceil(8)..end / 8;
    if !whole.is_empty() {
        row[whole].fill(if is_one { u8::MAX } else { 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::UNIT;

    #[test]
    fn bits_are_set_from_one_to_the_other() {
        for first in 0..40 {
            for end in first..40 {
                for is_one in [true, false] {
                    let mut row = [if is_one { 0 } else { u8::MAX }; 5];
                    fill(&mut row, first, end, is_one);
                    for bit in 0..40 {
                        let is_set = row[bit / 8] & (0x80 >> (bit % 8)) != 0;
                        let expected = (first..end).contains(&bit) == is_one;
                        assert_eq!(is_set, expected, "{first} {end} {bit}");
                    }
                }
            }
        }
    }

    #[test]
    fn holes_are_whole_blocks_within_the_picture() {
        let part = Area::around(&[0.25, 0.5, 0.5, 0.75], UNIT);
        let hole = |block| holes(&[part], (100, 100), block);
        assert_eq!(
            hole(1),
            [Hole {
                left: 25,
                top: 25,
                right: 50,
                bottom: 50
            }]
        );
        assert_eq!(
            hole(16),
            [Hole {
                left: 16,
                top: 16,
                right: 64,
                bottom: 64
            }]
        );
        let beside = Area::around(&[1.0, 0.0, 2.0, 1.0], UNIT);
        assert_eq!(holes(&[beside], (100, 100), 16), []);
        let all = Area::around(&[-3.0, -3.0, 4.0, 4.0], UNIT);
        assert_eq!(
            holes(&[all], (100, 90), 16),
            [Hole {
                left: 0,
                top: 0,
                right: 100,
                bottom: 90
            }]
        );
    }
}

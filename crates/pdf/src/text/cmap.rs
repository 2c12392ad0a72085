//! Maps from codes to texts and to glyphs (9.7.5, 9.10.3).

use std::collections::HashMap;

use lopdf::{Object, Stream, content::Content};

/// Maximum size of a map, in bytes.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of entries of a map.
const MAX_ENTRIES: usize = 70_000;

/// A map from codes of one to four bytes.
#[derive(Debug, Default)]
pub(super) struct CodeMap {
    /// Number of bytes, first and last code.
    spaces: Vec<(usize, u32, u32)>,
    texts: HashMap<(usize, u32), String>,
    /// Number of bytes, first and last code, and the text of the first in UTF-16.
    ranges: Vec<(usize, u32, u32, Vec<u16>)>,
    /// Number of bytes, first and last code, and the glyph of the first.
    glyphs: Vec<(usize, u32, u32, u32)>,
    /// Size of the map, in bytes.
    pub(super) size: usize,
}

impl CodeMap {
    /// Reads a map; what cannot be read of it is left out.
    pub(super) fn read(stream: &Stream) -> Option<Self> {
        let content = stream.get_plain_content_with_limit(MAX_BYTES).ok()?;
        let mut map = Self {
            size: content.len(),
            ..Self::default()
        };
        let mut left = MAX_ENTRIES;
        // A map is a program, whose lists look like operands of the operators that end them.
        for operation in Content::decode_iter(&content).map_while(Result::ok) {
            let operands = &operation.operands;
            if operands.len() > left {
                break;
            }
            left -= operands.len();
            match operation.operator.as_str() {
                "endcodespacerange" => {
                    for [first, last] in operands.as_chunks::<2>().0 {
                        if let (Some(first), Some(last)) = (code(first), code(last)) {
                            map.spaces.push((first.0, first.1, last.1));
                        }
                    }
                }
                "endbfchar" => {
                    for [from, to] in operands.as_chunks::<2>().0 {
                        if let (Some(from), Object::String(to, _)) = (code(from), to) {
                            map.texts.insert(from, text(&units(to)));
                        }
                    }
                }
                "endbfrange" => map.add_ranges(operands),
                "endcidrange" => {
                    for [first, last, to] in operands.as_chunks::<3>().0 {
                        map.add_glyphs(first, last, to);
                    }
                }
                "endcidchar" => {
                    for [from, to] in operands.as_chunks::<2>().0 {
                        map.add_glyphs(from, from, to);
                    }
                }
                _ => {}
            }
        }
        map.ranges.sort_by_key(|range| (range.0, range.1));
        map.glyphs.sort_unstable();
        Some(map)
    }

    fn add_ranges(&mut self, operands: &[Object]) {
        for [first, last, to] in operands.as_chunks::<3>().0 {
            let (Some((length, first)), Some((_, last))) = (code(first), code(last)) else {
                continue;
            };
            match to {
                Object::String(to, _) => self.ranges.push((length, first, last, units(to))),
                Object::Array(list) => {
                    for (offset, to) in list.iter().take(MAX_ENTRIES).enumerate() {
                        if let Object::String(to, _) = to {
                            let from = first.saturating_add(offset as u32);
                            self.texts.insert((length, from), text(&units(to)));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add_glyphs(&mut self, first: &Object, last: &Object, to: &Object) {
        if let (Some((length, first)), Some((_, last)), Ok(to)) =
            (code(first), code(last), to.as_i64())
        {
            let to = u32::try_from(to).unwrap_or_default();
            self.glyphs.push((length, first, last, to));
        }
    }

    /// Number of bytes of the code that `bytes` begin with; `usual` where the map does not say.
    pub(super) fn length(&self, bytes: &[u8], usual: usize) -> usize {
        let mut value = 0;
        for (index, byte) in bytes.iter().take(4).enumerate() {
            value = value << 8 | u32::from(*byte);
            let is_in = |space: &&(usize, u32, u32)| {
                space.0 == index + 1 && is_within(value, space.1, space.2, space.0)
            };
            if self.spaces.iter().take(100).any(|space| is_in(&space)) {
                return index + 1;
            }
        }
        usual
    }

    /// The text of a code.
    pub(super) fn text(&self, length: usize, code: u32) -> Option<String> {
        if let Some(text) = self.texts.get(&(length, code)) {
            return Some(text.clone());
        }
        let after = self
            .ranges
            .partition_point(|range| (range.0, range.1) <= (length, code));
        let (of, first, last, units) = self.ranges.get(after.checked_sub(1)?)?;
        if *of != length || code > *last {
            return None;
        }
        let mut units = units.clone();
        let shift = code - first;
        match units.as_slice() {
            // Beyond the basic plane the text is a pair, and the code point counts.
            [high @ 0xd800..=0xdbff, low] => {
                let point = 0x1_0000 + ((u32::from(*high) & 0x3ff) << 10 | u32::from(*low) & 0x3ff);
                return char::from_u32(point.checked_add(shift)?).map(String::from);
            }
            _ => {
                let last = units.last_mut()?;
                *last = last.wrapping_add(shift as u16);
            }
        }
        Some(text(&units))
    }

    /// The glyph of a code.
    pub(super) fn glyph(&self, length: usize, code: u32) -> Option<u32> {
        let after = self
            .glyphs
            .partition_point(|range| (range.0, range.1) <= (length, code));
        let (of, first, last, glyph) = self.glyphs.get(after.checked_sub(1)?)?;
        (*of == length && code <= *last).then(|| glyph.saturating_add(code - first))
    }

    /// Whether it says nothing of texts.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.ranges.is_empty()
    }
}

/// Whether each byte of a code is within that of the bounds (9.7.6.2).
fn is_within(code: u32, first: u32, last: u32, length: usize) -> bool {
    (0..length).all(|index| {
        let byte = |value: u32| value >> (8 * index) & 0xff;
        (byte(first)..=byte(last)).contains(&byte(code))
    })
}

fn code(object: &Object) -> Option<(usize, u32)> {
    let bytes = object.as_str().ok()?;
    let value = bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u32::from(*byte));
    (1..=4)
        .contains(&bytes.len())
        .then_some((bytes.len(), value))
}

/// UTF-16, or a single byte.
fn units(bytes: &[u8]) -> Vec<u16> {
    match bytes {
        [one] => vec![u16::from(*one)],
        _ => (bytes.as_chunks::<2>().0.iter().take(64))
            .map(|pair| u16::from_be_bytes(*pair))
            .collect(),
    }
}

fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

#[cfg(test)]
mod tests {
    use lopdf::Dictionary;

    use super::*;

    #[test]
    fn maps_are_read() {
        let program = b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n\
            1 begincodespacerange <00> <7f> endcodespacerange\n\
            1 begincodespacerange <8000> <ffff> endcodespacerange\n\
            2 beginbfchar <01> <0041> <8001> <00660069> endbfchar\n\
            3 beginbfrange <10> <12> <0061> <8010> <8011> [<0078> <0079>]\n\
            <8020> <8022> <d835dc00> endbfrange\n\
            1 begincidrange <8000> <80ff> 7 endcidrange endcmap";
        let map = CodeMap::read(&Stream::new(Dictionary::new(), program.to_vec())).expect("a map");
        let text = |length, code| map.text(length, code);
        assert_eq!(text(1, 1).as_deref(), Some("A"));
        assert_eq!(text(2, 0x8001).as_deref(), Some("fi"));
        assert_eq!(text(1, 0x12).as_deref(), Some("c"));
        assert_eq!(text(1, 0x13), None);
        assert_eq!(text(2, 0x8011).as_deref(), Some("y"));
        assert_eq!(text(2, 0x8022).as_deref(), Some("\u{1d402}"));
        assert_eq!(map.glyph(2, 0x8003), Some(10));
        assert_eq!(
            (map.length(b"\x01\x80", 2), map.length(b"\x80\x01", 1)),
            (1, 2)
        );
    }
}

//! A font file for browsers: the tables of a face without the outlines that a page does not use,
//! compressed (WOFF 1.0, W3C Recommendation of 2012). Glyphs keep their numbers, so that the tables
//! for kerning, ligatures and joined scripts stay as they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
};

use flate2::{Compression, write::ZlibEncoder};
use platen_document::work;
use skrifa::{FontRef, Tag, raw::TableProvider};

/// Tables that browsers use, in the order of their tags.
const KEPT: [&[u8; 4]; 24] = [
    b"CFF ", b"CFF2", b"GDEF", b"GPOS", b"GSUB", b"HVAR", b"MVAR", b"OS/2", b"STAT", b"avar",
    b"cmap", b"cvt ", b"fpgm", b"fvar", b"gasp", b"glyf", b"gvar", b"head", b"hhea", b"hmtx",
    b"loca", b"maxp", b"name", b"post",
];
/// Glyphs inside glyphs that are followed.
const MAX_DEPTH: usize = 16;
/// Size of a `post` table without the names of glyphs, in bytes.
const POST_BYTES: usize = 32;

/// The file with `glyphs` and their parts; `characters` maps code points to glyphs. `None` if the
/// face is damaged.
pub(super) fn woff(
    font: &FontRef<'_>,
    glyphs: &BTreeSet<u16>,
    characters: &BTreeMap<u32, u16>,
) -> Option<Vec<u8>> {
    let mut tables = BTreeMap::new();
    for tag in KEPT {
        if let Some(data) = font.table_data(Tag::new(tag)) {
            tables.insert(*tag, data.as_bytes().to_vec());
        }
    }
    if tables.contains_key(b"glyf") {
        keep_outlines(font, glyphs, &mut tables)?;
    } else if let Some(table) = tables.get_mut(b"CFF ") {
        blank_programs(table, glyphs)?;
    }
    if let Some(table) = tables.get(b"gvar") {
        let kept = keep_variations(table, glyphs)?;
        tables.insert(*b"gvar", kept);
    }
    if let Some(post) = tables.get_mut(b"post") {
        post.resize(POST_BYTES, 0);
        post[..4].copy_from_slice(&0x0003_0000_u32.to_be_bytes());
    }
    tables.insert(*b"cmap", character_map(characters));
    Some(pack(font, tables))
}

/// Reduces `glyf` and `loca` to `glyphs` and what they are composed of.
fn keep_outlines(
    font: &FontRef<'_>,
    glyphs: &BTreeSet<u16>,
    tables: &mut BTreeMap<[u8; 4], Vec<u8>>,
) -> Option<()> {
    let glyf = tables.get(b"glyf")?;
    let loca = tables.get(b"loca")?;
    let long = font.head().ok()?.index_to_loc_format() != 0;
    let count = usize::from(font.maxp().ok()?.num_glyphs());
    let offset = |index: usize| match long {
        true => number(loca, index * 4, 4),
        false => number(loca, index * 2, 2).map(|half| half * 2),
    };
    let range = |index: usize| Some((offset(index)?, offset(index + 1)?));
    let outline = |index: usize| {
        let (start, end) = range(index)?;
        glyf.get(start..end)
    };
    let mut wanted: BTreeSet<u16> = glyphs.clone();
    wanted.insert(0);
    let mut added: Vec<u16> = wanted.iter().copied().collect();
    for _ in 0..MAX_DEPTH {
        let mut parts = Vec::new();
        for glyph in added {
            work::check();
            parts.extend(components(outline(usize::from(glyph)).unwrap_or_default()));
        }
        added = parts
            .into_iter()
            .filter(|part| wanted.insert(*part))
            .collect();
    }
    let mut kept = Vec::new();
    let mut places = Vec::with_capacity((count + 1) * 4);
    for index in 0..count {
        places.extend((kept.len() as u32).to_be_bytes());
        if wanted.contains(&(index as u16)) {
            kept.extend_from_slice(outline(index)?);
            kept.resize(kept.len().next_multiple_of(4), 0);
            // The outlines of a damaged font may overlap, so that they grow by being taken apart.
            (kept.len() <= glyf.len() + count * 4).then_some(())?;
        }
    }
    places.extend((kept.len() as u32).to_be_bytes());
    tables.insert(*b"glyf", kept);
    tables.insert(*b"loca", places);
    // The format of `loca`, OpenType 1.9.1 `head`: 1 is long.
    tables
        .get_mut(b"head")?
        .get_mut(50..52)?
        .copy_from_slice(&[0, 1]);
    Some(())
}

/// The glyphs that a composite glyph consists of (OpenType 1.9.1, `glyf`).
fn components(outline: &[u8]) -> Vec<u16> {
    const WORDS: usize = 0x0001;
    const SCALE: usize = 0x0008;
    const MORE: usize = 0x0020;
    const TWO_SCALES: usize = 0x0040;
    const MATRIX: usize = 0x0080;
    let mut parts = Vec::new();
    if outline.first().is_none_or(|first| *first < 0x80) {
        return parts;
    }
    let mut at = 10;
    while let (Some(flags), Some(glyph)) = (number(outline, at, 2), number(outline, at + 2, 2)) {
        parts.push(glyph as u16);
        at += 4 + if flags & WORDS != 0 { 4 } else { 2 };
        at += match flags {
            _ if flags & SCALE != 0 => 2,
            _ if flags & TWO_SCALES != 0 => 4,
            _ if flags & MATRIX != 0 => 8,
            _ => 0,
        };
        if flags & MORE == 0 {
            break;
        }
    }
    parts
}

/// Blanks the programs of unused glyphs in place (Adobe Technical Note #5176): zeros compress to
/// nothing, and no offset changes.
fn blank_programs(table: &mut [u8], glyphs: &BTreeSet<u16>) -> Option<()> {
    const END: u8 = 14;
    let names = Index::read(table, number(table, 2, 1)?)?;
    let tops = Index::read(table, names.end)?;
    let at = programs_offset(table.get(tops.range(table, 0)?)?)?;
    let programs = Index::read(table, at)?;
    for glyph in 1..programs.count {
        if glyphs.contains(&(glyph as u16)) {
            continue;
        }
        let range = programs.range(table, glyph)?;
        let program = table.get_mut(range)?;
        program.fill(0);
        if let Some(first) = program.first_mut() {
            *first = END;
        }
    }
    Some(())
}

/// An INDEX of a CFF table.
struct Index {
    count: usize,
    /// Size of an offset.
    size: usize,
    /// Where its offsets begin.
    offsets: usize,
    end: usize,
}

impl Index {
    fn read(table: &[u8], at: usize) -> Option<Self> {
        let count = number(table, at, 2)?;
        if count == 0 {
            return Some(Self {
                count,
                size: 0,
                offsets: at,
                end: at + 2,
            });
        }
        let size = number(table, at + 2, 1).filter(|size| (1..=4).contains(size))?;
        let mut index = Self {
            count,
            size,
            offsets: at + 3,
            end: 0,
        };
        index.end = index.place(table, count)?;
        Some(index)
    }

    fn place(&self, table: &[u8], item: usize) -> Option<usize> {
        // Offsets count from the byte before the data.
        let base = self.offsets + (self.count + 1) * self.size - 1;
        base.checked_add(number(table, self.offsets + item * self.size, self.size)?)
    }

    fn range(&self, table: &[u8], item: usize) -> Option<std::ops::Range<usize>> {
        let (start, end) = (self.place(table, item)?, self.place(table, item + 1)?);
        (item < self.count && start <= end).then_some(start..end)
    }
}

/// The operand of `CharStrings` in a Top DICT.
fn programs_offset(dict: &[u8]) -> Option<usize> {
    const CHAR_STRINGS: u8 = 17;
    let (mut at, mut operand) = (0, None);
    while let Some(byte) = dict.get(at).copied() {
        let (value, length) = match byte {
            CHAR_STRINGS => return operand,
            12 => (None, 2),
            0..=21 => (None, 1),
            28 => (number(dict, at + 1, 2), 3),
            29 => (number(dict, at + 1, 4), 5),
            30 => {
                let digits = dict[at + 1..].iter().position(|pair| pair & 0xF == 0xF);
                (None, digits? + 2)
            }
            247..=250 => (
                number(dict, at + 1, 1).map(|low| (usize::from(byte) - 247) * 256 + low + 108),
                2,
            ),
            251..=254 => (None, 2),
            _ => (usize::from(byte).checked_sub(139), 1),
        };
        operand = value;
        at += length;
    }
    None
}

/// Reduces `gvar` to `glyphs` (OpenType 1.9.1, `gvar`).
fn keep_variations(table: &[u8], glyphs: &BTreeSet<u16>) -> Option<Vec<u8>> {
    const HEAD: usize = 20;
    let axes = number(table, 4, 2)?;
    let shared = number(table, 6, 2)? * axes * 2;
    let shared_at = number(table, 8, 4)?;
    let count = number(table, 12, 2)?;
    let long = number(table, 14, 2)? & 1 != 0;
    let data_at = number(table, 16, 4)?;
    let place = |index: usize| match long {
        true => number(table, HEAD + index * 4, 4),
        false => number(table, HEAD + index * 2, 2).map(|half| half * 2),
    };
    let (mut places, mut data) = (Vec::new(), Vec::new());
    for index in 0..count {
        places.extend((data.len() as u32).to_be_bytes());
        if glyphs.contains(&(index as u16)) {
            let (start, end) = (data_at + place(index)?, data_at + place(index + 1)?);
            data.extend_from_slice(table.get(start..end)?);
            data.resize(data.len().next_multiple_of(2), 0);
            (data.len() <= table.len() + count * 2).then_some(())?;
        }
    }
    places.extend((data.len() as u32).to_be_bytes());
    let mut kept = table.get(..HEAD)?.to_vec();
    let shared_at_new = HEAD + places.len();
    kept[8..12].copy_from_slice(&(shared_at_new as u32).to_be_bytes());
    kept[14..16].copy_from_slice(&1_u16.to_be_bytes());
    kept[16..20].copy_from_slice(&((shared_at_new + shared) as u32).to_be_bytes());
    kept.extend(places);
    kept.extend_from_slice(table.get(shared_at..shared_at.checked_add(shared)?)?);
    kept.extend(data);
    Some(kept)
}

/// A `cmap` of format 12, with a group for each run of code points and glyphs.
fn character_map(characters: &BTreeMap<u32, u16>) -> Vec<u8> {
    let mut groups: Vec<(u32, u32, u32)> = Vec::new();
    for (code, glyph) in characters {
        let glyph = u32::from(*glyph);
        match groups.last_mut() {
            Some((first, last, start))
                if *last + 1 == *code && *start + (code - *first) == glyph =>
            {
                *last = *code;
            }
            _ => groups.push((*code, *code, glyph)),
        }
    }
    let mut table = Vec::new();
    // Version 0 with one subtable at offset 12: Windows, full Unicode.
    for half in [0_u16, 1, 3, 10, 0, 12, 12, 0] {
        table.extend(half.to_be_bytes());
    }
    let length = 16 + 12 * groups.len() as u32;
    for word in [length, 0, groups.len() as u32] {
        table.extend(word.to_be_bytes());
    }
    for (first, last, glyph) in groups {
        for word in [first, last, glyph] {
            table.extend(word.to_be_bytes());
        }
    }
    table
}

/// The tables as a WOFF file.
fn pack(font: &FontRef<'_>, mut tables: BTreeMap<[u8; 4], Vec<u8>>) -> Vec<u8> {
    const HEAD: usize = 44;
    const ENTRY: usize = 20;
    // The checksum of the whole file is for systems that install it.
    if let Some(sum) = tables.get_mut(b"head").and_then(|head| head.get_mut(8..12)) {
        sum.fill(0);
    }
    let flavor = font.table_directory().sfnt_version();
    let sfnt = 12
        + tables
            .values()
            .map(|data| 16 + data.len().next_multiple_of(4))
            .sum::<usize>();
    let (mut entries, mut body) = (Vec::new(), Vec::new());
    let start = HEAD + ENTRY * tables.len();
    for (tag, data) in &tables {
        work::check();
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        // Writing to memory does not fail.
        let _ = encoder.write_all(data);
        let packed = encoder.finish().unwrap_or_default();
        let shorter = if packed.len() < data.len() {
            &packed
        } else {
            data
        };
        entries.extend_from_slice(tag);
        for word in [start + body.len(), shorter.len(), data.len()] {
            entries.extend((word as u32).to_be_bytes());
        }
        entries.extend(checksum(data).to_be_bytes());
        body.extend_from_slice(shorter);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let mut file = Vec::with_capacity(start + body.len());
    file.extend_from_slice(b"wOFF");
    file.extend(flavor.to_be_bytes());
    file.extend(((start + body.len()) as u32).to_be_bytes());
    file.extend((tables.len() as u16).to_be_bytes());
    file.extend([0, 0]);
    file.extend((sfnt as u32).to_be_bytes());
    file.extend([0; HEAD - 20]);
    file.extend(entries);
    file.extend(body);
    file
}

/// The sum of the 32-bit words of a table.
fn checksum(data: &[u8]) -> u32 {
    data.chunks(4).fold(0, |sum: u32, chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        sum.wrapping_add(u32::from_be_bytes(word))
    })
}

/// A big-endian number of `size` bytes at `at`.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(
        bytes
            .iter()
            .fold(0, |value, byte| value << 8 | usize::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FONT: &[u8] =
        include_bytes!("../../../../assets/fonts/LiberationSans-Regular.ttf").as_slice();

    /// Where a table of the font is.
    fn place(tag: &[u8; 4]) -> std::ops::Range<usize> {
        let at = |at: usize| number(FONT, at, 4).unwrap();
        let count = number(FONT, 4, 2).unwrap();
        let mut entries = (0..count).map(|index| 12 + index * 16);
        let entry = entries
            .find(|entry| &FONT[*entry..entry + 4] == tag)
            .unwrap();
        at(entry + 8)..at(entry + 8) + at(entry + 12)
    }

    #[test]
    fn outlines_that_overlap_do_not_multiply() {
        let glyphs: BTreeSet<u16> = (0..500).collect();
        let make = |bytes: &[u8]| woff(&FontRef::new(bytes).unwrap(), &glyphs, &BTreeMap::new());
        assert!(make(FONT).is_some());
        // Every second glyph is all of the table.
        let mut font = FONT.to_vec();
        let all = place(b"glyf").len() as u32;
        for (index, offset) in font[place(b"loca")].chunks_exact_mut(4).enumerate() {
            let offset_new = if index % 2 == 0 { 0 } else { all };
            offset.copy_from_slice(&offset_new.to_be_bytes());
        }
        assert!(make(&font).is_none());
    }

    #[test]
    fn cut_fonts_are_refused_or_cut() {
        let glyphs = BTreeSet::from([36, 68, 200]);
        let characters = BTreeMap::from([(65, 36)]);
        for size in (12..FONT.len()).step_by(FONT.len() / 97) {
            if let Ok(font) = FontRef::new(&FONT[..size]) {
                let _ = woff(&font, &glyphs, &characters);
            }
        }
    }
}

//! Fonts whose `cmap` is made to take long: groups that overlap, and groups of all code points.

use skrifa::{FontRef, MetadataProvider};

use super::*;

/// Groups of formats 12 and 13 in a hostile table: one pass over all of them by code point would
/// take 55 thousand million steps.
const GROUPS: u32 = 50_000;
/// Segments of format 4, whose length has 16 bits.
const SEGMENTS: u16 = 8_000;
const LAST: u32 = char::MAX as u32;

/// A font file of `head`, `maxp` (65,535 glyphs) and a `cmap` with one subtable of all Unicode.
fn font(subtable: &[u8]) -> Vec<u8> {
    let mut cmap = vec![0, 0, 0, 1, 0, 3, 0, 10, 0, 0, 0, 12];
    cmap.extend_from_slice(subtable);
    let mut head = vec![0; 54];
    head[..4].copy_from_slice(&0x0001_0000_u32.to_be_bytes());
    head[18..20].copy_from_slice(&1_000_u16.to_be_bytes());
    let maxp = [0, 0, 0x50, 0, 0xFF, 0xFF].to_vec();
    let tables = [(b"cmap", cmap), (b"head", head), (b"maxp", maxp)];
    let mut file = vec![0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0];
    let mut offset = file.len() + tables.len() * 16;
    for (tag, table) in &tables {
        file.extend_from_slice(*tag);
        for number in [0, offset as u32, table.len() as u32] {
            file.extend_from_slice(&number.to_be_bytes());
        }
        offset += table.len().next_multiple_of(4);
    }
    for (_, table) in tables {
        file.extend_from_slice(&table);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file
}

/// A subtable of format 12 or 13 with `groups` of start, end and glyph.
fn format_12(format: u8, groups: impl Iterator<Item = (u32, u32, u32)>) -> Vec<u8> {
    let mut body = Vec::new();
    for (start, end, glyph) in groups {
        for number in [start, end, glyph] {
            body.extend_from_slice(&number.to_be_bytes());
        }
    }
    let count = body.len() as u32 / 12;
    let mut subtable = vec![0, format, 0, 0];
    for number in [16 + body.len() as u32, 0, count] {
        subtable.extend_from_slice(&number.to_be_bytes());
    }
    subtable.extend(body);
    subtable
}

/// A subtable of format 4 with [`SEGMENTS`] of the start that `start` gives, all to the last code.
fn format_4(start: impl Fn(u16) -> u16) -> Vec<u8> {
    let mut subtable = Vec::new();
    let mut write = |number: u16| subtable.extend_from_slice(&number.to_be_bytes());
    for number in [4, 16 + SEGMENTS * 8, 0, SEGMENTS * 2, 0, 0, 0] {
        write(number);
    }
    (0..SEGMENTS).for_each(|_| write(0xFFFF));
    write(0);
    (0..SEGMENTS).for_each(|segment| write(start(segment)));
    // Glyphs are the codes plus 1, so that those of almost all codes exist.
    (0..SEGMENTS).for_each(|_| write(1));
    (0..SEGMENTS).for_each(|_| write(0));
    subtable
}

fn hostile() -> Vec<Vec<u8>> {
    let mut subtables = vec![format_4(|_| 0), format_4(|segment| segment)];
    for format in [12, 13] {
        subtables.push(format_12(format, (0..GROUPS).map(|_| (0, LAST, 1))));
        subtables.push(format_12(format, (0..GROUPS).map(|i| (i, u32::MAX, 1))));
        subtables.push(format_12(
            format,
            (0..GROUPS).map(|i| (GROUPS - i, LAST, 1)),
        ));
    }
    subtables.iter().map(|subtable| font(subtable)).collect()
}

#[test]
fn the_coverage_of_a_hostile_font_ends() {
    for file in hostile() {
        let ranges = coverage(&file, 0).expect("a font");
        assert!(!ranges.is_empty(), "it covers something");
        assert!(ranges.iter().all(|(first, last)| first <= last));
        assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        assert!(ranges.iter().all(|(_, last)| *last <= LAST));
        let font = FontRef::from_index(&file, 0).expect("a font");
        assert!(font.charmap().mappings().count() <= MAX_MAPPINGS);
    }
}

#[test]
fn a_fallback_among_hostile_fonts_ends() {
    let mut library = FontLibrary::default();
    for (number, file) in hostile().into_iter().enumerate() {
        let info = FaceInfo {
            family: format!("Hostile {number}"),
            weight: 400,
            width: 100,
            italic: false,
            range: FaceRange::default(),
            index: 0,
            origin: "test".to_owned(),
        };
        let bytes = Arc::new(file);
        library.add(info, move |_| Some(FontBytes::Shared(Arc::clone(&bytes))));
    }
    let want = Want {
        weight: 400,
        width: 100,
        italic: false,
    };
    for character in ['a', '\u{4E00}', '\u{FFFD}', '\u{1F600}', char::MAX] {
        let found = library.fallback(character, want);
        let covers = |id: FaceId| library.face(id).is_some_and(|face| face.covers(character));
        assert!(found.is_none_or(covers));
    }
}

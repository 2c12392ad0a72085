//! The tables of an OpenType file (sfnt), and TrueType outlines without instructions.

/// Bytes of a file's header and of each entry of its table directory.
const HEADER: usize = 12;
const ENTRY: usize = 16;

/// Tables that only instructions use.
const HINTING: [&[u8; 4]; 3] = [b"cvt ", b"fpgm", b"prep"];

/// Prefixes of the PostScript names of fonts whose instructions move the parts of a glyph into place, as in the list of
/// FreeType: without them, strokes are where they do not belong.
const NEED_INSTRUCTIONS: [&str; 6] = ["cpop", "DF", "DLC", "HuaTian", "Ming", "PMingLi"];

/// Finds a table in an OpenType file.
pub(super) fn table<'a>(file: &'a [u8], tag: &[u8; 4]) -> Option<&'a [u8]> {
    tables(file)?.find_map(|(found, table)| (found == tag).then_some(table))
}

/// The tables, in the order of the directory; those beyond the end of the file are left out.
fn tables(file: &[u8]) -> Option<impl Iterator<Item = (&[u8; 4], &[u8])>> {
    let count = usize::from(short(file, 4)?);
    let directory = file.get(HEADER..HEADER + count * ENTRY)?;
    Some(directory.chunks_exact(ENTRY).filter_map(move |entry| {
        let (offset, length) = (long(entry, 8)? as usize, long(entry, 12)? as usize);
        let table = file.get(offset..offset.checked_add(length)?)?;
        Some((entry.first_chunk()?, table))
    }))
}

/// The font without the instructions that fit outlines to a grid of pixels, which readers of PDF hardly use and which
/// take more than half of many faces. `None` if the file has no TrueType outlines, cannot be read, or needs them.
pub(super) fn without_instructions(file: &[u8], name: &str) -> Option<Vec<u8>> {
    if (NEED_INSTRUCTIONS.iter()).any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    let is_long = short(table(file, b"head")?, 50)? != 0;
    let (glyf, places) = outlines(table(file, b"glyf")?, table(file, b"loca")?, is_long)?;
    // Offsets take four bytes only where two do not reach, as in what `subsetter` makes: a subset is
    // then the same, whether its instructions or its other glyphs went first.
    let is_long = glyf.len() > 2 * usize::from(u16::MAX);
    let loca = match is_long {
        true => places.iter().flat_map(|it| it.to_be_bytes()).collect(),
        false => {
            let half = places.iter().map(|it| (it / 2) as u16);
            half.flat_map(u16::to_be_bytes).collect::<Vec<_>>()
        }
    };
    let mut written = Vec::with_capacity(8);
    for (tag, table) in tables(file)? {
        let data = match tag {
            b"glyf" => glyf.clone(),
            b"loca" => loca.clone(),
            // Limits of the instructions, from maxTwilightPoints to maxSizeOfInstructions.
            b"maxp" if table.len() >= 32 => {
                let mut limits = table.to_vec();
                limits[16..28].fill(0);
                limits
            }
            b"head" => {
                let mut head = table.to_vec();
                let format = head.get_mut(50..52)?;
                format.copy_from_slice(&[0, u8::from(is_long)]);
                head
            }
            tag if HINTING.contains(&tag) => continue,
            _ => table.to_vec(),
        };
        written.push((*tag, data));
    }
    assemble(file.first_chunk()?, written)
}

/// A whole font without instructions, of which subsets are made that are the same bytes as if the
/// instructions of each subset were taken out. `None` if they might not be, or if it saves little.
pub(super) fn lean(file: &[u8], name: &str) -> Option<Vec<u8>> {
    // What is left of an odd glyph without its instructions depends on who pads it first.
    let even = |place: usize| place.is_multiple_of(2);
    let loca = table(file, b"loca")?;
    let is_even = match short(table(file, b"head")?, 50)? {
        0 => true,
        _ => loca.chunks_exact(4).all(|it| even(it[3].into())),
    };
    if !is_orderly(file) || !is_even {
        return None;
    }
    let made = without_instructions(file, name)?;
    (made.len() < file.len() / 10 * 9).then_some(made)
}

/// Whether each table is there once, in the order of tags by which readers search, and all together
/// are no longer than the file: strangers' fonts may name one table a thousand times.
fn is_orderly(file: &[u8]) -> bool {
    let Some(tables) = tables(file) else {
        return false;
    };
    let tables: Vec<_> = tables.map(|(tag, table)| (*tag, table.len())).collect();
    let length: usize = tables.iter().map(|(_, length)| length).sum();
    length <= file.len() && tables.is_sorted_by(|before, after| before.0 < after.0)
}

/// `glyf` without instructions, and where each glyph starts in it, with its end. Glyphs start at
/// even offsets.
fn outlines(glyf: &[u8], loca: &[u8], is_long: bool) -> Option<(Vec<u8>, Vec<u32>)> {
    let offset = |index: usize| {
        if is_long {
            long(loca, index * 4).map(|offset| offset as usize)
        } else {
            short(loca, index * 2).map(|half| usize::from(half) * 2)
        }
    };
    let count = loca.len() / if is_long { 4 } else { 2 };
    let mut shorter = Vec::with_capacity(glyf.len() / 2);
    let mut places = Vec::with_capacity(count);
    for index in 0..count {
        places.push(u32::try_from(shorter.len()).ok()?);
        if index + 1 == count {
            break;
        }
        let glyph = glyf.get(offset(index)?..offset(index + 1)?)?;
        if !glyph.is_empty() {
            copy_glyph(glyph, &mut shorter)?;
        }
        shorter.resize(shorter.len().next_multiple_of(2), 0);
    }
    Some((shorter, places))
}

/// Copies the outline of a glyph without its instructions, OpenType 1.9.1, `glyf`.
fn copy_glyph(glyph: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let contours = short(glyph, 0)?.cast_signed();
    let Ok(contours) = usize::try_from(contours) else {
        return copy_composite(glyph, out);
    };
    let length_at = 10 + 2 * contours;
    let length = usize::from(short(glyph, length_at)?);
    out.extend(glyph.get(..length_at)?);
    out.extend([0, 0]);
    out.extend(glyph.get(length_at + 2 + length..)?);
    Some(())
}

/// Copies a glyph that consists of others; its instructions come last.
fn copy_composite(glyph: &[u8], out: &mut Vec<u8>) -> Option<()> {
    const ARGUMENTS_ARE_WORDS: u16 = 1;
    const HAS_SCALE: u16 = 1 << 3;
    const MORE_COMPONENTS: u16 = 1 << 5;
    const HAS_TWO_SCALES: u16 = 1 << 6;
    const HAS_MATRIX: u16 = 1 << 7;
    const HAS_INSTRUCTIONS: u16 = 1 << 8;
    out.extend(glyph.get(..10)?);
    let mut at = 10;
    loop {
        let flags = short(glyph, at)?;
        let arguments = if flags & ARGUMENTS_ARE_WORDS != 0 {
            4
        } else {
            2
        };
        let transform = match flags {
            flags if flags & HAS_SCALE != 0 => 2,
            flags if flags & HAS_TWO_SCALES != 0 => 4,
            flags if flags & HAS_MATRIX != 0 => 8,
            _ => 0,
        };
        let end = at + 4 + arguments + transform;
        out.extend((flags & !HAS_INSTRUCTIONS).to_be_bytes());
        out.extend(glyph.get(at + 2..end)?);
        if flags & MORE_COMPONENTS == 0 {
            return Some(());
        }
        at = end;
    }
}

/// A font file of these tables, with its checksums.
fn assemble(version: &[u8; 4], tables: Vec<([u8; 4], Vec<u8>)>) -> Option<Vec<u8>> {
    let count = u16::try_from(tables.len()).ok()?;
    let power = count.checked_ilog2()?;
    let range = ENTRY << power;
    let mut directory = version.to_vec();
    directory.extend(count.to_be_bytes());
    directory.extend(u16::try_from(range).ok()?.to_be_bytes());
    directory.extend(u16::try_from(power).ok()?.to_be_bytes());
    directory.extend(
        u16::try_from(tables.len() * ENTRY - range)
            .ok()?
            .to_be_bytes(),
    );
    let start = HEADER + tables.len() * ENTRY;
    let mut body = Vec::new();
    let mut adjustment = None;
    for (tag, mut data) in tables {
        if tag == *b"head" {
            data.get_mut(8..12)?.fill(0);
            adjustment = Some(start + body.len() + 8);
        }
        directory.extend(tag);
        directory.extend(checksum(&data).to_be_bytes());
        directory.extend(u32::try_from(start + body.len()).ok()?.to_be_bytes());
        directory.extend(u32::try_from(data.len()).ok()?.to_be_bytes());
        body.extend(data);
        body.resize(body.len().next_multiple_of(4), 0);
    }
    let mut file = directory;
    file.extend(body);
    let whole = 0xB1B0_AFBA_u32.wrapping_sub(checksum(&file));
    let adjustment = adjustment?;
    file[adjustment..adjustment + 4].copy_from_slice(&whole.to_be_bytes());
    Some(file)
}

/// The sum of a table's words, the last one filled up with zeros.
fn checksum(data: &[u8]) -> u32 {
    let (words, rest) = data.as_chunks();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let sum = words.iter().fold(0_u32, |sum, word| {
        sum.wrapping_add(u32::from_be_bytes(*word))
    });
    sum.wrapping_add(u32::from_be_bytes(last))
}

fn short(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*data.get(at..)?.first_chunk()?))
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*data.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_simple_and_composite_glyphs_are_left_out() {
        // One contour whose last point is point 0, with three bytes of instructions.
        let bounds = [0, 0, 0, 0, 0, 9, 0, 9];
        let simple = [&[0, 1][..], &bounds, &[0, 0], &[0, 3, 7, 7, 7], &[1, 5, 5]].concat();
        let mut out = Vec::new();
        copy_glyph(&simple, &mut out).unwrap();
        assert_eq!(
            out,
            [&[0, 1][..], &bounds, &[0, 0], &[0, 0], &[1, 5, 5]].concat()
        );
        // Two components, the first one scaled, and instructions.
        let first = |flags: [u8; 2]| [&flags[..], &[0, 1], &[2, 2], &[0x40, 0]].concat();
        let second = [0, 0x01, 0, 2, 0, 1, 0, 1];
        let composite = [
            &[255, 255][..],
            &bounds,
            &first([1, 0x28]),
            &second,
            &[0, 2, 9, 9],
        ]
        .concat();
        out.clear();
        copy_glyph(&composite, &mut out).unwrap();
        assert_eq!(
            out,
            [&[255, 255][..], &bounds, &first([0, 0x28]), &second].concat()
        );
        // Cut off anywhere before the end of its outline, it is refused, not read beyond.
        let whole = composite.len() - 4;
        for end in 0..whole {
            assert!(
                copy_glyph(&composite[..end], &mut Vec::new()).is_none(),
                "{end}"
            );
        }
    }

    #[test]
    fn instructions_may_go_before_the_subset_or_after() {
        let few = [36, 72, 3, 200, 201, 105];
        // So many that offsets of two bytes do not reach with instructions, and with or without.
        let [many, most] = [1000, 2500].map(|count| (0..count).rev().collect::<Vec<u16>>());
        let mut compared = 0;
        for (name, face) in platen_fonts::SHIPPED {
            for chosen in [&few[..], &many, &most] {
                let mut glyphs = subsetter::GlyphRemapper::new();
                for glyph in chosen {
                    glyphs.remap(*glyph);
                }
                let subset = |file: &[u8]| subsetter::subset(file, 0, &glyphs).ok();
                let after = subset(face).and_then(|file| without_instructions(&file, name));
                let Some(after) = after else {
                    continue;
                };
                let before = subset(&without_instructions(face, name).unwrap());
                assert!(before == Some(after), "{name}, {} glyphs", chosen.len());
                compared += 1;
            }
        }
        assert!(compared >= 12, "{compared}");
    }

    #[test]
    fn only_orderly_fonts_are_made_lean() {
        let (name, face) = platen_fonts::SHIPPED[0];
        assert!(lean(face, name).is_some());
        let entry = |index: usize| HEADER + index * ENTRY..HEADER + (index + 1) * ENTRY;
        // Tables out of order.
        let mut changed = face.to_vec();
        let first = face[entry(0)].to_vec();
        changed.copy_within(entry(1), HEADER);
        changed[entry(1)].copy_from_slice(&first);
        assert!(lean(&changed, name).is_none());
        // A table as long as the file.
        let mut changed = face.to_vec();
        changed[entry(0)][8..12].fill(0);
        changed[entry(0)][12..].copy_from_slice(&(face.len() as u32).to_be_bytes());
        assert!(lean(&changed, name).is_none());
        // A table twice.
        let mut changed = face.to_vec();
        changed.copy_within(entry(0), HEADER + ENTRY);
        assert!(lean(&changed, name).is_none());
        // A glyph that starts at an odd place.
        let mut changed = face.to_vec();
        let loca = table(face, b"loca").unwrap();
        let at = loca.as_ptr().addr() - face.as_ptr().addr();
        assert_ne!(short(table(face, b"head").unwrap(), 50), Some(0));
        changed[at + 4 * 40 + 3] |= 1;
        assert!(lean(&changed, name).is_none());
        // Nothing to gain.
        assert!(lean(&lean(face, name).unwrap(), name).is_none());
    }

    #[test]
    fn a_face_without_instructions_has_the_same_outlines() {
        use skrifa::{
            FontRef, GlyphId, MetadataProvider,
            instance::{LocationRef, Size},
            outline::{DrawSettings, pen::SvgPen},
        };
        let (_, face) = platen_fonts::SHIPPED[0];
        let without = without_instructions(face, "Liberation Sans").unwrap();
        assert!(
            without.len() * 10 < face.len() * 7,
            "{} of {}",
            without.len(),
            face.len()
        );
        assert_eq!(checksum(&without), 0xB1B0_AFBA);
        for tag in HINTING {
            assert!(table(&without, tag).is_none());
        }
        let drawn = |file: &[u8], glyph: u16| {
            let font = FontRef::new(file).unwrap();
            let mut pen = SvgPen::new();
            let settings = DrawSettings::unhinted(Size::unscaled(), LocationRef::default());
            font.outline_glyphs()
                .get(GlyphId::from(glyph))
                .unwrap()
                .draw(settings, &mut pen)
                .unwrap();
            pen.to_string()
        };
        for glyph in 0..2000 {
            assert_eq!(drawn(face, glyph), drawn(&without, glyph), "glyph {glyph}");
        }
        assert!(without_instructions(face, "MingLiU").is_none());
        assert!(without_instructions(&face[..4000], "Liberation Sans").is_none());
    }
}

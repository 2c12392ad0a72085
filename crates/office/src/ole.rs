//! Detects the content of OLE compound files ([MS-CFB], sections 2.2 to 2.6) from the names of
//! streams and the first bytes of some. All reads are bounded.

mod compound;

use std::io::{self, Read, Seek};

use compound::{Compound, Entry};

use crate::format::Family;

/// Signature of a compound file.
pub(crate) const MAGIC: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Start of the file information block in Word 6 and 95 ([MS-DOC] §2.5.2 documents only that of
/// Word 97).
const WORD_6: [u8; 2] = [0xdc, 0xa5];
/// Version of that block from which on it is Word 95.
const WORD_95: u16 = 104;
/// Header token of an encrypted presentation ([MS-PPT] §2.3.2).
const ENCRYPTED_SLIDES: [u8; 4] = [0xdf, 0xc4, 0xd1, 0xf3];
/// Offset of the token.
const TOKEN_AT: usize = 12;

/// Content of a compound file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A document: its kind, its import filter, and the filter to try if LibreOffice does not open
    /// it with the first.
    Document(Family, &'static str, Option<&'static str>),
    /// A presentation that requires a password.
    EncryptedSlides,
    /// An Office Open XML package that requires a password.
    EncryptedPackage,
    /// No document.
    Other,
    /// The directory is missing or has no root: the file is truncated or damaged.
    Damage,
}

/// Detects the content.
pub(crate) fn detect(file: &mut (impl Read + Seek), size_bytes: u64) -> io::Result<Content> {
    let Some(mut compound) = Compound::open(file, size_bytes)? else {
        return Ok(Content::Damage);
    };
    let entries = compound.entries()?;
    if !compound::has_root(&entries) {
        return Ok(Content::Damage);
    }
    // A document has its streams at the top level; those of embedded objects are nested. In a
    // damaged tree the top level is empty; then examine all entries.
    let top = compound::top(&entries);
    let entries = if top.is_empty() { entries } else { top };
    for entry in &entries {
        if let Some(content) = content(&mut compound, &entries, entry)? {
            return Ok(content);
        }
    }
    Ok(Content::Other)
}

fn content<F: Read + Seek>(
    compound: &mut Compound<'_, F>,
    entries: &[Entry],
    entry: &Entry,
) -> io::Result<Option<Content>> {
    // Names are case-insensitive (§2.6.4).
    let name = entry.name.to_ascii_lowercase();
    let (family, filter, otherwise) = match &*name {
        "worddocument" => (Family::Text, word_filter(compound, entry)?, None),
        "workbook" | "book" => (Family::Sheet, "MS Excel 97", None),
        "powerpoint document" => {
            let user = |it: &&Entry| it.name.eq_ignore_ascii_case("current user");
            let user = entries.iter().find(user);
            let start = user.map(|user| compound.start(user)).transpose()?;
            let token = start.as_ref().and_then(|it| it.get(TOKEN_AT..));
            if token.is_some_and(|it| it.starts_with(&ENCRYPTED_SLIDES)) {
                return Ok(Some(Content::EncryptedSlides));
            }
            // PowerPoint 95 uses the same stream name.
            let otherwise = Some("MWAW_Presentation");
            (Family::Slides, "MS PowerPoint 97", otherwise)
        }
        // The two variants of Microsoft Works.
        "mn0" => (Family::Text, "MS_Works", None),
        "contents" if compound.start(entry)?.starts_with(b"CHNK") => {
            (Family::Text, "MS_Works", None)
        }
        "encryptedpackage" => return Ok(Some(Content::EncryptedPackage)),
        _ => return Ok(None),
    };
    Ok(Some(Content::Document(family, filter, otherwise)))
}

fn word_filter<F: Read + Seek>(
    compound: &mut Compound<'_, F>,
    entry: &Entry,
) -> io::Result<&'static str> {
    let start = compound.start(entry)?;
    let version = start
        .get(2..4)
        .map_or(0, |it| u16::from_le_bytes([it[0], it[1]]));
    Ok(match start.starts_with(&WORD_6) {
        true if version < WORD_95 => "MS WinWord 6.0",
        true => "MS Word 95",
        false => "MS Word 97",
    })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const FREE: u32 = u32::MAX;
    const END: u32 = 0xffff_fffe;
    const TABLE: u32 = 0xffff_fffd;
    const SECTOR: usize = 512;

    fn entry(name: &str, kind: u8, links: [u32; 3], start: u32, size: u32) -> Vec<u8> {
        let mut units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = units.len() + 2;
        units.resize(64, 0);
        units.extend(u16::try_from(length).unwrap().to_le_bytes());
        units.extend([kind, 1]);
        links.iter().for_each(|it| units.extend(it.to_le_bytes()));
        units.resize(116, 0);
        units.extend(start.to_le_bytes());
        units.extend(size.to_le_bytes());
        units.resize(128, 0);
        units
    }

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|it| it.to_le_bytes()).collect()
    }

    fn directory(streams: &[(&str, &[u8])], inner: &str, first_stream: usize) -> Vec<u8> {
        let mut entries = vec![entry("Root Entry", 5, [FREE, FREE, 1], END, 0)];
        for (index, (name, _)) in streams.iter().enumerate() {
            let number = u32::try_from(index).unwrap();
            let start = u32::try_from(first_stream).unwrap() + number * 8;
            entries.push(entry(name, 2, [FREE, number + 2, FREE], start, 4096));
        }
        entries.push(entry(
            "Storage",
            1,
            [FREE, FREE, streams.len() as u32 + 2],
            0,
            0,
        ));
        entries.push(entry(inner, 2, [FREE, FREE, FREE], END, 0));
        entries.concat()
    }

    /// A compound file whose directory follows `before` sectors, with `streams` side by side at the
    /// top level (the first bytes of each), and one stream inside a storage.
    fn file(before: usize, streams: &[(&str, &[u8])], inner: &str) -> Vec<u8> {
        let first_stream = before + 100;
        let mut directory = directory(streams, inner, first_stream);
        let count = directory.len().div_ceil(SECTOR);
        directory.resize(count * SECTOR, 0);
        let sectors = first_stream + streams.len() * 8;
        let tables = (sectors + sectors / 64 + 40).div_ceil(SECTOR / 4);
        let whole = sectors + tables + tables.saturating_sub(109).div_ceil(127);
        let mut table = vec![FREE; tables * 128];
        for index in 0..count {
            let next = u32::try_from(before + index + 1).unwrap();
            table[before + index] = if index + 1 == count { END } else { next };
        }
        table[sectors..sectors + tables].fill(TABLE);
        let mut body = vec![0; whole * SECTOR];
        let at = before * SECTOR;
        body[at..at + directory.len()].copy_from_slice(&directory);
        for (index, (_, start)) in streams.iter().enumerate() {
            let at = (first_stream + index * 8) * SECTOR;
            body[at..at + start.len()].copy_from_slice(start);
        }
        body[sectors * SECTOR..(sectors + tables) * SECTOR].copy_from_slice(&bytes(&table));
        let places: Vec<u32> = (sectors..sectors + tables)
            .map(|it| u32::try_from(it).unwrap())
            .collect();
        let more = places.get(109..).unwrap_or_default();
        for (index, places) in more.chunks(127).enumerate() {
            let at = sectors + tables + index;
            let mut words = places.to_vec();
            words.resize(127, FREE);
            let is_last = (index + 1) * 127 >= more.len();
            words.push(if is_last {
                END
            } else {
                u32::try_from(at + 1).unwrap()
            });
            body[at * SECTOR..(at + 1) * SECTOR].copy_from_slice(&bytes(&words));
        }
        let mut header = MAGIC.to_vec();
        header.resize(SECTOR, 0);
        header[30] = 9;
        let mut put =
            |at: usize, number: u32| header[at..at + 4].copy_from_slice(&number.to_le_bytes());
        put(44, u32::try_from(tables).unwrap());
        put(48, u32::try_from(before).unwrap());
        put(56, 4096);
        put(60, END);
        put(
            68,
            if more.is_empty() {
                END
            } else {
                u32::try_from(sectors + tables).unwrap()
            },
        );
        put(72, u32::try_from(more.len().div_ceil(127)).unwrap());
        for index in 0..109 {
            put(76 + index * 4, places.get(index).copied().unwrap_or(FREE));
        }
        [header, body].concat()
    }

    fn found(bytes: &[u8]) -> Content {
        detect(&mut Cursor::new(bytes), bytes.len() as u64).unwrap()
    }

    const SLIDES: [(&str, &[u8]); 5] = [
        ("Pictures", b""),
        ("Current User", b""),
        ("\u{5}SummaryInformation", b""),
        ("\u{5}DocumentSummaryInformation", b""),
        ("PowerPoint Document", b""),
    ];

    #[test]
    fn the_directory_may_stand_anywhere() {
        // In the first sector of the table, in a later one, and in one that only the DIFAT beyond
        // the header lists.
        for before in [0, 127, 300, 20_000] {
            let found = found(&file(before, &SLIDES, "Workbook"));
            let is_slides = matches!(found, Content::Document(Family::Slides, _, _));
            assert!(is_slides, "{before}: {found:?}");
        }
    }

    #[test]
    fn names_in_any_case_and_versions_of_word() {
        let filter = |name: &str, start: &[u8]| match found(&file(3, &[(name, start)], "x")) {
            Content::Document(_, filter, _) => filter,
            other => panic!("{other:?}"),
        };
        assert_eq!(filter("WORDDOCUMENT", &[0xec, 0xa5, 0xc1, 0]), "MS Word 97");
        assert_eq!(
            filter("WordDocument", &[0xdc, 0xa5, 0x65, 0]),
            "MS WinWord 6.0"
        );
        assert_eq!(filter("WordDocument", &[0xdc, 0xa5, 0x68, 0]), "MS Word 95");
        assert_eq!(filter("BOOK", b""), "MS Excel 97");
    }

    #[test]
    fn what_is_inside_a_document_is_not_the_document() {
        let text = [("Data", &b""[..]), ("WordDocument", b"")];
        let found_text = found(&file(2, &text, "Workbook"));
        assert!(matches!(found_text, Content::Document(Family::Text, _, _)));
        assert_eq!(found(&file(2, &[("x", b"")], "y")), Content::Other);
    }

    #[test]
    fn what_needs_a_password_is_known() {
        let mut user = vec![0; TOKEN_AT];
        user.extend(ENCRYPTED_SLIDES);
        let streams = [("Current User", &user[..]), ("PowerPoint Document", b"")];
        assert_eq!(found(&file(1, &streams, "x")), Content::EncryptedSlides);
        let streams = [("EncryptionInfo", &b""[..]), ("EncryptedPackage", b"")];
        assert_eq!(found(&file(1, &streams, "x")), Content::EncryptedPackage);
    }

    #[test]
    fn damage_ends_the_search() {
        let sound = file(130, &SLIDES, "x");
        for at in (0..SECTOR).chain(sound.len() - 2000..sound.len()) {
            let mut hurt = sound.clone();
            hurt[at] ^= 0xff;
            let _ = found(&hurt);
            let _ = found(&sound[..at]);
        }
        // A file in which every sector is followed by sector 130: the directory's chain is a loop.
        let mut round = sound.clone();
        for word in round[SECTOR..].chunks_exact_mut(4) {
            word.copy_from_slice(&130_u32.to_le_bytes());
        }
        assert_eq!(found(&round), Content::Damage);
        assert_eq!(found(&sound[..SECTOR * 100]), Content::Damage);
    }
}

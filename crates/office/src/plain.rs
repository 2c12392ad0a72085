//! Plain text: its encoding, and the separator of CSV files.

use std::{
    borrow::Cow,
    io::{self, Read, Seek, SeekFrom},
};

/// Encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// With a byte order mark.
    Utf16,
    /// The fallback: every byte is a valid character.
    Windows1252,
}

/// Size of one read, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

impl Encoding {
    /// Options of LibreOffice's CSV import: separator, quote, character set, first line; then
    /// default column formats and language, quoted fields as text, and no detection of dates, times
    /// and fractions, so that values stay unchanged.
    pub(crate) fn csv_options(self, separator: char) -> String {
        let number = match self {
            Self::Utf8 => 76,
            Self::Utf16 => 65_535,
            Self::Windows1252 => 1,
        };
        format!("{},34,{number},1,,0,true,false", u32::from(separator))
    }

    /// Options of LibreOffice's text import.
    pub(crate) fn text_options(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF8",
            Self::Utf16 => "UNICODE",
            Self::Windows1252 => "MS_1252",
        }
    }
}

pub(crate) fn has_utf16_mark(head: &[u8]) -> bool {
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff")
}

/// The start of a text, decoded as well as its first bytes allow.
pub(crate) fn text_of_head(head: &[u8]) -> Cow<'_, str> {
    if !has_utf16_mark(head) {
        return String::from_utf8_lossy(head);
    }
    let read = match head[0] {
        0xff => u16::from_le_bytes,
        _ => u16::from_be_bytes,
    };
    let units: Vec<u16> = head
        .chunks_exact(2)
        .map(|it| read([it[0], it[1]]))
        .collect();
    String::from_utf16_lossy(&units).into()
}

/// Detects the encoding of a file, which requires reading all of it.
pub(crate) fn encoding(file: &mut (impl Read + Seek), head: &[u8]) -> io::Result<Encoding> {
    if has_utf16_mark(head) {
        return Ok(Encoding::Utf16);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut chunk = vec![0; CHUNK_BYTES];
    // Bytes of a character that was cut at the end of the last chunk.
    let mut kept = 0;
    loop {
        let count = file.read(&mut chunk[kept..])?;
        if count == 0 {
            return Ok(match kept {
                0 => Encoding::Utf8,
                _ => Encoding::Windows1252,
            });
        }
        let filled = kept + count;
        kept = match std::str::from_utf8(&chunk[..filled]) {
            Ok(_) => 0,
            Err(error) if error.error_len().is_some() => return Ok(Encoding::Windows1252),
            Err(error) => {
                chunk.copy_within(error.valid_up_to()..filled, 0);
                filled - error.valid_up_to()
            }
        };
    }
}

/// Detects the separator from the first line: the comma, unless there are only semicolons or tabs.
pub(crate) fn separator(text: &str, extension: &str) -> char {
    if matches!(extension, "tsv" | "tab") {
        return '\t';
    }
    let mut quoted = false;
    let mut seen = [(',', false), (';', false), ('\t', false)];
    for letter in text.trim_start_matches('\u{feff}').chars() {
        match letter {
            '"' => quoted = !quoted,
            '\n' | '\r' if !quoted => break,
            _ if !quoted => seen.iter_mut().for_each(|it| it.1 |= it.0 == letter),
            _ => {}
        }
    }
    let found = seen.iter().find(|it| it.1);
    found.map_or(',', |it| it.0)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn of(bytes: &[u8]) -> Encoding {
        encoding(&mut Cursor::new(bytes), &bytes[..bytes.len().min(100)]).unwrap()
    }

    #[test]
    fn the_encoding_is_told_by_all_of_the_text() {
        assert_eq!(of("Straße".as_bytes()), Encoding::Utf8);
        assert_eq!(of(b"Stra\xdfe"), Encoding::Windows1252);
        assert_eq!(of(b"\xff\xfea\0"), Encoding::Utf16);
        assert_eq!(of(b"\xfe\xff\0a"), Encoding::Utf16);
        // Truncated in the last character, and characters split across chunks.
        assert_eq!(of(b"abc\xc3"), Encoding::Windows1252);
        for shift in 0..4 {
            let long = "a".repeat(shift) + &"€".repeat(CHUNK_BYTES);
            assert_eq!(of(long.as_bytes()), Encoding::Utf8);
            let mut long = long.into_bytes();
            long.push(0xe9);
            assert_eq!(of(&long), Encoding::Windows1252);
        }
    }

    #[test]
    fn the_separator_is_that_of_the_first_line() {
        assert_eq!(separator("a,b;c\n", "csv"), ',');
        assert_eq!(separator("\"a,b\";c\n1,2", "csv"), ';');
        assert_eq!(separator("\u{feff}a\tb", "xls"), '\t');
        assert_eq!(separator("a,b", "tsv"), '\t');
        assert_eq!(separator("alone", "csv"), ',');
    }
}

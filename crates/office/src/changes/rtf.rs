//! Disables the RTF field `INCLUDEPICTURE`, which LibreOffice draws from any file it names: the
//! last letter of the name is replaced, so that no field has it. LibreOffice then shows the result
//! that was saved with the field.
//!
//! The name is found as it stands, wherever that is. In the instruction of a field (`\fldinst`), it
//! is also found however it is written there: with letters as `\'hh` or `\uN`, and with groups and
//! control words between them (RTF specification 1.9.1).

mod word;

use std::io::{self, Read};

use self::word::Word;
use crate::Error;

const NAME: &[u8] = b"INCLUDEPICTURE";
/// Where matching can resume after a mismatch: at the only other `I` of the name.
const AGAIN: usize = 9;
/// Maximum number of groups inside each other in the instruction of a field.
const MAX_GROUPS: usize = 10_000;

/// Number of letters matched. Line breaks do not separate a name (RTF specification 1.9.1,
/// "Conventions of an RTF Reader").
#[derive(Default)]
struct Progress(usize);

impl Progress {
    /// Whether this letter completes the name.
    fn ends(&mut self, letter: u8) -> bool {
        if matches!(letter, b'\r' | b'\n') {
            return false;
        }
        let letter = letter.to_ascii_uppercase();
        self.0 = match self.0 {
            count if NAME[count] == letter => count + 1,
            AGAIN if NAME[1] == letter => 2,
            _ => usize::from(NAME[0] == letter),
        };
        let ends = self.0 == NAME.len();
        if ends {
            self.0 = 0;
        }
        ends
    }
}

/// How many letters may have been matched: bit `n` stands for `n` letters. There are several
/// possibilities where a letter may count or not.
#[derive(Clone, Copy, Default)]
struct Matched(u16);

impl Matched {
    /// After a letter that counts.
    fn then(self, letter: u8) -> Self {
        let letter = letter.to_ascii_uppercase();
        let follows = |count: &usize| *count == 0 || self.0 & (1_u16 << *count) != 0;
        let counts = (0..NAME.len()).filter(follows);
        let counts = counts.filter(|count| NAME[*count] == letter);
        Self(counts.fold(0_u16, |all, count| all | (1_u16 << (count + 1))))
    }

    /// After a letter that counts or not.
    fn perhaps(self, letter: u8) -> Self {
        self.or(self.then(letter))
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this letter may complete the name.
    fn ends(self, letter: u8) -> bool {
        self.then(letter).0 & (1_u16 << NAME.len()) != 0
    }
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Default)]
enum At {
    #[default]
    Text,
    /// The byte after a backslash.
    Backslash,
    Word,
    /// A byte as `\'hh`, with the first digit once it is read.
    Hex(Option<u8>),
}

/// Reads a text byte by byte.
#[derive(Default)]
struct Scan {
    plain: Progress,
    at: At,
    word: Word,
    /// In the instruction of a field: for each open group, what was matched at its start, and how many
    /// letters were to be skipped. LibreOffice reads some groups as a part of the instruction, and
    /// others not.
    instruction: Option<Vec<(Matched, u32)>>,
    /// It stays from one instruction to the next: a field may have several.
    matched: Matched,
    /// Most letters that stand behind `\uN` for readers without Unicode.
    most_fallback: u32,
    /// How many of them may follow.
    fallback: u32,
    /// A byte before a backslash may be no RTF, so that of two backslashes the second may begin a word.
    is_doubtful: bool,
    /// In Shift-JIS, a brace or a backslash may be the second half of a letter.
    is_shift_jis: bool,
    /// The byte before may be the first half of a letter.
    is_lead: bool,
    /// A `\'` whose digits LibreOffice reads wherever they follow.
    is_open_hex: bool,
    /// What an instruction says depends on its reader.
    is_ambiguous: bool,
}

impl Scan {
    /// What stands in the place of the next byte.
    fn next(&mut self, byte: u8) -> u8 {
        let byte = if self.plain.ends(byte) { b'X' } else { byte };
        match self.at {
            At::Text => self.text(byte),
            At::Backslash => self.backslash(byte),
            At::Word => self.word(byte),
            At::Hex(first) => self.hex(byte, first),
        }
    }

    fn text(&mut self, byte: u8) -> u8 {
        let is_trail = std::mem::replace(&mut self.is_lead, matches!(byte, 0x80..=0x9f | 0xe0..));
        let is_half = self.is_shift_jis && is_trail && matches!(byte, b'{' | b'}' | b'\\');
        self.is_ambiguous |= is_half && self.instruction.is_some();
        if byte == b'\\' {
            self.at = At::Backslash;
            return byte;
        }
        let Some(groups) = &mut self.instruction else {
            return byte;
        };
        match byte {
            b'{' if groups.len() < MAX_GROUPS => groups.push((self.matched, self.fallback)),
            b'{' => self.is_ambiguous = true,
            b'}' => match groups.pop() {
                Some((matched, fallback)) => {
                    self.matched = self.matched.or(matched);
                    self.fallback = self.fallback.max(fallback);
                }
                None => self.instruction = None,
            },
            // Line breaks separate nothing, and other control characters are no letters.
            0..=0x1f => {}
            _ => {
                let byte = if self.matched.ends(byte) { b'X' } else { byte };
                let may_not_count = self.fallback > 0;
                self.fallback = self.fallback.saturating_sub(1);
                self.matched = match may_not_count {
                    true => self.matched.perhaps(byte),
                    false => self.matched.then(byte),
                };
                return byte;
            }
        }
        byte
    }

    fn backslash(&mut self, byte: u8) -> u8 {
        self.at = match byte {
            b'\'' => At::Hex(None),
            b'a'..=b'z' | b'A'..=b'Z' => {
                self.word = Word::new(byte);
                At::Word
            }
            b'\\' if self.is_doubtful && self.instruction.is_none() => At::Backslash,
            _ => At::Text,
        };
        byte
    }

    fn hex(&mut self, byte: u8, first: Option<u8>) -> u8 {
        if matches!(byte, b'\r' | b'\n') {
            return byte;
        }
        let digit = char::from(byte).to_digit(16);
        let Some(digit) = digit.and_then(|digit| u8::try_from(digit).ok()) else {
            self.is_ambiguous |= self.instruction.is_some();
            if matches!(byte, b'{' | b'}' | b'\\') {
                self.is_open_hex = true;
                self.at = At::Text;
                return self.text(byte);
            }
            // LibreOffice counts it as a digit.
            self.at = match first {
                None => At::Hex(Some(0)),
                Some(_) => At::Text,
            };
            return byte;
        };
        let Some(first) = first else {
            self.at = At::Hex(Some(digit));
            return byte;
        };
        self.at = At::Text;
        if self.instruction.is_none() {
            return byte;
        }
        // `\'45` and `\'65` are an E: they become an F.
        let (byte, digit) = match self.matched.ends((first << 4) | digit) {
            true => (b'6', 6),
            false => (byte, digit),
        };
        self.fallback = self.fallback.saturating_sub(1);
        self.matched = self.matched.perhaps((first << 4) | digit);
        byte
    }

    fn word(&mut self, byte: u8) -> u8 {
        if byte.is_ascii_digit() {
            return self.digit(byte);
        }
        if self.word.push(byte) {
            return byte;
        }
        self.at = At::Text;
        self.end_word();
        match byte {
            b' ' => byte,
            _ => self.text(byte),
        }
    }

    /// A digit of the number of a control word. It is replaced as soon as the number, as far as it
    /// is read, completes the name: more digits may follow, but need not.
    fn digit(&mut self, byte: u8) -> u8 {
        let mut with = self.word;
        with.push_digit(byte);
        let is_end = self.instruction.is_some()
            && with.is(b"u")
            && with
                .letter()
                .is_some_and(|letter| self.matched.ends(letter));
        // `\u69` and `\u101` become other letters, and a code page one that LibreOffice does not
        // know.
        let byte = match (is_end, with.is_stateful_code_page()) {
            (true, _) => b'6',
            (_, true) => b'9',
            _ => byte,
        };
        self.word.push_digit(byte);
        byte
    }

    fn end_word(&mut self) {
        let is_bin = self.word.is(b"bin");
        self.is_shift_jis |= self.word.is_shift_jis();
        self.is_doubtful |= is_bin || self.is_shift_jis;
        if self.word.is(b"uc") {
            self.most_fallback = self.most_fallback.max(self.word.fallback());
        }
        if self.word.is(b"fldinst") && self.instruction.is_none() {
            self.instruction = Some(Vec::new());
            // Both may go on from what stands before it.
            self.fallback = self.most_fallback.max(1);
            self.is_ambiguous |= self.is_open_hex;
        }
        if self.instruction.is_none() {
            return;
        }
        // Bytes that follow are no RTF.
        self.is_ambiguous |= is_bin;
        if self.word.is(b"u") && self.word.number().is_some() {
            if let Some(letter) = self.word.letter() {
                self.matched = self.matched.perhaps(letter);
            }
            // One without `\uc`.
            self.fallback = self.most_fallback.max(1);
        }
    }
}

/// Whether a text has such a field.
///
/// # Errors
/// The text cannot be read, or what stands in a field depends on its reader.
pub(super) fn has_fields(file: &mut impl Read) -> Result<bool, Error> {
    let mut scan = Scan::default();
    let mut chunk = vec![0; 64 << 10];
    let mut has_fields = false;
    loop {
        let count = file.read(&mut chunk).map_err(Error::Input)?;
        if count == 0 {
            return Ok(has_fields);
        }
        for byte in &chunk[..count] {
            has_fields |= scan.next(*byte) != *byte;
        }
        if scan.is_ambiguous {
            return Err(Error::Damaged);
        }
    }
}

/// A reader that renames the fields of a text.
pub(super) struct Renamed<R> {
    from: R,
    scan: Scan,
}

impl<R> Renamed<R> {
    pub(super) fn new(from: R) -> Self {
        let scan = Scan::default();
        Self { from, scan }
    }
}

impl<R: Read> Read for Renamed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        for byte in &mut buffer[..count] {
            *byte = self.scan.next(*byte);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    fn check(text: &str, expected: &str) {
        let mut made = String::new();
        Renamed::new(Slow(text.as_bytes()))
            .read_to_string(&mut made)
            .unwrap();
        assert_eq!(made, expected);
        let has_fields = has_fields(&mut Slow(text.as_bytes())).unwrap();
        assert_eq!(has_fields, text != expected, "{text}");
    }

    #[test]
    fn the_name_is_found_wherever_it_is() {
        for (text, expected) in [
            ("{INCLUDEPICTURE \"a\"}", "{INCLUDEPICTURX \"a\"}"),
            ("INCLUDE\r\nPICTURE", "INCLUDE\r\nPICTURX"),
            ("IINCLUDEPINCLUDEPICTURE", "IINCLUDEPINCLUDEPICTURX"),
            ("INCLUDETEXT", "INCLUDETEXT"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn the_name_of_a_field_is_found_however_it_is_written() {
        for (written, expected) in [
            (r"INCLUDE\'50ICTURE", r"INCLUDE\'50ICTURX"),
            (r"include\'70ictur\'65", r"include\'70ictur\'66"),
            (r"\u73?NCLUDE\u-65456?ICTURE", r"\u73?NCLUDE\u-65456?ICTURX"),
            (r"{\uc0 INCLUDE\u80 ICTURE}", r"{\uc0 INCLUDE\u80 ICTURX}"),
            (
                r"\uc3 INCLUDE\u80abcICTUR\u69abc",
                r"\uc3 INCLUDE\u80abcICTUR\u66abc",
            ),
            (r"INCLUDEPICTUR\u101?", r"INCLUDEPICTUR\u106?"),
            (r"INCLUDEPICTUR\u-65467?", r"INCLUDEPICTUR\u-65466?"),
            (r"INCLUDE{}PICTURE", r"INCLUDE{}PICTURX"),
            (r"INCLUDE\b PICTURE", r"INCLUDE\b PICTURX"),
            (
                r"{\b INCL}{\b0 UDE\*}PICTURE",
                r"{\b INCL}{\b0 UDE\*}PICTURX",
            ),
            (r"INCLUDE{\*\x y}PICTURE", r"INCLUDE{\*\x y}PICTURX"),
        ] {
            let field = |name: &str| {
                format!(
                    r#"{{\rtf1{{\field{{\*\fldinst {{ {name} "file:///a" }}}}{{\fldrslt E}}}}}}"#
                )
            };
            check(&field(written), &field(expected));
        }
    }

    #[test]
    fn what_stands_before_a_field_or_around_a_part_hides_no_name() {
        for field in [
            r#"{\field{\*\bin1 \\fldinst INCLUDE\'50ICTURE "a"}{\fldrslt x}}"#,
            r#"{\field{\*\fldinst \uc3 INCLUDE\u80{abc}xyzICTURE "a"}}"#,
            r#"{\field\uc5\u65{\*\fldinst {ABCDEINCLUDE}{FGHIJPICTURE} "a"}}"#,
            r#"{\field{\*\fldinst {INCLUDE\uc-1\u80 zzzzzz}ICTURE "a"}}"#,
        ] {
            assert!(has_fields(&mut field.as_bytes()).unwrap(), "{field}");
        }
        for field in [
            &br#"{\field\'4{\*\fldinst 9NCLUDEPICTURE "a"}}"#[..],
            b"\\ansicpg932{\\field{\\*\\fldinst \x81} INCLUDE\\'50ICTURE}}",
        ] {
            let found = has_fields(&mut &field[..]);
            assert!(matches!(found, Err(Error::Damaged)), "{found:?}");
        }
    }

    #[test]
    fn other_fields_and_texts_stay_as_they_are() {
        for text in [
            r"{\field{\*\fldinst HYPERLINK \'22a\'e4\'22}{\fldrslt x}}",
            r"{\field{\*\fldinst INCLUDE PICTURE}{\fldrslt x}}",
            r"{\field{\*\fldinst PAGE}} {\b INCLUDE}{\b PICTURE}",
            r"\ansicpg1252 \ansicpg65001 \u8364\'80",
        ] {
            check(text, text);
        }
        // Encodings that write ASCII letters in other ways.
        check(r"\ansicpg65000 {\cpg50220}", r"\ansicpg65009 {\cpg50229}");
    }

    #[test]
    fn fields_that_depend_on_their_reader_are_refused() {
        for part in [r"\'4{}5", r"\'4\b 5", r"\bin1 }", &"{".repeat(10_001)] {
            let text = format!(r"{{\field{{\*\fldinst {part}}}}}");
            let found = has_fields(&mut text.as_bytes());
            assert!(matches!(found, Err(Error::Damaged)), "{part}: {found:?}");
        }
        // Outside of them, nobody minds.
        assert!(!has_fields(&mut &br"{\bin1 }\'xy"[..]).unwrap());
    }
}

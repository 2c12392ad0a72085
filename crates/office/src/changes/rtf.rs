//! Disables the RTF field `INCLUDEPICTURE`, which LibreOffice draws from any file it names: the
//! last letter of the name is replaced, so that no field has it. LibreOffice then shows the result
//! that was saved with the field.

use std::io::{self, Read};

const NAME: &[u8] = b"INCLUDEPICTURE";
/// Where matching can resume after a mismatch: at the only other `I` of the name.
const AGAIN: usize = 9;

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

/// Whether a text has such a field.
pub(super) fn has_fields(file: &mut impl Read) -> io::Result<bool> {
    let mut progress = Progress::default();
    let mut chunk = vec![0; 64 << 10];
    loop {
        let count = file.read(&mut chunk)?;
        if count == 0 {
            return Ok(false);
        }
        if chunk[..count].iter().any(|letter| progress.ends(*letter)) {
            return Ok(true);
        }
    }
}

/// A reader that renames the fields of a text.
pub(super) struct Renamed<R> {
    from: R,
    progress: Progress,
}

impl<R> Renamed<R> {
    pub(super) fn new(from: R) -> Self {
        let progress = Progress::default();
        Self { from, progress }
    }
}

impl<R: Read> Read for Renamed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        for letter in &mut buffer[..count] {
            if self.progress.ends(*letter) {
                *letter = b'X';
            }
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

    #[test]
    fn the_name_is_found_wherever_it_is() {
        for (text, expected) in [
            ("{INCLUDEPICTURE \"a\"}", "{INCLUDEPICTURX \"a\"}"),
            ("INCLUDE\r\nPICTURE", "INCLUDE\r\nPICTURX"),
            ("IINCLUDEPINCLUDEPICTURE", "IINCLUDEPINCLUDEPICTURX"),
            ("INCLUDETEXT", "INCLUDETEXT"),
        ] {
            let mut made = String::new();
            Renamed::new(Slow(text.as_bytes()))
                .read_to_string(&mut made)
                .unwrap();
            assert_eq!(made, expected);
            assert_eq!(
                has_fields(&mut Slow(text.as_bytes())).unwrap(),
                text != expected
            );
        }
    }
}

//! A control word of RTF with its number.

/// Longest name that matters here.
const MAX_NAME: usize = 8;

/// A control word, as far as it has been read.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    name: [u8; MAX_NAME],
    length: usize,
    is_negative: bool,
    number: Option<u32>,
}

impl Word {
    /// A word that begins with `letter`.
    pub(super) fn new(letter: u8) -> Self {
        let mut word = Self::default();
        word.push(letter);
        word
    }

    /// Adds a letter or the sign of the number; false if the word has ended before.
    pub(super) fn push(&mut self, byte: u8) -> bool {
        if self.is_negative || self.number.is_some() {
            return false;
        }
        if byte == b'-' {
            self.is_negative = true;
            return true;
        }
        if !byte.is_ascii_alphabetic() {
            return false;
        }
        if let Some(place) = self.name.get_mut(self.length) {
            *place = byte;
        }
        self.length += 1;
        true
    }

    /// Adds a digit of the number.
    pub(super) fn push_digit(&mut self, byte: u8) {
        let number = self.number.unwrap_or(0).saturating_mul(10);
        self.number = Some(number.saturating_add(u32::from(byte.saturating_sub(b'0'))));
    }

    pub(super) fn is(&self, name: &[u8]) -> bool {
        let own = self.name.get(..self.length);
        own.is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// How many letters stand behind `\uN` after this `\ucN`: without end if the number is negative.
    pub(super) fn fallback(&self) -> u32 {
        match self.is_negative {
            true => u32::MAX,
            false => self.number.unwrap_or(1),
        }
    }

    /// Whether it says that texts are Shift-JIS.
    pub(super) fn is_shift_jis(&self) -> bool {
        let is_code_page = self.is(b"ansicpg") || self.is(b"cpg");
        (is_code_page && self.number == Some(932))
            || (self.is(b"fcharset") && self.number == Some(128))
    }

    /// The number without its sign.
    pub(super) fn number(&self) -> Option<u32> {
        self.number
    }

    /// The ASCII letter with this number, which readers take as 16 bits.
    pub(super) fn letter(&self) -> Option<u8> {
        let number = self.number?;
        let bits = match self.is_negative {
            true => number.wrapping_neg(),
            false => number,
        };
        u8::try_from(bits & 0xffff).ok().filter(u8::is_ascii)
    }

    /// Whether it chooses a code page with other ways to write ASCII letters: UTF-7, ISO 2022.
    pub(super) fn is_stateful_code_page(&self) -> bool {
        (self.is(b"ansicpg") || self.is(b"cpg"))
            && matches!(self.number, Some(65_000 | 50_220..=50_228))
    }
}

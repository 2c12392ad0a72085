//! Barcodes of one row.

use barcoders::sym::{code39::Code39, code128::Code128, ean8::EAN8, ean13::EAN13, tf::TF};

use super::{Encoded, gs1, with_check_digit};
use crate::bound::Modules;

/// Maximum length of a Code 128 or Code 39 value in characters; the symbologies themselves set none.
const MAX_CHARACTERS: usize = 80;
/// Maximum length of GS1-128 data in characters, FNC1 separators included.
const MAX_GS1_CHARACTERS: usize = 48;

// Characters by which the encoder selects code sets B and C, and FNC1.
const SET_B: char = '\u{181}';
const SET_C: char = '\u{106}';
const FNC1: char = '\u{179}';

pub(super) fn code_128(value: &str) -> Result<Encoded, String> {
    if let Some(other) = value.chars().find(|symbol| !(' '..='~').contains(symbol)) {
        return Err(format!(
            "Code 128 carries printable ASCII only, not U+{:04X}",
            u32::from(other)
        ));
    }
    if value.len() > MAX_CHARACTERS {
        return Err(format!(
            "the value has {} characters; a Code 128 of more than {MAX_CHARACTERS} cannot be read",
            value.len()
        ));
    }
    let mut symbols = CodeSets::default();
    symbols.push(value);
    Ok((symbols.encode()?, value.to_owned()))
}

/// GS1-128: Code 128 that starts with FNC1, with FNC1 after each element of variable length that is
/// not the last.
pub(super) fn gs1_128(value: &str) -> Result<Encoded, String> {
    let elements = gs1::parse(value)?;
    let length = gs1::data(&elements, "\u{1D}").len();
    if length > MAX_GS1_CHARACTERS {
        return Err(format!(
            "the value has {length} characters of data; a GS1-128 carries {MAX_GS1_CHARACTERS}: make two codes of it"
        ));
    }
    let mut symbols = CodeSets::default();
    symbols.separator();
    let last = elements.len() - 1;
    for (index, element) in elements.iter().enumerate() {
        symbols.push(&format!("{}{}", element.identifier, element.value));
        if index != last && !element.is_predefined() {
            symbols.separator();
        }
    }
    Ok((symbols.encode()?, gs1::readable(&elements)))
}

/// Source of a Code 128 in code sets B and C: runs of four or more digits use set C, two digits per
/// symbol.
#[derive(Default)]
struct CodeSets {
    source: String,
    /// The set in use; none before the first character.
    set: Option<char>,
    /// FNC1 that the source starts with; they come after the first set is known.
    pending: usize,
}

impl CodeSets {
    fn separator(&mut self) {
        if self.set.is_some() {
            self.source.push(FNC1);
        } else {
            self.pending += 1;
        }
    }

    fn select(&mut self, set: char) {
        if self.set.replace(set) != Some(set) {
            self.source.push(set);
        }
        self.source
            .extend(std::iter::repeat_n(FNC1, std::mem::take(&mut self.pending)));
    }

    /// Appends printable ASCII.
    fn push(&mut self, value: &str) {
        let (bytes, mut at) = (value.as_bytes(), 0);
        while at < bytes.len() {
            let digits = bytes[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            let pairs = digits & !1;
            if pairs >= 4 || (pairs >= 2 && self.set == Some(SET_C)) {
                self.select(SET_C);
                self.source.push_str(&value[at..at + pairs]);
                at += pairs;
            } else {
                self.select(SET_B);
                self.source.push(char::from(bytes[at]));
                at += 1;
            }
        }
    }

    fn encode(self) -> Result<Modules, String> {
        let code = Code128::new(self.source)
            .map_err(|error| format!("Code 128 cannot carry this value: {error}"))?;
        Ok(line(&code.encode(), 10, 10))
    }
}

pub(super) fn code_39(value: &str) -> Result<Encoded, String> {
    let allowed = |symbol: char| {
        symbol.is_ascii_digit() || symbol.is_ascii_uppercase() || "-. $/+%".contains(symbol)
    };
    if let Some(other) = value.chars().find(|symbol| !allowed(*symbol)) {
        return Err(format!(
            "Code 39 carries digits, capital letters, spaces and - . $ / + %, but not “{other}”; write {{{{ value|upper }}}} or use code128"
        ));
    }
    if value.len() > MAX_CHARACTERS {
        return Err(format!(
            "the value has {} characters; a Code 39 of more than {MAX_CHARACTERS} cannot be read",
            value.len()
        ));
    }
    let code =
        Code39::new(value).map_err(|error| format!("Code 39 cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 10, 10), value.to_owned()))
}

pub(super) fn ean_13(value: &str) -> Result<Encoded, String> {
    let digits = with_check_digit("EAN-13", value, 13)?;
    let code =
        EAN13::new(&digits).map_err(|error| format!("EAN-13 cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 11, 7), digits))
}

pub(super) fn ean_8(value: &str) -> Result<Encoded, String> {
    let digits = with_check_digit("EAN-8", value, 8)?;
    let code =
        EAN8::new(&digits).map_err(|error| format!("EAN-8 cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 7, 7), digits))
}

/// UPC-A is an EAN-13 whose first digit is zero.
pub(super) fn upc_a(value: &str) -> Result<Encoded, String> {
    let digits = with_check_digit("UPC-A", value, 12)?;
    let code = EAN13::new(format!("0{digits}"))
        .map_err(|error| format!("UPC-A cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 9, 9), digits))
}

pub(super) fn itf_14(value: &str) -> Result<Encoded, String> {
    let digits = with_check_digit("ITF-14", value, 14)?;
    let code = TF::interleaved(&digits)
        .map_err(|error| format!("ITF-14 cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 10, 10), digits))
}

/// One row of modules, with quiet zones before and after.
fn line(bars: &[u8], before: usize, after: usize) -> Modules {
    let mut dark = vec![false; before];
    dark.extend(bars.iter().map(|bar| *bar == 1));
    dark.extend(std::iter::repeat_n(false, after));
    Modules {
        width: u32::try_from(dark.len()).unwrap_or(u32::MAX),
        height: 1,
        dark,
    }
}

//! Encodes values as barcode modules, quiet zones included. QR Code (ISO/IEC 18004), Data Matrix
//! ECC 200 (ISO/IEC 16022), Code 128 (ISO/IEC 15417) and EAN-13 (ISO/IEC 15420).

use datamatrix::{DataMatrix, SymbolList};
use qrcode::{Color, EcLevel, QrCode};

use crate::{bound::Modules, template::Symbology};

/// Maximum length of a Code 128 value in characters; the symbology itself sets none.
const MAX_CODE_128: usize = 80;

/// Encodes `value`. Also returns the human-readable text for below the code.
///
/// # Errors
/// A message for the author if the symbology cannot encode `value`.
pub(crate) fn encode(symbology: Symbology, value: &str) -> Result<(Modules, String), String> {
    if value.is_empty() {
        return Err("the value to encode is empty".to_owned());
    }
    match symbology {
        Symbology::Qr => qr(value),
        Symbology::DataMatrix => data_matrix(value),
        Symbology::Code128 => code_128(value),
        Symbology::Ean13 => ean_13(value),
    }
}

fn qr(value: &str) -> Result<(Modules, String), String> {
    let code = QrCode::with_error_correction_level(value, EcLevel::M).map_err(|_| {
        format!(
            "a QR code carries at most 2331 bytes, the value has {}",
            value.len()
        )
    })?;
    let width = code.width();
    let dark = code
        .into_colors()
        .into_iter()
        .map(|color| color == Color::Dark)
        .collect();
    Ok((framed(dark, width, 4, 4), value.to_owned()))
}

fn data_matrix(value: &str) -> Result<(Modules, String), String> {
    let encoded = if value.is_ascii() {
        DataMatrix::encode(value.as_bytes(), SymbolList::default())
    } else {
        DataMatrix::encode_str(value, SymbolList::default())
    };
    let code = encoded.map_err(|_| {
        format!(
            "a Data Matrix cannot carry this value of {} bytes",
            value.len()
        )
    })?;
    let bitmap = code.bitmap();
    let width = bitmap.width();
    let mut dark = vec![false; width * bitmap.height()];
    for (x, y) in bitmap.pixels() {
        dark[y * width + x] = true;
    }
    Ok((framed(dark, width, 1, 1), value.to_owned()))
}

/// Encodes Code 128 with code sets B and C. Runs of four or more digits use set C, two digits per
/// symbol.
fn code_128(value: &str) -> Result<(Modules, String), String> {
    // Characters by which the encoder selects code sets B and C.
    const SET_B: char = '\u{181}';
    const SET_C: char = '\u{106}';
    if let Some(other) = value.chars().find(|symbol| !(' '..='~').contains(symbol)) {
        return Err(format!(
            "Code 128 carries printable ASCII only, not U+{:04X}",
            u32::from(other)
        ));
    }
    if value.len() > MAX_CODE_128 {
        return Err(format!(
            "the value has {} characters; a Code 128 of more than {MAX_CODE_128} cannot be read",
            value.len()
        ));
    }
    let bytes = value.as_bytes();
    let (mut source, mut set, mut at) = (String::new(), None, 0);
    while at < bytes.len() {
        let digits = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let pairs = digits & !1;
        if pairs >= 4 {
            if set.replace(SET_C) != Some(SET_C) {
                source.push(SET_C);
            }
            source.push_str(&value[at..at + pairs]);
            at += pairs;
        } else {
            if set.replace(SET_B) != Some(SET_B) {
                source.push(SET_B);
            }
            source.push(char::from(bytes[at]));
            at += 1;
        }
    }
    let code = barcoders::sym::code128::Code128::new(source)
        .map_err(|error| format!("Code 128 cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 10, 10), value.to_owned()))
}

fn ean_13(value: &str) -> Result<(Modules, String), String> {
    let digits: String = value
        .chars()
        .filter(|symbol| !matches!(symbol, ' ' | '-'))
        .collect();
    if !matches!(digits.len(), 12 | 13) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("EAN-13 needs 12 digits, or 13 with the check digit".to_owned());
    }
    let sum: u32 = digits
        .bytes()
        .take(12)
        .enumerate()
        .map(|(index, digit)| u32::from(digit - b'0') * if index % 2 == 0 { 1 } else { 3 })
        .sum();
    let check = char::from_digit((10 - sum % 10) % 10, 10).unwrap_or('0');
    if let Some(given) = digits.chars().nth(12)
        && given != check
    {
        return Err(format!("the check digit is {given} but must be {check}"));
    }
    let full = format!("{}{check}", &digits[..12]);
    let code = barcoders::sym::ean13::EAN13::new(&full)
        .map_err(|error| format!("EAN-13 cannot carry this value: {error}"))?;
    Ok((line(&code.encode(), 11, 7), full))
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

/// A matrix surrounded by a quiet zone.
fn framed(dark: Vec<bool>, width: usize, horizontal: usize, vertical: usize) -> Modules {
    let height = dark.len() / width.max(1);
    let (full_width, full_height) = (width + 2 * horizontal, height + 2 * vertical);
    let mut full = vec![false; full_width * full_height];
    for (index, dark) in dark.into_iter().enumerate() {
        let (x, y) = (index % width, index / width);
        full[(y + vertical) * full_width + x + horizontal] = dark;
    }
    Modules {
        width: u32::try_from(full_width).unwrap_or(u32::MAX),
        height: u32::try_from(full_height).unwrap_or(u32::MAX),
        dark: full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbology_has_quiet_zones() {
        for (symbology, value) in [
            (Symbology::Qr, "https://example.com/ü"),
            (Symbology::DataMatrix, "A1B2C3"),
            (Symbology::Code128, "INV-2026-000123"),
            (Symbology::Ean13, "400638133393"),
        ] {
            let (modules, _) = encode(symbology, value).unwrap();
            assert_eq!(modules.dark.len() as u32, modules.width * modules.height);
            assert!(!modules.dark[0], "{symbology:?}");
            assert!(modules.dark.iter().any(|dark| *dark), "{symbology:?}");
        }
    }

    #[test]
    fn data_matrix_has_its_finder() {
        let (modules, _) = encode(Symbology::DataMatrix, "HELLO").unwrap();
        let width = modules.width as usize;
        for y in 1..modules.height as usize - 1 {
            assert!(modules.dark[y * width + 1], "the left side is solid");
        }
    }

    #[test]
    fn ean_gets_and_checks_its_check_digit() {
        let (modules, text) = encode(Symbology::Ean13, "400638133393").unwrap();
        assert_eq!(text, "4006381333931");
        assert_eq!(modules.width, 95 + 18);
        assert!(encode(Symbology::Ean13, "4006381333932").is_err());
        assert!(encode(Symbology::Ean13, "12").is_err());
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        assert!(encode(Symbology::Qr, &"x".repeat(3000)).is_err());
        assert!(encode(Symbology::DataMatrix, &"x".repeat(4000)).is_err());
        assert!(encode(Symbology::Code128, "grün").is_err());
        assert!(encode(Symbology::Code128, &"x".repeat(81)).is_err());
        assert!(encode(Symbology::Qr, "").is_err());
    }
}

//! Encodes values as barcode modules, quiet zones included.
//!
//! Linear: Code 128 (ISO/IEC 15417), GS1-128 and ITF-14 (GS1 General Specifications), Code 39
//! (ISO/IEC 16388), EAN-13, EAN-8 and UPC-A (ISO/IEC 15420). Two-dimensional: QR Code (ISO/IEC
//! 18004), Data Matrix ECC 200 (ISO/IEC 16022), GS1 DataMatrix, PDF417 (ISO/IEC 15438) and Aztec
//! Code (ISO/IEC 24778).

mod gs1;
mod linear;
mod matrix;
#[cfg(test)]
mod tests;

use crate::{
    bound::Modules,
    template::{ErrorCorrection, Symbology},
};

/// A barcode and the human-readable text that belongs below it.
pub(crate) type Encoded = (Modules, String);

/// Encodes `value`. The level of error correction is that of QR codes; others have none to choose.
///
/// # Errors
/// A message for the author if the symbology cannot encode `value`.
pub(crate) fn encode(
    symbology: Symbology,
    value: &str,
    correction: Option<ErrorCorrection>,
) -> Result<Encoded, String> {
    if value.is_empty() {
        return Err("the value to encode is empty".to_owned());
    }
    match symbology {
        Symbology::Qr => matrix::qr(value, correction.unwrap_or_default()),
        Symbology::DataMatrix => matrix::data_matrix(value),
        Symbology::Gs1DataMatrix => matrix::gs1_data_matrix(value),
        Symbology::Pdf417 => matrix::pdf_417(value),
        Symbology::Aztec => matrix::aztec(value),
        Symbology::Code128 => linear::code_128(value),
        Symbology::Gs1128 => linear::gs1_128(value),
        Symbology::Code39 => linear::code_39(value),
        Symbology::Ean13 => linear::ean_13(value),
        Symbology::Ean8 => linear::ean_8(value),
        Symbology::UpcA => linear::upc_a(value),
        Symbology::Itf14 => linear::itf_14(value),
    }
}

/// Checks digits that end with a check digit modulo 10 with weights 3 and 1, as all GS1 keys have it;
/// adds the check digit if it is missing. `length` counts it. Spaces and hyphens are left out.
fn with_check_digit(name: &str, value: &str, length: usize) -> Result<String, String> {
    let digits: String = value
        .chars()
        .filter(|symbol| !matches!(symbol, ' ' | '-'))
        .collect();
    if !(digits.len() == length || digits.len() + 1 == length)
        || !digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(format!(
            "{name} needs {} digits, or {length} with the check digit",
            length - 1
        ));
    }
    let check = check_digit(&digits[..length - 1]);
    match digits.chars().nth(length - 1) {
        Some(given) if given != check => {
            Err(format!("the check digit is {given} but must be {check}"))
        }
        _ => Ok(format!("{}{check}", &digits[..length - 1])),
    }
}

/// The check digit of digits without one: weights 3 and 1 from the right (GS1 General Specifications
/// 7.9).
fn check_digit(digits: &str) -> char {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| u32::from(digit - b'0') * if index % 2 == 0 { 3 } else { 1 })
        .sum();
    char::from_digit((10 - sum % 10) % 10, 10).unwrap_or('0')
}

//! Barcodes of rows and columns.

use datamatrix::{DataMatrix, DataMatrixBuilder, SymbolList};
use qrcode::{Color, EcLevel, QrCode};
use rxing::{
    BarcodeFormat, EncodeHints, Writer, aztec::AztecWriter, common::BitMatrix, pdf417::PDF417Writer,
};

use super::{Encoded, gs1};
use crate::{bound::Modules, template::ErrorCorrection};

/// Maximum length of a PDF417 value in bytes; a symbol of 928 code words carries that many of text.
const MAX_PDF_417: usize = 1850;
/// Maximum length of an Aztec value in bytes; a symbol of 32 layers carries that many.
const MAX_AZTEC: usize = 1914;

pub(super) fn qr(value: &str, correction: ErrorCorrection) -> Result<Encoded, String> {
    let (level, most) = match correction {
        ErrorCorrection::L => (EcLevel::L, 2953),
        ErrorCorrection::M => (EcLevel::M, 2331),
        ErrorCorrection::Q => (EcLevel::Q, 1663),
        ErrorCorrection::H => (EcLevel::H, 1273),
    };
    let code = QrCode::with_error_correction_level(value, level).map_err(|_| {
        format!(
            "a QR code of error correction {correction:?} carries at most {most} bytes, the value has {}",
            value.len()
        )
    })?;
    let width = code.width();
    let dark = code
        .into_colors()
        .into_iter()
        .map(|color| color == Color::Dark)
        .collect();
    Ok((framed(dark, width, 4), value.to_owned()))
}

pub(super) fn data_matrix(value: &str) -> Result<Encoded, String> {
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
    Ok((data_matrix_modules(&code), value.to_owned()))
}

/// GS1 DataMatrix: a Data Matrix that starts with FNC1, with a group separator after each element of
/// variable length that is not the last.
pub(super) fn gs1_data_matrix(value: &str) -> Result<Encoded, String> {
    let elements = gs1::parse(value)?;
    let data = gs1::data(&elements, "\u{1D}");
    let code = DataMatrixBuilder::new()
        .with_fnc1_start(true)
        .encode(data.as_bytes())
        .map_err(|_| {
            format!(
                "a GS1 DataMatrix cannot carry this value of {} characters",
                data.len()
            )
        })?;
    Ok((data_matrix_modules(&code), gs1::readable(&elements)))
}

fn data_matrix_modules(code: &DataMatrix) -> Modules {
    let bitmap = code.bitmap();
    let width = bitmap.width();
    let mut dark = vec![false; width * bitmap.height()];
    for (x, y) in bitmap.pixels() {
        dark[y * width + x] = true;
    }
    framed(dark, width, 1)
}

pub(super) fn pdf_417(value: &str) -> Result<Encoded, String> {
    if value.len() > MAX_PDF_417 {
        return Err(format!(
            "the value has {} bytes; a PDF417 carries at most {MAX_PDF_417}",
            value.len()
        ));
    }
    let matrix = PDF417Writer
        .encode_with_hints(value, &BarcodeFormat::PDF_417, 0, 0, &hints(value))
        .map_err(|_| format!("a PDF417 cannot carry this value of {} bytes", value.len()))?;
    Ok((modules(&matrix, 2), value.to_owned()))
}

pub(super) fn aztec(value: &str) -> Result<Encoded, String> {
    let matrix = (value.len() <= MAX_AZTEC)
        .then(|| AztecWriter.encode_with_hints(value, &BarcodeFormat::AZTEC, 0, 0, &hints(value)))
        .and_then(Result::ok)
        .ok_or_else(|| {
            format!(
                "an Aztec code carries at most {MAX_AZTEC} bytes, the value has {}",
                value.len()
            )
        })?;
    // The symbology needs no quiet zone; one module keeps it off a dark ground.
    Ok((modules(&matrix, 1), value.to_owned()))
}

/// No margin, and UTF-8 said to the reader where the value is not ASCII.
fn hints(value: &str) -> EncodeHints {
    EncodeHints {
        Margin: Some("0".to_owned()),
        CharacterSet: (!value.is_ascii()).then(|| "UTF-8".to_owned()),
        ..EncodeHints::default()
    }
}

fn modules(matrix: &BitMatrix, quiet: usize) -> Modules {
    let (width, height) = (matrix.getWidth(), matrix.getHeight());
    let dark = (0..height)
        .flat_map(|y| (0..width).map(move |x| matrix.get(x, y)))
        .collect();
    framed(dark, width as usize, quiet)
}

/// A matrix surrounded by a quiet zone.
fn framed(dark: Vec<bool>, width: usize, quiet: usize) -> Modules {
    let height = dark.len() / width.max(1);
    let (full_width, full_height) = (width + 2 * quiet, height + 2 * quiet);
    let mut full = vec![false; full_width * full_height];
    for (index, dark) in dark.into_iter().enumerate() {
        let (x, y) = (index % width, index / width);
        full[(y + quiet) * full_width + x + quiet] = dark;
    }
    Modules {
        width: u32::try_from(full_width).unwrap_or(u32::MAX),
        height: u32::try_from(full_height).unwrap_or(u32::MAX),
        dark: full,
    }
}

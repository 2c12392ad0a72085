//! Every code is read back by a decoder that has nothing in common with the encoders of most.

use proptest::prelude::*;
use rxing::{
    BarcodeFormat, BinaryBitmap, DecodeHints, Exceptions, Luma8LuminanceSource, MultiFormatReader,
    RXingResult, Reader, common::HybridBinarizer,
};

use super::*;

/// Pixels for each module.
const SCALE: usize = 4;

/// Reads a drawn code back.
fn read(modules: &Modules, format: BarcodeFormat) -> Result<RXingResult, Exceptions> {
    read_as(modules, format, false)
}

fn read_as(modules: &Modules, format: BarcodeFormat, gs1: bool) -> Result<RXingResult, Exceptions> {
    let (width, rows) = (modules.width as usize, modules.height as usize);
    let repeat = if rows == 1 { 40 } else { SCALE };
    // White around, as paper has it.
    let frame = 12 * SCALE;
    let (across, down) = (width * SCALE + 2 * frame, rows * repeat + 2 * frame);
    let mut pixels = vec![255u8; across * down];
    for y in 0..rows * repeat {
        for x in 0..width * SCALE {
            if modules.dark[y / repeat * width + x / SCALE] {
                pixels[(y + frame) * across + x + frame] = 0;
            }
        }
    }
    let source = Luma8LuminanceSource::new(pixels, across as u32, down as u32).unwrap();
    let mut bitmap = BinaryBitmap::new(HybridBinarizer::new(source));
    let hints = DecodeHints {
        PossibleFormats: Some([format].into()),
        TryHarder: Some(true),
        AssumeGs1: Some(gs1),
        ..DecodeHints::default()
    };
    MultiFormatReader::default().decode_with_hints(&mut bitmap, &hints)
}

fn round_trip(symbology: Symbology, value: &str, format: BarcodeFormat) -> String {
    let (modules, _) = encode(symbology, value, None).unwrap();
    read(&modules, format)
        .unwrap_or_else(|error| panic!("{symbology:?} of {value}: {error}"))
        .getText()
        .to_owned()
}

/// Asserts that a decoder reads what was encoded.
fn assert_read_back(cases: &[(Symbology, &str, BarcodeFormat, &str)]) {
    for (symbology, value, format, expected) in cases {
        let found = round_trip(*symbology, value, *format);
        assert_eq!(found, *expected, "{symbology:?}");
    }
}

#[test]
fn each_matrix_is_read_back() {
    let same = |symbology, value, format| (symbology, value, format, value);
    assert_read_back(&[
        same(
            Symbology::Qr,
            "https://example.com/ü",
            BarcodeFormat::QR_CODE,
        ),
        same(Symbology::DataMatrix, "A1B2C3", BarcodeFormat::DATA_MATRIX),
        same(
            Symbology::Pdf417,
            "Waybill 2026-000123",
            BarcodeFormat::PDF_417,
        ),
        same(Symbology::Pdf417, "Łódź, Maß 12 m", BarcodeFormat::PDF_417),
        same(
            Symbology::Aztec,
            "Ticket 17 / Coach 4",
            BarcodeFormat::AZTEC,
        ),
        same(Symbology::Aztec, "Zürich–Łódź", BarcodeFormat::AZTEC),
    ]);
}

#[test]
fn each_row_of_bars_is_read_back() {
    let same = |symbology, value, format| (symbology, value, format, value);
    let checked = |symbology, value, format, full| (symbology, value, format, full);
    assert_read_back(&[
        same(
            Symbology::Code128,
            "INV-2026-000123",
            BarcodeFormat::CODE_128,
        ),
        same(Symbology::Code39, "PART 7-B/2", BarcodeFormat::CODE_39),
        checked(
            Symbology::Ean13,
            "400638133393",
            BarcodeFormat::EAN_13,
            "4006381333931",
        ),
        checked(Symbology::Ean8, "5512345", BarcodeFormat::EAN_8, "55123457"),
        checked(
            Symbology::UpcA,
            "03600029145",
            BarcodeFormat::UPC_A,
            "036000291452",
        ),
        checked(
            Symbology::Itf14,
            "0952123454321",
            BarcodeFormat::ITF,
            "09521234543213",
        ),
    ]);
}

#[test]
fn gs1_codes_carry_separators_and_are_marked() {
    let value = "(01)09521234543213(10)ABC123(17)271231";
    let (modules, text) = encode(Symbology::Gs1128, value, None).unwrap();
    assert_eq!(text, value);
    let found = read_as(&modules, BarcodeFormat::CODE_128, true).unwrap();
    // A reader that is told of GS1 begins with the symbology identifier.
    assert_eq!(found.getText(), "]C1010952123454321310ABC123\u{1D}17271231");
    let (modules, text) = encode(Symbology::Gs1DataMatrix, value, None).unwrap();
    assert_eq!(text, value);
    let found = read_as(&modules, BarcodeFormat::DATA_MATRIX, true).unwrap();
    assert!(
        found
            .getText()
            .ends_with("010952123454321310ABC123\u{1D}17271231"),
        "{}",
        found.getText()
    );
}

#[test]
fn mistakes_in_gs1_data_say_which_identifier() {
    for (value, expected) in [
        ("0109521234543213", "in parentheses"),
        ("(01)09521234543214", "must be 3"),
        ("(01)0952123454321", "needs 14 digits"),
        ("(17)271331", "YYMMDD"),
        ("(05)1", "no application identifier"),
        ("(10)ABC ü", "cannot carry"),
        ("(10)", "1 to 20 characters"),
        ("(0x)1", "in parentheses"),
        ("()", "in parentheses"),
    ] {
        let error = encode(Symbology::Gs1128, value, None).unwrap_err();
        assert!(error.contains(expected), "{value}: {error}");
    }
    let long = format!("(21){}(10){}(90)1234567", "A".repeat(20), "B".repeat(20));
    let error = encode(Symbology::Gs1128, &long, None).unwrap_err();
    assert!(error.contains("two codes"), "{error}");
    assert!(encode(Symbology::Gs1DataMatrix, &long, None).is_ok());
}

#[test]
fn a_parenthesis_without_an_identifier_is_data() {
    assert_eq!(
        gs1::parse("(10)A(B)(21)7").unwrap(),
        [
            gs1::Element {
                identifier: "10",
                value: "A(B)"
            },
            gs1::Element {
                identifier: "21",
                value: "7"
            },
        ]
    );
}

#[test]
fn check_digits_are_added_and_checked() {
    assert!(encode(Symbology::Ean13, "4006381333932", None).is_err());
    assert!(encode(Symbology::Ean13, "12", None).is_err());
    assert!(encode(Symbology::Ean8, "55123456", None).is_err());
    assert!(encode(Symbology::UpcA, "036000291453", None).is_err());
    assert!(encode(Symbology::Itf14, "0952123454321x", None).is_err());
    let (modules, text) = encode(Symbology::Ean13, "400638133393", None).unwrap();
    assert_eq!((modules.width, text.as_str()), (95 + 18, "4006381333931"));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    for (symbology, value) in [
        (Symbology::Qr, "x".repeat(3000)),
        (Symbology::DataMatrix, "x".repeat(4000)),
        (Symbology::Pdf417, "x".repeat(1851)),
        (Symbology::Pdf417, "ü".repeat(900)),
        (Symbology::Aztec, "x".repeat(4000)),
        (Symbology::Code128, "grün".to_owned()),
        (Symbology::Code128, "x".repeat(81)),
        (Symbology::Code39, "abc".to_owned()),
        (Symbology::Code39, "A".repeat(81)),
        (Symbology::Qr, String::new()),
    ] {
        assert!(encode(symbology, &value, None).is_err(), "{symbology:?}");
    }
}

#[test]
fn more_error_correction_needs_more_modules() {
    let width = |correction| {
        let value = "https://example.com/invoices/2026-000123?token=5f3a";
        encode(Symbology::Qr, value, Some(correction))
            .unwrap()
            .0
            .width
    };
    assert!(width(ErrorCorrection::L) < width(ErrorCorrection::H));
    assert!(encode(Symbology::Qr, &"x".repeat(1300), Some(ErrorCorrection::H)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is taken has a quiet zone and the modules that it says it has.
    #[test]
    fn modules_are_whole(value in "[ -~]{1,60}", symbology in 0..12usize) {
        let symbology = [
            Symbology::Qr, Symbology::DataMatrix, Symbology::Gs1DataMatrix, Symbology::Pdf417,
            Symbology::Aztec, Symbology::Code128, Symbology::Gs1128, Symbology::Code39,
            Symbology::Ean13, Symbology::Ean8, Symbology::UpcA, Symbology::Itf14,
        ][symbology];
        if let Ok((modules, _)) = encode(symbology, &value, None) {
            let (width, height) = (modules.width as usize, modules.height as usize);
            prop_assert_eq!(modules.dark.len(), width * height);
            for y in 0..height {
                prop_assert!(!modules.dark[y * width] && !modules.dark[(y + 1) * width - 1]);
            }
        }
    }

    #[test]
    fn any_text_of_code_128_is_read_back(value in "[!-~]([ -~]{0,30}[!-~])?") {
        prop_assert_eq!(round_trip(Symbology::Code128, &value, BarcodeFormat::CODE_128), value);
    }

    #[test]
    fn any_text_of_aztec_is_read_back(value in "[ -~]{1,60}") {
        prop_assert_eq!(round_trip(Symbology::Aztec, &value, BarcodeFormat::AZTEC), value);
    }
}

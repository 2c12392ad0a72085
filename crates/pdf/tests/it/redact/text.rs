//! Text: the glyphs in the areas go, and no others.

use lopdf::{Document, Object, Stream, dictionary};

use super::{
    built, changed, content_of, first_page, form, redacted, refused, region, text_of, with_font,
};
use crate::fixture::{check, has_all, of_chromium, of_libreoffice, pixels, plain, texts, words};

#[test]
fn every_word_can_be_taken_out_and_the_others_stay_where_they_are() {
    if !has_all(&[
        "qpdf",
        "pdftotext",
        "pdftoppm",
        "chromium-headless-shell",
        "soffice",
    ]) {
        return;
    }
    for file in [
        of_chromium("Quarterly report", 2),
        of_libreoffice("Quarterly report", 2),
    ] {
        let before = words(&file);
        let (_, high, _) = pixels(&file, 1);
        for (index, (page, word, area)) in before.iter().enumerate() {
            let [left, top, right, bottom] = *area;
            let high = high as f32;
            let made = match redacted(
                &file,
                &[region(*page, [left, high - bottom, right, high - top])],
            ) {
                Err(error) if error.to_string().contains("form field") => continue,
                made => made.expect("a file"),
            };
            check(&made);
            let after = words(&made);
            let mut expected = before.clone();
            expected.remove(index);
            assert_eq!(after.len(), expected.len(), "without {word}: {after:?}");
            // Programs may read them in another order.
            for (page, word, one) in &after {
                let stands = expected.iter().any(|(other, name, two)| {
                    let near = one
                        .iter()
                        .zip(two)
                        .all(|(one, two)| (one - two).abs() < 0.3);
                    near && other == page && name == word
                });
                assert!(stands, "{word} moved: {one:?}");
            }
        }
    }
}

#[test]
fn only_the_glyphs_in_an_area_go() {
    // Ten letters of six points each, from x = 20.
    let shows = [
        "(abcdefghij) Tj",
        "[(abc) -0.0 (defghij)] TJ",
        "[(ab) 0 (cdefghi) 0 (j)] TJ",
        "12 TL 0 12 Td (abcdefghij) '",
        "12 TL 0 12 Td 0 0 (abcdefghij) \"",
        "<6162636465666768696A> Tj",
    ];
    for show in shows {
        let content = format!("BT /F 10 Tf 20 100 Td {show} ( end) Tj ET");
        let file = built(&[&content], with_font(dictionary! {}), Vec::new());
        let made = redacted(&file, &[region(1, [32.5, 99.0, 43.5, 104.0])]).expect("a file");
        assert_eq!(text_of(&made).trim(), "ab efghij end", "{show}");
        let said = content_of(&made);
        assert!(!said.contains("cd") && !said.contains("63"), "{said}");
    }
    // An area of the line above leaves this line alone, and neighbors too.
    let file = built(
        &["BT /F 10 Tf 20 100 Td (abc) Tj 0 12 Td (def) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    let made = redacted(&file, &[region(1, [20.0, 109.8, 38.0, 120.0])]).expect("a file");
    assert_eq!(text_of(&made).trim(), "abc");
    let made = redacted(&file, &[region(1, [26.0, 99.0, 32.0, 107.0])]).expect("a file");
    assert_eq!(
        text_of(&made).replace('\n', " ").trim(),
        "def  a c".replace("  ", " ")
    );
}

#[test]
fn fonts_without_widths_lose_rather_more_than_less() {
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Other" };
    let resources = dictionary! { "Font" => dictionary! { "F" => font } };
    let content =
        "BT /F 10 Tf 20 100 Td (illi) Tj ( WWWW) Tj ET BT /F 10 Tf 20 50 Td (other) Tj ET";
    let file = built(&[content], resources, Vec::new());
    // Where the last W is.
    let made = redacted(&file, &[region(1, [55.0, 99.0, 60.0, 106.0])]).expect("a file");
    let text = text_of(&made);
    assert!(!text.contains('W') && text.contains("other"), "{text}");
    // What is kept behind it would move.
    refused(&file, &[region(1, [20.0, 99.0, 21.0, 106.0])], "would move");
}

#[test]
fn standard_fonts_are_as_wide_as_they_are() {
    for (font, text, left) in [
        ("Helvetica", "illi WWWW", 20.0 + 8.88 + 2.78),
        ("Times-Bold", "illi WWWW", 20.0 + 11.12 + 2.5),
        ("Courier-Oblique", "illi WWWW", 20.0 + 24.0 + 6.0),
    ] {
        let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => font };
        let resources = dictionary! { "Font" => dictionary! { "F" => font } };
        let content = format!("BT /F 10 Tf 20 100 Td ({text}) Tj ( end) Tj ET");
        let file = built(&[&content], resources, Vec::new());
        // The first of the wide letters.
        let area = [left + 0.1, 99.0, left + 5.0, 106.0];
        let made = redacted(&file, &[region(1, area)]).expect("a file");
        assert_eq!(text_of(&made).replace(' ', ""), "illiWWWend\u{c}");
        if has_all(&["pdftotext"]) {
            let place = |bytes: &[u8]| {
                let all = words(bytes).into_iter();
                all.filter(|(_, word, _)| word == "end")
                    .map(|it| it.2[0])
                    .next()
            };
            let (before, after) = (place(&file).expect("it"), place(&made).expect("it"));
            assert!((before - after).abs() < 0.1, "{before} {after}");
        }
    }
}

#[test]
fn text_that_the_box_of_a_form_cuts_off_is_text() {
    let mut hidden = form("BT /F 10 Tf 20 100 Td (secret) Tj ET");
    hidden
        .dict
        .set("BBox", vec![0.into(), 0.into(), 5.into(), Object::from(5)]);
    let resources = dictionary! { "XObject" => dictionary! { "X" => Object::Reference((100, 0)) } };
    let file = built(&["/X Do"], resources, vec![hidden.into()]);
    let made = redacted(&file, &[region(1, [15.0, 95.0, 80.0, 110.0])]).expect("a file");
    assert!(!plain(&made).contains("secret") && text_of(&made).trim().is_empty());
}

#[test]
fn content_may_be_coded_in_the_usual_ways_and_is_compressed_afterwards() {
    let content = format!(
        "BT /F 10 Tf 20 100 Td (abc) Tj ET {}",
        "0 0 1 rg ".repeat(500)
    );
    let file = built(&[&content], with_font(dictionary! {}), vec![]);
    let hex: String = content.bytes().map(|byte| format!("{byte:02x}")).collect();
    let coded = changed(&file, |document| {
        let page = document.page_iter().next().expect("a page");
        let streams = document.get_page_contents(page);
        let stream = document
            .get_object_mut(streams[0])
            .and_then(Object::as_stream_mut);
        let stream = stream.expect("content");
        stream.set_content(format!("{hex}>").into_bytes());
        stream
            .dict
            .set("Filter", vec![Object::from("ASCIIHexDecode")]);
    });
    for file in [&file, &coded] {
        let made = redacted(file, &[region(1, [26.0, 99.0, 32.0, 106.0])]).expect("a file");
        assert_eq!(text_of(&made).replace(' ', ""), "ac\u{c}");
        assert!(made.len() < 2_000, "{}", made.len());
    }
}

#[test]
fn streams_that_end_between_operands_are_one_content() {
    let file = built(&["BT /F 10 Tf 20 100"], with_font(dictionary! {}), vec![]);
    let file = changed(&file, |document| {
        let more = Stream::new(dictionary! {}, b"Td (secret) Tj ET Q Q".to_vec());
        let more = document.add_object(more);
        let entries = first_page(document);
        let first = entries.get(b"Contents").expect("content").clone();
        entries.set("Contents", vec![first, more.into()]);
    });
    let made = redacted(&file, &[region(1, [15.0, 95.0, 80.0, 110.0])]).expect("a file");
    assert!(!plain(&made).contains("secret"));
}

#[test]
fn a_font_whose_box_is_elsewhere_is_taken_to_stand_on_its_line() {
    let font = dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Odd", "FirstChar" => 32,
        "LastChar" => 126, "Widths" => vec![Object::Integer(600); 95],
        "FontDescriptor" => dictionary! {
            "Type" => "FontDescriptor", "FontName" => "Odd",
            "FontBBox" => vec![0.into(), 3218.into(), 9000.into(), Object::from(3218)],
        },
    };
    let resources = dictionary! { "Font" => dictionary! { "F" => font } };
    let file = built(&["BT /F 10 Tf 20 50 Td (abc) Tj ET"], resources, vec![]);
    let made = redacted(&file, &[region(1, [20.0, 49.0, 38.0, 58.0])]).expect("a file");
    assert!(text_of(&made).trim().is_empty());
}

#[test]
fn fonts_for_every_script_do_not_reach_into_other_lines() {
    let font = |name: &str| {
        dictionary! {
            "Type" => "Font", "Subtype" => "Type0", "Encoding" => "Identity-H", "BaseFont" => name,
            "DescendantFonts" => vec![Object::from(dictionary! {
                "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => name, "DW" => 1000,
                "FontDescriptor" => dictionary! {
                    "Type" => "FontDescriptor", "FontName" => name, "Ascent" => 880, "Descent" => -120,
                    "FontBBox" => vec![(-1000).into(), (-1048).into(), 2928.into(), Object::from(1808)],
                },
            })],
        }
    };
    let content =
        "BT /F 10 Tf 20 100 Td <00010002> Tj 0 -13 Td <00030004> Tj 0 -13 Td <00050006> Tj ET";
    let area = region(1, [15.0, 86.0, 60.0, 95.0]);
    let after = |name: &str| {
        let resources = dictionary! { "Font" => dictionary! { "F" => font(name) } };
        let file = built(&[content], resources, vec![]);
        content_of(&redacted(&file, &[area]).expect("a file"))
    };
    let said = after("NotoSansJP");
    assert!(
        said.contains("0001") && !said.contains("0003") && said.contains("0005"),
        "{said}"
    );
    // Signs of such a font may be as tall as they say.
    let said = after("NotoSansMath");
    assert!(!said.contains("0001") && !said.contains("0005"), "{said}");
}

#[test]
fn a_turned_page_is_measured_as_it_is_shown() {
    if !has_all(&["pdftotext"]) {
        return;
    }
    let file = built(
        &["BT /F 10 Tf 20 150 Td (top left) Tj 0 -100 Td (below) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    for degrees in [90, 180, 270] {
        let mut document = Document::load_mem(&file).expect("a file");
        let page = document.page_iter().next().expect("a page");
        let entries = document.get_dictionary_mut(page).expect("it");
        entries.set("Rotate", degrees);
        entries.set(
            "CropBox",
            vec![10.into(), 10.into(), 190.into(), Object::from(190)],
        );
        let mut turned = Vec::new();
        document.save_to(&mut turned).expect("a file");
        let place = words(&turned)
            .into_iter()
            .find(|(_, word, _)| word == "below");
        let (_, _, [left, top, right, bottom]) = place.expect("the word");
        // Of the crop box.
        let high = 180.0;
        let made = redacted(
            &turned,
            &[region(1, [left, high - bottom, right, high - top])],
        );
        assert_eq!(
            text_of(&made.expect("a file")).trim(),
            "top left",
            "{degrees}"
        );
    }
}

#[test]
fn codes_without_a_width_may_be_anywhere_behind() {
    // A font that says the widths of small letters only.
    let font = dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "FirstChar" => 97,
        "LastChar" => 122, "Widths" => vec![Object::Integer(600); 26],
        "Encoding" => "WinAnsiEncoding",
    };
    let resources = dictionary! { "Font" => dictionary! { "F" => font } };
    let content = "BT /F 10 Tf 20 100 Td (aAAb) Tj ET BT /F 10 Tf 20 50 Td (other) Tj ET";
    let file = built(&[content], resources, Vec::new());
    // As it stands in Courier, whose capitals are as wide, and as it would with capitals of no width.
    for left in [38.0, 26.0] {
        let made = redacted(&file, &[region(1, [left, 99.0, left + 4.0, 106.0])]).expect("a file");
        let text = text_of(&made);
        assert!(!text.contains('b') && text.contains("other"), "{text}");
    }
}

#[test]
fn an_area_with_nothing_in_it_changes_nothing_that_is_seen() {
    let file = built(
        &["BT /F 10 Tf 20 50 Td (abc) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    let made = redacted(&file, &[region(1, [100.0, 100.0, 150.0, 150.0])]).expect("a file");
    assert_eq!(text_of(&made), text_of(&file));
    if has_all(&["pdftoppm"]) {
        assert!(pixels(&made, 1) == pixels(&file, 1));
        assert_eq!(texts(&made), ["abc"]);
    }
}

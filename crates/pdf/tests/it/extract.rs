//! Texts and pictures taken out of files of real programs, compared with poppler.

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{Error, Limits, PageText, TextParts, read_pictures, read_text, read_text_parts};

use crate::built::{node, whole};
use crate::fixture::{has_all, of_chromium, of_libreoffice, texts};

fn read(file: &[u8], pages: Option<&str>) -> Vec<PageText> {
    read_text(file, pages, &Limits::default(), &|| {}).expect("text")
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// A file of one page with this content and these resources.
fn page(content: &str, add: impl FnOnce(&mut Document) -> lopdf::Dictionary) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let resources = add(&mut document);
    let tree = document.new_object_id();
    let content = document.add_object(Stream::new(dictionary! {}, content.as_bytes().to_vec()));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 300.into(), 300.into()],
    });
    whole(document, tree, node(vec![page.into()]), dictionary! {})
}

#[test]
fn texts_are_those_that_poppler_finds() {
    if !has_all(&["pdftotext", "chromium-headless-shell", "soffice"]) {
        return;
    }
    for file in [
        of_chromium("Größe für 5 € – “alles”", 3),
        of_libreoffice("Žluťoučký kůň", 2),
    ] {
        let expected = texts(&file);
        let found = read(&file, None);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            let (mut one, mut two) = (words(&found.text), words(expected));
            // The value of a form field is an annotation, which poppler reads, too.
            two.retain(|word| *word != "filled");
            one.sort_unstable();
            two.sort_unstable();
            assert_eq!(one, two);
            assert_eq!(found.unknown_characters, 0);
        }
    }
    let file = of_chromium("Page", 5);
    let some: Vec<usize> = read(&file, Some("4,2")).iter().map(|it| it.page).collect();
    assert_eq!(some, [4, 2]);
    let beyond = read_text(&file, Some("9"), &Limits::default(), &|| {});
    assert!(matches!(beyond, Err(Error::BadPages(_))));
}

#[test]
fn codes_become_text_by_encodings_maps_and_what_is_said_instead() {
    let content = "BT /A 12 Tf 20 250 Td (Gr\\366\\337e \\001) Tj 0 -20 Td /C 12 Tf <00410042> Tj \
        0 -20 Td /J 12 Tf <82A082A2> Tj ET /Span <</ActualText (said)>> BDC BT /A 12 Tf 20 100 Td \
        (shown) Tj ET EMC BT /U 12 Tf 20 50 Td <0001> Tj ET /F Do";
    let file = page(content, |document| {
        let differences = dictionary! {
            "BaseEncoding" => "WinAnsiEncoding",
            "Differences" => vec![1.into(), Object::Name(b"fi".to_vec())],
        };
        let simple = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => differences,
        });
        let below = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => "X",
        });
        let program = b"1 begincodespacerange <0000> <ffff> endcodespacerange \
            1 beginbfrange <0041> <0042> <0391> endbfrange";
        let map = document.add_object(Stream::new(dictionary! {}, program.to_vec()));
        let mut composite = |encoding: &str, map: Option<lopdf::ObjectId>| {
            let mut font = dictionary! {
                "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "X", "Encoding" => encoding,
                "DescendantFonts" => vec![below.into()],
            };
            if let Some(map) = map {
                font.set("ToUnicode", map);
            }
            document.add_object(font)
        };
        let mapped = composite("Identity-H", Some(map));
        let japanese = composite("90ms-RKSJ-H", None);
        let unknown = composite("Identity-H", None);
        let inner = "BT /A 12 Tf 20 20 Td (in a form) Tj ET";
        let form = dictionary! {
            "Subtype" => "Form", "BBox" => vec![0.into(), 0.into(), 300.into(), 300.into()],
        };
        let form = document.add_object(Stream::new(form, inner.as_bytes().to_vec()));
        dictionary! {
            "Font" => dictionary! { "A" => simple, "C" => mapped, "J" => japanese, "U" => unknown },
            "XObject" => dictionary! { "F" => form },
        }
    });
    let found = &read(&file, None)[0];
    let lines: Vec<&str> = found.text.lines().filter(|line| !line.is_empty()).collect();
    let expected = ["Größe fi", "ΑΒ", "あい", "said", "\u{fffd}", "in a form"];
    assert_eq!(lines, expected);
    assert_eq!(found.unknown_characters, 1);
}

#[test]
fn what_is_invisible_an_artifact_or_an_annotation_is_text_if_it_is_wanted() {
    let content = "BT /A 12 Tf 20 250 Td (shown) Tj 3 Tr 0 -20 Td (behind) Tj 0 Tr ET \
        /Artifact BMC BT /A 12 Tf 20 20 Td (footer) Tj ET EMC BT /A 12 Tf 20 100 Td (after) Tj ET";
    let plain = page(content, |document| {
        let font = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica",
            "Encoding" => "WinAnsiEncoding",
        });
        dictionary! { "Font" => dictionary! { "A" => font } }
    });
    let mut document = Document::load_mem(&plain).expect("a file");
    let mut note = |kind: &str, flags: i64, text: &str| {
        Object::Reference(document.add_object(dictionary! {
            "Type" => "Annot", "Subtype" => kind, "F" => flags,
            "Contents" => Object::string_literal(text),
            "Rect" => vec![0.into(), 0.into(), 10.into(), 10.into()],
        }))
    };
    let notes = vec![
        note("Text", 0, "a comment"),
        note("Link", 0, "a link"),
        note("FreeText", 2, "hidden"),
        note("FreeText", 4, "a box"),
    ];
    let id = document.page_iter().next().expect("a page");
    let entries = document.get_dictionary_mut(id).expect("a page");
    entries.set("Annots", notes);
    let mut file = Vec::new();
    document.save_to(&mut file).expect("a file");
    let of = |invisible, artifacts, annotations| {
        let parts = TextParts {
            invisible,
            artifacts,
            annotations,
        };
        let found = read_text_parts(&file, None, parts, &Limits::default(), &|| {});
        let text = found.expect("text").remove(0).text;
        text.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(of(false, false, false), ["shown", "after"]);
    assert_eq!(of(true, false, false), ["shown", "behind", "after"]);
    assert_eq!(of(false, true, false), ["shown", "after", "footer"]);
    let with_notes = ["shown", "after", "a comment", "a box"];
    assert_eq!(of(false, false, true), with_notes);
    let all: Vec<String> = read(&file, None)[0]
        .text
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    assert_eq!(all, ["shown", "behind", "after", "footer"]);
}

#[test]
fn forms_within_themselves_end() {
    let file = page("/F Do", |document| {
        let id = document.new_object_id();
        let resources = dictionary! { "XObject" => dictionary! { "F" => id } };
        let form = dictionary! { "Subtype" => "Form", "Resources" => resources.clone() };
        let content = "/F Do ".repeat(200).into_bytes();
        document
            .objects
            .insert(id, Stream::new(form, content).into());
        resources
    });
    let begin = std::time::Instant::now();
    let ended = read_text(&file, None, &Limits::default(), &|| {});
    assert!(matches!(ended, Err(Error::TooLarge { .. })), "{ended:?}");
    eprintln!("ended after {:?}", begin.elapsed());
    assert_eq!(
        read_pictures(&file, None, &Limits::default(), &|| {})
            .expect("none")
            .files,
        []
    );
}

/// A font whose codes all stand for long texts.
fn long_texts(document: &mut Document) -> lopdf::ObjectId {
    let long = "0041".repeat(64);
    let program = format!("1 beginbfrange <00> <ff> <{long}> endbfrange");
    let map = document.add_object(Stream::new(dictionary! {}, program.into_bytes()));
    document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "ToUnicode" => map,
    })
}

#[test]
fn texts_that_multiply_end() {
    let shown = format!("BT /A 12 Tf ({}) Tj ET", "a".repeat(2_000_000));
    let file = page(&shown, |document| {
        let font = long_texts(document);
        dictionary! { "Font" => dictionary! { "A" => font } }
    });
    let looks = std::cell::Cell::new(0);
    let ended = read_text(&file, None, &Limits::default(), &|| {
        looks.set(looks.get() + 1)
    });
    assert!(matches!(ended, Err(Error::TooLarge { .. })));
    assert!(looks.get() > 400, "{}", looks.get());
    // A font that is part of the resources is read each time.
    let content = "/A 12 Tf ".repeat(20_000);
    let file = page(&content, |document| {
        let map = document.add_object(Stream::new(dictionary! {}, vec![b' '; 1 << 20]));
        let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "ToUnicode" => map };
        dictionary! { "Font" => dictionary! { "A" => font } }
    });
    let ended = read_text(&file, None, &Limits::default(), &|| {});
    assert!(matches!(ended, Err(Error::TooLarge { .. })));
    // So is what is said instead.
    let content = "/Span /P BDC EMC ".repeat(100_000);
    let file = page(&content, |document| {
        let said = document.add_object(Object::string_literal("x".repeat(100_000)));
        dictionary! { "Properties" => dictionary! { "P" => dictionary! { "ActualText" => said } } }
    });
    let ended = read_text(&file, None, &Limits::default(), &|| {});
    assert!(matches!(ended, Err(Error::TooLarge { .. })));
}

#[test]
fn pictures_are_taken_out() {
    let picture = |space: &str, bits: i64, data: Vec<u8>| {
        Stream::new(
            dictionary! {
                "Subtype" => "Image", "Width" => 2, "Height" => 2, "ColorSpace" => space,
                "BitsPerComponent" => bits,
            },
            data,
        )
    };
    let file = page("/A Do /A Do", |document| {
        let mask = document.add_object(picture("DeviceGray", 8, vec![0, 255, 255, 0]));
        let mut colors = picture("DeviceRGB", 8, (1..=12).collect());
        colors.dict.set("SMask", mask);
        colors.compress().expect("data");
        let colors = document.add_object(colors);
        let mut jpeg = picture("DeviceRGB", 8, b"\xff\xd8jpeg".to_vec());
        jpeg.dict.set("Filter", "DCTDecode");
        let jpeg = document.add_object(jpeg);
        let mut other = picture("DeviceGray", 1, vec![1]);
        other.dict.set("Filter", "JBIG2Decode");
        let other = document.add_object(other);
        let short = document.add_object(picture("DeviceRGB", 8, vec![1, 2, 3]));
        dictionary! { "XObject" => dictionary! {
            "A" => colors, "B" => jpeg, "C" => other, "D" => short, "E" => colors,
        } }
    });
    let found = read_pictures(&file, None, &Limits::default(), &|| {}).expect("pictures");
    let names: Vec<&str> = found.files.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["page-1-1.png", "page-1-2.jpg"]);
    assert_eq!(found.files[1].bytes, b"\xff\xd8jpeg");
    assert_eq!(found.left_out.len(), 2, "{:?}", found.left_out);
    assert!(found.left_out[0].contains("JBIG2Decode"));
    let mut reader = png::Decoder::new(std::io::Cursor::new(&found.files[0].bytes));
    reader.set_transformations(png::Transformations::IDENTITY);
    let mut reader = reader.read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!(
        pixels,
        [1, 2, 3, 0, 4, 5, 6, 255, 7, 8, 9, 255, 10, 11, 12, 0]
    );
}

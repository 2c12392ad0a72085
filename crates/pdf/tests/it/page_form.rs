//! Pages as forms: what is copied, and files that lie.

use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use platen_pdf::{Error, FormObject, PageForm, page_form};

use crate::built::{node, whole};

/// A file of one page with a font, marked content and an image that refers to its page.
fn letterhead() -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let page = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica",
    });
    let image = document.add_object(Stream::new(
        dictionary! {
            "Subtype" => "Image", "Width" => 1, "Height" => 1, "BitsPerComponent" => 8,
            "ColorSpace" => "DeviceGray", "StructParent" => 3, "P" => page,
        },
        vec![0],
    ));
    let content = b"/P <</MCID 0>> BDC BT /F1 12 Tf (a) Tj ET EMC /Im Do".to_vec();
    let content = document.add_object(Stream::new(dictionary! {}, content));
    document.objects.insert(
        page,
        dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content,
            "Annots" => vec![Object::Reference(page)],
        }
        .into(),
    );
    let node = dictionary! {
        "Type" => "Pages", "Count" => 1, "Kids" => vec![page.into()],
        "MediaBox" => vec![10.into(), 20.into(), 210.into(), 120.into()],
        "Rotate" => 90,
        "Resources" => dictionary! {
            "Font" => dictionary! { "F1" => font }, "XObject" => dictionary! { "Im" => image },
        },
    };
    whole(document, tree, node, dictionary! {})
}

/// A file of a page with this content and these resources.
pub fn of_content(mut document: Document, content: &[u8], resources: Dictionary) -> Vec<u8> {
    let tree = document.new_object_id();
    let content = document.add_object(Stream::new(dictionary! {}, content.to_vec()));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 100.into(), 100.into()],
    });
    whole(document, tree, node(vec![page.into()]), dictionary! {})
}

/// A file of a page with a font whose glyphs have names that are also those of entries.
pub fn of_glyphs(is_referenced: bool) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let mut glyphs = Dictionary::new();
    for name in ["A", "B", "P"] {
        let glyph = Stream::new(dictionary! {}, b"9 0 0 0 9 9 d1 0 0 9 9 re f".to_vec());
        glyphs.set(name, document.add_object(glyph));
    }
    let glyphs: Object = match is_referenced {
        true => document.add_object(glyphs).into(),
        false => glyphs.into(),
    };
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type3", "CharProcs" => glyphs,
        "FontBBox" => vec![0.into(), 0.into(), 9.into(), 9.into()],
    });
    let fonts = dictionary! { "Font" => dictionary! { "P" => font } };
    of_content(document, b"BT /P 12 Tf (ABP) Tj ET", fonts)
}

fn read(bytes: &[u8], page: u32) -> Result<PageForm, Error> {
    let mut last = 100;
    page_form(bytes, page, &mut || {
        last += 1;
        last
    })
}

#[test]
fn a_page_is_copied_without_its_structure() {
    let form = read(&letterhead(), 1).expect("a form");
    assert!(!form.archival);
    // The form, the font and the image; neither page nor annotations.
    let mut numbers: Vec<u32> = form.objects.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [101, 102, 103]);
    let own = form.objects.iter().find(|(number, _)| *number == form.form);
    let Some((_, FormObject::Content(entries, content))) = own else {
        panic!("{own:?}");
    };
    assert!(entries.contains("/BBox[10 20 210 120]"), "{entries}");
    // The point at the bottom left comes to the top left of the unit square.
    let matrix = entries.split("/Matrix[").nth(1).expect("a matrix");
    let matrix: Vec<f32> = (matrix.split([' ', ']']).take(6))
        .map(|number| number.parse().expect("a number"))
        .collect();
    let place = |x: f32, y: f32| {
        (
            matrix[0] * x + matrix[2] * y + matrix[4],
            matrix[1] * x + matrix[3] * y + matrix[5],
        )
    };
    let near = |(x, y): (f32, f32), (a, b): (f32, f32)| (x - a).abs() + (y - b).abs() < 1e-4;
    assert!(near(place(10.0, 20.0), (0.0, 1.0)));
    assert!(near(place(210.0, 120.0), (1.0, 0.0)));
    let content = String::from_utf8_lossy(content);
    assert!(
        content.contains("Tj") && content.contains("Do"),
        "{content}"
    );
    assert!(
        !content.contains("BDC") && !content.contains("EMC"),
        "{content}"
    );
    let all = format!("{:?}", form.objects);
    assert!(
        !all.contains("StructParent") && !all.contains("Annots"),
        "{all}"
    );
}

#[test]
fn names_of_fonts_and_glyphs_are_kept_whatever_they_are() {
    for is_referenced in [false, true] {
        let form = read(&of_glyphs(is_referenced), 1).expect("a form");
        let text = |(_, object): &(u32, FormObject)| match object {
            FormObject::Plain(text)
            | FormObject::Stream(text, _)
            | FormObject::Content(text, _) => text.clone(),
        };
        let all: String = form.objects.iter().map(text).collect();
        assert!(all.contains("/Font <</P "), "{all}");
        let glyphs = all.split("<</A ").nth(1).expect("glyphs");
        let glyphs = glyphs.split(">>").next().expect("glyphs");
        assert!(glyphs.contains("/B ") && glyphs.contains("/P "), "{all}");
    }
}

#[test]
fn what_follows_a_picture_or_a_mistake_is_still_drawn() {
    let rest = "Q 1 0 0 rg 0 0 9 9 re f";
    for content in [
        format!("q BI /W 8 /H 1 /BPC 8 /CS /G /F /AHx ID 0011223344556677> EI {rest}"),
        format!("q ] {rest}"),
        format!("q ) {rest}"),
        format!("q --5 w {rest}"),
    ] {
        let document = Document::with_version("1.7");
        let marked = format!("/P <</MCID 0>> BDC {content} EMC");
        let file = of_content(document, marked.as_bytes(), dictionary! {});
        let form = read(&file, 1).expect("a form");
        let own = form.objects.iter().find(|(number, _)| *number == form.form);
        let Some((_, FormObject::Content(_, made))) = own else {
            panic!("{own:?}");
        };
        assert_eq!(String::from_utf8_lossy(made).trim(), content);
    }
}

#[test]
fn what_cannot_be_a_form_is_told() {
    let bytes = letterhead();
    assert!(matches!(read(b"", 1), Err(Error::NotPdf)));
    for page in [0, 2, u32::MAX] {
        assert!(matches!(read(&bytes, page), Err(Error::Malformed(_))));
    }
}

#[test]
fn damaged_files_end() {
    let bytes = letterhead();
    // Every cut, and every byte changed in two ways: a form or an error, no panic.
    for at in 0..bytes.len() {
        let _ = read(&bytes[..at], 1);
        for change in [1, 128] {
            let mut bytes = bytes.clone();
            bytes[at] ^= change;
            let _ = read(&bytes, 1);
        }
    }
}

//! Pages as forms: what is copied, and files that lie.

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{Error, FormObject, PageForm, page_form};

use crate::built::whole;

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

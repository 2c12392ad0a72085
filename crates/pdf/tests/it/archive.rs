//! PDF/A of files that others made: what is mended, and what is refused with its rule.

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{Archive, Conditions, Error, NamedFile, Operations, Part, read_metadata};

/// A page with `content` and `resources`, and `catalog` entries.
fn page(content: &str, resources: lopdf::Dictionary, catalog: lopdf::Dictionary) -> Vec<u8> {
    let mut document = Document::with_version("1.4");
    let content = document.add_object(Stream::new(dictionary! {}, content.as_bytes().to_vec()));
    let tree = document.new_object_id();
    let annotation = document.add_object(dictionary! {
        "Type" => "Annot", "Subtype" => "Link", "F" => 0,
        "Rect" => vec![0.into(), 0.into(), 10.into(), 10.into()],
        "A" => dictionary! { "S" => "JavaScript", "JS" => Object::string_literal("app.alert(1)") },
    });
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 200.into(), 100.into()],
        "Annots" => vec![Object::Reference(annotation)],
        "AA" => dictionary! { "O" => dictionary! { "S" => "Launch" } },
    });
    let node = dictionary! { "Type" => "Pages", "Count" => 1, "Kids" => vec![page.into()] };
    document.objects.insert(tree, node.into());
    let mut root = dictionary! { "Type" => "Catalog", "Pages" => tree };
    root.extend(&catalog);
    let root = document.add_object(root);
    document.trailer.set("Root", root);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    bytes
}

fn archived(bytes: Vec<u8>, part: Part) -> Result<Vec<u8>, Error> {
    let operations = Operations {
        archive: Some(Archive {
            part,
            ..Archive::default()
        }),
        ..Operations::default()
    };
    let name = "a.pdf".to_owned();
    let made = operations.apply(vec![NamedFile { name, bytes }], &Conditions::default());
    made.map(|mut files| files.remove(0).bytes)
        .map_err(|error| error.error)
}

fn reasons(bytes: Vec<u8>) -> String {
    match archived(bytes, Part::Two) {
        Err(Error::NotArchival { reasons, .. }) => reasons,
        other => panic!("{other:?}"),
    }
}

#[test]
fn scripts_go_and_colors_get_a_profile() {
    let script = dictionary! {
        "OpenAction" => dictionary! { "S" => "JavaScript", "JS" => Object::string_literal("1") },
    };
    let made = archived(
        page("1 0 0 rg 0 0 9 9 re f", dictionary! {}, script),
        Part::Two,
    );
    let made = made.expect("a file");
    let text = String::from_utf8_lossy(&made);
    assert!(!text.contains("JavaScript") && !text.contains("Launch"));
    let document = Document::load_mem(&made).expect("a file");
    let catalog = document.catalog().expect("a catalog");
    assert!(catalog.has(b"OutputIntents") && catalog.has(b"Metadata"));
    assert!(document.trailer.has(b"ID"));
    let metadata = read_metadata(&made, &platen_pdf::Limits::default()).expect("metadata");
    assert_eq!(metadata["PDFVersion"], 1.7);
    archived(made, Part::Three).expect("a file that stays archival");
}

#[test]
fn what_cannot_be_mended_is_refused_with_its_rule() {
    let font = dictionary! { "Font" => dictionary! { "F1" => dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica",
    }}};
    let text = "BT /F1 12 Tf (a) Tj ET";
    assert!(reasons(page(text, font, dictionary! {})).contains("Helvetica is not embedded"));
    let inks = page("0 0 0 1 k 0 0 9 9 re f", dictionary! {}, dictionary! {});
    assert!(reasons(inks).contains("CMYK"));
}

//! PDF/A of files that others made: what is mended, and what is refused with its rule.

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{
    Archive, Conditions, Error, NamedFile, Operations, Part, read_metadata, validate,
};

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
fn what_archive_makes_is_valid_and_what_it_changes_is_listed() {
    let script = dictionary! {
        "OpenAction" => dictionary! { "S" => "JavaScript", "JS" => Object::string_literal("1") },
    };
    let file = page("1 0 0 rg 0 0 9 9 re f", dictionary! {}, script);
    let limits = platen_pdf::Limits::default();
    let plain = validate(&file, None, &limits, &|| {}).expect("a file");
    assert!(!plain.valid && plain.standards.is_empty());
    assert_eq!(
        plain.problems,
        ["it does not say that it satisfies a standard"]
    );
    let how = Archive {
        part: Part::Two,
        ..Archive::default()
    };
    let before = validate(&file, Some(&how), &limits, &|| {}).expect("a file");
    assert!(!before.valid && before.problems.is_empty(), "{before:?}");
    assert_eq!(before.standards, ["PDF/A-2b"]);
    let all = before.changes.join("; ");
    for part in [
        "OpenAction",
        "OutputIntents",
        "identifier",
        "AA",
        "not say that it is PDF/A-2b",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let made = archived(file, Part::Two).expect("a file");
    for how in [None, Some(&how)] {
        let after = validate(&made, how, &limits, &|| {}).expect("a file");
        assert!(after.valid, "{after:?}");
        assert_eq!(after.claims, ["PDF/A-2b"]);
    }
    let other = Archive {
        part: Part::Three,
        ..Archive::default()
    };
    let other = validate(&made, Some(&other), &limits, &|| {}).expect("a file");
    assert_eq!(
        other.changes,
        ["its metadata does not say that it is PDF/A-3b"]
    );
    let ink = page("0 1 0 0 k 0 0 9 9 re f", dictionary! {}, dictionary! {});
    let ink = validate(&ink, Some(&how), &limits, &|| {}).expect("a file");
    assert!(ink.problems[0].contains("CMYK"), "{ink:?}");
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
fn what_only_xmp_says_stays() {
    let changes = serde_json::json!({"Copyright": "Ann & Ben", "Marked": true, "Title": "T"});
    let changes = changes.as_object().expect("an object").clone();
    let limits = platen_pdf::Limits::default();
    let file = page("", dictionary! {}, dictionary! {});
    let file = platen_pdf::write_metadata(&file, &changes, &limits).expect("a file");
    let made = archived(file, Part::Two).expect("a file");
    let metadata = read_metadata(&made, &limits).expect("metadata");
    assert_eq!(metadata["Copyright"], "Ann & Ben");
    assert_eq!(
        (&metadata["Marked"], &metadata["Title"]),
        (&true.into(), &"T".into())
    );
}

/// A file of many pages, with what all of them share.
fn sharing(pages: usize, shared: impl FnOnce(&mut Document) -> lopdf::Dictionary) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let entries = shared(&mut document);
    let mut kids: Vec<Object> = Vec::new();
    for _ in 0..pages {
        let mut page = dictionary! {
            "Type" => "Page", "Parent" => tree,
            "MediaBox" => vec![0.into(), 0.into(), 9.into(), 9.into()],
        };
        page.extend(&entries);
        kids.push(document.add_object(page).into());
    }
    let node = dictionary! { "Type" => "Pages", "Count" => pages as i64, "Kids" => kids };
    document.objects.insert(tree, node.into());
    let root = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", root);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    bytes
}

#[test]
fn what_pages_share_is_looked_at_once_or_refused() {
    // Either would take ten thousand times ten thousand steps, once for each page.
    let fonts = sharing(10_000, |document| {
        let mut fonts = lopdf::Dictionary::new();
        for number in 0..10_000 {
            fonts.set(format!("F{number}"), dictionary! { "Subtype" => "Type3" });
        }
        let fonts = document.add_object(fonts);
        dictionary! { "Resources" => dictionary! { "Font" => fonts, "ExtGState" => fonts } }
    });
    archived(fonts, Part::Two).expect("a file");
    let links = sharing(10_000, |document| {
        let link = document.add_object(dictionary! { "Subtype" => "Link" });
        let list = document.add_object(vec![Object::Reference(link); 10_000]);
        dictionary! { "Annots" => list }
    });
    let refused = archived(links, Part::Two);
    assert!(
        matches!(refused, Err(Error::TooLarge { .. })),
        "{refused:?}"
    );
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
    let damaged = sharing(1, |document| {
        let content = Stream::new(dictionary! { "Filter" => "Unknown" }, vec![1; 20]);
        let content = document.add_object(content);
        dictionary! { "Contents" => content }
    });
    assert!(reasons(damaged).contains("damaged or too large"));
}

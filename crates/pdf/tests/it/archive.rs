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

/// A tagged page with `content` and `resources`, and one element `tag` of its first mark.
fn tagged(content: &[u8], tag: &str, resources: lopdf::Dictionary) -> Vec<u8> {
    let mut document = Document::load_mem(&page("", resources, dictionary! {})).expect("a file");
    let page = document.page_iter().next().expect("a page");
    let content = document.add_object(Stream::new(dictionary! {}, content.to_vec()));
    let root = document.new_object_id();
    let element = document.add_object(dictionary! {
        "S" => tag, "P" => root, "Pg" => page, "K" => 0,
    });
    let above = document.add_object(vec![Object::Reference(element)]);
    let tree = dictionary! {
        "Type" => "StructTreeRoot", "K" => element,
        "ParentTree" => dictionary! { "Nums" => vec![0.into(), above.into()] },
    };
    document.objects.insert(root, tree.into());
    let entries = document.get_dictionary_mut(page).expect("a page");
    entries.set("Contents", content);
    entries.set("StructParents", 0);
    entries.remove(b"Annots");
    let info = document.add_object(dictionary! { "Title" => Object::string_literal("Title") });
    document.trailer.set("Info", info);
    let catalog = document.catalog_mut().expect("a catalog");
    catalog.set("StructTreeRoot", root);
    catalog.set("Lang", Object::string_literal("en_US"));
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    bytes
}

fn accessible(bytes: Vec<u8>) -> Result<Document, String> {
    let operations = Operations {
        archive: Some(Archive {
            part: Part::Two,
            accessible: true,
            ..Archive::default()
        }),
        ..Operations::default()
    };
    let name = "a.pdf".to_owned();
    let made = operations.apply(vec![NamedFile { name, bytes }], &Conditions::default());
    let made = made.map_err(|error| error.error.to_string())?;
    Ok(Document::load_mem(&made[0].bytes).expect("a file"))
}

/// The parser of content leaves compressed pictures out: marking content must not.
#[test]
fn pictures_inside_of_content_stay_when_content_is_marked() {
    let content =
        b"/P <</MCID 0>> BDC 0 0 5 5 re f EMC q 9 0 0 9 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G /F /AHx \
        ID 00> EI Q 1 0 0 rg 0 0 9 9 re f";
    let made = accessible(tagged(content, "P", dictionary! {})).expect("a file");
    let page = made.page_iter().next().expect("a page");
    let content = made.get_page_content(page);
    let content = String::from_utf8_lossy(&content);
    let picture = "/Artifact BMC\nBI /W 1 /H 1 /BPC 8 /CS /G /F /AHx ID 00> EI\nEMC";
    assert!(content.contains(picture), "{content}");
    assert!(
        content.contains("/Artifact BMC\n0 0 9 9 re\nf\nEMC"),
        "{content}"
    );
    assert!(content.contains("BDC\n0 0 5 5 re\nf\nEMC"), "{content}");
    let language = made
        .catalog()
        .expect("a catalog")
        .get(b"Lang")
        .expect("a language");
    assert_eq!(language.as_str().expect("a text"), b"en-US");
}

#[test]
fn content_that_is_not_understood_to_its_end_is_refused_and_not_cut() {
    let content = b"/P <</MCID 0>> BDC 0 0 5 5 re f EMC ] 1 0 0 rg 0 0 9 9 re f";
    let problem = accessible(tagged(content, "P", dictionary! {})).expect_err("a reason");
    assert!(problem.contains("damaged"), "{problem}");
    assert!(problem.contains("PDF/A-2b and PDF/UA-1"), "{problem}");
}

#[test]
fn pages_of_more_than_two_mebibytes_are_marked() {
    let mut content = b"/P <</MCID 0>> BDC 0 0 5 5 re f EMC\n".to_vec();
    content.extend(b"0 0 9 9 re f\n".repeat(250_000));
    let made = accessible(tagged(&content, "P", dictionary! {})).expect("a file");
    let page = made.page_iter().next().expect("a page");
    let content = made.get_page_content(page);
    let marks = memchr::memmem::find_iter(&content, b"/Artifact BMC").count();
    assert_eq!(marks, 250_000);
}

#[test]
fn tags_that_are_nested_wrongly_are_refused() {
    let content = b"/P <</MCID 0>> BDC 0 0 5 5 re f EMC";
    for (tag, reason) in [
        ("LI", "`LI` outside of L"),
        ("H3", "headings that leave a level out before `H3`"),
        ("Figure", "pictures without an alternative text"),
        ("TD", "`TD` outside of TR"),
    ] {
        let problem = accessible(tagged(content, tag, dictionary! {})).expect_err("a reason");
        assert!(problem.contains(reason), "{tag}: {problem}");
    }
}

/// A font that is listed, but that no text is shown in, need not be embedded.
#[test]
fn only_fonts_that_text_is_shown_in_must_be_embedded() {
    let font = || {
        dictionary! { "Font" => dictionary! { "F1" => dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica",
        }}}
    };
    for content in ["", "BT /F1 12 Tf ET", "BT /F1 12 Tf 3 Tr (unseen) Tj ET"] {
        archived(page(content, font(), dictionary! {}), Part::Two).expect(content);
    }
    let shown = page(
        "BT /F1 12 Tf 3 Tr (unseen) Tj 0 Tr (seen) Tj ET",
        font(),
        dictionary! {},
    );
    assert!(reasons(shown).contains("Helvetica is not embedded"));
}

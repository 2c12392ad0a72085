//! Operations on files that have names.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{
    Conditions, Error, Limits, NamedFile, Operations, Split, describe, flatten, merge, page_count,
    read_text, tell_apart,
};
use serde_json::json;

use crate::built::{node, whole};

/// A file of so many empty pages.
pub fn pages(name: &str, count: usize) -> NamedFile<Vec<u8>> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let kids: Vec<Object> = (0..count)
        .map(|_| {
            let page = dictionary! {
                "Type" => "Page", "Parent" => tree,
                "MediaBox" => vec![0.into(), 0.into(), 100.into(), 100.into()],
            };
            document.add_object(page).into()
        })
        .collect();
    let node = dictionary! { "Type" => "Pages", "Count" => count as i64, "Kids" => kids };
    document.objects.insert(tree, node.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    let name = name.to_owned();
    NamedFile { name, bytes }
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let named = |name: &str| NamedFile {
        name: name.to_owned(),
        bytes: (),
    };
    let mut files = ["a.pdf", "a-3.pdf", "a.pdf", "a.pdf", "a.pdf", "b"].map(named);
    tell_apart(&mut files);
    let names = files.map(|file| file.name);
    assert_eq!(
        names,
        ["a.pdf", "a-3.pdf", "a-2.pdf", "a-4.pdf", "a-5.pdf", "b"]
    );
    let mut files = vec![named("a.pdf"); 300_000];
    tell_apart(&mut files);
    assert_eq!(files[299_999].name, "a-300000.pdf");
}

fn count(file: &NamedFile<Vec<u8>>) -> usize {
    page_count(&file.bytes, &Limits::default()).expect("a PDF file")
}

#[test]
fn files_are_merged_then_split_then_changed() {
    let operations = Operations {
        merge: true,
        split: Some(Split::Every(2)),
        flatten: true,
        metadata: serde_json::from_value(json!({"Title": "Both"})).expect("metadata"),
        ..Operations::default()
    };
    assert!(!operations.is_nothing() && Operations::default().is_nothing());
    let conditions = Conditions {
        part_name: |stem, index| format!("{stem}_{index}.pdf"),
        ..Conditions::default()
    };
    let files = vec![pages("a.pdf", 2), pages("b.pdf", 3)];
    let made = operations.apply(files, &conditions).expect("files");
    let names: Vec<&str> = made.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["merged_0.pdf", "merged_1.pdf", "merged_2.pdf"]);
    let counts: Vec<usize> = made.iter().map(count).collect();
    assert_eq!(counts, [2, 2, 1]);
    for file in &made {
        let said = describe(file, &conditions.limits).expect("a description");
        assert_eq!(said.metadata["Title"], "Both");
        assert_eq!(said.pages, count(file));
    }
}

#[test]
fn a_file_that_stands_alone_stays_as_it_is() {
    let merge = Operations {
        merge: true,
        ..Operations::default()
    };
    let file = pages("a.pdf", 1);
    let made = merge.apply(vec![file.clone()], &Conditions::default());
    assert_eq!(made.expect("a file"), [file]);
    let none = merge.apply(Vec::<NamedFile<Vec<u8>>>::new(), &Conditions::default());
    assert!(matches!(none.expect_err("no file").error, Error::Nothing));
}

#[test]
fn the_file_that_something_is_wrong_with_is_named() {
    let bad = || NamedFile {
        name: "bad.pdf".to_owned(),
        bytes: b"text".to_vec(),
    };
    let merge = Operations {
        merge: true,
        ..Operations::default()
    };
    let flatten = Operations {
        flatten: true,
        ..Operations::default()
    };
    for (operations, files) in [
        (&merge, vec![pages("a.pdf", 1), bad()]),
        (&merge, vec![bad()]),
        (&flatten, vec![pages("a.pdf", 1), bad()]),
    ] {
        let failed = operations.apply(files, &Conditions::default());
        let failed = failed.expect_err("a file is none");
        assert_eq!(failed.to_string(), "bad.pdf: this is not a PDF file");
    }
}

#[test]
fn the_work_can_be_ended_between_files() {
    let split = Operations {
        split: Some(Split::Every(1)),
        ..Operations::default()
    };
    let seen = Cell::new(0);
    let stop_at_second = || {
        seen.set(seen.get() + 1);
        assert!(seen.get() < 2, "stop");
    };
    let conditions = Conditions {
        checkpoint: &stop_at_second,
        ..Conditions::default()
    };
    let files: Vec<_> = (0..5).map(|_| pages("a.pdf", 1)).collect();
    let ended = catch_unwind(AssertUnwindSafe(|| split.apply(files, &conditions).is_ok()));
    assert!(ended.is_err());
    assert_eq!(seen.get(), 2);
}

/// The data of streams are taken over, not copied, so that they must not be taken twice.
#[test]
fn what_pages_and_fields_share_is_there_after_a_merge() {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" };
    let resources = dictionary! { "Font" => dictionary! { "F" => font } };
    let text = b"BT /F 20 Tf 20 20 Td (Shared) Tj ET".to_vec();
    let content = document.add_object(Stream::new(dictionary! {}, text.clone()));
    let look = dictionary! {
        "Type" => "XObject", "Subtype" => "Form", "Resources" => resources.clone(),
        "BBox" => vec![0.into(), 0.into(), 200.into(), 50.into()],
    };
    let look = document.add_object(Stream::new(look, text));
    let widget = dictionary! {
        "Type" => "Annot", "Subtype" => "Widget", "FT" => "Tx", "T" => Object::string_literal("a"),
        "Rect" => vec![0.into(), 100.into(), 200.into(), 150.into()], "F" => 4,
        "AP" => dictionary! { "N" => look },
    };
    let field = document.add_object(widget);
    let page = dictionary! {
        "Type" => "Page", "Parent" => tree, "Resources" => resources, "Contents" => content,
        "Annots" => vec![field.into()],
        "MediaBox" => vec![0.into(), 0.into(), 200.into(), 200.into()],
    };
    let pages: Vec<Object> = (0..2)
        .map(|_| document.add_object(page.clone()).into())
        .collect();
    let form = dictionary! { "AcroForm" => dictionary! { "Fields" => vec![field.into()] } };
    let file = whole(document, tree, node(pages), form);
    let limits = Limits::default();
    let merged = merge([file.as_slice(), &file], &limits).expect("a file");
    // What the fields show becomes text of the pages.
    let flat = flatten(&merged, &limits).expect("a file");
    let read = read_text(&flat, None, &limits, &|| {}).expect("text");
    let counts: Vec<usize> = read
        .iter()
        .map(|it| it.text.matches("Shared").count())
        .collect();
    assert_eq!(counts, [2, 2, 2, 2]);
}

//! Forms of files that are split and merged.

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};
use platen_pdf::{Limits, Split, flatten, merge, split};

use crate::built::{node, whole};

/// A page that shows an annotation.
fn page(document: &mut Document, tree: ObjectId, annotation: Object) -> Object {
    let page = dictionary! {
        "Type" => "Page", "Parent" => tree, "Annots" => vec![annotation],
        "MediaBox" => vec![0.into(), 0.into(), 200.into(), 200.into()],
    };
    document.add_object(page).into()
}

/// A text field without an appearance.
fn field(name: &str, value: &str) -> Dictionary {
    dictionary! {
        "Type" => "Annot", "Subtype" => "Widget", "FT" => "Tx", "F" => 4,
        "T" => Object::string_literal(name), "V" => Object::string_literal(value),
        "Rect" => vec![0.into(), 100.into(), 200.into(), 150.into()],
    }
}

/// A file of two pages, each with a field below the same one.
fn of_two_pages(is_referenced: bool) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let parent = document.new_object_id();
    let mut kids: Vec<Object> = Vec::new();
    let mut pages: Vec<Object> = Vec::new();
    for (name, value) in [("name", "ONE"), ("salary", "TWO")] {
        let mut kid = field(name, value);
        kid.set("Parent", parent);
        let kid: Object = document.add_object(kid).into();
        kids.push(kid.clone());
        pages.push(page(&mut document, tree, kid));
    }
    let kids: Object = match is_referenced {
        true => document.add_object(kids).into(),
        false => kids.into(),
    };
    let top = dictionary! { "T" => Object::string_literal("person"), "Kids" => kids };
    document.objects.insert(parent, top.into());
    let form = dictionary! { "Fields" => vec![parent.into()] };
    let more = dictionary! { "AcroForm" => form };
    whole(document, tree, node(pages), more)
}

/// The texts that objects of a file have under a key.
fn texts(document: &Document, key: &[u8]) -> Vec<Vec<u8>> {
    let text = |object: &Object| {
        let text = object.as_dict().ok()?.get(key).ok()?;
        Some(text.as_str().ok()?.to_vec())
    };
    document.objects.values().filter_map(text).collect()
}

#[test]
fn a_part_has_no_fields_of_other_pages() {
    for is_referenced in [false, true] {
        let file = of_two_pages(is_referenced);
        let parts = split(&file, &Split::Every(1), &Limits::default()).expect("parts");
        assert_eq!(parts.len(), 2);
        for (part, value) in parts.iter().zip(["ONE", "TWO"]) {
            let part = Document::load_mem(part).expect("a file");
            assert_eq!(texts(&part, b"V"), [value.as_bytes()]);
            let names = texts(&part, b"T");
            assert!(names.len() == 2 && names.contains(&b"person".to_vec()));
            let mut objects = part.objects.values().filter_map(|it| it.as_dict().ok());
            let top = objects.find(|it| it.has(b"Kids") && it.has(b"T"));
            let kids = top.and_then(|it| it.get(b"Kids").ok()).expect("a list");
            let (_, kids) = part.dereference(kids).expect("a list");
            assert_eq!(kids.as_array().expect("a list").len(), 1);
        }
        let all = split(&file, &Split::Only("2,1".into()), &Limits::default()).expect("a part");
        let all = Document::load_mem(&all[0]).expect("a file");
        assert_eq!(texts(&all, b"V").len(), 2);
    }
}

/// A file with a text field, and a form that draws it with its font `F`.
fn of_form(value: &str, font: &str, more: Dictionary) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let kid: Object = document.add_object(field(value, value)).into();
    let page = page(&mut document, tree, kid.clone());
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => font };
    let mut fonts = dictionary! { "F" => font.clone() };
    fonts.set(value, font);
    let mut form = dictionary! {
        "Fields" => vec![kid], "DA" => Object::string_literal("/F 12 Tf 0 g"),
        "DR" => dictionary! { "Font" => fonts },
    };
    form.extend(&more);
    let more = dictionary! { "AcroForm" => form };
    whole(document, tree, node(vec![page]), more)
}

/// The font that draws the first field of a page.
fn font_of(document: &Document, page: ObjectId) -> String {
    let mut found = document.get_dictionary(page).expect("a page");
    for key in ["Resources", "XObject", "Drawn0", "Resources", "Font", "F"] {
        let object = found.get(key.as_bytes()).expect(key);
        found = match document.dereference(object).expect(key).1 {
            Object::Stream(stream) => &stream.dict,
            other => other.as_dict().expect(key),
        };
    }
    let name = found.get(b"BaseFont").and_then(Object::as_name);
    String::from_utf8_lossy(name.expect("a name")).into_owned()
}

#[test]
fn fields_of_merged_files_look_as_in_their_own() {
    let one = of_form("one", "Helvetica", dictionary! { "Q" => 2 });
    let two = of_form("two", "Courier", dictionary! { "NeedAppearances" => true });
    let limits = Limits::default();
    let merged = merge([one.as_slice(), &two], &limits).expect("a file");
    let flat = flatten(&merged, &limits).expect("a file");
    let flat = Document::load_mem(&flat).expect("a file");
    let pages = flat.get_pages();
    let fonts: Vec<String> = pages.values().map(|page| font_of(&flat, *page)).collect();
    assert_eq!(fonts, ["Helvetica", "Courier"]);

    let merged = Document::load_mem(&merged).expect("a file");
    let form = merged.catalog().and_then(|it| it.get(b"AcroForm"));
    let form = form.and_then(Object::as_dict).expect("a form");
    assert_eq!(
        form.get(b"NeedAppearances").ok(),
        Some(&Object::Boolean(true))
    );
    let fonts = form.get(b"DR").and_then(Object::as_dict);
    let fonts = fonts.and_then(|it| it.get(b"Font")).expect("fonts");
    let fonts = fonts.as_dict().expect("fonts");
    assert!(fonts.has(b"F") && fonts.has(b"one") && fonts.has(b"two"));
    // Its texts begin at the left.
    let mut objects = merged.objects.values().filter_map(|it| it.as_dict().ok());
    let is_second = |it: &&Dictionary| it.get(b"T").and_then(Object::as_str).ok() == Some(b"two");
    let second = objects.find(is_second).expect("a field");
    assert_eq!(second.get(b"Q").and_then(Object::as_i64).ok(), Some(0));
}

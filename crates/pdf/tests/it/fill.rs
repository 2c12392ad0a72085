//! Forms that are filled in, seen by poppler and qpdf.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};
use platen_pdf::{
    Archive, Conditions, Error, FieldKind, FieldText, FieldValues, Limits, NamedFile, Operations,
    fill_form, read_fields, read_fields_on,
};
use serde_json::json;

use crate::built::{node, whole};
use crate::fixture::{check, has_all, of_libreoffice, pixels, texts};

fn widget(document: &mut Document, page: ObjectId, line: i64, more: Dictionary) -> ObjectId {
    let y = 250 - 25 * line;
    let mut entries = dictionary! {
        "Type" => "Annot", "Subtype" => "Widget", "F" => 4, "P" => page,
        "Rect" => vec![20.into(), y.into(), 220.into(), (y + 20).into()],
    };
    entries.extend(&more);
    document.add_object(entries)
}

fn button(
    document: &mut Document,
    page: ObjectId,
    line: i64,
    state: &str,
    more: Dictionary,
) -> ObjectId {
    let mut look = |content: &str| {
        let head = dictionary! {
            "Subtype" => "Form", "BBox" => vec![0.into(), 0.into(), 200.into(), 20.into()],
        };
        document.add_object(Stream::new(head, content.as_bytes().to_vec()))
    };
    let (on, off) = (look("1 0 0 rg 0 0 20 20 re f"), look(""));
    let mut states = dictionary! { "Off" => off };
    states.set(state, on);
    let mut entries = dictionary! { "AP" => dictionary! { "N" => states }, "AS" => "Off" };
    entries.extend(&more);
    widget(document, page, line, entries)
}

/// A form with a field of each kind.
fn form() -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let (tree, page) = (document.new_object_id(), document.new_object_id());
    let helvetica = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding",
    });
    let text = |name: &str| dictionary! { "FT" => "Tx", "T" => Object::string_literal(name) };
    let mut short = text("code");
    short.set("MaxLen", 4);
    short.set("Ff", 1 << 24);
    let mut notes = text("notes");
    notes.set("Ff", 1 << 12);
    let mut day = text("day");
    let script = dictionary! { "S" => "JavaScript", "JS" => Object::string_literal("AFDate_FormatEx(\"dd.mm.yyyy\");") };
    day.set("AA", dictionary! { "F" => script });
    let list = vec![
        Object::Array(vec![
            Object::string_literal("r"),
            Object::string_literal("Red"),
        ]),
        Object::string_literal("Green"),
    ];
    let choice = dictionary! { "FT" => "Ch", "T" => Object::string_literal("color"), "Ff" => 1 << 17, "Opt" => list };
    let check = dictionary! { "FT" => "Btn", "T" => Object::string_literal("agreed") };
    let person = document.new_object_id();
    let mut name = text("name");
    name.set("Parent", person);
    let name = widget(&mut document, page, 0, name);
    document.objects.insert(
        person,
        dictionary! { "T" => Object::string_literal("person"), "Kids" => vec![name.into()] }.into(),
    );
    let mut all = vec![person];
    let mut shown = vec![name];
    for (line, entries) in [short, notes, day, choice].into_iter().enumerate() {
        let id = widget(&mut document, page, line as i64 + 1, entries);
        all.push(id);
        shown.push(id);
    }
    let agreed = button(&mut document, page, 5, "On", check);
    let radio = document.new_object_id();
    let of = dictionary! { "Parent" => radio };
    let one = button(&mut document, page, 6, "one", of.clone());
    let two = button(&mut document, page, 7, "two", of);
    document.objects.insert(radio, dictionary! {
        "FT" => "Btn", "Ff" => 1 << 15, "T" => Object::string_literal("which"), "Kids" => vec![one.into(), two.into()],
    }.into());
    all.extend([agreed, radio]);
    shown.extend([agreed, one, two]);
    let list = |ids: &[ObjectId]| {
        ids.iter()
            .map(|id| Object::Reference(*id))
            .collect::<Vec<_>>()
    };
    document.objects.insert(page, dictionary! {
        "Type" => "Page", "Parent" => tree, "Resources" => Dictionary::new(), "Annots" => list(&shown),
        "MediaBox" => vec![0.into(), 0.into(), 300.into(), 300.into()],
    }.into());
    let form = dictionary! {
        "Fields" => list(&all), "DA" => Object::string_literal("/Helv 0 Tf 0 0 1 rg"), "NeedAppearances" => true,
        "DR" => dictionary! { "Font" => dictionary! { "Helv" => helvetica } },
    };
    let more = dictionary! { "AcroForm" => form };
    whole(document, tree, node(vec![page.into()]), more)
}

fn filled(file: &[u8], values: serde_json::Value) -> Result<Vec<u8>, Error> {
    let values: FieldValues = serde_json::from_value(values).expect("values");
    let draw = |_: &FieldText| Err("nothing draws it".to_owned());
    fill_form(file, &values, &draw, &Limits::default(), &|| {})
}

#[test]
fn fields_are_listed_with_their_options() {
    let all = read_fields(&form(), &Limits::default()).expect("fields");
    let about: Vec<(&str, FieldKind)> = all.iter().map(|it| (it.name.as_str(), it.kind)).collect();
    assert_eq!(
        about,
        [
            ("person.name", FieldKind::Text),
            ("code", FieldKind::Text),
            ("notes", FieldKind::Text),
            ("day", FieldKind::Date),
            ("color", FieldKind::Choice),
            ("agreed", FieldKind::Checkbox),
            ("which", FieldKind::Radio),
        ]
    );
    assert_eq!(all[1].max_length, Some(4));
    assert!(all[2].multiline);
    assert_eq!(all[3].format.as_deref(), Some("dd.mm.yyyy"));
    assert_eq!(all[4].options, ["Red", "Green"]);
    assert_eq!(all[6].options, ["one", "two"]);
    assert!(all.iter().all(|field| field.page == Some(1)));
    assert!(all.iter().all(|field| field.pages == [1]));
    assert!(all[4].is_combo);
    assert_eq!(
        (&all[5].states[..], &all[5].state),
        (&["On".to_owned()][..], &None)
    );
    assert_eq!(all[6].states, ["one", "two"]);
}

#[test]
fn states_and_days_may_be_named_as_the_file_has_them() {
    let values = json!({"agreed": "On", "which": "two", "day": "27.11.2026"});
    let made = filled(&form(), values).expect("a file");
    let all = read_fields_on(&made, Some("1"), &Limits::default()).expect("fields");
    assert_eq!(all[3].value, json!("27.11.2026"));
    assert_eq!(
        (&all[5].value, all[5].state.as_deref()),
        (&json!(true), Some("On"))
    );
    assert_eq!(
        (&all[6].value, all[6].state.as_deref()),
        (&json!("two"), Some("two"))
    );
    let values = json!({"agreed": "Off", "which": "Off"});
    let made = filled(&made, values).expect("a file");
    let all = read_fields(&made, &Limits::default()).expect("fields");
    assert_eq!(
        (&all[5].value, &all[6].value),
        (&json!(false), &json!(null))
    );
}

#[test]
fn forms_are_filled_in_and_seen() {
    if !has_all(&["qpdf", "pdftoppm", "pdftotext"]) {
        return;
    }
    let values = json!({
        "person.name": "Zoë (Größe)", "code": "1234", "notes": "First line\nand a second one that is longer than its box is wide",
        "day": "2026-11-27", "color": "Red", "agreed": true, "which": "two",
    });
    let made = filled(&form(), values).expect("a file");
    check(&made);
    let all = read_fields(&made, &Limits::default()).expect("fields");
    let said: Vec<serde_json::Value> = all.into_iter().map(|it| it.value).collect();
    assert_eq!(said[0], "Zoë (Größe)");
    assert_eq!(
        said[3..],
        [json!("27.11.2026"), json!("Red"), json!(true), json!("two")]
    );
    // Flattened, what is seen becomes text of the page.
    let operations = Operations {
        flatten: true,
        ..Operations::default()
    };
    let file = NamedFile {
        name: "a.pdf".to_owned(),
        bytes: made.clone(),
    };
    let flat = operations
        .apply(vec![file], &Conditions::default())
        .expect("a file")
        .remove(0)
        .bytes;
    let text = texts(&flat).concat();
    for part in ["Zoë (Größe)", "27.11.2026", "Red", "second"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let red = |line: usize| {
        let (wide, _, all) = pixels(&made, 1);
        let (x, y) = (25, 300 - (260 - 25 * line));
        all[(y * wide + x) * 3..][..3] == [255, 0, 0]
    };
    assert_eq!([5, 6, 7].map(red), [true, false, true]);
    // And emptied.
    let empty = json!({"person.name": null, "agreed": false, "which": null, "color": null});
    let made = filled(&made, empty).expect("a file");
    let all = read_fields(&made, &Limits::default()).expect("fields");
    assert_eq!(all[0].value, json!(null));
    assert_eq!(all[5].value, json!(false));
    assert_eq!(all[6].value, json!(null));
}

/// Until then readers drew it.
#[test]
fn a_value_that_readers_drew_is_seen_when_another_field_is_filled_in() {
    if !has_all(&["qpdf", "pdftotext"]) {
        return;
    }
    let mut document = Document::load_mem(&form()).unwrap();
    for object in document.objects.values_mut() {
        if let Object::Dictionary(entries) = object
            && entries
                .get(b"T")
                .is_ok_and(|it| it.as_str().is_ok_and(|name| name == b"notes"))
        {
            entries.set("V", Object::string_literal("Drawn by readers"));
        }
    }
    let mut file = Vec::new();
    document.save_to(&mut file).unwrap();
    let made = filled(&file, json!({"person.name": "Ada"})).unwrap();
    check(&made);
    let text = texts(&made).join(" ");
    assert!(
        text.contains("Ada") && text.contains("Drawn by readers"),
        "{text}"
    );
    let operations = Operations {
        archive: Some(Archive::default()),
        ..Operations::default()
    };
    let name = "a.pdf".to_owned();
    let files = vec![NamedFile { name, bytes: file }];
    let refused = operations.apply(files, &Conditions::default());
    let refused = refused.map(drop).unwrap_err().error.to_string();
    assert!(refused.contains("leaves it to readers"), "{refused}");
}

#[test]
fn what_cannot_be_filled_in_is_said_at_once() {
    let wrong = json!({
        "nobody": "x", "code": "12345", "day": "27/11/2026", "color": "Blue", "agreed": "yes", "which": "three",
        "person.name": "two\nlines", "notes": true,
    });
    let error = filled(&form(), wrong).expect_err("it is wrong").to_string();
    for part in [
        "no field `nobody`; there are person.name, code",
        "`code` takes at most 4 characters",
        "`day` takes a day",
        "`color` takes one of Red, Green",
        "`agreed` takes true or false",
        "`which` takes one of one, two",
        "`person.name` takes one line",
        "`notes` takes a text",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = filled(&form(), json!({"person.name": "日本"})).expect_err("no font has it");
    assert!(error.to_string().contains("nothing draws it"), "{error}");
}

#[test]
fn forms_of_libreoffice_are_filled_in() {
    if !has_all(&["qpdf", "pdftotext", "soffice"]) {
        return;
    }
    let file = of_libreoffice("Form", 1);
    let all = read_fields(&file, &Limits::default()).expect("fields");
    let name = all[0].name.clone();
    assert_eq!(all[0].value, "filled");
    let made = filled(&file, json!({ name: "changed" })).expect("a file");
    check(&made);
    assert!(
        texts(&made).concat().contains("changed"),
        "{:?}",
        texts(&made)
    );
}

/// A form of `count` fields, all with these entries.
fn alike(count: usize, add: impl FnOnce(&mut Document) -> Dictionary) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree,
        "MediaBox" => vec![0.into(), 0.into(), 300.into(), 300.into()],
    });
    let entries = add(&mut document);
    let fields: Vec<Object> = (0..count)
        .map(|index| {
            let mut field = entries.clone();
            field.set("T", Object::string_literal(format!("f{index}")));
            document.add_object(field).into()
        })
        .collect();
    let more = dictionary! { "AcroForm" => dictionary! { "Fields" => fields } };
    whole(document, tree, node(vec![page.into()]), more)
}

#[test]
fn what_many_fields_share_has_a_bound() {
    let options = |count: usize| {
        alike(2_000, |document| {
            let option = document.add_object(Object::string_literal("x".repeat(1_000)));
            let list = document.add_object(vec![Object::Reference(option); count]);
            dictionary! { "FT" => "Ch", "Opt" => list }
        })
    };
    let read = |file: &[u8]| read_fields(file, &Limits::default());
    assert_eq!(read(&options(10)).expect("fields").len(), 2_000);
    let refused = read(&options(1_000));
    assert!(matches!(refused, Err(Error::TooLarge { .. })));
    let values = alike(2_000, |document| {
        let value = document.add_object(Object::string_literal("x".repeat(100_000)));
        dictionary! { "FT" => "Tx", "V" => value }
    });
    assert!(matches!(read(&values), Err(Error::TooLarge { .. })));
}

#[test]
fn mistakes_stay_short() {
    let file = alike(100, |_| dictionary! { "FT" => "Tx" });
    let values: serde_json::Map<_, _> = (0..5_000)
        .map(|index| (format!("{}{index}", "y".repeat(500)), json!("a")))
        .collect();
    let Err(Error::BadField(said)) = filled(&file, values.into()) else {
        panic!("the fields do not exist");
    };
    assert!(
        said.len() < 50_000 && said.contains("f0, f1"),
        "{}",
        said.len()
    );
}

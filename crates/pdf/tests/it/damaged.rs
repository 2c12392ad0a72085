//! Damaged files: opened by a scan and said to be, or refused with what is wrong.

use platen_pdf::{
    Conditions, Error, Limits, NamedFile, NewSignature, NoteKind, Operations, describe, merge,
    page_count, prepare_signature, read_text, write_metadata,
};

use serde_json::json;

use crate::fixture::{check, has_all, of_chromium, texts};

fn replaced(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = file
        .windows(from.len())
        .rposition(|it| it == from)
        .expect("it is there");
    [&file[..at], to, &file[at + from.len()..]].concat()
}

#[test]
fn damaged_files_are_whole_again_and_said_to_be() {
    if !has_all(&["qpdf", "pdftotext", "chromium-headless-shell"]) {
        return;
    }
    let file = of_chromium("Damaged", 3);
    let expected = texts(&file);
    let end = file
        .windows(9)
        .rposition(|it| it == b"startxref")
        .expect("an end");
    let table = file
        .windows(5)
        .rposition(|it| it == b"\nxref")
        .expect("a table");
    let mut shifted = file.clone();
    shifted.splice(20..20, *b"%more\n%more\n");
    let cases = [
        ("no end", file[..end].to_vec()),
        ("no table", file[..table].to_vec()),
        (
            "a wrong start",
            replaced(&file, b"startxref\n", b"startxref\n9"),
        ),
        ("shifted", shifted),
        (
            "no table, twice",
            [&file[..table], b"\n", &file[..table]].concat(),
        ),
        ("wrong lengths", replaced(&file, b"/Length ", b"/Length 9")),
    ];
    for (what, damaged) in cases {
        let notes = std::cell::RefCell::new(Vec::new());
        let conditions = Conditions {
            note: &|note| notes.borrow_mut().push(note),
            ..Conditions::default()
        };
        let operations = Operations {
            metadata: [("Title".to_owned(), "Mended".into())]
                .into_iter()
                .collect(),
            ..Operations::default()
        };
        let name = "a.pdf".to_owned();
        let files = vec![NamedFile {
            name,
            bytes: damaged.clone(),
        }];
        let made = operations.apply(files, &conditions);
        let made = made
            .unwrap_or_else(|error| panic!("{what}: {error}"))
            .remove(0);
        check(&made.bytes);
        assert_eq!(texts(&made.bytes), expected, "{what}");
        let read = read_text(&damaged, None, &Limits::default(), &|| {}).expect("text");
        assert!(read[0].text.contains("Damaged"), "{what}");
        if what != "wrong lengths" {
            let notes = notes.into_inner();
            assert!(
                matches!(&notes[0].what, NoteKind::Repaired { .. }),
                "{what}: {notes:?}"
            );
            let said = describe(&made, &Limits::default()).expect("a description");
            assert_eq!(said.damage, None);
        }
    }
    let whole = merge([file.as_slice()], &Limits::default()).expect("a file");
    assert_eq!(page_count(&whole, &Limits::default()).expect("pages"), 3);
}

/// The parser leaves such an object out, and what it shows would be gone without a word.
#[test]
fn a_file_with_an_object_that_cannot_be_read_is_refused() {
    let content = "BT /F1 24 Tf 72 720 Td (Potato) Tj ET";
    let file = |content_object: &str| {
        let objects = [
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>".to_owned(),
            content_object.to_owned(),
        ];
        let mut bytes = String::from("%PDF-1.4\n");
        let mut table = String::from("xref\n0 5\n0000000000 65535 f \n");
        for (index, object) in objects.iter().enumerate() {
            table.push_str(&format!("{:010} 00000 n \n", bytes.len()));
            bytes.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
        }
        let start = bytes.len();
        let trailer = format!("trailer\n<</Root 1 0 R/Size 5>>\nstartxref\n{start}\n%%EOF");
        format!("{bytes}{table}{trailer}").into_bytes()
    };
    let ended = |end: &str| {
        let length = content.len();
        file(&format!("<</Length {length}>>\nstream\n{content}\n{end}"))
    };
    let limits = Limits::default();
    for whole in [ended("endstream"), file(" ")] {
        assert_eq!(page_count(&whole, &limits).expect("pages"), 1);
    }
    for length in ["", "/Length/Potato"] {
        let file = file(&format!("<<{length}>>stream\n{content}\nendstream"));
        let metadata = serde_json::from_value(json!({"Title": "x"})).expect("metadata");
        let made = write_metadata(&file, &metadata, &limits).expect("a file");
        let made = String::from_utf8_lossy(&made).into_owned();
        assert!(made.contains(content), "{made}");
    }
    let endless = file(&format!("<<>>stream\n{content}\n"));
    assert!(page_count(&endless, &limits).is_err(), "it has no end");
    let error = page_count(&ended("enxstream"), &limits).expect_err("its text would be lost");
    assert_eq!(
        error.to_string(),
        "the PDF file is damaged: its object 4 cannot be read"
    );
}

#[test]
fn hopeless_files_are_refused_with_what_is_wrong() {
    let limits = Limits::default();
    let files: [&[u8]; 4] = [
        b"%PDF-1.7\n",
        b"%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\n",
        b"%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\ntrailer\n<</Root 1 0 R>>",
        b"%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[2 0 R]>>\nendobj",
    ];
    for file in files {
        let error = page_count(file, &limits).expect_err("hopeless");
        assert!(
            matches!(error, Error::Broken(_) | Error::Malformed(_)),
            "{error:?}"
        );
    }
}

#[test]
fn damaged_files_are_not_signed_as_they_are() {
    let file = b"%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]\
        /Count 1>>\nendobj\n3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>\nendobj\ntrailer\n<</Root 1 0 R>>";
    assert_eq!(page_count(file, &Limits::default()).expect("pages"), 1);
    let new = NewSignature {
        field: None,
        is_timestamp: true,
        room: 4_096,
        name: None,
        reason: None,
        location: None,
        contact: None,
        time: None,
        certification: None,
        appearance: None,
    };
    let signed = prepare_signature(file, &new, &Limits::default());
    assert!(matches!(signed, Err(Error::Malformed(_))));
}

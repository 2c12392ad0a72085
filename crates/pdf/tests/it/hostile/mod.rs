//! Files that are built to be hard on who reads them: every operation ends, and what cannot be done is
//! said. A test that hangs or aborts fails here.

mod archival;
mod content;
mod structure;

use platen_pdf::{
    Archive, Attachment, Bookmark, Bookmarks, Conditions, Error, FieldValues, Limits, NamedFile,
    Operations, Optimization, Part, Protection, Region, Rotation, Split, describe, fill_form,
    flatten, merge, read_attachments, read_fields, read_metadata, read_pictures, read_text, split,
    validate, write_metadata,
};
use serde_json::json;

const LIMITS: Limits = Limits {
    size_bytes: 256 << 20,
    unpacked_bytes: 128 << 20,
    objects: 2_000_000,
    pages: 50_000,
};

/// A catalog, a page tree and a page, with more entries of the catalog.
fn page(catalog: &str) -> Vec<String> {
    vec![
        format!("<</Type/Catalog/Pages 2 0 R{catalog}>>"),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<>>>>".to_owned(),
    ]
}

/// Objects with numbers from 1, and where they begin.
fn body(objects: &[String]) -> (String, Vec<usize>) {
    let mut bytes = String::from("%PDF-1.7\n");
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    (bytes, places)
}

/// A file of these objects with a sound table; `trailer` has more entries.
fn file(objects: &[String], trailer: &str) -> Vec<u8> {
    let (mut bytes, places) = body(objects);
    let (start, size) = (bytes.len(), places.len() + 1);
    bytes.push_str(&format!("xref\n0 {size}\n0000000000 65535 f \n"));
    for place in places {
        bytes.push_str(&format!("{place:010} 00000 n \n"));
    }
    let trailer = trailer.replace("START", &start.to_string());
    bytes.push_str(&format!(
        "trailer\n<</Root 1 0 R/Size {size}{trailer}>>\nstartxref\n{start}\n%%EOF\n"
    ));
    bytes.into_bytes()
}

fn apply(file: &[u8], operations: &Operations) -> Result<Vec<u8>, Error> {
    let (name, bytes) = ("a.pdf".to_owned(), file.to_vec());
    let made = operations.apply(vec![NamedFile { name, bytes }], &Conditions::default());
    let mut made = made.map_err(|error| error.error)?;
    Ok(made.pop().map(|file| file.bytes).unwrap_or_default())
}

/// All that one can do with files, each alone.
fn operations() -> Vec<(&'static str, Operations)> {
    let none = Operations::default;
    let region = Region {
        page: 1,
        x: 10.0,
        y: 10.0,
        width: 100.0,
        height: 100.0,
    };
    let attachment = Attachment {
        name: "a.txt".to_owned(),
        bytes: b"text".to_vec(),
        ..Attachment::default()
    };
    let archive = |part, accessible| {
        Some(Archive {
            part,
            accessible,
            ..Archive::default()
        })
    };
    let rotation = Some(Rotation {
        degrees: 90,
        replaces: false,
        pages: None,
    });
    let bookmarks = Some(Bookmarks::All(Vec::<Bookmark>::new()));
    let protection = Protection {
        user_password: "user".to_owned(),
        ..Protection::default()
    };
    vec![
        (
            "redact",
            Operations {
                redactions: vec![region],
                ..none()
            },
        ),
        ("rotate", Operations { rotation, ..none() }),
        (
            "bookmarks",
            Operations {
                bookmarks,
                ..none()
            },
        ),
        (
            "attach",
            Operations {
                attachments: vec![attachment],
                ..none()
            },
        ),
        (
            "archive",
            Operations {
                archive: archive(Part::Two, false),
                ..none()
            },
        ),
        (
            "accessible",
            Operations {
                archive: archive(Part::None, true),
                ..none()
            },
        ),
        (
            "optimize",
            Operations {
                optimization: Some(Optimization::default()),
                ..none()
            },
        ),
        (
            "encrypt",
            Operations {
                protection: Some(protection),
                ..none()
            },
        ),
    ]
}

/// What each operation makes of a file, by name.
fn each(file: &[u8]) -> Vec<(&'static str, Result<(), Error>)> {
    let named = NamedFile {
        name: "a.pdf".to_owned(),
        bytes: file,
    };
    let metadata = serde_json::from_value(json!({"Title": "x"})).expect("metadata");
    let draw = |_: &platen_pdf::FieldText| Err("nothing draws it".to_owned());
    let mut all = vec![
        (
            "describe",
            describe(&named, &LIMITS).map(drop).map_err(|it| it.error),
        ),
        ("merge", merge([file, file], &LIMITS).map(drop)),
        ("split", split(file, &Split::Every(1), &LIMITS).map(drop)),
        ("text", read_text(file, None, &LIMITS, &|| {}).map(drop)),
        (
            "pictures",
            read_pictures(file, None, &LIMITS, &|| {}).map(drop),
        ),
        ("attachments", read_attachments(file, &LIMITS).map(drop)),
        ("fields", read_fields(file, &LIMITS).map(drop)),
        ("read metadata", read_metadata(file, &LIMITS).map(drop)),
        (
            "metadata",
            write_metadata(file, &metadata, &LIMITS).map(drop),
        ),
        ("flatten", flatten(file, &LIMITS).map(drop)),
        ("validate", validate(file, None, &LIMITS, &|| {}).map(drop)),
        (
            "fill",
            fill_form(file, &FieldValues::new(), &draw, &LIMITS, &|| {}).map(drop),
        ),
    ];
    all.extend(
        operations()
            .into_iter()
            .map(|(name, one)| (name, apply(file, &one).map(drop))),
    );
    all
}

/// Fails if an operation other than `but` does not succeed.
fn all_do(file: &[u8], but: &[&str]) {
    for (name, done) in each(file) {
        assert!(done.is_ok() || but.contains(&name), "{name}: {done:?}");
    }
}

/// Fails where an operation neither succeeds nor says that the file is damaged.
fn done_or_damaged(what: &str, file: &[u8]) {
    for (name, done) in each(file) {
        let is_known = matches!(
            done,
            Ok(())
                | Err(Error::Broken(_)
                    | Error::Malformed(_)
                    | Error::Unreadable(_)
                    | Error::NotArchival { .. })
        );
        assert!(is_known, "{what}: {name}: {done:?}");
    }
}

/// A page without tags cannot become PDF/UA.
const BARE: [&str; 1] = ["accessible"];

//! Pages drawn on new pages, and bookmarks of files that are merged, in bounds.

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{
    Attachment, Bookmark, Bookmarks, Composition, Conditions, Error, Limits, NamedFile, Operations,
    Optimization, Placement, compose, page_count, read_bookmarks,
};

use crate::fixture::{check, has_all, of_chromium, texts};
use crate::operations::pages;
use crate::page_form::{of_content, of_glyphs};

fn placement(source: &str, source_page: u32, page: u32) -> Placement {
    Placement {
        source: Some(source.to_owned()),
        source_page,
        page,
        at: (0.0, 0.0),
        scale: 1.0,
        rotation: 0.0,
    }
}

fn composed(
    files: &[NamedFile<Vec<u8>>],
    placements: Vec<Placement>,
) -> Result<Vec<u8>, platen_pdf::FileError> {
    let composition = Composition {
        size: (300.0, 200.0),
        placements,
    };
    compose(files, &composition, &Limits::default(), &|| {})
}

#[test]
fn pages_that_are_drawn_often_are_copied_once() {
    let files = [pages("a.pdf", 3), pages("b.pdf", 1)];
    let once = composed(
        &files,
        vec![placement("a.pdf", 2, 1), placement("b.pdf", 1, 2)],
    );
    let once = once.expect("a file");
    assert_eq!(page_count(&once, &Limits::default()).expect("pages"), 2);
    let mut often: Vec<Placement> = (0..500).map(|_| placement("a.pdf", 2, 1)).collect();
    often.push(placement("b.pdf", 1, 2));
    let often = composed(&files, often).expect("a file");
    assert!(
        often.len() < once.len() + 4_000,
        "{} {}",
        often.len(),
        once.len()
    );
}

#[test]
fn what_pages_say_can_be_read_on_the_new_ones() {
    if !has_all(&["qpdf", "pdftotext", "chromium-headless-shell"]) {
        return;
    }
    let bytes = of_chromium("Report", 2);
    let name = "a.pdf".to_owned();
    let files = [NamedFile { name, bytes }];
    let half = |page: u32, x: f32| Placement {
        at: (x, 0.0),
        scale: 0.25,
        ..placement("a.pdf", page, 1)
    };
    let made = composed(&files, vec![half(2, 0.0), half(1, 150.0)]).expect("a file");
    check(&made);
    let found = texts(&made);
    assert!(
        found[0].contains("Report page 2") && found[0].contains("Report page 1"),
        "{found:?}"
    );
}

fn composed_of(bytes: Vec<u8>) -> Document {
    let name = "a.pdf".to_owned();
    let files = [NamedFile { name, bytes }];
    let made = composed(&files, vec![placement("a.pdf", 1, 1)]);
    Document::load_mem(&made.expect("a file")).expect("a file")
}

#[test]
fn fonts_have_all_their_glyphs_whatever_these_are_named() {
    for is_referenced in [false, true] {
        let made = composed_of(of_glyphs(is_referenced));
        let mut objects = made.objects.values().filter_map(|it| it.as_dict().ok());
        let font = objects.find(|it| it.has(b"CharProcs")).expect("a font");
        let glyphs = font.get(b"CharProcs").expect("glyphs");
        let (_, glyphs) = made.dereference(glyphs).expect("glyphs");
        let glyphs = glyphs.as_dict().expect("glyphs");
        assert!(glyphs.has(b"A") && glyphs.has(b"B") && glyphs.has(b"P"));
    }
}

#[test]
fn what_layers_hide_stays_hidden() {
    let mut document = Document::with_version("1.7");
    let layer = document.add_object(dictionary! { "Type" => "OCG" });
    let mut form = |entry: &str, object: Object, content: &[u8]| {
        let area: Vec<Object> = vec![0.into(), 0.into(), 9.into(), 9.into()];
        let mut form = dictionary! { "Type" => "XObject", "Subtype" => "Form", "BBox" => area };
        form.set(entry, object);
        document.add_object(Stream::new(form, content.to_vec()))
    };
    let names = dictionary! { "Properties" => dictionary! { "L" => layer } };
    let whole = form("OC", layer.into(), b"11 w");
    let marked = b"/OC /L BDC 22 22 5 5 re f EMC 33 33 5 5 re f";
    let part = form("Resources", names.clone().into(), marked);
    let mut resources = names;
    resources.set("XObject", dictionary! { "A" => whole, "B" => part });
    let content = b"/A Do /B Do /OC /L BDC /B Do EMC 44 44 5 5 re f";
    let file = of_content(document, content, resources);
    // The file says that the layer is off.
    let mut document = Document::load_mem(&file).expect("a file");
    let setting = dictionary! { "OFF" => vec![layer.into()] };
    let layers = dictionary! { "OCGs" => vec![layer.into()], "D" => setting };
    let catalog = document.catalog_mut().expect("a catalog");
    catalog.set("OCProperties", layers);
    let mut file = Vec::new();
    document.save_to(&mut file).expect("a file");

    let made = composed_of(file);
    let streams = made.objects.values().filter_map(|it| it.as_stream().ok());
    let contents = streams.filter_map(|it| it.get_plain_content().ok());
    let all: Vec<String> = contents
        .map(|it| String::from_utf8_lossy(&it).into_owned())
        .collect();
    let all = all.join("\n");
    assert!(!all.contains("11 w"), "{all}");
    assert!(!all.contains("22 22 5 5 re f"), "{all}");
    assert!(all.contains("33 33 5 5 re f") && all.contains("44 44 5 5 re f"));
    assert_eq!(all.matches("/B Do").count(), 1, "{all}");
}

#[test]
fn what_is_not_possible_is_refused_with_the_place() {
    let files = [pages("a.pdf", 1)];
    let refused = |placements: Vec<Placement>| {
        let error = composed(&files, placements)
            .expect_err("it is refused")
            .error;
        assert!(
            matches!(error, Error::BadPlacement(_) | Error::BadPages(_)),
            "{error}"
        );
    };
    refused(Vec::new());
    refused((0..1_001).map(|_| placement("a.pdf", 1, 1)).collect());
    refused(vec![placement("a.pdf", 2, 1)]);
    refused(vec![placement("a.pdf", 0, 1)]);
    refused(vec![placement("a.pdf", 1, 0)]);
    refused(vec![placement("a.pdf", 1, 1_001)]);
    refused(vec![placement("b.pdf", 1, 1)]);
    refused(vec![Placement {
        scale: f32::NAN,
        ..placement("a.pdf", 1, 1)
    }]);
    refused(vec![Placement {
        at: (f32::INFINITY, 0.0),
        ..placement("a.pdf", 1, 1)
    }]);
}

#[test]
fn files_that_are_merged_have_bookmarks_within_bounds() {
    let mark = |depth: usize| {
        let leaf = Bookmark {
            title: "a".to_owned(),
            page: 1,
            children: Vec::new(),
        };
        (1..depth).fold(leaf, |below, _| Bookmark {
            children: vec![below],
            title: "a".to_owned(),
            page: 1,
        })
    };
    let marked = |marks: Vec<Bookmark>| {
        let operations = Operations {
            bookmarks: Some(Bookmarks::All(marks)),
            ..Operations::default()
        };
        let made = operations.apply(vec![pages("a.pdf", 1)], &Conditions::default());
        made.expect("a file").remove(0).bytes
    };
    let merge = |bytes: &[u8], count: usize| {
        let operations = Operations {
            merge: true,
            file_bookmarks: true,
            ..Operations::default()
        };
        let files = (0..count).map(|index| NamedFile {
            name: format!("{index}.pdf"),
            bytes: bytes.to_vec(),
        });
        operations.apply(files.collect(), &Conditions::default())
    };
    // As deep as may be: one more above it still is.
    let deep = marked(vec![mark(32)]);
    let made = merge(&deep, 2).expect("a file").remove(0).bytes;
    let found = read_bookmarks(&made, &Limits::default()).expect("bookmarks");
    assert_eq!(
        (found.len(), found[1].title.as_str(), found[1].page),
        (2, "1", 2)
    );
    let many = marked(vec![mark(1); 9_000]);
    let error = merge(&many, 3).expect_err("too many");
    assert_eq!(error.name.as_deref(), Some("2.pdf"));
    assert!(matches!(
        error.error,
        Error::TooLarge {
            what: "bookmarks",
            ..
        }
    ));
}

#[test]
fn an_attached_file_is_removed_with_its_content() {
    let attach = |name: &str| Attachment {
        name: name.to_owned(),
        bytes: vec![b'x'; 100_000],
        ..Attachment::default()
    };
    let apply = |operations: Operations, bytes: Vec<u8>| {
        let name = "a.pdf".to_owned();
        let made = operations.apply(vec![NamedFile { name, bytes }], &Conditions::default());
        made.map(|mut files| files.remove(0).bytes)
    };
    let plain = pages("a.pdf", 1).bytes;
    let attached = Operations {
        attachments: vec![attach("a.txt"), attach("b.txt")],
        ..Operations::default()
    };
    let both = apply(attached, plain).expect("a file");
    let without = |name: &str, bytes: &[u8]| {
        let operations = Operations {
            detached: Some(name.to_owned()),
            ..Operations::default()
        };
        apply(operations, bytes.to_vec())
    };
    // Equal contents are one stream after this.
    let small = Operations {
        optimization: Some(Optimization::default()),
        ..Operations::default()
    };
    let both = apply(small, both).expect("a file");
    let one = without("a.txt", &both).expect("a file");
    let found = platen_pdf::read_attachments(&one, &Limits::default()).expect("files");
    assert_eq!(
        found.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        ["b.txt"]
    );
    assert_eq!(found[0].bytes.len(), 100_000);
    let error = without("a.txt", &one).expect_err("it is gone").error;
    assert_eq!(
        error.to_string(),
        "no attached file is named `a.txt`; there are b.txt"
    );
    let none = without("b.txt", &one).expect("a file");
    let document = lopdf::Document::load_mem(&none).expect("a file");
    let catalog = document.catalog().expect("a catalog");
    assert!(!catalog.has(b"AF") && !catalog.has(b"Names"));
}

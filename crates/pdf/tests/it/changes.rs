//! Rotation, stamps, bookmarks, attached files and encryption, seen by qpdf and poppler.

use std::collections::BTreeMap;

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{
    Allowed, Anchored, Attachment, Bookmark, Bookmarks, Conditions, Error, Extent, FileError,
    Limits, NamedFile, Operations, Place, Printing, Protection, Rotation, Stamp, StampPage, Turn,
    read_attachments, read_bookmarks, unprotect,
};

use crate::built::{node, whole};
use crate::fixture::{attached, check, encryption, has_all, info, pixels, qpdf, texts};

const PROGRAMS: [&str; 3] = ["qpdf", "pdftoppm", "pdfdetach"];

/// A file of pages of 200 by 100 points, each filled with a color and turned by an angle.
fn pages(looks: &[([f32; 3], i64)]) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let mut kids: Vec<Object> = Vec::new();
    for ([red, green, blue], rotate) in looks {
        let text = format!("{red} {green} {blue} rg 0 0 200 100 re f");
        let content = document.add_object(Stream::new(dictionary! {}, text.into_bytes()));
        let page = dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content, "Rotate" => *rotate,
            "MediaBox" => vec![0.into(), 0.into(), 200.into(), 100.into()],
        };
        kids.push(document.add_object(page).into());
    }
    whole(document, tree, node(kids), dictionary! {})
}

const WHITE: [f32; 3] = [1.0, 1.0, 1.0];
const RED: [f32; 3] = [1.0, 0.0, 0.0];

fn apply(operations: &Operations, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let name = "a.pdf".to_owned();
    let made = operations.apply(vec![NamedFile { name, bytes }], &Conditions::default());
    let one = |mut files: Vec<NamedFile<Vec<u8>>>| files.pop().expect("a file").bytes;
    made.map(one).map_err(|FileError { error, .. }| error)
}

/// The color of a pixel of a page: from the left and from the top.
fn color(bytes: &[u8], page: usize, (x, y): (usize, usize)) -> [u8; 3] {
    let (wide, _, all) = pixels(bytes, page);
    let at = (y * wide + x) * 3;
    [all[at], all[at + 1], all[at + 2]]
}

#[test]
fn pages_turn_on_top_of_how_they_are_turned() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let file = pages(&[(WHITE, 0), (WHITE, 270), (WHITE, 90)]);
    let rotation = Rotation {
        degrees: 90,
        pages: Some("1-2".into()),
        replaces: false,
    };
    let operations = Operations {
        rotation: Some(rotation),
        ..Operations::default()
    };
    let made = apply(&operations, file.clone()).expect("a file");
    check(&made);
    let sizes = [1, 2, 3].map(|page| pixels(&made, page).0);
    assert_eq!(sizes, [100, 200, 100], "90, 360 and 90 degrees");
    for (degrees, wide) in [(0, 200), (90, 100)] {
        let operations = Operations {
            rotation: Some(Rotation {
                degrees,
                pages: None,
                replaces: true,
            }),
            ..Operations::default()
        };
        let made = apply(&operations, file.clone()).expect("a file");
        let sizes = [1, 2, 3].map(|page| pixels(&made, page).0);
        assert_eq!(sizes, [wide; 3], "{degrees} degrees instead");
    }
    for degrees in [0, 45, 360] {
        let rotation = Some(Rotation {
            degrees,
            ..Rotation::default()
        });
        let operations = Operations {
            rotation,
            ..Operations::default()
        };
        let error = apply(&operations, file.clone()).expect_err("no such angle");
        assert!(matches!(error, Error::BadAngle(_)), "{degrees}");
    }
}

fn stamp(above: bool, place: Place) -> Stamp {
    Stamp {
        text: None,
        numbered: None,
        file: pages(&[(RED, 0)]),
        page: StampPage::Number(1),
        above,
        pages: None,
        opacity: 1.0,
        extent: Extent::Page,
        turn: Turn::Degrees(0.0),
        place,
    }
}

#[test]
fn a_stamp_is_where_people_see_it_whatever_way_a_page_is_turned() {
    if !has_all(&PROGRAMS) {
        return;
    }
    // A quarter of its size: 50 by 25 points, at the top on the right.
    let place = Place::At {
        across: 1.0,
        up: 1.0,
        offset: (-5.0, -5.0),
        size: (None, None),
        scale: 0.25,
        fits: false,
    };
    let operations = Operations {
        stamps: vec![stamp(true, place)],
        ..Operations::default()
    };
    let file = pages(&[(WHITE, 0), (WHITE, 90), (WHITE, 180), (WHITE, 270)]);
    let made = apply(&operations, file.clone()).expect("a file");
    check(&made);
    for page in 1..=4 {
        let (wide, ..) = pixels(&made, page);
        let seen = |x, y| color(&made, page, (x, y));
        assert_eq!(seen(wide - 30, 17), [255, 0, 0], "page {page}");
        assert_eq!(seen(wide - 60, 17), [255; 3], "left of it on page {page}");
        assert_eq!(seen(wide - 30, 33), [255; 3], "below it on page {page}");
        assert_eq!(seen(wide - 2, 17), [255; 3], "right of it on page {page}");
    }
    assert_eq!(
        apply(&operations, file).expect("again"),
        made,
        "the same bytes"
    );
}

#[test]
fn a_watermark_is_below_what_a_page_shows_and_as_opaque_as_wanted() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let below = |file: Vec<u8>, above| {
        let stamp = Stamp {
            opacity: 0.5,
            pages: Some("2".into()),
            ..stamp(above, Place::Whole)
        };
        let operations = Operations {
            stamps: vec![stamp],
            ..Operations::default()
        };
        let made = apply(&operations, file).expect("a file");
        check(&made);
        made
    };
    let blue = [0.0, 0.0, 1.0];
    let covered = below(pages(&[(blue, 0), (blue, 0)]), false);
    assert_eq!(color(&covered, 2, (100, 50)), [0, 0, 255], "it is below");
    let mixed = below(pages(&[(blue, 0), (blue, 0)]), true);
    let [red, _, blue_of] = color(&mixed, 2, (100, 50));
    assert!(
        (120..136).contains(&red) && (120..136).contains(&blue_of),
        "half of each"
    );
    assert_eq!(color(&mixed, 1, (100, 50)), [0, 0, 255], "another page");
}

#[test]
fn each_page_of_a_file_is_drawn_at_its_anchor() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let blue = [0.0, 0.0, 1.0];
    // Half as wide as the page, 100 by 50 points, at the top on the right.
    let anchor = Anchored {
        across: 1.0,
        up: 1.0,
        offset: (0.0, 0.0),
        scale: -0.5,
        by_longer_side: true,
    };
    let made = |turn| {
        let stamp = Stamp {
            file: pages(&[(RED, 0), (blue, 0)]),
            page: StampPage::Each,
            turn,
            ..stamp(true, Place::Anchored(anchor))
        };
        let operations = Operations {
            stamps: vec![stamp],
            ..Operations::default()
        };
        let made = apply(&operations, pages(&[(WHITE, 0); 3])).expect("a file");
        check(&made);
        made
    };
    let upright = made(Turn::Degrees(0.0));
    for (page, wanted) in [(1, [255, 0, 0]), (2, [0, 0, 255]), (3, [0, 0, 255])] {
        assert_eq!(color(&upright, page, (150, 25)), wanted, "page {page}");
        assert_eq!(color(&upright, page, (90, 25)), [255; 3], "left of it");
        assert_eq!(color(&upright, page, (150, 60)), [255; 3], "below it");
    }
    // A quarter turn keeps to the edges; another turn is around the middle, at (150, 25).
    let quarter = made(Turn::Degrees(90.0));
    assert_eq!(color(&quarter, 1, (195, 95)), [255, 0, 0]);
    assert_eq!(color(&quarter, 1, (140, 50)), [255; 3]);
    let tilted = made(Turn::Degrees(45.0));
    assert_eq!(color(&tilted, 1, (150, 25)), [255, 0, 0]);
    assert_eq!(color(&tilted, 1, (120, 50)), [255, 0, 0]);
    assert_eq!(color(&tilted, 1, (180, 50)), [255; 3]);
}

#[test]
fn the_words_of_a_stamp_are_found_where_it_is_drawn() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let place = Place::At {
        across: 0.5,
        up: 0.5,
        offset: (0.0, 0.0),
        size: (Some(80.0), Some(20.0)),
        scale: 1.0,
        fits: false,
    };
    let operations = Operations {
        stamps: vec![Stamp {
            text: Some("Bezahlt am 3. Mai, größer € 𝄞".to_owned()),
            ..stamp(true, place)
        }],
        ..Operations::default()
    };
    let made = apply(&operations, pages(&[(WHITE, 0)])).expect("a file");
    check(&made);
    assert_eq!(texts(&made), ["Bezahlt am 3. Mai, größer € 𝄞"]);
    let hebrew = Operations {
        stamps: vec![Stamp {
            text: Some("שולם במאי".to_owned()),
            ..stamp(true, place)
        }],
        ..Operations::default()
    };
    let hebrew = apply(&hebrew, pages(&[(WHITE, 0)])).expect("a file");
    let found = texts(&hebrew).concat();
    for word in ["שולם", "במאי"] {
        assert!(found.contains(word), "{found}");
    }
    let plain = Operations {
        stamps: vec![stamp(true, place)],
        ..Operations::default()
    };
    let plain = apply(&plain, pages(&[(WHITE, 0)])).expect("a file");
    assert_eq!(
        color(&made, 1, (100, 50)),
        color(&plain, 1, (100, 50)),
        "nothing else is drawn"
    );
}

#[test]
fn bookmarks_are_written_and_read() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let file = pages(&[(WHITE, 0), (WHITE, 0), (WHITE, 0)]);
    let mark = |title: &str, page, children| Bookmark {
        title: title.to_owned(),
        page,
        children,
    };
    let list = vec![
        mark("Erstes: Größe €", 1, Vec::new()),
        mark(
            "Second",
            2,
            vec![mark("Below", 3, vec![mark("Deeper", 1, Vec::new())])],
        ),
    ];
    let write = |list: Vec<Bookmark>, file: Vec<u8>| {
        let operations = Operations {
            bookmarks: Some(Bookmarks::All(list)),
            ..Operations::default()
        };
        apply(&operations, file)
    };
    let made = write(list.clone(), file.clone()).expect("a file");
    check(&made);
    assert_eq!(
        read_bookmarks(&made, &Limits::default()).expect("they"),
        list
    );
    let none = write(Vec::new(), made.clone()).expect("a file");
    assert_eq!(read_bookmarks(&none, &Limits::default()).expect("none"), []);
    for wrong in [
        mark("", 1, Vec::new()),
        mark("a", 0, Vec::new()),
        mark("a", 4, Vec::new()),
    ] {
        let error = write(vec![wrong.clone()], file.clone()).expect_err("it is wrong");
        assert!(matches!(error, Error::BadBookmark { .. }), "{wrong:?}");
    }
    let others = BTreeMap::from([("b.pdf".to_owned(), list.clone())]);
    let operations = Operations {
        bookmarks: Some(Bookmarks::Of(others)),
        ..Operations::default()
    };
    let kept = apply(&operations, made).expect("a file");
    assert_eq!(
        read_bookmarks(&kept, &Limits::default()).expect("kept"),
        list
    );
}

#[test]
fn bookmarks_in_circles_end() {
    let mut document = Document::load_mem(&pages(&[(WHITE, 0)])).expect("a file");
    let page = document.page_iter().next().expect("a page");
    let (root, one) = (document.new_object_id(), document.new_object_id());
    let item = dictionary! {
        "Title" => Object::string_literal("Round"), "Dest" => vec![page.into(), "Fit".into()],
        "First" => one, "Next" => one, "Parent" => root,
    };
    document.objects.insert(one, item.into());
    let outline = dictionary! { "First" => one, "Last" => one };
    document.objects.insert(root, outline.into());
    document
        .catalog_mut()
        .expect("a catalog")
        .set("Outlines", root);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    let found = read_bookmarks(&bytes, &Limits::default()).expect("they");
    assert_eq!(found.len(), 1);
}

#[test]
fn files_are_attached_replaced_and_taken_out() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let attachment = |name: &str, text: &str| Attachment {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
        media_type: Some("text/xml".to_owned()),
        relationship: Some("Data".to_owned()),
        description: None,
    };
    let write = |files: Vec<Attachment>, file: Vec<u8>| {
        let operations = Operations {
            attachments: files,
            ..Operations::default()
        };
        apply(&operations, file)
    };
    let first = vec![attachment("b.xml", "<b/>"), attachment("Größe.xml", "<a/>")];
    let made = write(first, pages(&[(WHITE, 0)])).expect("a file");
    let second = vec![attachment("b.xml", "<new/>"), attachment("c.xml", "<c/>")];
    let made = write(second, made).expect("a file");
    check(&made);
    let seen: Vec<Vec<u8>> = attached(&made).into_iter().map(|(_, text)| text).collect();
    assert_eq!(seen, [&b"<a/>"[..], b"<new/>", b"<c/>"].map(<[u8]>::to_vec));
    let found = read_attachments(&made, &Limits::default()).expect("they");
    let mut names: Vec<_> = found.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Größe.xml", "b.xml", "c.xml"]);
    assert!(
        found
            .iter()
            .all(|file| file.relationship.as_deref() == Some("Data"))
    );
    assert!(
        found
            .iter()
            .all(|file| file.media_type.as_deref() == Some("text/xml"))
    );
    for name in ["", "../a", "a/b", "a\\b"] {
        let error = write(vec![attachment(name, "")], pages(&[(WHITE, 0)]));
        assert!(matches!(error, Err(Error::BadAttachment { .. })), "{name}");
    }
}

#[test]
fn an_encrypted_file_opens_with_its_passwords_only() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let file = pages(&[(RED, 0)]);
    let allowed = Allowed {
        printing: Printing::Low,
        copying: false,
        ..Allowed::default()
    };
    let protection = Protection {
        user_password: "pässwort".to_owned(),
        owner_password: "owner".to_owned(),
        allowed,
    };
    let operations = Operations {
        protection: Some(protection),
        ..Operations::default()
    };
    let made = apply(&operations, file.clone()).expect("a file");
    for password in ["pässwort", "owner"] {
        let (sound, said) = encryption(&made, password);
        assert!(sound, "{said}");
        assert!(said.contains("R = 6") && said.contains("AESv3"), "{said}");
        assert!(
            said.contains("extract for any purpose: not allowed"),
            "{said}"
        );
        assert!(said.contains("print low resolution: allowed"), "{said}");
        assert!(
            said.contains("print high resolution: not allowed"),
            "{said}"
        );
    }
    // Whoever opens a file without an owner password has not the rights of its owner.
    let alone = Operations {
        protection: Some(Protection {
            user_password: "user".to_owned(),
            owner_password: String::new(),
            allowed,
        }),
        ..Operations::default()
    };
    let (sound, said) = encryption(&apply(&alone, file.clone()).expect("a file"), "user");
    assert!(sound, "{said}");
    assert!(
        said.contains("Supplied password is user password"),
        "{said}"
    );
    assert!(!said.contains("password is owner password"), "{said}");
    let refused = info(&made, &["-upw", "wrong"]);
    assert!(refused.contains("Incorrect password"), "{refused}");
    let poppler = info(&made, &["-upw", "pässwort"]);
    assert!(
        poppler.contains("copy:no") && poppler.contains("AES-256"),
        "{poppler}"
    );
    let again = apply(&operations, made.clone()).expect_err("it is encrypted");
    assert!(matches!(again, Error::Encrypted));
    let limits = Limits::default();
    let opened = unprotect(&made, "pässwort", &limits).expect("a file");
    check(&opened);
    assert_eq!(color(&opened, 1, (100, 50)), [255, 0, 0]);
    let wrong = unprotect(&made, "wrong", &limits).expect_err("no such password");
    assert!(matches!(wrong, Error::BadPassword(_)), "{wrong}");
    assert_eq!(unprotect(&file, "any", &limits).expect("it"), file);
    // Object streams are packed before they are encrypted by others.
    let flags = [
        "--object-streams=generate",
        "--encrypt",
        "u",
        "o",
        "256",
        "--",
    ];
    let opened = unprotect(&qpdf(&file, &flags), "u", &limits).expect("a file");
    check(&opened);
    assert_eq!(color(&opened, 1, (100, 50)), [255, 0, 0]);
}

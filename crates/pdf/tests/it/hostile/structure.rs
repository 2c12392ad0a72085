//! Tables, streams of objects, nesting and references that are hostile.

use lopdf::{Stream, dictionary};
use platen_pdf::{Error, Limits, merge};

use super::{BARE, LIMITS, all_do, body, done_or_damaged, each, file, page};

#[test]
fn tables_that_lead_in_circles_end() {
    // Each is read as other programs read it: the objects that a scan finds.
    let to_itself = file(&page(""), "/Prev START");
    let (first, places) = body(&page(""));
    let mut both = first.clone();
    let one = both.len();
    let entries: String = places
        .iter()
        .map(|it| format!("{it:010} 00000 n \n"))
        .collect();
    let table = |previous: usize| {
        format!(
            "xref\n0 4\n0000000000 65535 f \n{entries}trailer\n<</Root 1 0 R/Size 4/Prev {previous}>>\n"
        )
    };
    let two = one + table(100).len();
    // As long as the first try: both places have three digits.
    both.push_str(&table(two));
    assert_eq!(both.len(), two);
    both.push_str(&table(one));
    both.push_str(&format!("startxref\n{two}\n%%EOF\n"));
    let stream = |entries: &str| {
        let mut bytes = first.clone().into_bytes();
        let start = bytes.len();
        let mut rows = vec![0, 0, 0, 255];
        for place in places.iter().copied().chain([start]) {
            rows.extend([1, (place >> 8) as u8, place as u8, 0]);
        }
        let entries = entries.replace("START", &start.to_string());
        bytes.extend(
            format!(
                "4 0 obj\n<</Type/XRef/Size 5/W[1 2 1]/Root 1 0 R{entries}/Length {}>>stream\n",
                rows.len()
            )
            .bytes(),
        );
        bytes.extend(rows);
        bytes.extend(format!("\nendstream\nendobj\nstartxref\n{start}\n%%EOF\n").bytes());
        bytes
    };
    all_do(&stream(""), &BARE);
    for looping in [
        to_itself,
        both.into_bytes(),
        stream("/Prev START"),
        file(&page(""), "/XRefStm START"),
        file(&page(""), "/Prev 0"),
        file(&page(""), "/Prev 99999999999"),
        file(&page(""), "/Prev -1"),
    ] {
        done_or_damaged("a loop", &looping);
    }
}

#[test]
fn tables_that_promise_too_much_are_read_or_refused() {
    let (bytes, _) = body(&page(""));
    let start = bytes.len();
    for table in [
        "xref\n0 4294967295\n0000000000 65535 f \ntrailer\n<</Root 1 0 R/Size 4294967295>>".to_owned(),
        format!("xref\n4294967290 5\n{}trailer\n<</Root 1 0 R/Size 9>>", "0000000009 00000 n \n".repeat(5)),
        "4 0 obj\n<</Type/XRef/Size 4294967295/W[1 2 1]/Index[0 4294967295]/Root 1 0 R/Length 0>>stream\n\n\
         endstream\nendobj"
            .to_owned(),
        "4 0 obj\n<</Type/XRef/Size 5/W[1 99999999999 1]/Root 1 0 R/Length 4>>stream\naaaa\nendstream\n\
         endobj"
            .to_owned(),
        "4 0 obj\n<</Type/XRef/Size 5/W[-1 -2 1]/Root 1 0 R/Length 4>>stream\naaaa\nendstream\nendobj"
            .to_owned(),
    ] {
        let whole = format!("{bytes}{table}\nstartxref\n{start}\n%%EOF\n");
        done_or_damaged(&table, whole.as_bytes());
    }
}

#[test]
fn more_objects_than_the_limit_are_refused() {
    let objects: Vec<String> = page("")
        .into_iter()
        .chain((0..98).map(|it| it.to_string()))
        .collect();
    let whole = file(&objects, "");
    let few = Limits {
        objects: 100,
        ..LIMITS
    };
    assert!(merge([whole.as_slice()], &LIMITS).is_ok());
    let refused = merge([whole.as_slice()], &few);
    assert!(matches!(
        refused,
        Err(Error::TooLarge {
            what: "objects",
            count: 101,
            most: 100
        })
    ));
}

/// A file with a stream of objects that has these entries and this content.
fn with_container(entries: &str, content: &[u8]) -> Vec<u8> {
    let (bytes, mut places) = body(&page("/Extra 9 0 R"));
    let mut bytes = bytes.into_bytes();
    places.push(bytes.len());
    let head = format!(
        "4 0 obj\n<</Type/ObjStm{entries}/Length {}>>stream\n",
        content.len()
    );
    bytes.extend(head.bytes());
    bytes.extend(content);
    bytes.extend(b"\nendstream\nendobj\n");
    let start = bytes.len();
    let mut rows = vec![0, 0, 0, 0, 0, 255];
    for place in places.iter().copied().chain([start]) {
        rows.push(1);
        rows.extend((place as u32).to_be_bytes());
        rows.push(0);
    }
    // Objects 6 to 9 are in the stream, which is number 4.
    for index in 0..4 {
        rows.extend([2, 0, 0, 0, 4, index]);
    }
    let head = format!(
        "5 0 obj\n<</Type/XRef/Size 10/W[1 4 1]/Root 1 0 R/Length {}>>stream\n",
        rows.len()
    );
    bytes.extend(head.bytes());
    bytes.extend(rows);
    bytes.extend(format!("\nendstream\nendobj\nstartxref\n{start}\n%%EOF\n").bytes());
    bytes
}

#[test]
fn streams_of_objects_that_blow_up_end() {
    all_do(&with_container("/N 2/First 9", b"6 0 9 2  1 [2] "), &BARE);
    for (entries, content) in [
        // More objects than bytes, places behind the end, and a stream that continues itself.
        ("/N 4294967295/First 9", "6 0 9 2  1 [2] "),
        ("/N -1/First -1", "6 0 9 2  1 [2] "),
        ("/N 2/First 999999999", "6 0 9 2  1 [2] "),
        ("/N 2/First 9", "6 99999999 9 99999999 1"),
        ("/N 2/First 9/Extends 4 0 R", "6 0 9 2  1 [2] "),
        ("/N 2/First 9", "4 0 4 0  <</Type/ObjStm>> "),
    ] {
        done_or_damaged(entries, &with_container(entries, content.as_bytes()));
    }
    // A hundred kilobytes that unpack to 100 MB, with a limit of one.
    let content = [b"6 0 9 2  1 [2] ".as_slice(), &vec![b' '; 100 << 20]].concat();
    let mut bomb = Stream::new(dictionary! {}, content);
    bomb.compress().expect("smaller");
    assert!(bomb.content.len() < 1 << 20);
    let bytes = with_container("/N 2/First 9/Filter/FlateDecode", &bomb.content);
    let few = Limits {
        unpacked_bytes: 1 << 20,
        ..LIMITS
    };
    let refused = merge([bytes.as_slice()], &few);
    assert!(
        matches!(
            refused,
            Err(Error::Broken(_) | Error::Malformed(_) | Error::Unreadable(_))
        ),
        "{refused:?}"
    );
}

#[test]
fn depth_has_a_bound() {
    let deep = |open: &str, close: &str| {
        let count = 200_000;
        format!("{}{}", open.repeat(count), close.repeat(count))
    };
    for object in [
        deep("[", "]"),
        deep("<</A", ">>"),
        deep("[", ""),
        deep("(", ")"),
    ] {
        let mut objects = page("/Extra 4 0 R");
        objects.push(object);
        // The parser gives up, and what refers to the object would lose it: that is said.
        done_or_damaged("depth", &file(&objects, ""));
    }
}

#[test]
fn trees_whose_nodes_are_themselves_end() {
    // Each node has itself eight times, so that there are 8^32 ways to its leaves.
    let kids = |number: usize| format!("[{}]", format!("{number} 0 R ").repeat(8));
    let shared = "[7 0 R 7 0 R 7 0 R]";
    let objects = vec![
        "<</Type/Catalog/Pages 2 0 R/Names<</Dests 4 0 R/EmbeddedFiles 4 0 R>>\
         /AcroForm<</Fields[5 0 R 5 0 R]>>/StructTreeRoot<</Type/StructTreeRoot/ParentTree 6 0 R>>\
         /Outlines<</First 9 0 R/Last 9 0 R/Count 1>>>>"
            .to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>".to_owned(),
        format!("<</Kids {}>>", kids(4)),
        format!("<</FT/Tx/T(a)/Kids {}>>", kids(5)),
        format!("<</Kids {shared}/Nums 8 0 R>>"),
        format!("<</Kids {}/Nums 8 0 R>>", kids(6)),
        "[0 null 1 null]".to_owned(),
        "<</Title(a)/Dest(b)>>".to_owned(),
    ];
    let file = file(&objects, "");
    for (name, done) in each(&file) {
        assert!(
            !matches!(done, Err(Error::NotPdf | Error::Encrypted)),
            "{name}: {done:?}"
        );
    }
}

#[test]
fn references_in_circles_end() {
    // A length that is the stream itself, a reference to itself, forms that draw each other, parents.
    let stream = |entries: &str, content: &str| {
        format!(
            "<<{entries}/Length {}>>stream\n{content}\nendstream",
            content.len()
        )
    };
    let form = |other: usize| {
        stream(
            &format!(
                "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {other} 0 R>>>>"
            ),
            "/X Do /X Do",
        )
    };
    let objects = vec![
        "<</Type/Catalog/Pages 2 0 R/Extra 4 0 R/Outlines 9 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 7 0 R\
         /Resources<</XObject<</X 5 0 R>>>>/Annots 4 0 R>>"
            .to_owned(),
        "4 0 R".to_owned(),
        form(6),
        form(5),
        stream("", "/X Do"),
        "<</Length 8 0 R>>stream\nabc\nendstream".to_owned(),
        "<</First 10 0 R/Last 10 0 R/Count 1>>".to_owned(),
        "<</Title(a)/Parent 9 0 R/Next 10 0 R/First 10 0 R/Last 10 0 R>>".to_owned(),
    ];
    let file = file(&objects, "");
    for (name, done) in each(&file) {
        match name {
            "merge" | "split" | "text" | "describe" | "rotate" | "flatten" => {
                assert!(done.is_ok(), "{name}: {done:?}");
            }
            _ => assert!(
                !matches!(done, Err(Error::NotPdf | Error::Encrypted)),
                "{name}: {done:?}"
            ),
        }
    }
}

//! What cannot be taken out for certain is refused, and nothing takes without end.

use lopdf::{Document, Object, dictionary};

use super::{built, changed, first_page, form, picture, redacted, refused, region, with_font};

#[test]
fn what_cannot_be_taken_out_for_certain_is_refused() {
    let plain = |content: &str| built(&[content], with_font(dictionary! {}), vec![]);
    let area = [region(1, [0.0, 0.0, 200.0, 100.0])];
    refused(
        &plain("BT /F 10 Tf 20 50 Td (abc) Tj ET ) more (def"),
        &area,
        "to its end",
    );
    refused(
        &plain("EndOfContent BT /F 10 Tf 20 50 Td (abc) Tj ET"),
        &area,
        "to its end",
    );
    refused(
        &plain("EndOfContent ) BT /F 10 Tf 20 50 Td (abc) Tj ET"),
        &area,
        "to its end",
    );
    for odd in [
        "BT /F 10 Tf 20 50 Td 0 [(abc)] TJ ET",
        "BT /F 10 Tf 20 50 Td (abc) 5 Tj ET",
        "BT 1 /F 10 Tf 20 50 Td (abc) Tj ET",
        "BT /F 10 Tf 20 50 Td (abc) Tj0 0 Td ET",
    ] {
        refused(&plain(odd), &area, "not of the standard");
    }
    refused(
        &plain("BT /Gone 10 Tf 20 50 Td (abc) Tj ET"),
        &area,
        "a font that is not there",
    );
    refused(
        &plain("BT /F 10 Tf 7 Tr 20 50 Td (abc) Tj ET"),
        &area,
        "cuts what is behind it",
    );
    refused(
        &plain("q 20 20 m 22 130 l 24 20 l 23 20 l 22 25 l h W n 0 0 600 800 re f Q"),
        &area,
        "cut along an outline",
    );
    refused(
        &plain("60 w [2 3 1 4] 0 d 10 110 m 190 110 l S"),
        &area,
        "a thick line with gaps",
    );
    refused(
        &plain("q 5 0 0 5 150 150 cm BI /W 4 /H 1 /BPC 8 /CS /G ID a EI EI Q"),
        &area,
        "",
    );
    refused(
        &plain("10 10 m q 20 20 l S Q"),
        &area,
        "as the standard says",
    );
    let deep = "q ".repeat(300);
    refused(&plain(&deep), &area, "too often");
    let text = plain("BT /F 10 Tf 20 50 Td (abc) Tj ET");
    refused(
        &text,
        &[region(2, [0.0, 0.0, 1.0, 1.0])],
        "page 2 is not one of the 1",
    );
    refused(&text, &[region(0, [0.0, 0.0, 1.0, 1.0])], "page 0");
    refused(&text, &[region(1, [5.0, 0.0, 5.0, 1.0])], "above 0");
    refused(&text, &[region(1, [f32::NAN, 0.0, 5.0, 1.0])], "above 0");
    // A coding that is not read, of which an area has a part; as a whole it goes.
    let mut fax = picture(0);
    fax.dict.set("Filter", "JBIG2Decode");
    let resources = dictionary! { "XObject" => dictionary! { "P" => Object::Reference((100, 0)) } };
    let file = built(
        &["q 100 0 0 100 50 50 cm /P Do Q"],
        resources.clone(),
        vec![fax.into()],
    );
    refused(&file, &area, "a coding that is not read");
    let made = redacted(&file, &[region(1, [40.0, 40.0, 160.0, 160.0])]).expect("a file");
    assert!(!crate::fixture::plain(&made).contains("/JBIG2Decode"));
    // Something else than a page leads to the picture.
    let mut document = Document::load_mem(&built(
        &["q 100 0 0 100 50 50 cm /P Do Q"],
        resources,
        vec![picture(7).into()],
    ))
    .expect("a file");
    document
        .catalog_mut()
        .expect("a catalog")
        .set("Spare", Object::Reference((100, 0)));
    let mut file = Vec::new();
    document.save_to(&mut file).expect("a file");
    refused(&file, &area, "something else in the file leads");
}

/// A page with this content, and a form of it with that.
fn page_and_form(page: &str, content: &str) -> Vec<u8> {
    let resources = dictionary! { "XObject" => dictionary! { "X" => Object::Reference((100, 0)) } };
    built(&[page], with_font(resources), vec![form(content).into()])
}

#[test]
fn what_programs_show_at_different_places_is_refused() {
    let area = [region(1, [0.0, 0.0, 200.0, 100.0])];
    let plain = |content: &str| built(&[content], with_font(dictionary! {}), vec![]);
    let as_said = "as the standard says";
    for content in [
        "BT /F 10 Tf 1 0 0 1 20 50 Tm q 1 0 0 1 100 150 Tm Q (secret) Tj ET",
        "/F 10 Tf (secret) Tj",
        "BT BT /F 10 Tf 20 50 Td (secret) Tj ET ET",
        "ET",
        "BT 1 0 0 1 5 5 cm ET",
        "BT /F 10 Tf 20 50 Td (secret ) Tj 90 90 m 150 90 l S (secret) Tj ET",
    ] {
        refused(&plain(content), &area, as_said);
    }
    refused(
        &plain("BT /F 10 Tf 20 50 Td (secret) Tj"),
        &area,
        "to its end",
    );
    refused(&page_and_form("/X Do", "q Q Q"), &area, as_said);
    refused(&page_and_form("BT /X Do ET", ""), &area, as_said);
    // Of forms, some programs find in the page what the form does not have.
    refused(&page_and_form("/X Do", "/Gone Do"), &area, "not there");
    refused(&page_and_form("/X Do", "/Gone gs"), &area, "not there");
    refused(
        &page_and_form("/X Do", "/Span /Gone BDC EMC"),
        &area,
        "not there",
    );
    let far =
        "q 1 0 0 1 33554433 0 cm 1 0 0 1 -33554400 0 cm BT /F 10 Tf 20 50 Td (secret) Tj ET Q";
    refused(&plain(far), &area, "too large to tell where");
    for far in [
        "BT /F 10 Tf 20 50 Td [-33554433000 33554400000 (secret)] TJ ET",
        "1048576 0 0 1 0 0 cm 1 0 0 1 1000.5 0 cm 1 0 0 1 -1000.4 0 cm",
        "BT 1048576 0 Td 1048576 0 Td ET",
    ] {
        refused(&plain(far), &area, "too large to tell where");
    }
    let odd = changed(&page_and_form("/X Do", ""), |document| {
        let form = document
            .get_object_mut((100, 0))
            .and_then(Object::as_stream_mut);
        form.expect("it").dict.set("Matrix", vec![Object::from(1)]);
    });
    refused(&odd, &area, "nobody knows where a form is");
}

#[test]
fn pages_that_programs_count_in_different_ways_are_refused() {
    let file = built(&["BT ET", "BT ET"], with_font(dictionary! {}), vec![]);
    let area = [region(2, [0.0, 0.0, 200.0, 100.0])];
    redacted(&file, &area).expect("a file");
    type Change = fn(&mut Document);
    let changes: [Change; 4] = [
        |document| drop(first_page(document).remove(b"Type")),
        |document| {
            let kids: Vec<Object> = Vec::new();
            first_page(document).set("Kids", kids);
        },
        |document| {
            let root = document
                .catalog()
                .and_then(|it| it.get(b"Pages")?.as_reference());
            let root = root.expect("the tree");
            let tree = document.get_dictionary_mut(root).expect("the tree");
            tree.set("Count", 3);
        },
        |document| {
            let root = document
                .catalog()
                .and_then(|it| it.get(b"Pages")?.as_reference());
            let tree = document.get_dictionary_mut(root.expect("the tree"));
            let kids = tree.and_then(|it| it.get_mut(b"Kids")?.as_array_mut());
            let kids = kids.expect("kids");
            kids[1] = kids[0].clone();
        },
    ];
    for change in changes {
        refused(
            &changed(&file, change),
            &area,
            "count its pages in different ways",
        );
    }
}

#[test]
fn damaged_content_and_forms_of_xml_are_refused() {
    let file = built(
        &["BT /F 10 Tf 20 50 Td (abc) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    let area = [region(1, [0.0, 0.0, 200.0, 100.0])];
    let xml = changed(&file, |document| {
        let form = dictionary! { "XFA" => Object::string_literal("<xdp/>") };
        document
            .catalog_mut()
            .expect("a catalog")
            .set("AcroForm", form);
    });
    refused(&xml, &area, "XFA");
    for (filter, content) in [
        ("FlateDecode", b"x\x9c\x03".as_slice()),
        ("ASCIIHexDecode", b"4254"),
        ("JPXDecode", b"BT ET"),
    ] {
        let damaged = changed(&file, |document| {
            let page = document.page_iter().next().expect("a page");
            let id = document.get_page_contents(page)[0];
            let stream = document.get_object_mut(id).and_then(Object::as_stream_mut);
            let stream = stream.expect("content");
            stream.set_content(content.to_vec());
            stream.dict.set("Filter", filter);
        });
        refused(&damaged, &area, "damaged, too large, or coded");
    }
}

#[test]
fn a_page_whose_content_cannot_be_read_keeps_what_it_may_draw() {
    let resources = dictionary! {
        "XObject" => dictionary! {
            "P" => Object::Reference((100, 0)), "Q" => Object::Reference((101, 0)),
        },
    };
    let pages = [
        "q 100 0 0 100 50 50 cm /P Do Q",
        "q 100 0 0 100 50 50 cm /Q Do Q",
    ];
    let file = built(
        &pages,
        resources,
        vec![picture(7).into(), picture(8).into()],
    );
    let file = changed(&file, |document| {
        let page = document.page_iter().nth(1).expect("page 2");
        let id = document.get_page_contents(page)[0];
        let stream = document.get_object_mut(id).and_then(Object::as_stream_mut);
        stream.expect("content").dict.set("Filter", "LZWDecode");
    });
    // It has the picture of page 1 among its resources, and may draw it.
    let area = [region(1, [50.0, 50.0, 100.0, 75.0])];
    refused(&file, &area, "something else in the file leads");
}

#[test]
fn an_area_beside_its_page_is_refused() {
    let file = built(&["BT ET"], with_font(dictionary! {}), vec![]);
    for area in [
        [300.0, 0.0, 400.0, 100.0],
        [0.0, -50.0, 100.0, 0.0],
        [0.0, 0.0, 1e-20, 50.0],
        [0.0, 200.0, 50.0, 290.0],
    ] {
        refused(
            &file,
            &[region(1, area)],
            "not on page 1, which is 200 by 200",
        );
    }
    redacted(&file, &[region(1, [-10.0, -10.0, 900.0, 900.0])]).expect("all of the page");
}

#[test]
fn a_picture_within_the_content_that_is_read_in_two_ways_is_refused() {
    let plain = |keys: &str| {
        let content = format!("q 5 0 0 5 150 150 cm BI /W 1 /H 1 {keys} ID a EI Q");
        built(&[&content], with_font(dictionary! {}), vec![])
    };
    let area = [region(1, [0.0, 0.0, 100.0, 100.0])];
    redacted(&plain("/BPC 8 /CS /G"), &area).expect("a file");
    for keys in [
        "/BPC 8 /CS /G /BitsPerComponent 1",
        "/BPC 8 /CS /G /ColorSpace /DeviceRGB",
        "/BPC 8 /CS /G /Width 2",
    ] {
        refused(&plain(keys), &area, "");
    }
}

#[test]
fn work_and_memory_have_an_end() {
    let area = [region(1, [0.0, 0.0, 200.0, 100.0])];
    let file = built(
        &["BT /F 10 Tf 20 50 Td (abc) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    // Tags within each other, each twice: as many ways as there are numbers of 40 bits.
    let tags = changed(&file, |document| {
        let mut kid = Object::Integer(0);
        for _ in 0..40 {
            let list = Object::Array(vec![kid.clone(), kid]);
            kid = document.add_object(list).into();
        }
        let root = document.add_object(dictionary! { "Type" => "StructTreeRoot", "K" => kid });
        document
            .catalog_mut()
            .expect("a catalog")
            .set("StructTreeRoot", root);
    });
    refused(&tags, &area, "tags are within each other");
    // Properties that are large, and marked again and again.
    let said = Object::string_literal("a".repeat(1 << 20));
    let resources = dictionary! {
        "Properties" => dictionary! { "P" => dictionary! { "ActualText" => said } },
    };
    let marks = "/Span /P BDC EMC ".repeat(2_000);
    let file = built(&[&marks], with_font(resources), vec![]);
    let error = redacted(&file, &area).expect_err("it is too much");
    assert!(
        matches!(error, platen_pdf::Error::TooLarge { .. }),
        "{error}"
    );
    // Forms that draw themselves, and each other.
    let resources = dictionary! { "XObject" => dictionary! { "X" => Object::Reference((100, 0)) } };
    let mut own = form("/X Do /X Do");
    own.dict.set("Resources", resources.clone());
    let file = built(&["/X Do"], resources, vec![own.into()]);
    refused(&file, &area, "within forms too often");
}

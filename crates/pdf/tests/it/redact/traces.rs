//! What else says or leads to what was taken out.

use lopdf::{Document, Object, Stream, dictionary};

use super::{built, changed, first_page, redacted, region, text_of, with_font};
use crate::fixture::plain;

#[test]
fn what_marks_and_tags_say_goes_with_what_they_mark() {
    let content = "/Span <</ActualText (hidden words) /MCID 0>> BDC BT /F 10 Tf 20 100 Td (abc) Tj ET EMC \
        /Span <</ActualText (other words) /MCID 1>> BDC BT /F 10 Tf 20 50 Td (def) Tj ET EMC";
    let mut document =
        Document::load_mem(&built(&[content], with_font(dictionary! {}), vec![])).expect("a file");
    let page = document.page_iter().next().expect("a page");
    let tag = |number: i64, text: &str| {
        dictionary! {
            "Type" => "StructElem", "S" => "P", "Pg" => page, "K" => number,
            "Alt" => Object::string_literal(text),
        }
    };
    let (one, two) = (tag(0, "secret alternative"), tag(1, "good alternative"));
    let kids: Vec<Object> = vec![
        document.add_object(one).into(),
        document.add_object(two).into(),
    ];
    let whole = dictionary! { "Type" => "StructElem", "S" => "Document", "K" => kids, "T" => Object::string_literal("secret title") };
    let whole = document.add_object(whole);
    let root = document.add_object(dictionary! { "Type" => "StructTreeRoot", "K" => whole });
    document
        .catalog_mut()
        .expect("a catalog")
        .set("StructTreeRoot", root);
    let note = document.add_object(dictionary! {
        "Type" => "Annot", "Subtype" => "Text", "Contents" => Object::string_literal("secret note"),
        "Rect" => vec![20.into(), 95.into(), 30.into(), Object::from(105)],
    });
    let answer = document.add_object(dictionary! {
        "Type" => "Annot", "Subtype" => "Text", "Contents" => Object::string_literal("secret answer"), "IRT" => note,
        "Rect" => vec![150.into(), 95.into(), 160.into(), Object::from(105)],
    });
    let entries = document.get_dictionary_mut(page).expect("it");
    entries.set("Annots", vec![note.into(), Object::from(answer)]);
    entries.set("Thumb", Object::string_literal("secret thumbnail"));
    let mut file = Vec::new();
    document.save_to(&mut file).expect("a file");
    let made = redacted(&file, &[region(1, [20.0, 99.0, 38.0, 106.0])]).expect("a file");
    let said = plain(&made);
    for gone in ["hidden", "secret", "abc"] {
        assert!(!said.contains(gone), "{gone}: {said}");
    }
    assert!(said.contains("other words") && said.contains("good alternative"));
}

#[test]
fn properties_among_the_resources_say_no_more_what_was_taken_out() {
    let shared = dictionary! { "ActualText" => Object::string_literal("secret words") };
    let resources = dictionary! {
        "Properties" => dictionary! {
            "P" => shared.clone(), "Q" => dictionary! { "ActualText" => Object::string_literal("good words") },
        },
    };
    let first = "/Span /P BDC BT /F 10 Tf 20 100 Td (abc) Tj ET EMC /Span /Q BDC BT /F 10 Tf 20 50 Td (def) Tj ET EMC";
    let second = "BT /F 10 Tf 20 100 Td (ghi) Tj ET";
    let file = built(&[first, second], with_font(resources), vec![shared.into()]);
    let made = redacted(&file, &[region(1, [20.0, 99.0, 38.0, 106.0])]).expect("a file");
    let said = plain(&made);
    assert!(!said.contains("secret"), "{said}");
    assert!(said.contains("good words"), "{said}");
    assert!(text_of(&made).contains("ghi"));
}

#[test]
fn comments_are_where_their_marks_are() {
    let file = built(
        &["BT /F 10 Tf 20 100 Td (abc) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    let text = |text: &str| Object::string_literal(text);
    let numbers = |numbers: &[i64]| -> Object {
        Object::Array(numbers.iter().map(|it| Object::Integer(*it)).collect())
    };
    let file = changed(&file, |document| {
        let elsewhere = numbers(&[150, 150, 160, 160]);
        let all = [
            dictionary! {
                "Subtype" => "Highlight", "Rect" => elsewhere.clone(), "Contents" => text("secret one"),
                "QuadPoints" => numbers(&[20, 110, 60, 110, 20, 98, 60, 98]),
            },
            dictionary! {
                "Subtype" => "Ink", "Rect" => elsewhere.clone(), "Contents" => text("secret two"),
                "InkList" => vec![numbers(&[150, 150, 155, 155]), numbers(&[25, 102, 30, 102])],
            },
            dictionary! {
                "Subtype" => "Highlight", "Rect" => elsewhere.clone(), "Contents" => text("public"),
                "QuadPoints" => numbers(&[150, 160, 160, 160, 150, 150, 160, 150]),
            },
        ];
        let mut ids: Vec<Object> = all
            .into_iter()
            .map(|it| document.add_object(it).into())
            .collect();
        // A group whose first comment is elsewhere.
        let first = document.add_object(dictionary! {
            "Subtype" => "Text", "Rect" => elsewhere, "Contents" => text("secret three"),
        });
        let second = document.add_object(dictionary! {
            "Subtype" => "Text", "Rect" => numbers(&[20, 98, 30, 108]), "IRT" => first, "RT" => "Group",
        });
        // A reference to a reference.
        let chain = document.add_object(Object::Reference(second));
        ids.extend([first.into(), Object::from(chain)]);
        first_page(document).set("Annots", ids);
    });
    let made = redacted(&file, &[region(1, [15.0, 95.0, 80.0, 110.0])]).expect("a file");
    let said = plain(&made);
    assert!(
        !said.contains("secret") && said.contains("public"),
        "{said}"
    );
}

#[test]
fn properties_keep_numbers_and_kinds_only() {
    let content = "/Figure <</MCID 3 /Own (secret one)>> BDC BT /F 10 Tf 20 100 Td (abc) Tj ET EMC \
        /Span <</ActualText (secret two)>> DP /OC /Layer BDC BT /F 10 Tf 20 50 Td (def) Tj ET EMC";
    let resources = dictionary! {
        "Properties" => dictionary! { "Layer" => dictionary! {
            "Type" => "OCG", "Name" => Object::string_literal("a layer"),
        } },
    };
    let file = built(&[content], with_font(resources), vec![]);
    let areas = [
        region(1, [15.0, 95.0, 80.0, 110.0]),
        region(1, [20.0, 49.0, 25.0, 56.0]),
    ];
    let said = plain(&redacted(&file, &areas).expect("a file"));
    assert!(
        !said.contains("secret") && said.contains("/MCID 3"),
        "{said}"
    );
    assert!(
        said.contains("/OC /Layer BDC") && said.contains("a layer"),
        "{said}"
    );
}

#[test]
fn layers_stay_and_say_nothing_or_are_refused() {
    let area = [region(1, [15.0, 95.0, 80.0, 110.0])];
    let file = |tag: &str, layer: lopdf::Dictionary| {
        let content = format!("/{tag} /Layer BDC BT /F 10 Tf 20 100 Td (abc) Tj ET EMC");
        let resources = dictionary! { "Properties" => dictionary! { "Layer" => layer } };
        built(&[&content], with_font(resources), vec![])
    };
    let layer = dictionary! { "Type" => "OCG", "Name" => Object::string_literal("a layer") };
    for tag in ["OC", "Artifact"] {
        let said = plain(&redacted(&file(tag, layer.clone()), &area).expect("a file"));
        assert!(
            said.contains("/Layer BDC") && said.contains("a layer"),
            "{said}"
        );
    }
    let mut talks = layer;
    talks.set("ActualText", Object::string_literal("secret"));
    super::refused(&file("OC", talks), &area, "a layer says");
    let own = "/OC <</ActualText (secret)>> BDC BT /F 10 Tf 20 100 Td (abc) Tj ET EMC";
    let file = built(&[own], with_font(dictionary! {}), vec![]);
    assert!(!plain(&redacted(&file, &area).expect("a file")).contains("secret"));
}

#[test]
fn small_pictures_of_pages_in_the_metadata_go() {
    let file = built(
        &["BT /F 10 Tf 20 100 Td (abc) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    for (said, stays) in [("<xmpGImg:image>secret", false), ("<dc:title>secret", true)] {
        let file = changed(&file, |document| {
            let metadata = Stream::new(dictionary! { "Type" => "Metadata" }, said.into());
            let metadata = document.add_object(metadata);
            document
                .catalog_mut()
                .expect("a catalog")
                .set("Metadata", metadata);
        });
        let made = redacted(&file, &[region(1, [15.0, 95.0, 80.0, 110.0])]).expect("a file");
        assert_eq!(plain(&made).contains("secret"), stays, "{said}");
    }
}

#[test]
fn links_of_tags_to_what_is_gone_say_nothing() {
    let file = built(
        &["BT /F 10 Tf 20 100 Td (abc) Tj ET"],
        with_font(dictionary! {}),
        vec![],
    );
    let file = changed(&file, |document| {
        let page = document.page_iter().next().expect("a page");
        let link = document.add_object(dictionary! {
            "Type" => "Annot", "Subtype" => "Link",
            "Rect" => vec![20.into(), 98.into(), 60.into(), Object::from(108)],
        });
        let element = document.add_object(dictionary! {
            "Type" => "StructElem", "S" => "Link", "Alt" => Object::string_literal("secret link"),
            "Pg" => page,
            // Without the kind that the standard asks for.
            "K" => vec![Object::from(dictionary! { "Obj" => link })],
        });
        let kids = document.add_object(Object::Array(vec![Object::Array(vec![element.into()])]));
        let root = document.add_object(dictionary! { "Type" => "StructTreeRoot", "K" => kids });
        document
            .catalog_mut()
            .expect("a catalog")
            .set("StructTreeRoot", root);
        first_page(document).set("Annots", vec![Object::from(link)]);
    });
    let made = redacted(&file, &[region(1, [15.0, 95.0, 80.0, 110.0])]).expect("a file");
    assert!(!plain(&made).contains("secret") && text_of(&made).trim().is_empty());
}

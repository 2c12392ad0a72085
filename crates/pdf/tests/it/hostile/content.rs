//! Attached files, metadata and forms that are hostile.

use lopdf::{Document, Object, ObjectId, Stream, dictionary};
use platen_pdf::{
    Error, FieldText, FieldValues, fill_form, flatten, read_fields, read_metadata, validate,
    write_metadata,
};
use serde_json::json;

use super::{BARE, LIMITS, all_do, each, file, page};
use crate::built::{node, whole};

/// A document, the number of its page tree, and a page.
fn one_page() -> (Document, ObjectId, ObjectId) {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let page = dictionary! {
        "Type" => "Page", "Parent" => tree, "Resources" => dictionary! {},
        "MediaBox" => vec![0.into(), 0.into(), 300.into(), 300.into()],
    };
    let page = document.add_object(page);
    (document, tree, page)
}

#[test]
fn a_hundred_thousand_attached_files_are_refused_and_the_rest_is_done() {
    let (mut document, tree, page) = one_page();
    let content = document.add_object(Stream::new(dictionary! {}, b"text".to_vec()));
    let mut names: Vec<Object> = Vec::new();
    for index in 0..100_000 {
        let name = Object::string_literal(format!("{index:06}.txt"));
        let specification = dictionary! {
            "Type" => "Filespec", "F" => name.clone(), "UF" => name.clone(),
            "EF" => dictionary! { "F" => content },
        };
        names.extend([name, document.add_object(specification).into()]);
    }
    let leaf = document.add_object(dictionary! { "Names" => names });
    let files = dictionary! { "Kids" => vec![leaf.into()] };
    let more = dictionary! { "Names" => dictionary! { "EmbeddedFiles" => files } };
    let bytes = whole(document, tree, node(vec![page.into()]), more);
    for (name, done) in each(&bytes) {
        match name {
            "describe" | "attachments" | "attach" => assert!(
                matches!(
                    done,
                    Err(Error::TooLarge {
                        what: "attached files",
                        most: 1_000,
                        ..
                    })
                ),
                "{name}: {done:?}"
            ),
            // PDF/A-2 has no attached files of other kinds.
            "archive" | "accessible" => {}
            _ => assert!(done.is_ok(), "{name}: {done:?}"),
        }
    }
}

/// A file with this packet of XMP.
fn with_xmp(packet: &[u8], compressed: bool) -> Vec<u8> {
    let (mut document, tree, page) = one_page();
    let entries = dictionary! { "Type" => "Metadata", "Subtype" => "XML" };
    let mut stream = Stream::new(entries, packet.to_vec());
    if compressed {
        stream.compress().expect("smaller");
    }
    let metadata = document.add_object(stream);
    let more = dictionary! { "Metadata" => metadata };
    whole(document, tree, node(vec![page.into()]), more)
}

#[test]
fn hostile_xmp_neither_blows_up_nor_says_more_than_it_may() {
    let entities: String = (1..10)
        .map(|it| {
            format!(
                "<!ENTITY e{it} \"{}\">",
                format!("&e{};", it - 1).repeat(10)
            )
        })
        .collect();
    let bomb = format!("<!DOCTYPE x [<!ENTITY e0 \"aaaaaaaaaa\">{entities}]><x>&e9;</x>");
    let outside = "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><x>&e;</x>".to_owned();
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    let wide = format!("<x>{}</x>", "<a/>".repeat(200_000));
    let attributes: String = (0..100_000).map(|it| format!(" a{it}=''")).collect();
    for packet in [
        bomb,
        outside,
        deep,
        wide,
        format!("<x{attributes}/>"),
        "\0\u{1}<".repeat(99),
    ] {
        for compressed in [false, true] {
            let file = with_xmp(packet.as_bytes(), compressed);
            all_do(&file, &BARE);
            let said = read_metadata(&file, &LIMITS).expect("metadata");
            assert!(!json!(said).to_string().contains("root:"), "{said:?}");
        }
    }
    // 100 MB of it in a few kilobytes.
    let large = format!("<x>{}</x>", "a".repeat(100 << 20));
    all_do(&with_xmp(large.as_bytes(), true), &BARE);
    // What it says comes back as text, not as elements of the packet that is written.
    let claim = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF \
        xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description \
        xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:rights>&lt;pdfaid:part>3&lt;/pdfaid:part>\
        </dc:rights></rdf:Description></rdf:RDF></x:xmpmeta>";
    let file = with_xmp(claim.as_bytes(), false);
    let metadata = serde_json::from_value(json!({"Title": "</dc:title><pdfaid:part>3"}));
    let made = write_metadata(&file, &metadata.expect("metadata"), &LIMITS).expect("a file");
    let read = validate(&made, None, &LIMITS, &|| {}).expect("read");
    assert!(read.claims.is_empty(), "{:?}", read.claims);
    let made = Document::load_mem(&made).expect("a file");
    let packet = made.objects.values().find_map(|object| {
        let stream = object.as_stream().ok()?;
        let is_it = stream.dict.has_type(b"Metadata");
        is_it.then(|| stream.get_plain_content().expect("a packet"))
    });
    let text = String::from_utf8(packet.expect("a packet")).expect("text");
    assert!(text.contains("&lt;pdfaid:part") && !text.contains("<pdfaid:part"));
}

#[test]
fn scripts_of_forms_are_neither_run_nor_kept_where_they_may_not_be() {
    let endless = "while (true) { app.alert('x'); this.submitForm('http://127.0.0.1:9/'); }";
    let action = format!("<</S/JavaScript/JS({endless})>>");
    let mut objects = page(&format!(
        "/OpenAction {action}/AA<</WC {action}>>/Names<</JavaScript<</Names[(a) {action}]>>>>\
         /AcroForm<</Fields[4 0 R 5 0 R]/CO[5 0 R 5 0 R]/DA(/Helv 12 Tf)/DR<</Font<</Helv 6 0 R>>>>\
         /XFA[(template) 7 0 R]>>"
    ));
    objects[2] = objects[2].replace("/Resources", "/Annots[4 0 R 5 0 R]/Resources");
    for (name, place) in [("name", 700), ("sum", 600)] {
        objects.push(format!(
            "<</Type/Annot/Subtype/Widget/FT/Tx/T({name})/Rect[10 {place} 200 {}]/P 3 0 R/F 4\
             /DA(/Helv 12 Tf)/A {action}/AA<</K {action}/F {action}/V {action}/C {action}>>>>",
            place + 20
        ));
    }
    objects.push("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned());
    let form = "<template><field><event><script>while(true){}</script></event></field></template>";
    objects.push(format!(
        "<</Length {}>>stream\n{form}\nendstream",
        form.len()
    ));
    let file = file(&objects, "");
    // An XFA form, and fonts that are not embedded.
    all_do(&file, &["accessible", "archive", "redact"]);
    let values = FieldValues::from([("name".to_owned(), json!("Zoe"))]);
    let draw = |_: &FieldText| Err("nothing draws it".to_owned());
    let made = fill_form(&file, &values, &draw, &LIMITS, &|| {}).expect("filled in");
    let fields = read_fields(&made, &LIMITS).expect("fields");
    assert_eq!(fields[0].value, "Zoe");
    assert_eq!(fields[1].value, json!(null), "nothing computed it");
    assert!(
        !String::from_utf8_lossy(&made).contains("<template>"),
        "XFA shows the old values"
    );
    // Flattened, no field has an action any more.
    let flat = flatten(&made, &LIMITS).expect("flat");
    assert!(read_fields(&flat, &LIMITS).expect("none").is_empty());
    let unpacked = Document::load_mem(&flat).expect("a file");
    let has_widget = unpacked
        .objects
        .values()
        .any(|object| object.as_dict().is_ok_and(|it| it.has_type(b"Annot")));
    assert!(!has_widget);
}

/// Only what nothing else leads to is a part of an XML form.
#[test]
fn a_form_that_names_what_pages_need_takes_nothing_along() {
    let mut objects = page("/AcroForm<</Fields[]/XFA[(a) 4 0 R (b) 3 0 R (c) 2 0 R (d) 5 0 R]>>");
    objects[2] = objects[2].replace("/Resources", "/Contents 4 0 R/Resources");
    objects.push("<</Length 5>>stream\nq q Q\nendstream".to_owned());
    objects.push("<</Length 9>>stream\nold value\nendstream".to_owned());
    let draw = |_: &FieldText| Err("nothing draws it".to_owned());
    let file = file(&objects, "");
    let made = fill_form(&file, &FieldValues::new(), &draw, &LIMITS, &|| {}).expect("filled in");
    let read = Document::load_mem(&made).expect("a file");
    let page = read.page_iter().next().expect("a page");
    assert!(read.get_page_content(page).starts_with(b"q q Q"));
    assert!(!made.windows(9).any(|it| it == b"old value"));
}

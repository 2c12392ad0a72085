//! Stamps on pages whose content is not as the standard says.

use lopdf::{Document, Object, Stream, content::Content, dictionary};
use platen_pdf::{Conditions, Extent, NamedFile, Operations, Place, Stamp, StampPage, Turn};

use crate::built::{node, whole};

/// A file of a page with this content.
fn page(content: &str) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let tree = document.new_object_id();
    let content = document.add_object(Stream::new(dictionary! {}, content.as_bytes().to_vec()));
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content,
        "MediaBox" => vec![0.into(), 0.into(), 200.into(), 100.into()],
    });
    whole(document, tree, node(vec![page.into()]), dictionary! {})
}

fn stamped(bytes: Vec<u8>) -> Vec<u8> {
    let stamp = Stamp {
        file: page("0 0 200 100 re f"),
        page: StampPage::Number(1),
        extent: Extent::Page,
        text: None,
        numbered: None,
        above: true,
        pages: None,
        opacity: 1.0,
        turn: Turn::Degrees(0.0),
        place: Place::Whole,
    };
    let operations = Operations {
        stamps: vec![stamp],
        ..Operations::default()
    };
    let name = "a.pdf".to_owned();
    let made = operations.apply(vec![NamedFile { name, bytes }], &Conditions::default());
    made.expect("a file").remove(0).bytes
}

/// The transformations of what is drawn first.
fn transformations(file: &[u8]) -> Vec<Vec<f32>> {
    let document = Document::load_mem(file).expect("a file");
    let pages = document.get_pages();
    let content = document.get_page_content(pages[&1]);
    let mut current: Vec<Vec<f32>> = Vec::new();
    let mut saved = Vec::new();
    for operation in Content::decode(&content).expect("operations").operations {
        match operation.operator.as_str() {
            "q" => saved.push(current.clone()),
            "Q" => current = saved.pop().unwrap_or(current),
            "cm" => {
                let numbers = operation.operands.iter().map(Object::as_float);
                let numbers: Result<Vec<f32>, _> = numbers.collect();
                current.push(numbers.expect("numbers"));
            }
            "Do" => return current,
            _ => {}
        }
    }
    panic!("nothing is drawn");
}

#[test]
fn a_stamp_is_where_it_belongs_whatever_the_page_leaves_open() {
    let expected = transformations(&stamped(page("q 1 g 0 0 9 9 re f Q")));
    assert_eq!(expected.len(), 1);
    for content in [
        "q 0.1 0 0 0.1 0 0 cm q",
        "Q Q 0.1 0 0 0.1 0 0 cm",
        "Q q 0.1 0 0 0.1 0 0 cm q 1 g",
        "q 0.1 0 0 0.1 0 0 cm (Q Q) Tj % Q Q",
        "q 2 0 0 2 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID Q EI q",
    ] {
        let found = transformations(&stamped(page(content)));
        assert_eq!(found, expected, "{content}");
    }
    // It stays there below another one.
    let twice = stamped(stamped(page("q 0.1 0 0 0.1 0 0 cm q")));
    assert_eq!(transformations(&twice), expected);
}

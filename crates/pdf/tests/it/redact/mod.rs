//! Areas that are redacted: what was in them is gone from the file, and all else is as it was.

mod drawings;
mod pictures;
mod refused;
mod text;
mod traces;

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{Conditions, Error, Limits, NamedFile, Operations, Region, read_text};

fn redacted(bytes: &[u8], regions: &[Region]) -> Result<Vec<u8>, Error> {
    let file = NamedFile {
        name: "a.pdf".to_owned(),
        bytes: bytes.to_vec(),
    };
    let operations = Operations {
        redactions: regions.to_vec(),
        ..Operations::default()
    };
    let made = operations.apply(vec![file], &Conditions::default());
    made.map(|mut files| files.remove(0).bytes)
        .map_err(|error| error.error)
}

fn region(page: usize, [left, bottom, right, top]: [f32; 4]) -> Region {
    Region {
        page,
        x: left,
        y: bottom,
        width: right - left,
        height: top - bottom,
    }
}

#[track_caller]
fn refused(bytes: &[u8], regions: &[Region], why: &str) {
    let error = redacted(bytes, regions).expect_err("it is refused");
    assert!(error.to_string().contains(why), "{error}");
}

fn text_of(bytes: &[u8]) -> String {
    let pages = read_text(bytes, None, &Limits::default(), &|| {}).expect("its text");
    pages.into_iter().map(|page| page.text + "\u{c}").collect()
}

/// The content of page 1.
fn content_of(bytes: &[u8]) -> String {
    let document = Document::load_mem(bytes).expect("a file");
    let page = document.page_iter().next().expect("a page");
    let content = document.get_page_content(page);
    String::from_utf8_lossy(&content).into_owned()
}

/// A file of pages of 200 by 200 points with these contents and resources. `more` are further objects,
/// from number 100.
fn built(pages: &[&str], resources: lopdf::Dictionary, more: Vec<Object>) -> Vec<u8> {
    let mut document = Document::with_version("1.7");
    let root = document.new_object_id();
    let mut kids: Vec<Object> = Vec::new();
    for (index, object) in (100..).zip(more) {
        document.objects.insert((index, 0), object);
    }
    let font = dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "FirstChar" => 32,
        "LastChar" => 126, "Widths" => vec![Object::Integer(600); 95],
        "Encoding" => "WinAnsiEncoding",
    };
    document.objects.insert((90, 0), font.into());
    document.max_id = 900;
    let resources = document.add_object(resources);
    for content in pages {
        let stream = Stream::new(dictionary! {}, content.as_bytes().to_vec());
        let content = document.add_object(stream);
        let page = dictionary! { "Type" => "Page", "Parent" => root, "Contents" => content };
        kids.push(document.add_object(page).into());
    }
    let tree = dictionary! {
        "Type" => "Pages", "Count" => kids.len() as i64, "Kids" => kids, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 200.into(), Object::from(200)],
    };
    document.objects.insert(root, tree.into());
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => root });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    bytes
}

fn with_font(mut resources: lopdf::Dictionary) -> lopdf::Dictionary {
    resources.set("Font", dictionary! { "F" => Object::Reference((90, 0)) });
    resources
}

/// A picture of 20 by 20 gray pixels, all of this value.
fn picture(value: u8) -> Stream {
    let entries = dictionary! {
        "Type" => "XObject", "Subtype" => "Image", "Width" => 20, "Height" => 20,
        "ColorSpace" => "DeviceGray", "BitsPerComponent" => 8,
    };
    Stream::new(entries, vec![value; 400])
}

/// A form of 200 by 200 points with this content, and the fonts of the pages.
fn form(content: &str) -> Stream {
    let entries = dictionary! {
        "Type" => "XObject", "Subtype" => "Form", "Resources" => with_font(dictionary! {}),
        "BBox" => vec![0.into(), 0.into(), 200.into(), Object::from(200)],
    };
    Stream::new(entries, content.as_bytes().to_vec())
}

/// The file after a change of its objects.
fn changed(bytes: &[u8], change: impl FnOnce(&mut Document)) -> Vec<u8> {
    let mut document = Document::load_mem(bytes).expect("a file");
    change(&mut document);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a file");
    bytes
}

/// The entries of page 1.
fn first_page(document: &mut Document) -> &mut lopdf::Dictionary {
    let page = document.page_iter().next().expect("a page");
    document.get_dictionary_mut(page).expect("its entries")
}

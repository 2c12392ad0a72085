//! Merges files.

use lopdf::{Document, Object, ObjectId, dictionary};

use crate::{
    Error, Limits,
    catalog::{Bookmarks, take_over},
    copy::{Copy, Origin, Target},
    open::{open, save},
    signature::take_signatures,
    structure::Structure,
};

/// Merges files in their order. Bookmarks, links, form fields, layers and structure tags are kept;
/// named destinations become explicit ones. Document properties, page labels, attached files and
/// document-level scripts are not, nor are signatures: the result is a new file. A single file is copied in the same
/// way.
///
/// # Errors
/// There is no file, or one cannot be read.
pub fn merge<'a>(
    files: impl IntoIterator<Item = &'a [u8]>,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    let mut bookmarks = Bookmarks::default();
    let mut structure = Structure::default();
    let mut target: Option<Target> = None;
    let mut pages = 0;
    for file in files {
        let source = open(file, limits)?;
        let target = target.get_or_insert_with(|| Target::new("1.7"));
        let chosen: Vec<ObjectId> = source.page_iter().collect();
        pages += chosen.len();
        if pages > limits.pages {
            return Err(Error::TooLarge {
                what: "pages",
                count: pages,
                most: limits.pages,
            });
        }
        newest(&mut target.document, &source);
        let by = target.next_structure;
        let origin = Origin::of_one_copy(&source);
        let mut copy = Copy::of_pages(&origin, target, &chosen, Some(by))?;
        structure.add(&mut copy);
        bookmarks.add(&mut copy);
        take_over(&mut copy, &chosen);
        let streams = copy.taken();
        target.take(source, &streams);
    }
    let mut target = target.ok_or(Error::Nothing)?;
    bookmarks.finish(&mut target);
    structure.finish(&mut target);
    sign(&mut target.document);
    let mut document = target.finish();
    take_signatures(&mut document);
    save(&mut document, true)
}

/// The result has the newest PDF version of its parts (file header, 7.5.2).
pub(crate) fn newest(target: &mut Document, source: &Document) {
    if source.version > target.version {
        target.version.clone_from(&source.version);
    }
}

/// Sets the producer, but no dates, so that the same input gives the same bytes.
pub(crate) fn sign(document: &mut Document) {
    let info = dictionary! { "Producer" => Object::string_literal("Platen") };
    let info = document.add_object(info);
    document.trailer.set("Info", info);
}

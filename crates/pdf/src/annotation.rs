//! Annotations of pages and form fields (ISO 32000-1, 12.5 and 12.7).

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::open::{array, dictionary, reference, value};

/// Maximum depth of the field tree.
const MAX_DEPTH: usize = 32;

/// The annotations of a page.
pub(crate) fn annotations(document: &Document, page: ObjectId) -> &[Object] {
    let page = document.get_dictionary(page).ok();
    array(document, page.and_then(|page| page.get(b"Annots").ok()))
}

/// All annotations of the given pages that are indirect objects.
pub(crate) fn all(document: &Document, pages: &[ObjectId]) -> HashSet<ObjectId> {
    let of_page = |page: &ObjectId| annotations(document, *page).iter();
    let objects = pages.iter().flat_map(of_page);
    objects.filter_map(|it| it.as_reference().ok()).collect()
}

/// Whether a field or one of its descendants is among `annotations`.
pub(crate) fn is_shown(
    document: &Document,
    field: ObjectId,
    annotations: &HashSet<ObjectId>,
    depth: usize,
) -> bool {
    if annotations.contains(&field) {
        return true;
    }
    let node = document.get_dictionary(field).ok();
    let kids = array(document, node.and_then(|node| node.get(b"Kids").ok()));
    let kids = kids.iter().filter_map(|kid| kid.as_reference().ok());
    depth < MAX_DEPTH
        && kids
            .into_iter()
            .any(|kid| is_shown(document, kid, annotations, depth + 1))
}

/// An inheritable attribute of a field: its own, or that of the nearest ancestor.
pub(crate) fn of_field<'a>(
    document: &'a Document,
    field: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Object> {
    let mut node = field;
    for _ in 0..MAX_DEPTH {
        if let Some(found) = value(document, node, key) {
            return Some(found);
        }
        let parent = reference(node, b"Parent")?;
        node = dictionary(document, document.objects.get(&parent)?)?;
    }
    None
}

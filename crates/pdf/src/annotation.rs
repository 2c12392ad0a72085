//! Annotations of pages and form fields (ISO 32000-1, 12.5 and 12.7).

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::open::{array, dictionary, reference, value};

/// Maximum depth of the field tree.
const MAX_DEPTH: usize = 32;

/// The annotations of a page.
pub(crate) fn annotations(document: &Document, page: ObjectId) -> &[Object] {
    let page = document.get_dictionary(page).ok();
    array(document, page.and_then(|page| page.get(b"Annots").ok()))
}

/// The fields that pages show.
pub(crate) struct Shown<'a> {
    document: &'a Document,
    annotations: HashSet<ObjectId>,
    /// Whether anything in a list of fields is shown; fields may share lists, and have circles.
    lists: HashMap<*const Object, bool>,
}

impl<'a> Shown<'a> {
    pub(crate) fn on(document: &'a Document, pages: &[ObjectId]) -> Self {
        let of_page = |page: &ObjectId| annotations(document, *page).iter();
        let objects = pages.iter().flat_map(of_page);
        Self {
            document,
            annotations: objects.filter_map(|it| it.as_reference().ok()).collect(),
            lists: HashMap::new(),
        }
    }

    /// Whether a field or one of its descendants is on the pages.
    pub(crate) fn has(&mut self, field: ObjectId) -> bool {
        self.within(field, 0)
    }

    fn within(&mut self, field: ObjectId, depth: usize) -> bool {
        if self.annotations.contains(&field) {
            return true;
        }
        let node = self.document.get_dictionary(field).ok();
        let kids = array(self.document, node.and_then(|node| node.get(b"Kids").ok()));
        if depth == MAX_DEPTH || kids.is_empty() {
            return false;
        }
        if let Some(known) = self.lists.get(&kids.as_ptr()) {
            return *known;
        }
        self.lists.insert(kids.as_ptr(), false);
        let mut kids_of = kids.iter().filter_map(|kid| kid.as_reference().ok());
        let is_shown = kids_of.any(|kid| self.within(kid, depth + 1));
        self.lists.insert(kids.as_ptr(), is_shown);
        is_shown
    }
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

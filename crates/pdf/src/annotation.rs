//! Annotations of pages and form fields (ISO 32000-1, 12.5 and 12.7).

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::open::{array, dictionary, form, reference, value};

/// Maximum depth of the field tree.
const MAX_DEPTH: usize = 32;

/// The annotations of a page.
pub(crate) fn annotations(document: &Document, page: ObjectId) -> &[Object] {
    let page = document.get_dictionary(page).ok();
    array(document, page.and_then(|page| page.get(b"Annots").ok()))
}

/// All fields, of the form or on a page.
pub(crate) fn fields(document: &Document) -> HashSet<ObjectId> {
    let mut found = HashSet::new();
    // Fields and pages may share lists.
    let mut lists = HashSet::new();
    let top = array(
        document,
        form(document).and_then(|it| it.get(b"Fields").ok()),
    );
    let top = top.iter().filter_map(|it| it.as_reference().ok());
    let mut waiting: Vec<ObjectId> = top.collect();
    for page in document.page_iter() {
        let list = annotations(document, page);
        if !list.is_empty() && lists.insert(list.as_ptr()) {
            let objects = list.iter().filter(|it| is_widget(document, it));
            waiting.extend(objects.filter_map(above));
        }
    }
    while let Some(id) = waiting.pop() {
        let Ok(field) = document.get_dictionary(id) else {
            continue;
        };
        if !found.insert(id) {
            continue;
        }
        waiting.extend(reference(field, b"Parent"));
        let kids = array(document, field.get(b"Kids").ok());
        if !kids.is_empty() && lists.insert(kids.as_ptr()) {
            waiting.extend(kids.iter().filter_map(|it| it.as_reference().ok()));
        }
    }
    found
}

fn is_widget(document: &Document, object: &Object) -> bool {
    let subtype = dictionary(document, object).and_then(|it| value(document, it, b"Subtype"));
    subtype.and_then(|it| it.as_name().ok()) == Some(b"Widget")
}

/// An annotation, or what is above one that is no object of its own.
fn above(annotation: &Object) -> Option<ObjectId> {
    match annotation {
        Object::Dictionary(own) => reference(own, b"Parent"),
        other => other.as_reference().ok(),
    }
}

/// The fields that pages show.
pub(crate) struct Shown<'a> {
    document: &'a Document,
    /// The annotations, and what is above them.
    annotations: HashSet<ObjectId>,
    /// Whether anything in a list of fields is shown; fields may share lists, and have circles.
    lists: HashMap<*const Object, bool>,
}

impl<'a> Shown<'a> {
    pub(crate) fn on(document: &'a Document, pages: &[ObjectId]) -> Self {
        let of_page = |page: &ObjectId| annotations(document, *page).iter();
        let mut found = HashSet::new();
        for object in pages.iter().flat_map(of_page) {
            let mut next = above(object);
            while let Some(id) = next
                && found.insert(id)
            {
                let annotation = document.get_dictionary(id).ok();
                next = annotation.and_then(|it| reference(it, b"Parent"));
            }
        }
        Self {
            document,
            annotations: found,
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

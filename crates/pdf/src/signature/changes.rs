//! What was changed in a file since a revision of it was signed, object by object.

use std::collections::{BTreeSet, HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};
use serde::Serialize;

use super::read::{fields, signed_value};
use crate::{
    Error, Limits,
    open::{array, open_whole, reference, value},
};

/// Keys of the catalog that are looked at on their own, or change nothing that is to be seen.
const OF_CATALOG: [&[u8]; 6] = [
    b"AcroForm",
    b"DSS",
    b"Perms",
    b"Extensions",
    b"Type",
    b"Version",
];
/// Maximum depth of the document security store.
const MAX_STORE_DEPTH: usize = 4;
/// Keys of the form that a new signature changes.
const OF_FORM: [&[u8]; 2] = [b"Fields", b"SigFlags"];
/// Keys of a field that filling it in, or signing it, changes.
const OF_FIELD: [&[u8]; 5] = [b"V", b"AP", b"AS", b"M", b"F"];

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Change {
    /// A signature was added.
    Signature {
        /// Its field.
        field: String,
    },
    /// A timestamp of the document was added.
    Timestamp {
        /// Its field.
        field: String,
    },
    /// What proves signatures was added.
    Evidence,
    /// A form field was filled in.
    Field {
        /// Its name.
        field: String,
    },
    /// Annotations of a page were added, changed or removed.
    Annotations {
        /// The page, from 1.
        page: usize,
    },
    /// A page was changed.
    Page {
        /// The page, from 1.
        page: usize,
    },
    /// Pages were added, removed or moved.
    Pages,
    /// Document properties were changed.
    Properties,
    /// Something else was changed: content, fonts, scripts or whatever pages refer to.
    Content,
}

/// The changes since the revision that ends after `end` bytes. New objects count where old ones
/// refer to them.
///
/// # Errors
/// The file, or that revision of it, cannot be read.
pub fn changes_since(file: &[u8], end: usize, limits: &Limits) -> Result<Vec<Change>, Error> {
    if end >= file.len() {
        return Ok(Vec::new());
    }
    let after = open_whole(file, limits)?;
    let before = open_whole(&file[..end], limits)?;
    let mut comparison = Comparison {
        roles: roles(&before, &after)?,
        references: references(&before),
        before: &before,
        after: &after,
        found: BTreeSet::new(),
    };
    comparison.run()?;
    Ok(comparison.found.into_iter().collect())
}

/// What an object is for.
#[derive(Clone, Debug)]
enum Role {
    Catalog,
    Form,
    FieldList,
    Page(usize),
    Annotations(usize),
    Field(String),
    Evidence,
    Properties,
}

struct Comparison<'a> {
    before: &'a Document,
    after: &'a Document,
    roles: HashMap<ObjectId, Role>,
    /// How often the objects of the old revision are referred to in it.
    references: HashMap<ObjectId, usize>,
    found: BTreeSet<Change>,
}

fn roles(before: &Document, after: &Document) -> Result<HashMap<ObjectId, Role>, Error> {
    let mut roles = HashMap::new();
    harmless(before, &mut roles)?;
    for document in [after, before] {
        for (index, page) in document.page_iter().enumerate() {
            if let Ok(list) = document.get_dictionary(page)?.get(b"Annots")
                && let Ok(list) = list.as_reference()
            {
                roles.insert(list, Role::Annotations(index + 1));
            }
            roles.insert(page, Role::Page(index + 1));
        }
        for field in fields(document)? {
            let kids = array(document, field.dictionary.get(b"Kids").ok());
            let kids = kids.iter().filter_map(|kid| kid.as_reference().ok());
            for id in kids.chain(field.id) {
                roles.insert(id, Role::Field(field.name.clone()));
            }
        }
        let catalog = document.catalog()?;
        let form = reference(catalog, b"AcroForm");
        roles.extend(form.map(|id| (id, Role::Form)));
        if let Some(Object::Dictionary(form)) = value(document, catalog, b"AcroForm") {
            let list = reference(form, b"Fields");
            roles.extend(list.map(|id| (id, Role::FieldList)));
        }
        let catalog = reference(&document.trailer, b"Root");
        roles.extend(catalog.map(|id| (id, Role::Catalog)));
    }
    Ok(roles)
}

/// Document properties, and the dictionaries and lists of the document security store. What something
/// else refers to as well is more than that.
fn harmless(document: &Document, roles: &mut HashMap<ObjectId, Role>) -> Result<(), Error> {
    let catalog = document.catalog()?;
    let references = references(document);
    let is_nothing_else = |id: &ObjectId| references.get(id) == Some(&1);
    let properties = reference(&document.trailer, b"Info").into_iter();
    let properties = properties.chain(reference(catalog, b"Metadata"));
    let properties = properties.filter(|id| is_nothing_else(id));
    roles.extend(properties.map(|id| (id, Role::Properties)));
    let mut waiting: Vec<&Object> = catalog.get(b"DSS").into_iter().collect();
    let mut seen = HashSet::new();
    for _ in 0..MAX_STORE_DEPTH {
        let mut next = Vec::new();
        for object in waiting {
            if object.as_reference().is_ok_and(|id| !seen.insert(id)) {
                continue;
            }
            if let Ok(id) = object.as_reference()
                && !matches!(document.objects.get(&id), Some(Object::Stream(_)))
                && is_nothing_else(&id)
            {
                roles.insert(id, Role::Evidence);
            }
            match document.dereference(object).map(|(_, object)| object) {
                Ok(Object::Dictionary(entries)) => next.extend(entries.iter().map(|(_, it)| it)),
                Ok(Object::Array(entries)) => next.extend(entries),
                _ => {}
            }
        }
        waiting = next;
    }
    Ok(())
}

impl Comparison<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let pages = |document: &Document| document.page_iter().collect::<Vec<_>>();
        if pages(self.before) != pages(self.after) {
            self.found.insert(Change::Pages);
        }
        if reference(&self.before.trailer, b"Root") != reference(&self.after.trailer, b"Root") {
            self.found.insert(Change::Content);
        }
        if reference(&self.before.trailer, b"Info") != reference(&self.after.trailer, b"Info") {
            self.found.insert(Change::Properties);
        }
        for (id, new) in &self.after.objects {
            match self.before.objects.get(id) {
                Some(old) if old == new => {}
                Some(old) => self.changed(*id, old, new),
                // Whoever adds an object that was missing changes what refers to it.
                None if self.references.contains_key(id) => {
                    self.found.insert(Change::Content);
                }
                None => {}
            }
        }
        let is_gone = |(id, old): (&ObjectId, &Object)| {
            !self.after.objects.contains_key(id) && !self.is_of_file(id, old)
        };
        if self.before.objects.iter().any(is_gone) {
            self.found.insert(Change::Content);
        }
        self.new_fields()
    }

    /// Whether an object only says where others are. One that another object refers to may be anything
    /// else as well.
    fn is_of_file(&self, id: &ObjectId, object: &Object) -> bool {
        is_of_file(object) && !self.references.contains_key(id)
    }

    fn new_fields(&mut self) -> Result<(), Error> {
        let after = fields(self.after)?;
        let before = fields(self.before)?;
        // By object, as another field of the same name is another field.
        let known: HashMap<ObjectId, bool> = (before.iter())
            .filter_map(|field| {
                let is_signed = signed_value(self.before, field.dictionary).is_some();
                Some((field.id?, is_signed))
            })
            .collect();
        for field in &after {
            let signed = signed_value(self.after, field.dictionary);
            let was_signed = field.id.and_then(|id| known.get(&id).copied());
            if was_signed == Some(signed.is_some()) {
                continue;
            }
            let kind = signed.and_then(|it| value(self.after, it, b"Type")?.as_name().ok());
            let name = field.name.clone();
            self.found.insert(match (was_signed, signed, kind) {
                // A new field is nothing that is filled in: it may cover the page.
                (Some(true), _, _) | (_, None, _) => Change::Content,
                (_, Some(_), Some(b"DocTimeStamp")) => Change::Timestamp { field: name },
                (_, Some(_), _) => Change::Signature { field: name },
            });
        }
        let kept: HashSet<ObjectId> = after.iter().filter_map(|field| field.id).collect();
        if known.keys().any(|id| !kept.contains(id)) {
            self.found.insert(Change::Content);
        }
        Ok(())
    }

    fn changed(&mut self, id: ObjectId, old: &Object, new: &Object) {
        if self.is_of_file(&id, old) {
            return;
        }
        let role = self.roles.get(&id).cloned();
        let (Some(role), Ok(old), Ok(new)) = (role.clone(), old.as_dict(), new.as_dict()) else {
            self.plain(role, old, new);
            return;
        };
        match role {
            Role::Catalog => self.catalog(old, new),
            Role::Form => {
                if differ(old, new, &OF_FORM) {
                    self.found.insert(Change::Content);
                }
                let lists = [old, new].map(|form| form.get(b"Fields").ok());
                self.field_lists(lists[0], lists[1]);
            }
            Role::Page(page) => {
                if differ(old, new, &[b"Annots"]) {
                    self.found.insert(Change::Page { page });
                }
                let lists = [old, new].map(|page| page.get(b"Annots").ok());
                self.annotations(page, lists[0], lists[1]);
            }
            Role::Field(field) => self.field(field, old, new),
            Role::Evidence => {
                self.found.insert(Change::Evidence);
            }
            Role::Properties => {
                self.found.insert(Change::Properties);
            }
            Role::Annotations(page) => {
                self.found.insert(Change::Annotations { page });
            }
            Role::FieldList => {
                self.found.insert(Change::Content);
            }
        }
    }

    /// A change of something that is no dictionary.
    fn plain(&mut self, role: Option<Role>, old: &Object, new: &Object) {
        match role {
            Some(Role::Annotations(page)) => self.annotations(page, Some(old), Some(new)),
            Some(Role::FieldList) => self.field_lists(Some(old), Some(new)),
            Some(Role::Evidence) => {
                self.found.insert(Change::Evidence);
            }
            Some(Role::Properties) => {
                self.found.insert(Change::Properties);
            }
            _ => {
                self.found.insert(Change::Content);
            }
        }
    }

    fn catalog(&mut self, old: &Dictionary, new: &Dictionary) {
        let mut skipped = OF_CATALOG.to_vec();
        if reference(old, b"Metadata") != reference(new, b"Metadata") {
            self.found.insert(Change::Properties);
            skipped.push(b"Metadata");
        }
        if differ(old, new, &skipped) {
            self.found.insert(Change::Content);
        }
        let same = |key: &[u8]| old.get(key).ok() == new.get(key).ok();
        if !same(b"DSS") {
            self.found.insert(Change::Evidence);
        }
        // Only the first signature certifies, and it is in the file before it is signed.
        if old.has(b"Perms") && !same(b"Perms") {
            self.found.insert(Change::Content);
        }
        if !same(b"AcroForm") {
            let empty = Dictionary::new();
            let of = |document, catalog| match value(document, catalog, b"AcroForm") {
                Some(Object::Dictionary(form)) => form.clone(),
                _ => empty.clone(),
            };
            let (old, new) = (of(self.before, old), of(self.after, new));
            if differ(&old, &new, &OF_FORM) {
                self.found.insert(Change::Content);
            }
            self.field_lists(old.get(b"Fields").ok(), new.get(b"Fields").ok());
        }
    }

    /// Fields may be added, which [`Self::new_fields`] names, but none removed.
    fn field_lists(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let kept: HashSet<ObjectId> = array(self.after, new)
            .iter()
            .filter_map(|it| it.as_reference().ok())
            .collect();
        let is_gone = |it: &Object| it.as_reference().map_or(true, |id| !kept.contains(&id));
        if array(self.before, old).iter().any(is_gone) {
            self.found.insert(Change::Content);
        }
    }

    fn annotations(&mut self, page: usize, old: Option<&Object>, new: Option<&Object>) {
        let old = array(self.before, old);
        let new = array(self.after, new);
        let direct = |list: &[Object]| -> Vec<Object> {
            let direct = list.iter().filter(|it| it.as_reference().is_err());
            direct.cloned().collect()
        };
        let ids = |list: &[Object]| -> HashSet<ObjectId> {
            list.iter()
                .filter_map(|it| it.as_reference().ok())
                .collect()
        };
        let (known, kept) = (ids(old), ids(new));
        let is_field = |id: &ObjectId| {
            let widget = self.after.get_dictionary(*id).ok();
            let kind = widget.and_then(|it| it.get(b"Subtype").ok()?.as_name().ok());
            kind == Some(b"Widget") && matches!(self.roles.get(id), Some(Role::Field(_)))
        };
        let is_same = direct(old) == direct(new)
            && known.is_subset(&kept)
            && kept.difference(&known).all(is_field);
        if !is_same {
            self.found.insert(Change::Annotations { page });
        }
    }

    fn field(&mut self, field: String, old: &Dictionary, new: &Dictionary) {
        let was_signed = signed_value(self.before, old).is_some();
        if was_signed || differ(old, new, &OF_FIELD) {
            self.found.insert(Change::Content);
        } else if signed_value(self.after, new).is_none() {
            self.found.insert(Change::Field { field });
        }
    }
}

/// Whether two dictionaries differ in more than these keys.
fn differ(old: &Dictionary, new: &Dictionary, but: &[&[u8]]) -> bool {
    let keys = old.iter().chain(new.iter()).map(|(key, _)| key.as_slice());
    let mut keys = keys.filter(|key| !but.contains(key));
    keys.any(|key| old.get(key).ok() != new.get(key).ok())
}

/// Whether an object is about the file and not the document: where other objects are.
fn is_of_file(object: &Object) -> bool {
    let Object::Stream(stream) = object else {
        return false;
    };
    let kind = stream.dict.get(b"Type").and_then(Object::as_name).ok();
    matches!(kind, Some(b"XRef" | b"ObjStm"))
}

/// How often each object is referred to, by objects and the trailer.
fn references(document: &Document) -> HashMap<ObjectId, usize> {
    let mut found = HashMap::new();
    let objects = document.objects.values().filter(|it| !is_of_file(it));
    let mut waiting: Vec<&Object> = objects.collect();
    let of_trailer = ["Root", "Info"].into_iter();
    waiting.extend(of_trailer.filter_map(|key| document.trailer.get(key.as_bytes()).ok()));
    while let Some(object) = waiting.pop() {
        match object {
            Object::Reference(id) => *found.entry(*id).or_insert(0) += 1,
            Object::Array(list) => waiting.extend(list),
            Object::Dictionary(entries) => waiting.extend(entries.iter().map(|(_, it)| it)),
            Object::Stream(stream) => waiting.extend(stream.dict.iter().map(|(_, it)| it)),
            _ => {}
        }
    }
    found
}

/// The highest number of an object that something refers to.
pub(super) fn highest_reference(document: &Document) -> u32 {
    let found = references(document).into_keys();
    found.map(|(number, _)| number).max().unwrap_or(0)
}

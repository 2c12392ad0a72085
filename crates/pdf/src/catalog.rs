//! Document-level content besides the pages: outlines, named destinations, forms and layers
//! (7.7.2).

use std::collections::{BTreeMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};

use crate::{
    annotation::Shown,
    copy::Copy,
    open::{array, dictionary as dictionary_of, reference, resolve, value},
};

/// What the fields of a form have from it (12.7.3).
const DEFAULTS: [&str; 3] = ["DR", "DA", "Q"];
/// Maximum depth of a name or number tree.
const MAX_DEPTH: usize = 32;
/// Keys of the catalog that are taken from the first file that has them.
const TAKEN: [&str; 5] = [
    "Lang",
    "PageLayout",
    "PageMode",
    "ViewerPreferences",
    "OutputIntents",
];
/// Lists in an optional content configuration (8.11.4.3).
const LAYER_LISTS: [&str; 6] = ["ON", "OFF", "Order", "AS", "RBGroups", "Locked"];

/// Named destinations, from the dictionary of PDF 1.1 and from the name tree (12.3.2.3).
pub(crate) fn destinations(document: &Document) -> BTreeMap<Vec<u8>, Object> {
    let mut found = BTreeMap::new();
    let Ok(catalog) = document.catalog() else {
        return found;
    };
    let mut add = |name: &[u8], object: &Object| {
        let place = match resolve(document, object) {
            Some(Object::Dictionary(place)) => place.get(b"D").ok(),
            Some(_) => Some(object),
            None => None,
        };
        if let Some(place) = place {
            found.insert(name.to_vec(), place.clone());
        }
    };
    if let Some(Object::Dictionary(old)) = value(document, catalog, b"Dests") {
        for (name, object) in old {
            add(name, object);
        }
    }
    if let Some(Object::Dictionary(names)) = value(document, catalog, b"Names")
        && let Some(Object::Dictionary(tree)) = value(document, names, b"Dests")
    {
        for_each_leaf(document, tree, b"Names", &mut |key, object| {
            if let Object::String(name, _) = key {
                add(name, object);
            }
        });
    }
    found
}

/// Calls `take` with each pair of a name or number tree (7.9.6, 7.9.7): those of a list that several
/// nodes share once, and so are the nodes of a list of children.
pub(crate) fn for_each_leaf<'a>(
    document: &'a Document,
    tree: &'a Dictionary,
    list: &[u8],
    take: &mut impl FnMut(&'a Object, &'a Object),
) {
    let mut seen = HashSet::new();
    let mut waiting = vec![(tree, 0)];
    while let Some((node, depth)) = waiting.pop() {
        let pairs = array(document, node.get(list).ok());
        if !pairs.is_empty() && seen.insert(pairs.as_ptr()) {
            for [key, object] in pairs.as_chunks::<2>().0 {
                if let Some(key) = resolve(document, key) {
                    take(key, object);
                }
            }
        }
        let kids = array(document, node.get(b"Kids").ok());
        if depth < MAX_DEPTH && !kids.is_empty() && seen.insert(kids.as_ptr()) {
            let kids = kids.iter().rev();
            let kids = kids.filter_map(|kid| dictionary_of(document, kid));
            waiting.extend(kids.map(|kid| (kid, depth + 1)));
        }
    }
}

/// The outline: bookmarks of all files, one file after another.
#[derive(Default)]
pub(crate) struct Bookmarks {
    root: Option<ObjectId>,
    first: Option<ObjectId>,
    last: Option<ObjectId>,
    open: i64,
}

impl Bookmarks {
    /// Adds the bookmarks of a file whose pages are copied.
    pub(crate) fn add(&mut self, copy: &mut Copy<'_>) {
        let Ok(catalog) = copy.source.catalog() else {
            return;
        };
        let Some(Object::Dictionary(outline)) = value(copy.source, catalog, b"Outlines") else {
            return;
        };
        let (Some(first), Some(last)) = (reference(outline, b"First"), reference(outline, b"Last"))
        else {
            return;
        };
        let document = &mut copy.target.document;
        let root = *self.root.get_or_insert_with(|| document.new_object_id());
        if let Some(old) = reference(catalog, b"Outlines") {
            copy.put(old, Some(root));
        }
        copy.whole(&first.into());
        let (Some(begin), Some(end)) = (copy.place(first), copy.place(last)) else {
            return;
        };
        let count = value(copy.source, outline, b"Count").and_then(|it| it.as_i64().ok());
        self.open += count.unwrap_or(0).max(0);
        if let Some(before) = self.last {
            let document = &mut copy.target.document;
            set(document, before, "Next", begin);
            set(document, begin, "Prev", before);
        }
        self.first.get_or_insert(begin);
        self.last = Some(end);
    }

    /// Writes the outline and refers to it in the catalog.
    pub(crate) fn finish(self, target: &mut crate::copy::Target) {
        let (Some(root), Some(first), Some(last)) = (self.root, self.first, self.last) else {
            return;
        };
        let outline = dictionary! {
            "Type" => "Outlines", "First" => first, "Last" => last, "Count" => self.open,
        };
        target.document.objects.insert(root, outline.into());
        target.catalog.set("Outlines", root);
    }
}

fn set(document: &mut Document, id: ObjectId, key: &str, place: ObjectId) {
    if let Ok(dictionary) = document.get_dictionary_mut(id) {
        dictionary.set(key, place);
    }
}

/// Copies what concerns the whole file: language, initial view, form and layers.
pub(crate) fn take_over(copy: &mut Copy<'_>, chosen: &[ObjectId]) {
    let source = copy.source;
    let Ok(catalog) = source.catalog() else {
        return;
    };
    for key in TAKEN {
        if !copy.target.catalog.has(key.as_bytes())
            && let Ok(object) = catalog.get(key.as_bytes())
        {
            let object = copy.whole(object);
            copy.target.catalog.set(key, object);
        }
    }
    if let Some(Object::Dictionary(form)) = value(source, catalog, b"AcroForm") {
        take_form(copy, form, chosen);
    }
    if let Some(Object::Dictionary(layers)) = value(source, catalog, b"OCProperties") {
        take_layers(copy, layers);
    }
}

/// Copies the fields shown on the pages. The form has the defaults of the first file with fields; those
/// of other files keep theirs.
fn take_form(copy: &mut Copy<'_>, form: &Dictionary, chosen: &[ObjectId]) {
    let source = copy.source;
    let mut shown = Shown::on(source, chosen);
    let mut fields = Vec::new();
    for field in array(source, form.get(b"Fields").ok()) {
        let id = field.as_reference();
        if id.is_ok_and(|id| shown.has(id)) {
            fields.push(copy.whole(field));
        }
    }
    if fields.is_empty() {
        return;
    }
    let mut made = match copy.target.catalog.remove(b"AcroForm") {
        Some(Object::Dictionary(made)) => made,
        _ => Dictionary::new(),
    };
    if made.has(b"Fields") {
        keep_defaults(copy, form, made.has(b"Q"), &fields);
        add_fonts(copy, form, &mut made);
    } else {
        for key in DEFAULTS {
            if let Ok(object) = form.get(key.as_bytes()) {
                made.set(key, copy.whole(object));
            }
        }
    }
    append(&mut made, "Fields", fields);
    if value(source, form, b"NeedAppearances") == Some(&Object::Boolean(true)) {
        made.set("NeedAppearances", true);
    }
    copy.target.catalog.set("AcroForm", made);
}

/// Gives the defaults of a form to its fields, which are to be in a form with others. `is_aligned` says
/// whether that one aligns texts.
fn keep_defaults(copy: &mut Copy<'_>, form: &Dictionary, is_aligned: bool, fields: &[Object]) {
    let mut defaults = Vec::new();
    for key in DEFAULTS {
        match form.get(key.as_bytes()) {
            Ok(object) => {
                // All fields share it.
                let object = match copy.whole(object) {
                    place @ Object::Reference(_) => place,
                    object => copy.target.document.add_object(object).into(),
                };
                defaults.push((key, object));
            }
            Err(_) if key == "Q" && is_aligned => defaults.push((key, 0.into())),
            Err(_) => {}
        }
    }
    for field in fields {
        let Ok(id) = field.as_reference() else {
            continue;
        };
        let Ok(field) = copy.target.document.get_dictionary_mut(id) else {
            continue;
        };
        for (key, object) in &defaults {
            if !field.has(key.as_bytes()) {
                field.set(*key, object.clone());
            }
        }
    }
}

/// Adds the fonts of a form to those of the forms before it, where their names are free.
fn add_fonts(copy: &mut Copy<'_>, form: &Dictionary, made: &mut Dictionary) {
    let source = copy.source;
    let resources = value(source, form, b"DR").and_then(|it| it.as_dict().ok());
    let fonts = resources.and_then(|it| value(source, it, b"Font")?.as_dict().ok());
    let Some(fonts) = fonts else {
        return;
    };
    let mut resources = taken(&copy.target.document, made, b"DR");
    let mut known = taken(&copy.target.document, &mut resources, b"Font");
    for (name, font) in fonts {
        if !known.has(name) {
            known.set(name.clone(), copy.whole(font));
        }
    }
    resources.set("Font", known);
    made.set("DR", resources);
}

/// Takes a dictionary out of another one.
fn taken(document: &Document, from: &mut Dictionary, key: &[u8]) -> Dictionary {
    match from.remove(key) {
        Some(Object::Dictionary(own)) => own,
        Some(object) => dictionary_of(document, &object)
            .cloned()
            .unwrap_or_default(),
        None => Dictionary::new(),
    }
}

/// Copies the layers, so that hidden content stays hidden.
fn take_layers(copy: &mut Copy<'_>, layers: &Dictionary) {
    let source = copy.source;
    let (mut made, mut setting) = match copy.target.catalog.remove(b"OCProperties") {
        Some(Object::Dictionary(mut made)) => match made.remove(b"D") {
            Some(Object::Dictionary(setting)) => (made, setting),
            _ => (made, Dictionary::new()),
        },
        _ => (Dictionary::new(), Dictionary::new()),
    };
    let mut list = |object: Option<&Object>| -> Vec<Object> {
        let list = array(source, object);
        list.iter().map(|it| copy.whole(it)).collect()
    };
    append(&mut made, "OCGs", list(layers.get(b"OCGs").ok()));
    if let Some(Object::Dictionary(one)) = value(source, layers, b"D") {
        for key in LAYER_LISTS {
            append(&mut setting, key, list(one.get(key.as_bytes()).ok()));
        }
        if value(source, one, b"BaseState").and_then(|it| it.as_name().ok()) == Some(b"OFF") {
            // Files may differ in their base state, so each hidden layer is listed under `OFF`.
            let shown: Vec<Object> = list(one.get(b"ON").ok());
            let all = list(layers.get(b"OCGs").ok());
            let hidden = all.into_iter().filter(|it| !shown.contains(it));
            append(&mut setting, "OFF", hidden.collect());
        }
    }
    made.set("D", setting);
    copy.target.catalog.set("OCProperties", made);
}

/// Appends to an array in a dictionary.
pub(crate) fn append(dictionary: &mut Dictionary, key: &str, more: Vec<Object>) {
    if more.is_empty() {
        return;
    }
    match dictionary.get_mut(key.as_bytes()) {
        Ok(Object::Array(list)) => list.extend(more),
        _ => dictionary.set(key, more),
    }
}

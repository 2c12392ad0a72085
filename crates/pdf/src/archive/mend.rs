//! Mends what an archival file must not have and nobody sees.

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{
    check::{is_size, sides},
    dictionaries::{each, each_mut, name},
    fonts,
    once::Once,
    operators::INTENTS,
};
use crate::{
    Error,
    open::{array, dictionary as dictionary_of, reference, value},
};

/// Actions that an archival file may have besides named ones (ISO 19005-2, 6.5.1).
const ACTIONS: [&[u8]; 6] = [
    b"GoTo",
    b"GoToE",
    b"GoToR",
    b"SubmitForm",
    b"Thread",
    b"URI",
];
/// Named actions that it may have.
const NAMED: [&[u8]; 4] = [b"NextPage", b"PrevPage", b"FirstPage", b"LastPage"];
/// Blend modes (ISO 32000-1, 11.3.5).
const MODES: [&[u8]; 17] = [
    b"Normal",
    b"Compatible",
    b"Multiply",
    b"Screen",
    b"Overlay",
    b"Darken",
    b"Lighten",
    b"ColorDodge",
    b"ColorBurn",
    b"HardLight",
    b"SoftLight",
    b"Difference",
    b"Exclusion",
    b"Hue",
    b"Saturation",
    b"Color",
    b"Luminosity",
];
/// Keys of the catalog that concern programs only.
const CATALOG: [&str; 6] = [
    "AA",
    "NeedsRendering",
    "Requirements",
    "Extensions",
    "Collection",
    "Perms",
];
/// Maximum number of bytes of all streams that are compressed anew.
const MAX_STREAMS: usize = 256 << 20;

/// Maximum depth of the tree of pages.
const MAX_NODES: usize = 100;

/// Whether `action` is one that an archival file does not have.
fn is_forbidden(action: &Dictionary) -> bool {
    match name(action, b"S") {
        Some(b"Named") => !name(action, b"N").is_some_and(|name| NAMED.contains(&name)),
        Some(kind) => !ACTIONS.contains(&kind),
        None => false,
    }
}

fn is_forbidden_in(document: &Document, action: &Object) -> bool {
    dictionary_of(document, action).is_some_and(is_forbidden)
}

/// What other objects refer to and that is mended where it stands.
#[derive(Default)]
struct Known {
    actions: HashSet<ObjectId>,
    states: HashSet<ObjectId>,
    /// Lists of graphics states that are objects of their own.
    lists: HashSet<ObjectId>,
    /// Dictionaries that are no action, as they do not say what they do.
    nothing: HashSet<ObjectId>,
}

impl Known {
    fn of(document: &Document) -> Self {
        let mut known = Self::default();
        for (id, object) in &document.objects {
            match object {
                Object::Dictionary(dictionary) if !dictionary.has(b"S") => {
                    known.nothing.insert(*id);
                }
                Object::Dictionary(dictionary) if is_forbidden(dictionary) => {
                    known.actions.insert(*id);
                }
                // A list of actions that a key refers to goes as a whole.
                Object::Array(actions)
                    if actions.iter().any(|it| is_forbidden_in(document, it)) =>
                {
                    known.actions.insert(*id);
                }
                _ => {}
            }
        }
        let mut once = Once::default();
        each(document, &mut |_, dictionary| {
            known.lists.extend(reference(dictionary, b"ExtGState"));
            let Some(states) = once.follow(document, dictionary, b"ExtGState") else {
                return;
            };
            for (_, state) in states {
                known.states.extend(state.as_reference());
            }
        });
        known
    }

    /// Mends graphics states that are objects, or in lists that are.
    fn mend_states(&self, document: &mut Document) {
        for id in &self.states {
            if let Ok(direct) = document.get_dictionary_mut(*id) {
                state(direct);
            }
        }
        for id in &self.lists {
            let list = document.get_dictionary_mut(*id).ok();
            for (_, direct) in list.into_iter().flat_map(Dictionary::iter_mut) {
                if let Object::Dictionary(direct) = direct {
                    state(direct);
                }
            }
        }
    }

    /// Whether `object` is a dictionary that does not say what it does.
    fn is_empty(&self, object: &Object) -> bool {
        match object {
            Object::Reference(id) => self.nothing.contains(id),
            Object::Dictionary(action) => !action.has(b"S"),
            other => other.is_null(),
        }
    }

    /// Whether `object` is an action that is removed.
    fn is_action(&self, object: &Object) -> bool {
        match object {
            Object::Reference(id) => self.actions.contains(id),
            Object::Dictionary(action) => is_forbidden(action),
            _ => false,
        }
    }
}

/// Mends `document`.
pub(super) fn mend(document: &mut Document, reasons: &mut Vec<String>) -> Result<(), Error> {
    direct_names(document);
    let known = Known::of(document);
    each_mut(document, &mut |_, dictionary| {
        // The file's own metadata is read when it is written anew.
        if name(dictionary, b"Type") != Some(b"Catalog") {
            dictionary.remove(b"Metadata");
        }
        dictionary.remove(b"AA");
        for key in [&b"A"[..], b"OpenAction", b"Next", b"PA"] {
            if dictionary.get(key).is_ok_and(|it| known.is_action(it)) {
                dictionary.remove(key);
            }
        }
        // Annotations, outlines and the catalog say what they do; elements have attributes at that key.
        let acts = ["Title", "Rect", "Pages"]
            .iter()
            .any(|key| dictionary.has(key.as_bytes()));
        for key in [&b"A"[..], b"OpenAction"] {
            if acts && dictionary.get(key).is_ok_and(|it| known.is_empty(it)) {
                dictionary.remove(key);
            }
        }
        if let Ok(Object::Array(actions)) = dictionary.get_mut(b"Next") {
            actions.retain(|action| !known.is_empty(action));
            actions.retain(|action| !known.is_action(action));
        }
        if name(dictionary, b"Type") == Some(b"ExtGState") {
            state(dictionary);
        }
        if let Ok(Object::Dictionary(states)) = dictionary.get_mut(b"ExtGState") {
            for (_, direct) in states.iter_mut() {
                if let Object::Dictionary(direct) = direct {
                    state(direct);
                }
            }
        }
        match name(dictionary, b"Subtype") {
            Some(b"Image") => {
                dictionary.remove(b"Alternates");
                dictionary.remove(b"OPI");
                dictionary.remove(b"Interpolate");
            }
            Some(b"Form") => {
                dictionary.remove(b"OPI");
                dictionary.remove(b"Subtype2");
                dictionary.remove(b"PS");
            }
            _ => {}
        }
        dictionary.remove(b"PresSteps");
        fonts::mend(dictionary);
        for key in [&b"Intent"[..], b"RI"] {
            let intent = name(dictionary, key);
            // What is no intent counts as the usual one (ISO 32000-1, 8.6.5.8).
            if intent.is_some_and(|it| !INTENTS.contains(&it)) && !is_group(dictionary) {
                dictionary.remove(key);
            }
        }
    });
    known.mend_states(document);
    compress(document, reasons);
    pages(document)?;
    catalog(document)
}

/// Puts names, and nothing, where only references to them are, so that each rule sees them.
pub(super) fn direct_names(document: &mut Document) {
    let names: HashMap<ObjectId, Object> = document
        .objects
        .iter()
        .filter(|(_, object)| matches!(object, Object::Name(_) | Object::Null))
        .map(|(id, name)| (*id, name.clone()))
        .collect();
    let known: HashSet<ObjectId> = document.objects.keys().copied().collect();
    each_mut(document, &mut |_, dictionary| {
        let mut nothing = Vec::new();
        for (key, entry) in dictionary.iter_mut() {
            if let Object::Reference(id) = entry {
                match names.get(id) {
                    Some(name) => *entry = name.clone(),
                    None if !known.contains(id) => *entry = Object::Null,
                    None => {}
                }
            }
            if entry.is_null() {
                nothing.push(key.clone());
            }
        }
        // An entry that is nothing is none (ISO 32000-1, 7.3.7).
        for key in nothing {
            dictionary.remove(&key);
        }
    });
}

/// Pages say that they are some; areas that say nothing to readers go if they are too small or too large
/// (6.1.13).
pub(super) fn pages(document: &mut Document) -> Result<(), Error> {
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        if name(document.get_dictionary(page)?, b"Type") != Some(b"Page") {
            document.get_dictionary_mut(page)?.set("Type", "Page");
        }
        for key in [&b"ArtBox"[..], b"BleedBox", b"TrimBox"] {
            let entries = document.get_dictionary(page)?;
            if entries.has(key) && !is_size(sides(document, entries.get(key).ok())) {
                document.get_dictionary_mut(page)?.remove(key);
            }
        }
    }
    Ok(())
}

/// Whether a dictionary is a group of layers, whose intent is something else (ISO 32000-1, 8.11.2).
fn is_group(dictionary: &Dictionary) -> bool {
    matches!(name(dictionary, b"Type"), Some(b"OCG" | b"OCMD"))
        || dictionary.has(b"BaseState")
        || dictionary.has(b"ON")
        || dictionary.has(b"OFF")
}

/// An ExtGState dictionary (ISO 19005-2, 6.2.5 and 6.2.10).
fn state(dictionary: &mut Dictionary) {
    dictionary.remove(b"TR");
    dictionary.remove(b"HTP");
    dictionary.remove(b"HTO");
    // Screens of printers, which those that show pages do not look at.
    dictionary.remove(b"HT");
    let is_known = |mode: &Object| mode.as_name().is_ok_and(|mode| MODES.contains(&mode));
    let mode = match dictionary.get(b"BM") {
        Ok(Object::Array(modes)) => modes.iter().find(|it| is_known(it)).cloned(),
        Ok(mode) => Some(mode.clone()).filter(is_known),
        Err(_) => Some(Object::Null),
    };
    match mode {
        Some(Object::Null) => {}
        Some(mode) => dictionary.set("BM", mode),
        // What is not known counts as normal (ISO 32000-1, 11.3.5).
        None => dictionary.set("BM", "Normal"),
    }
    if name(dictionary, b"TR2") != Some(b"Default") {
        dictionary.remove(b"TR2");
    }
}

/// Compresses LZW streams anew (6.1.7.2).
fn compress(document: &mut Document, reasons: &mut Vec<String>) {
    let mut left = MAX_STREAMS;
    for object in document.objects.values_mut() {
        let Object::Stream(stream) = object else {
            continue;
        };
        let filters = stream.filters().unwrap_or_default();
        if !filters.contains(&&b"LZWDecode"[..]) {
            continue;
        }
        match stream.decompressed_content_with_limit(left) {
            Ok(content) => {
                left = left.saturating_sub(content.len());
                stream.dict.remove(b"DecodeParms");
                stream.dict.remove(b"Filter");
                stream.set_content(content);
                // Content that does not shrink stays as it is, which is allowed.
                let _ = stream.compress();
            }
            Err(_) => reasons.push("a stream is compressed by LZW and cannot be read".to_owned()),
        }
    }
}

/// The catalog and what it alone refers to.
fn catalog(document: &mut Document) -> Result<(), Error> {
    let mut names = match value(document, document.catalog()?, b"Names") {
        Some(Object::Dictionary(names)) => Some(names.clone()),
        _ => None,
    };
    if let Some(names) = &mut names {
        names.remove(b"JavaScript");
        names.remove(b"AlternatePresentations");
        names.remove(b"Renditions");
    }
    let form = match value(document, document.catalog()?, b"AcroForm") {
        Some(Object::Dictionary(form)) => {
            let mut form = form.clone();
            form.remove(b"XFA");
            form.remove(b"NeedAppearances");
            Some(form)
        }
        _ => None,
    };
    let layers = layers(document)?;
    let catalog = document.catalog_mut()?;
    for key in CATALOG {
        catalog.remove(key.as_bytes());
    }
    if let Some(names) = names {
        catalog.set("Names", names);
    }
    if let Some(form) = form {
        catalog.set("AcroForm", form);
    }
    if let Some(layers) = layers {
        catalog.set("OCProperties", layers);
    }
    Ok(())
}

/// Layers: every configuration has a name, and none changes by itself (6.9).
pub(super) fn layers(document: &Document) -> Result<Option<Dictionary>, Error> {
    let Some(Object::Dictionary(layers)) = value(document, document.catalog()?, b"OCProperties")
    else {
        return Ok(None);
    };
    let mut layers = layers.clone();
    if let Ok(Object::Array(groups)) = layers.get_mut(b"OCGs") {
        groups.retain(|group| matches!(group, Object::Reference(_)));
    }
    let groups: HashSet<ObjectId> = array(document, layers.get(b"OCGs").ok())
        .iter()
        .filter_map(|group| group.as_reference().ok())
        .collect();
    let mut names = HashSet::new();
    let mut mended = |configuration: &Object, number: usize| {
        let mut configuration = match configuration {
            Object::Reference(id) => document.get_dictionary(*id).ok()?.clone(),
            Object::Dictionary(configuration) => configuration.clone(),
            _ => return None,
        };
        configuration.remove(b"AS");
        // An order that leaves layers out is not allowed; without one there is no list of layers.
        let mut listed = HashSet::new();
        if let Ok(order) = configuration.get(b"Order") {
            list_groups(document, order, 0, &mut listed);
        }
        if !groups.is_subset(&listed) {
            configuration.remove(b"Order");
        }
        let name = configuration.get(b"Name").and_then(Object::as_str);
        let is_own = name.is_ok_and(|name| !name.is_empty() && names.insert(name.to_vec()));
        if !is_own {
            let name = format!("Layers {number}");
            names.insert(name.clone().into_bytes());
            configuration.set("Name", Object::string_literal(name));
        }
        Some(Object::Dictionary(configuration))
    };
    let default = layers.get(b"D").ok().and_then(|it| mended(it, 1));
    if let Some(default) = default {
        layers.set("D", default);
    }
    let others: Vec<Object> = array(document, layers.get(b"Configs").ok())
        .iter()
        .enumerate()
        .filter_map(|(index, one)| mended(one, index + 2))
        .collect();
    if !others.is_empty() {
        layers.set("Configs", others);
    }
    Ok(Some(layers))
}

/// The layers that an order lists, also in lists inside of it.
fn list_groups(document: &Document, order: &Object, depth: usize, found: &mut HashSet<ObjectId>) {
    // A list that is named twice is looked at once.
    if let Object::Reference(id) = order
        && !found.insert(*id)
    {
        return;
    }
    if depth < MAX_NODES {
        for item in array(document, Some(order)) {
            list_groups(document, item, depth + 1, found);
        }
    }
}

/// Gives pages the resources that they inherit: archival content names its own (ISO 19005-2, 6.2.2). What
/// several pages inherit becomes an object of its own.
pub(super) fn own_resources(document: &mut Document) -> Result<(), Error> {
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        let mut node = page;
        for _ in 0..MAX_NODES {
            let entries = document.get_dictionary(node)?;
            let found = entries.get(b"Resources").ok();
            let is_found = value(document, entries, b"Resources").is_some_and(|it| !it.is_null());
            if is_found && node == page {
                break;
            }
            match found.filter(|_| is_found) {
                Some(Object::Reference(id)) => {
                    let shared = Object::Reference(*id);
                    document.get_dictionary_mut(page)?.set("Resources", shared);
                    break;
                }
                Some(direct) => {
                    let shared = direct.clone();
                    let shared = document.add_object(shared);
                    document.get_dictionary_mut(node)?.set("Resources", shared);
                    document.get_dictionary_mut(page)?.set("Resources", shared);
                    break;
                }
                None => match reference(entries, b"Parent") {
                    Some(parent) if document.get_dictionary(parent).is_ok() => node = parent,
                    _ => break,
                },
            }
        }
    }
    Ok(())
}

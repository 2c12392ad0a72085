//! What the tags of an accessible file stand for (ISO 14289-1, 7.1): types of structure that PDF 1.7 does not
//! know are mapped to the nearest that it does.

use std::collections::{BTreeMap, BTreeSet};

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};

use super::dictionaries::{each, each_mut, name};
use crate::{
    Error,
    open::{reference, value},
};

/// Types of structure in PDF 1.7 (ISO 32000-1, 14.8.4).
const KNOWN: &[&str] = &[
    "Document",
    "Part",
    "Art",
    "Sect",
    "Div",
    "BlockQuote",
    "Caption",
    "TOC",
    "TOCI",
    "Index",
    "NonStruct",
    "Private",
    "P",
    "H",
    "H1",
    "H2",
    "H3",
    "H4",
    "H5",
    "H6",
    "L",
    "LI",
    "Lbl",
    "LBody",
    "Table",
    "TR",
    "TH",
    "TD",
    "THead",
    "TBody",
    "TFoot",
    "Span",
    "Quote",
    "Note",
    "Reference",
    "BibEntry",
    "Code",
    "Link",
    "Annot",
    "Ruby",
    "RB",
    "RT",
    "RP",
    "Warichu",
    "WT",
    "WP",
    "Figure",
    "Formula",
    "Form",
];
/// Types that PDF 2.0 added (ISO 32000-2, 14.8.4), which Chromium writes into files of older versions, too,
/// and the nearest of the others.
const NEWER: [(&str, &str); 8] = [
    ("Em", "Span"),
    ("Strong", "Span"),
    ("Sub", "Span"),
    ("Title", "P"),
    ("FENote", "Note"),
    ("Aside", "Div"),
    ("DocumentFragment", "Div"),
    ("Artifact", "NonStruct"),
];
/// How many names a name may be mapped through.
const MAX_CHAIN: usize = 10;

/// Maps the types that the file uses. Names those that nothing is known of.
pub(super) fn map(document: &mut Document, reasons: &mut Vec<String>) -> Result<(), Error> {
    let Some(root) = reference(document.catalog()?, b"StructTreeRoot") else {
        return Ok(());
    };
    let Ok(tree) = document.get_dictionary(root) else {
        return Ok(());
    };
    let mut roles = match value(document, tree, b"RoleMap") {
        Some(Object::Dictionary(roles)) => roles.clone(),
        _ => Dictionary::new(),
    };
    let before = roles.clone();
    rename(document, &mut roles);
    let mut used = BTreeSet::new();
    each(document, &mut |_, dictionary| {
        if let Some(kind) = name(dictionary, b"S").filter(|_| is_element(dictionary)) {
            used.insert(kind.to_vec());
        }
    });
    for kind in used {
        let kind = String::from_utf8_lossy(&kind).into_owned();
        if is_mapped(&roles, &kind) {
            continue;
        }
        match NEWER.iter().find(|(newer, _)| *newer == kind) {
            Some((_, nearest)) => roles.set(kind, Object::Name(nearest.as_bytes().to_vec())),
            None => reasons.push(format!(
                "its tag `{kind}` is none of PDF 1.7, and it does not say which it stands for"
            )),
        }
    }
    if roles != before {
        document.get_dictionary_mut(root)?.set("RoleMap", roles);
    }
    Ok(())
}

fn is_element(dictionary: &Dictionary) -> bool {
    match name(dictionary, b"Type") {
        Some(kind) => kind == b"StructElem",
        None => reference(dictionary, b"P").is_some() && dictionary.has(b"K"),
    }
}

/// Types of PDF 1.7 must not stand for others (ISO 14289-1, 7.1): elements of such types, and types that
/// stand for them, get what they stood for.
fn rename(document: &mut Document, roles: &mut Dictionary) {
    let mut renamed = BTreeMap::new();
    for kind in KNOWN {
        if let Some(Object::Name(other)) = roles.remove(kind.as_bytes())
            && other != kind.as_bytes()
        {
            renamed.insert(kind.as_bytes(), other);
        }
    }
    if renamed.is_empty() {
        return;
    }
    // What a type stands for may stand for another.
    let last = |first: &Vec<u8>| {
        let mut kind = first;
        for _ in 0..MAX_CHAIN {
            kind = renamed.get(kind.as_slice()).unwrap_or(kind);
        }
        kind.clone()
    };
    let renamed: BTreeMap<&[u8], Vec<u8>> = renamed
        .iter()
        .map(|(kind, other)| (*kind, last(other)))
        .collect();
    for (_, other) in roles.iter_mut() {
        if let Some(new) = other.as_name().ok().and_then(|it| renamed.get(it)) {
            *other = Object::Name(new.clone());
        }
    }
    each_mut(document, &mut |_, dictionary| {
        let kind = name(dictionary, b"S").filter(|_| is_element(dictionary));
        if let Some(new) = kind.and_then(|kind| renamed.get(kind)) {
            dictionary.set("S", Object::Name(new.clone()));
        }
    });
}

/// Whether a type is known, or mapped to one that is.
fn is_mapped(roles: &Dictionary, kind: &str) -> bool {
    KNOWN.contains(&stands_for(roles, kind).as_str())
}

/// The type of PDF 1.7 that a type is mapped to; the last one of the chain where that is none.
pub(super) fn stands_for(roles: &Dictionary, kind: &str) -> String {
    let mut kind = kind.to_owned();
    for _ in 0..MAX_CHAIN {
        match name(roles, kind.as_bytes()) {
            Some(next) if !KNOWN.contains(&kind.as_str()) => {
                kind = String::from_utf8_lossy(next).into_owned();
            }
            _ => break,
        }
    }
    kind
}

/// Puts what stands in items of lists beside their labels and bodies into bodies (14.8.4.3.3): Chromium
/// leaves them out around elements such as emphasis.
pub(super) fn complete_items(document: &mut Document) {
    let is_item = |object: &Object| match object {
        Object::Dictionary(element) => name(element, b"S") == Some(b"LI"),
        _ => false,
    };
    let items = document.objects.iter().filter(|(_, it)| is_item(it));
    let items: Vec<ObjectId> = items.map(|(id, _)| *id).collect();
    for item in items {
        let Ok(element) = document.get_dictionary(item) else {
            continue;
        };
        let kids = match element.get(b"K") {
            Ok(Object::Array(kids)) => kids.clone(),
            Ok(kid) => vec![kid.clone()],
            Err(_) => continue,
        };
        let is_loose = |kid: &Object| {
            let element = kid
                .as_reference()
                .and_then(|id| document.get_dictionary(id));
            let kind = element.ok().and_then(|element| name(element, b"S"));
            kind.is_some_and(|kind| kind != b"Lbl" && kind != b"LBody")
        };
        let (loose, mut kept): (Vec<Object>, Vec<Object>) = kids.into_iter().partition(is_loose);
        if loose.is_empty() {
            continue;
        }
        let body = document.new_object_id();
        for id in loose.iter().filter_map(|kid| kid.as_reference().ok()) {
            if let Ok(element) = document.get_dictionary_mut(id) {
                element.set("P", body);
            }
        }
        let element = dictionary! {
            "Type" => "StructElem",
            "S" => "LBody",
            "P" => item,
            "K" => loose,
        };
        document.objects.insert(body, element.into());
        kept.push(body.into());
        if let Ok(element) = document.get_dictionary_mut(item) {
            element.set("K", kept);
        }
    }
}

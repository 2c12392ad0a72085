//! Annotations of archival and accessible files.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{dictionaries::name, structure};
use crate::{
    Error,
    annotation::annotations,
    flatten::hides_value,
    metadata::text_string,
    open::{array, dictionary, value},
};

/// Kinds that an archival file may have: others show or play what the file does not hold (ISO 19005-2, 6.3.1).
const KINDS: [&[u8]; 21] = [
    b"Text",
    b"Link",
    b"FreeText",
    b"Line",
    b"Square",
    b"Circle",
    b"Polygon",
    b"PolyLine",
    b"Highlight",
    b"Underline",
    b"Squiggly",
    b"StrikeOut",
    b"Stamp",
    b"Caret",
    b"Ink",
    b"Popup",
    b"FileAttachment",
    b"Widget",
    b"PrinterMark",
    b"Watermark",
    b"TrapNet",
];
/// Maximum number of annotations of all pages: pages may share a list of them.
const MAX_ANNOTATIONS: usize = 500_000;
/// Flags of annotations (12.5.3).
const INVISIBLE: i64 = 1;
const HIDDEN: i64 = 2;
const PRINT: i64 = 4;
const NO_ZOOM: i64 = 8;
const NO_ROTATE: i64 = 16;
const NO_VIEW: i64 = 32;
const TOGGLE: i64 = 256;

/// Mends the annotations of all pages of a file, which `leaves_looks` of fields to readers.
pub(super) fn mend(
    document: &mut Document,
    leaves_looks: bool,
    reasons: &mut Vec<String>,
) -> Result<(), Error> {
    within(document)?;
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        let list = annotations(document, page).to_vec();
        if list.is_empty() {
            continue;
        }
        let mut kept = Vec::with_capacity(list.len());
        for object in list {
            let Some(mended) = dictionary(document, &object).cloned() else {
                continue;
            };
            if leaves_looks && hides_value(document, &mended) {
                reasons.push(
                    "a field leaves it to readers to draw its value (6.4.1): fill it in or flatten \
                     the file"
                        .to_owned(),
                );
            }
            let Some(mended) = annotation(document, mended, reasons) else {
                continue;
            };
            match object {
                Object::Reference(id) => {
                    document.objects.insert(id, mended.into());
                    kept.push(id.into());
                }
                _ => kept.push(Object::Dictionary(mended)),
            }
        }
        document.get_dictionary_mut(page)?.set("Annots", kept);
    }
    Ok(())
}

/// Refuses files with too many annotations.
fn within(document: &Document) -> Result<(), Error> {
    let pages = document.page_iter();
    let count = pages.map(|page| annotations(document, page).len()).sum();
    if count > MAX_ANNOTATIONS {
        return Err(Error::TooLarge {
            what: "annotations",
            count,
            most: MAX_ANNOTATIONS,
        });
    }
    Ok(())
}

/// The annotation with what it may have; `None` if it may not be.
fn annotation(
    document: &Document,
    mut annotation: Dictionary,
    reasons: &mut Vec<String>,
) -> Option<Dictionary> {
    let kind = name(&annotation, b"Subtype").unwrap_or_default().to_vec();
    if !KINDS.contains(&kind.as_slice()) {
        return None;
    }
    if kind == b"FileAttachment" && name(&annotation, b"Name").is_none() {
        annotation.set("Name", "PushPin");
    }
    if kind == b"Popup" {
        annotation.remove(b"AP");
        let flags = value(document, &annotation, b"F").and_then(|flags| flags.as_i64().ok());
        if annotation.has(b"F") {
            annotation.set(
                "F",
                (flags.unwrap_or(0) | PRINT) & !(INVISIBLE | HIDDEN | NO_VIEW | TOGGLE),
            );
        }
        return Some(annotation);
    }
    let flags = value(document, &annotation, b"F").and_then(|flags| flags.as_i64().ok());
    let mut flags = flags.unwrap_or(0);
    let is_seen = flags & (INVISIBLE | HIDDEN | NO_VIEW) == 0;
    if !is_seen {
        // It must be shown if it is there.
        return None;
    }
    flags = (flags | PRINT) & !TOGGLE;
    if kind == b"Text" {
        flags |= NO_ZOOM | NO_ROTATE;
    }
    annotation.set("F", flags);
    if kind == b"Widget" {
        annotation.remove(b"A");
    }
    let rectangle = array(document, annotation.get(b"Rect").ok());
    let sides: Vec<f32> = rectangle
        .iter()
        .filter_map(|side| side.as_float().ok())
        .collect();
    let is_empty = matches!(*sides, [left, bottom, right, top] if left == right && bottom == top);
    let is_button = kind == b"Widget" && field_kind(document, &annotation) == Some(b"Btn");
    match appearance(document, &annotation, is_button) {
        Some(only) => {
            // What a button shows is one of its states.
            if is_button && !annotation.has(b"AS") {
                annotation.set("AS", "Off");
            }
            annotation.set("AP", only);
        }
        None if kind == b"Link" || is_empty => {
            annotation.remove(b"AP");
        }
        None => {
            let kind = String::from_utf8_lossy(&kind).into_owned();
            reasons.push(format!(
                "an annotation ({kind}) has no appearance (6.3.3): flatten the file"
            ));
        }
    }
    Some(annotation)
}

/// What kind of field a widget shows: its own, or that of the fields above it.
fn field_kind<'a>(document: &'a Document, widget: &'a Dictionary) -> Option<&'a [u8]> {
    let mut field = widget;
    for _ in 0..100 {
        if let Some(kind) = value(document, field, b"FT").and_then(|it| it.as_name().ok()) {
            return Some(kind);
        }
        field = value(document, field, b"Parent")?.as_dict().ok()?;
    }
    None
}

/// The normal appearance alone: of a button one for each of its states, and one of everything else.
fn appearance(document: &Document, annotation: &Dictionary, is_button: bool) -> Option<Dictionary> {
    let all = value(document, annotation, b"AP")?.as_dict().ok()?;
    let normal = all.get(b"N").ok()?;
    let state = || {
        let state = value(document, annotation, b"AS").and_then(|it| it.as_name().ok());
        state.unwrap_or(b"Off")
    };
    let normal = match (value(document, all, b"N")?, is_button) {
        (Object::Stream(_), false) => normal.clone(),
        (Object::Dictionary(states), true) if !states.is_empty() => normal.clone(),
        (Object::Stream(_), true) => {
            let mut states = Dictionary::new();
            states.set(state(), normal.clone());
            Object::Dictionary(states)
        }
        (Object::Dictionary(states), false) => {
            value(document, states, state())?.as_stream().ok()?;
            states.get(state()).ok()?.clone()
        }
        _ => return None,
    };
    let mut only = Dictionary::new();
    only.set("N", normal);
    Some(only)
}

/// Gives links a description, which PDF/UA asks for (ISO 14289-1, 7.18.5), and fields, where they are
/// `lenient`, their names as one (7.18.1).
pub(super) fn describe(document: &mut Document, lenient: bool) -> Result<(), Error> {
    within(document)?;
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        let all: Vec<ObjectId> = annotations(document, page)
            .iter()
            .filter_map(|annotation| annotation.as_reference().ok())
            .collect();
        for id in all {
            let Ok(one) = document.get_dictionary(id) else {
                continue;
            };
            match name(one, b"Subtype") {
                Some(b"Link") if text(document, one, b"Contents").is_none() => {
                    let target = value(document, one, b"A")
                        .and_then(|action| text(document, action.as_dict().ok()?, b"URI"));
                    let said = target.unwrap_or_else(|| "Link".to_owned());
                    let link = document.get_dictionary_mut(id)?;
                    link.set("Contents", text_string(&said));
                }
                Some(b"Widget") if lenient && field_text(document, one, b"TU").is_none() => {
                    if let Some(said) = field_text(document, one, b"T") {
                        let widget = document.get_dictionary_mut(id)?;
                        widget.set("TU", text_string(&said));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A text that is not empty.
fn text(document: &Document, entries: &Dictionary, key: &[u8]) -> Option<String> {
    let text = lopdf::decode_text_string(value(document, entries, key)?).ok()?;
    Some(text).filter(|text| !text.trim().is_empty())
}

/// A text of a field, or of those above it.
fn field_text(document: &Document, widget: &Dictionary, key: &[u8]) -> Option<String> {
    let mut field = widget;
    for _ in 0..100 {
        if let Some(found) = text(document, field, key) {
            return Some(found);
        }
        field = value(document, field, b"Parent")?.as_dict().ok()?;
    }
    None
}

/// Whether annotations are in the structure, and say what they are (ISO 14289-1, 7.18).
pub(super) fn check(document: &Document, reasons: &mut Vec<String>) -> Result<(), Error> {
    let (kinds, odd_forms) = structure::of_annotations(document)?;
    let mut broken: BTreeMap<&str, usize> = BTreeMap::new();
    if odd_forms > 0 {
        broken.insert("elements `Form` without a single field", odd_forms);
    }
    for page in document.page_iter() {
        for object in annotations(document, page) {
            let Some(one) = dictionary(document, object) else {
                continue;
            };
            let flags = value(document, one, b"F").and_then(|flags| flags.as_i64().ok());
            if flags.unwrap_or(0) & HIDDEN != 0 {
                continue;
            }
            let kind = object.as_reference().ok().and_then(|id| kinds.get(&id));
            let kind = kind.map_or("", String::as_str);
            let has_text = text(document, one, b"Contents").is_some();
            let (is_placed, says_something) = match name(one, b"Subtype") {
                Some(b"Widget") => (kind == "Form", field_text(document, one, b"TU").is_some()),
                Some(b"Link") => (kind == "Link", has_text),
                Some(b"TrapNet") => (false, has_text),
                Some(b"PrinterMark") => (kind.is_empty(), true),
                _ => (kind == "Annot", has_text),
            };
            let has_number = kind.is_empty() || one.has(b"StructParent");
            if !is_placed || !has_number {
                *broken
                    .entry("annotations that are not in an element for them")
                    .or_default() += 1;
            }
            if !says_something {
                *broken
                    .entry("annotations or fields without a description")
                    .or_default() += 1;
            }
        }
    }
    for (reason, count) in broken {
        reasons.push(format!("{reason}: {count} (ISO 14289-1, 7.18)"));
    }
    Ok(())
}

//! Annotations of archival and accessible files.

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::dictionaries::name;
use crate::{
    Error,
    annotation::annotations,
    metadata::text_string,
    open::{array, dictionary, value},
};

/// Kinds that show or play what the file does not hold (ISO 19005-2, 6.3.1).
const FORBIDDEN: [&[u8]; 5] = [b"3D", b"Sound", b"Screen", b"Movie", b"RichMedia"];
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

/// Mends the annotations of all pages.
pub(super) fn mend(document: &mut Document, reasons: &mut Vec<String>) -> Result<(), Error> {
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
    if FORBIDDEN.contains(&kind.as_slice()) {
        return None;
    }
    if kind == b"FileAttachment" && name(&annotation, b"Name").is_none() {
        annotation.set("Name", "PushPin");
    }
    if kind == b"Popup" {
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
    if kind == b"Link" || is_empty {
        return Some(annotation);
    }
    match appearance(document, &annotation) {
        Some(only) => annotation.set("AP", only),
        None => {
            let kind = String::from_utf8_lossy(&kind).into_owned();
            reasons.push(format!(
                "an annotation ({kind}) has no appearance (6.3.3): flatten the file"
            ));
        }
    }
    Some(annotation)
}

/// The normal appearance alone.
fn appearance(document: &Document, annotation: &Dictionary) -> Option<Dictionary> {
    let all = value(document, annotation, b"AP")?.as_dict().ok()?;
    let normal = all.get(b"N").ok()?;
    value(document, all, b"N")?;
    let mut only = Dictionary::new();
    only.set("N", normal.clone());
    Some(only)
}

/// Gives links a description, which PDF/UA asks for (ISO 14289-1, 7.18.5).
pub(super) fn name_links(document: &mut Document) -> Result<(), Error> {
    within(document)?;
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for page in pages {
        let links: Vec<ObjectId> = annotations(document, page)
            .iter()
            .filter_map(|annotation| annotation.as_reference().ok())
            .collect();
        for id in links {
            let Ok(link) = document.get_dictionary(id) else {
                continue;
            };
            if name(link, b"Subtype") != Some(b"Link") || link.has(b"Contents") {
                continue;
            }
            let target = value(document, link, b"A")
                .and_then(|action| value(document, action.as_dict().ok()?, b"URI"))
                .and_then(|target| lopdf::decode_text_string(target).ok());
            let text = target.unwrap_or_else(|| "Link".to_owned());
            document
                .get_dictionary_mut(id)?
                .set("Contents", text_string(&text));
        }
    }
    Ok(())
}

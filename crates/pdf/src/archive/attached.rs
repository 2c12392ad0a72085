//! Attached files of archival files (ISO 19005-2 and -3, 6.8).

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::{
    Part,
    dictionaries::{each, name as name_of},
};
use crate::{
    Error,
    open::{array, value},
};

/// Attached files: none in part 2; with a relationship to the document in part 3.
pub(super) fn mend(
    document: &mut Document,
    part: Part,
    reasons: &mut Vec<String>,
) -> Result<(), Error> {
    let mut specifications = Vec::new();
    let mut is_in_place = false;
    each(document, &mut |id, dictionary| {
        if dictionary.has(b"EF") {
            let is_object = document
                .get_dictionary(id)
                .is_ok_and(|it| std::ptr::eq(it, dictionary));
            match is_object {
                true => specifications.push(id),
                false => is_in_place = true,
            }
        }
    });
    if is_in_place {
        reasons
            .push("an attached file is described in place, and not by an object (6.8)".to_owned());
        return Ok(());
    }
    if specifications.is_empty() {
        return Ok(());
    }
    if part == Part::Two {
        reasons.push("it has attached files, which PDF/A-3 allows".to_owned());
        return Ok(());
    }
    let catalog = document.catalog()?;
    let mut associated: Vec<Object> = array(document, catalog.get(b"AF").ok()).to_vec();
    let known: HashSet<ObjectId> = associated
        .iter()
        .filter_map(|object| object.as_reference().ok())
        .collect();
    for id in specifications {
        let Ok(specification) = document.get_dictionary_mut(id) else {
            continue;
        };
        reasons.extend(name_file(specification).map(str::to_owned));
        if !known.contains(&id) {
            associated.push(id.into());
        }
        let files = value(document, document.get_dictionary(id)?, b"EF");
        let files = files.and_then(|files| files.as_dict().ok()).cloned();
        for (_, file) in files.iter().flat_map(Dictionary::iter) {
            if let Ok(file) = file.as_reference()
                && let Ok(Object::Stream(stream)) = document.get_object_mut(file)
                && !name_of(&stream.dict, b"Subtype").is_some_and(is_media_type)
            {
                let any = b"application/octet-stream".to_vec();
                stream.dict.set("Subtype", Object::Name(any));
            }
        }
    }
    document.catalog_mut()?.set("AF", associated);
    Ok(())
}

/// Gives a file its relationship and both of its names. Says what is wrong with it.
fn name_file(specification: &mut Dictionary) -> Option<&'static str> {
    if name_of(specification, b"AFRelationship").is_none() {
        specification.set("AFRelationship", "Unspecified");
    }
    let name = |key: &[u8]| {
        let name = specification.get(key).ok()?;
        name.as_str()
            .is_ok_and(|it| !it.is_empty())
            .then(|| name.clone())
    };
    match name(b"F").or_else(|| name(b"UF")) {
        Some(found) => {
            let long = name(b"UF").unwrap_or_else(|| found.clone());
            specification.set("F", found);
            specification.set("UF", long);
        }
        None => return Some("an attached file has no name (6.8)"),
    }
    None
}

/// Whether a name is that of a kind of file (RFC 2046).
fn is_media_type(name: &[u8]) -> bool {
    let is_part = |part: &[u8]| {
        let is_allowed = |it: &u8| it.is_ascii_alphanumeric() || b"-+._".contains(it);
        !part.is_empty() && part.iter().all(is_allowed)
    };
    let mut parts = name.split(|it| *it == b'/');
    let (first, second) = (parts.next(), parts.next());
    parts.next().is_none() && first.is_some_and(is_part) && second.is_some_and(is_part)
}

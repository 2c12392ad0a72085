//! Says whether a file is archival as it stands: by the rules of [`super::archive`], each of which
//! either refuses the file or changes it.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Object, ObjectId};
use serde::Serialize;

use super::{Archive, Part, conform};
use crate::{
    Error, Limits,
    metadata::claims,
    open::{open, value},
};

/// Maximum number of changes that are listed.
const MAX_CHANGES: usize = 50;

/// Keys that `archive` removes, and that may be right: lists of the glyphs of subsets (ISO 19005-2,
/// 6.2.11.4.2), and screens of printers (6.2.5).
const OPTIONAL: [&[u8]; 3] = [b"CIDSet", b"CharSet", b"HT"];

/// Whether a file satisfies a standard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// Whether no rule that is known here is broken.
    pub valid: bool,
    /// What was looked for: `PDF/A-2b`, `PDF/A-3b`, `PDF/UA-1`.
    pub standards: Vec<String>,
    /// What the file says that it satisfies.
    pub claims: Vec<String>,
    /// Rules that it breaks, and that cannot be mended.
    pub problems: Vec<String>,
    /// What `archive` would mend.
    pub changes: Vec<String>,
}

/// Whether `file` satisfies the standards of `how`, or those that it claims to. Calls `checkpoint`
/// before pages that it looks at; it may unwind, to end the work.
///
/// # Errors
/// The file cannot be read.
pub fn validate(
    file: &[u8],
    how: Option<&Archive>,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Validation, Error> {
    let mut document = open(file, limits)?;
    let mut found = Validation {
        claims: claims(&document),
        ..Validation::default()
    };
    let claims = |name: &str| found.claims.iter().any(|claim| claim.starts_with(name));
    let how = how.cloned().unwrap_or_else(|| Archive {
        part: match (claims("PDF/A-2"), claims("PDF/A-3")) {
            (true, _) => Part::Two,
            (_, true) => Part::Three,
            _ => Part::None,
        },
        accessible: claims("PDF/UA-1"),
        ..Archive::default()
    });
    let part = how.part.number().map(|number| format!("PDF/A-{number}b"));
    let accessible = how.accessible.then(|| "PDF/UA-1".to_owned());
    found.standards = part.into_iter().chain(accessible).collect();
    if found.standards.is_empty() {
        found.problems.push(match found.claims.first() {
            Some(claim) => format!("it says that it is {claim}, whose rules are not known here"),
            None => "it does not say that it satisfies a standard".to_owned(),
        });
        return Ok(found);
    }
    for standard in &found.standards {
        // A file at level A or U satisfies level B.
        let stem = standard.trim_end_matches('b');
        if !found.claims.iter().any(|claim| claim.starts_with(stem)) {
            let problem = format!("its metadata does not say that it is {standard}");
            found.changes.push(problem);
        }
    }
    if how.part != Part::None && !document.trailer.has(b"ID") {
        found.changes.push("the file has no identifier".to_owned());
    }
    let before = document.objects.clone();
    conform(&mut document, &how, "", &mut found.problems, checkpoint)?;
    found.problems.sort();
    found.problems.dedup();
    list_changes(&before, &document, &mut found.changes);
    found.valid = found.problems.is_empty() && found.changes.is_empty();
    Ok(found)
}

fn list_changes(
    before: &BTreeMap<ObjectId, Object>,
    document: &Document,
    changes: &mut Vec<String>,
) {
    let mut left_out = 0;
    for (id, object) in before {
        let after = document.objects.get(id);
        if after == Some(object) {
            continue;
        }
        let keys = match (parts(object), after.and_then(parts)) {
            (Some(old), Some(new)) => different(document, old, new),
            _ => Vec::new(),
        };
        // References that were followed, or the same list anew, are no change.
        let is_same = match (object, after) {
            (Object::Stream(old), Some(Object::Stream(new))) => old.content == new.content,
            (_, after) => after.is_some(),
        };
        if keys.is_empty() && parts(object).is_some() && is_same {
            continue;
        }
        if changes.len() >= MAX_CHANGES {
            left_out += 1;
            continue;
        }
        let kind = parts(object).and_then(|one| one.get(b"Type").ok()?.as_name().ok());
        let kind = kind.map_or_else(String::new, |kind| {
            format!(" ({})", String::from_utf8_lossy(kind))
        });
        changes.push(match keys.is_empty() {
            true => format!("object {}{kind}", id.0),
            false => format!("object {}{kind}: {}", id.0, keys.join(", ")),
        });
    }
    if left_out > 0 {
        changes.push(format!("and {left_out} more"));
    }
}

fn parts(object: &Object) -> Option<&Dictionary> {
    match object {
        Object::Dictionary(dictionary) => Some(dictionary),
        Object::Stream(stream) => Some(&stream.dict),
        _ => None,
    }
}

/// Keys whose values are not the same.
fn different(document: &Document, old: &Dictionary, new: &Dictionary) -> Vec<String> {
    let keys = old.iter().chain(new.iter()).map(|(key, _)| key);
    let mut keys: Vec<&Vec<u8>> = keys.collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
        .filter(|key| !OPTIONAL.contains(&key.as_slice()))
        .filter(|key| value(document, old, key) != value(document, new, key))
        .map(|key| String::from_utf8_lossy(key).into_owned())
        .collect()
}

//! Splits files by pages.

use std::collections::HashSet;

use lopdf::{Document, ObjectId};

use crate::{
    Error, Limits,
    catalog::take_over,
    copy::{Copy, Origin, Target},
    merge::newest,
    open::{open, save},
    signature::take_signatures,
};

/// How to split a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// Files of this many pages each.
    Every(usize),
    /// One file for each of the named pages, such as `1-3,7`.
    Pages(String),
    /// One file of the named pages, in the order in which they are named.
    Only(String),
    /// One file for each of these, each of the pages that it names.
    Ranges(Vec<String>),
}

/// Number of pages of a file.
///
/// # Errors
/// The file cannot be read.
pub fn page_count(file: &[u8], limits: &Limits) -> Result<usize, Error> {
    Ok(open(file, limits)?.page_iter().count())
}

/// The numbers, from 1, of the pages that `text` names, such as `1-3,7`, in this order; of all without
/// it.
///
/// # Errors
/// The file cannot be read, or does not have the pages.
pub fn page_numbers(file: &[u8], text: Option<&str>, limits: &Limits) -> Result<Vec<u32>, Error> {
    let count = page_count(file, limits)?;
    // Numbers pass for the objects of pages, as these are not needed.
    let all: Vec<ObjectId> = (1..=count as u32).map(|number| (number, 0)).collect();
    let found = chosen(text, &all, limits)?;
    Ok(found.into_iter().map(|(number, _)| number).collect())
}

/// Splits a file. Links within a part, form fields, layers and document properties are kept;
/// bookmarks, structure tags and signatures are not, because they are about the whole file.
///
/// # Errors
/// The file cannot be read, or does not have the named pages.
pub fn split(file: &[u8], how: &Split, limits: &Limits) -> Result<Vec<Vec<u8>>, Error> {
    split_between(file, how, limits, &|| {})
}

/// Like [`split`]; calls `checkpoint` before each part, as every part has its own copy of what pages
/// share.
pub(crate) fn split_between(
    file: &[u8],
    how: &Split,
    limits: &Limits,
    checkpoint: &dyn Fn(),
) -> Result<Vec<Vec<u8>>, Error> {
    let source = open(file, limits)?;
    let pages: Vec<ObjectId> = source.page_iter().collect();
    let parts: Vec<Vec<ObjectId>> = match how {
        Split::Every(count) => pages.chunks((*count).max(1)).map(<[_]>::to_vec).collect(),
        Split::Only(text) => vec![named(text, &pages, limits)?],
        Split::Ranges(texts) if texts.is_empty() || texts.len() > limits.pages => {
            return Err(Error::BadPages(format!("{} ranges", texts.len())));
        }
        Split::Ranges(texts) => {
            let parts = texts.iter().map(|text| {
                checkpoint();
                named(text, &pages, limits)
            });
            parts.collect::<Result<_, _>>()?
        }
        Split::Pages(text) => {
            let pages = named(text, &pages, limits)?.into_iter();
            pages.map(|page| vec![page]).collect()
        }
    };
    let origin = Origin::new(&source);
    let extracted = parts.iter().map(|part| {
        checkpoint();
        extract(&source, &origin, part)
    });
    extracted.collect()
}

fn extract(source: &Document, origin: &Origin<'_>, chosen: &[ObjectId]) -> Result<Vec<u8>, Error> {
    let mut target = Target::new("1.7");
    newest(&mut target.document, source);
    let mut copy = Copy::of_pages(origin, &mut target, chosen, None)?;
    take_over(&mut copy, chosen);
    if let Ok(info) = source.trailer.get(b"Info") {
        let info = copy.whole(info);
        target.document.trailer.set("Info", info);
    }
    let mut document = target.finish();
    take_signatures(&mut document);
    save(&mut document, true)
}

/// The pages that `text` names; all without it.
pub(crate) fn chosen(
    text: Option<&str>,
    pages: &[ObjectId],
    limits: &Limits,
) -> Result<Vec<ObjectId>, Error> {
    match text.map(str::trim) {
        None | Some("") => Ok(pages.to_vec()),
        Some(text) => named(text, pages, limits),
    }
}

/// Parses page ranges such as `1-3,7`; `5-` extends to the last page. `all`, `odd`, `even` and `last`
/// name pages, too, and `!` leaves out those that follow it: of all, where nothing else is named. A
/// page that is named twice is included once.
fn named(text: &str, pages: &[ObjectId], limits: &Limits) -> Result<Vec<ObjectId>, Error> {
    let wrong = || Error::BadPages(text.chars().take(100).collect());
    // A short text may name all pages again and again.
    let mut left = limits.pages.saturating_mul(4);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut left_out = HashSet::new();
    let mut is_of_all = true;
    for part in text.split(',') {
        let (is_left_out, part) = match part.trim().strip_prefix('!') {
            Some(part) => (true, part),
            None => (false, part),
        };
        let (first, last, step) = range(part.trim(), pages.len()).ok_or_else(wrong)?;
        left = left.checked_sub(last - first + 1).ok_or_else(wrong)?;
        let some = pages[first - 1..last].iter().step_by(step).copied();
        if is_left_out {
            left_out.extend(some);
        } else {
            is_of_all = false;
            found.extend(some.filter(|page| seen.insert(*page)));
        }
    }
    if is_of_all {
        found = pages.to_vec();
    }
    found.retain(|page| !left_out.contains(page));
    match found.is_empty() {
        true => Err(wrong()),
        false => Ok(found),
    }
}

/// The first and the last page that a part of page ranges names, and each which of them.
fn range(part: &str, count: usize) -> Option<(usize, usize, usize)> {
    let number = |text: &str| {
        let number = text.trim().parse::<usize>().ok();
        number.filter(|number| (1..=count).contains(number))
    };
    let (first, last) = match (part, part.split_once('-')) {
        ("all", _) => (1, count),
        ("odd", _) => return (count >= 1).then_some((1, count, 2)),
        ("even", _) => return (count >= 2).then_some((2, count, 2)),
        ("last", _) => (count, count),
        (_, None) => (number(part)?, number(part)?),
        (_, Some((first, last))) if last.trim().is_empty() => (number(first)?, count),
        (_, Some((first, last))) => (number(first)?, number(last)?),
    };
    (1 <= first && first <= last).then_some((first, last, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_named_in_ranges() {
        let pages: Vec<ObjectId> = (1..=9).map(|number| (number, 0)).collect();
        let limits = Limits::default();
        let numbers = |text: &str| {
            let found = named(text, &pages, &limits).ok()?;
            Some(found.iter().map(|id| id.0).collect::<Vec<u32>>())
        };
        assert_eq!(numbers("1-3, 7"), Some(vec![1, 2, 3, 7]));
        assert_eq!(numbers("8-,2,8"), Some(vec![8, 9, 2]));
        assert_eq!(numbers("last,odd"), Some(vec![9, 1, 3, 5, 7]));
        assert_eq!(numbers("even"), Some(vec![2, 4, 6, 8]));
        assert_eq!(numbers("!1, !5-"), Some(vec![2, 3, 4]));
        assert_eq!(numbers("3,1-4,!2"), Some(vec![3, 1, 4]));
        let many = ["all"; 5];
        let few = Limits {
            pages: 9,
            ..Limits::default()
        };
        assert!(super::named(&many[..4].join(","), &pages, &few).is_ok());
        assert!(super::named(&many.join(","), &pages, &few).is_err());
        for wrong in [
            "", "0", "10", "3-1", "a", "1-10", "-2", "!all", "2,!2", "!", "!!1", "ODD",
        ] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}

//! Splits files by pages.

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
}

/// Number of pages of a file.
///
/// # Errors
/// The file cannot be read.
pub fn page_count(file: &[u8], limits: &Limits) -> Result<usize, Error> {
    Ok(open(file, limits)?.page_iter().count())
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

/// Parses page ranges such as `1-3,7`; `5-` extends to the last page. A page that is named twice is
/// included once.
fn named(text: &str, pages: &[ObjectId], limits: &Limits) -> Result<Vec<ObjectId>, Error> {
    let wrong = || Error::BadPages(text.chars().take(100).collect());
    let number = |text: &str| match text.trim().parse::<usize>() {
        Ok(number) if (1..=pages.len()).contains(&number) => Ok(number),
        _ => Err(wrong()),
    };
    let mut found = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for part in text.split(',').take(limits.pages) {
        let (first, last) = match part.split_once('-') {
            None => (number(part)?, number(part)?),
            Some((first, last)) if last.trim().is_empty() => (number(first)?, pages.len()),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if first > last {
            return Err(wrong());
        }
        let some = pages[first - 1..last].iter();
        found.extend(some.copied().filter(|page| seen.insert(*page)));
    }
    Ok(found)
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
        for wrong in ["", "0", "10", "3-1", "a", "1-10", "-2"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}

//! Splits files by pages.

use lopdf::{Document, ObjectId};

use crate::{
    Error, Limits,
    catalog::take_over,
    copy::{Copy, Origin, Target},
    merge::newest,
    open::{open, save},
    selection::{Selection, bad_pages, chosen, named},
    signature::take_signatures,
};

/// How to split a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// Files of this many pages each.
    Every(usize),
    /// One file for each of the chosen pages.
    Pages(Selection),
    /// One file of the chosen pages.
    Only(Selection),
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
        Split::Only(selection) => vec![one_or_more(selection, &pages, limits)?],
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
        Split::Pages(selection) => {
            let pages = one_or_more(selection, &pages, limits)?.into_iter();
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

/// The chosen pages; an error if there are none, as a file has pages.
fn one_or_more(
    selection: &Selection,
    pages: &[ObjectId],
    limits: &Limits,
) -> Result<Vec<ObjectId>, Error> {
    let found = selection.of(pages, limits)?;
    match found.is_empty() {
        true => Err(bad_pages(selection.text())),
        false => Ok(found),
    }
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

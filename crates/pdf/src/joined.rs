//! Bookmarks of a file that is made of several.

use std::collections::BTreeMap;

use lopdf::{Document, Object};

use crate::{
    Error,
    bookmark::{Bookmark, MAX_BOOKMARKS, MAX_TITLE, bookmarks_of, count_of},
    open::{open, value},
    operations::{Conditions, FileError, NamedFile, of},
};

/// The bookmarks of files that are merged, with their pages counted in the merged file: those that
/// `lists` has for a file, or else its own. With `of_files` each file has a bookmark, at its first
/// page, with the others below.
pub(crate) fn joined<B: AsRef<[u8]>>(
    files: &[NamedFile<B>],
    lists: &BTreeMap<String, Vec<Bookmark>>,
    of_files: bool,
    conditions: &Conditions<'_>,
) -> Result<Vec<Bookmark>, FileError> {
    let mut all = Vec::new();
    let (mut before, mut count) = (0_u32, 0);
    for file in files {
        (conditions.checkpoint)();
        let document = open(file.bytes.as_ref(), &conditions.limits);
        let document = document.map_err(|error| of(file, error))?;
        let pages = u32::try_from(document.page_iter().count()).unwrap_or(u32::MAX);
        let mut own = match lists.get(&file.name) {
            Some(list) => list.clone(),
            None => bookmarks_of(&document),
        };
        shift(&mut own, before);
        if of_files && pages > 0 {
            own = vec![Bookmark {
                title: title(&document, &file.name),
                page: before.saturating_add(1),
                children: own,
            }];
        }
        // Many files may have as many as one may have.
        count += count_of(&own);
        if count > MAX_BOOKMARKS {
            let error = Error::TooLarge {
                what: "bookmarks",
                count,
                most: MAX_BOOKMARKS,
            };
            return Err(of(file, error));
        }
        all.extend(own);
        before = before.saturating_add(pages);
    }
    Ok(all)
}

fn shift(list: &mut [Bookmark], by: u32) {
    for bookmark in list {
        bookmark.page = bookmark.page.saturating_add(by);
        shift(&mut bookmark.children, by);
    }
}

/// The title of a file, or its name without the ending.
fn title(document: &Document, name: &str) -> String {
    let said = match value(document, &document.trailer, b"Info") {
        Some(Object::Dictionary(info)) => value(document, info, b"Title"),
        _ => None,
    };
    let said = said.and_then(|text| lopdf::decode_text_string(text).ok());
    let said = said.map(|text| text.trim().to_owned());
    let stem = match name.rsplit_once('.') {
        Some((stem, _)) if !stem.trim().is_empty() => stem,
        _ => name,
    };
    let mut title = said
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| stem.to_owned());
    title.truncate(title.floor_char_boundary(MAX_TITLE));
    title
}

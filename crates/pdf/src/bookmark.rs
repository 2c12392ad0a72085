//! Bookmarks: the document outline (12.3.3), read and written.

use std::collections::{BTreeMap, HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId, dictionary};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Limits,
    catalog::destinations,
    metadata::text_string,
    open::{dictionary as dictionary_of, open, reference, resolve, value},
};

/// Maximum number of bookmarks of a file.
pub(crate) const MAX_BOOKMARKS: usize = 20_000;
/// Maximum depth of bookmarks.
const MAX_DEPTH: usize = 32;
/// Maximum length of a title, in bytes.
pub(crate) const MAX_TITLE: usize = 4_096;

/// A bookmark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookmark {
    /// What it says.
    pub title: String,
    /// The page that it leads to, from 1.
    pub page: u32,
    /// Bookmarks below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Bookmark>,
}

/// The bookmarks of a file. Those that lead to no page of it are left out, with those below them.
///
/// # Errors
/// The file cannot be read.
pub fn read_bookmarks(file: &[u8], limits: &Limits) -> Result<Vec<Bookmark>, Error> {
    let document = open(file, limits)?;
    Ok(bookmarks_of(&document))
}

/// The bookmarks of an opened file.
pub(crate) fn bookmarks_of(document: &Document) -> Vec<Bookmark> {
    let outline = document.catalog().ok();
    let outline = outline.and_then(|catalog| value(document, catalog, b"Outlines"));
    let Some(first) = outline.and_then(|it| reference(it.as_dict().ok()?, b"First")) else {
        return Vec::new();
    };
    let pages = document.page_iter().zip(1..).collect();
    let mut reader = Reader {
        document,
        pages,
        names: destinations(document),
        seen: HashSet::new(),
    };
    reader.level(first, 0)
}

struct Reader<'d> {
    document: &'d Document,
    /// Numbers of pages, from 1.
    pages: HashMap<ObjectId, u32>,
    names: BTreeMap<Vec<u8>, Object>,
    /// Outline items that were read: a broken file may have circles.
    seen: HashSet<ObjectId>,
}

impl Reader<'_> {
    fn level(&mut self, first: ObjectId, depth: usize) -> Vec<Bookmark> {
        let mut found = Vec::new();
        let mut next = Some(first);
        while let Some(id) = next {
            if self.seen.len() >= MAX_BOOKMARKS || !self.seen.insert(id) {
                break;
            }
            let Ok(item) = self.document.get_dictionary(id) else {
                break;
            };
            // There is room for one above those of a file that is merged.
            let below = reference(item, b"First").filter(|_| depth + 1 < MAX_DEPTH);
            let title = value(self.document, item, b"Title");
            let title = title.and_then(|it| lopdf::decode_text_string(it).ok());
            if let (Some(title), Some(page)) = (title, self.page(item)) {
                let children = below.map_or_else(Vec::new, |id| self.level(id, depth + 1));
                found.push(Bookmark {
                    title,
                    page,
                    children,
                });
            }
            next = reference(item, b"Next");
        }
        found
    }

    /// The page that an outline item leads to.
    fn page(&self, item: &Dictionary) -> Option<u32> {
        let mut place = match item.get(b"Dest") {
            Ok(place) => resolve(self.document, place)?,
            Err(_) => {
                let action = dictionary_of(self.document, item.get(b"A").ok()?)?;
                value(self.document, action, b"D")?
            }
        };
        if let Object::Name(name) | Object::String(name, _) = place {
            place = resolve(self.document, self.names.get(name)?)?;
        }
        match place.as_array().ok()?.first()? {
            Object::Reference(id) => self.pages.get(id).copied(),
            Object::Integer(index) => u32::try_from(index.checked_add(1)?).ok(),
            _ => None,
        }
    }
}

/// How many bookmarks there are, those below others among them.
pub(crate) fn count_of(list: &[Bookmark]) -> usize {
    let below = list.iter().map(|bookmark| count_of(&bookmark.children));
    list.len() + below.sum::<usize>()
}

/// Replaces the bookmarks of `document`; an empty list removes them.
pub(crate) fn write_bookmarks(document: &mut Document, list: &[Bookmark]) -> Result<(), Error> {
    let pages: Vec<ObjectId> = document.page_iter().collect();
    let mut count = 0;
    check(list, pages.len(), 0, &mut count)?;
    if list.is_empty() {
        document.catalog_mut()?.remove(b"Outlines");
        document.prune_objects();
        return Ok(());
    }
    let root = document.new_object_id();
    let (first, last) = level(document, list, root, &pages);
    let open = list.len() as i64;
    let outline = dictionary! {
        "Type" => "Outlines", "First" => first, "Last" => last, "Count" => open,
    };
    document.objects.insert(root, outline.into());
    document.catalog_mut()?.set("Outlines", root);
    document.prune_objects();
    Ok(())
}

fn check(list: &[Bookmark], pages: usize, depth: usize, count: &mut usize) -> Result<(), Error> {
    for bookmark in list {
        *count += 1;
        let wrong = |problem: &'static str| {
            let title: String = bookmark.title.chars().take(100).collect();
            Err(Error::BadBookmark { title, problem })
        };
        if *count > MAX_BOOKMARKS || depth > MAX_DEPTH {
            return Err(Error::TooLarge {
                what: "bookmarks",
                count: *count,
                most: MAX_BOOKMARKS,
            });
        }
        if bookmark.title.trim().is_empty() {
            return wrong("has no title");
        }
        if bookmark.title.len() > MAX_TITLE {
            return wrong("has too long a title");
        }
        if bookmark.page == 0 || bookmark.page as usize > pages {
            return wrong("leads to a page that the file does not have");
        }
        check(&bookmark.children, pages, depth + 1, count)?;
    }
    Ok(())
}

/// Writes the items of a level, which is not empty; those below them are closed.
fn level(
    document: &mut Document,
    list: &[Bookmark],
    parent: ObjectId,
    pages: &[ObjectId],
) -> (ObjectId, ObjectId) {
    let ids: Vec<ObjectId> = list.iter().map(|_| document.new_object_id()).collect();
    for (index, bookmark) in list.iter().enumerate() {
        let page = pages[bookmark.page as usize - 1];
        let place: Vec<Object> = vec![page.into(), Object::Name(b"Fit".to_vec())];
        let mut item = dictionary! {
            "Title" => text_string(&bookmark.title), "Parent" => parent, "Dest" => place,
        };
        if let Some(before) = index.checked_sub(1).and_then(|before| ids.get(before)) {
            item.set("Prev", *before);
        }
        if let Some(after) = ids.get(index + 1) {
            item.set("Next", *after);
        }
        if !bookmark.children.is_empty() {
            let (first, last) = level(document, &bookmark.children, ids[index], pages);
            item.set("First", first);
            item.set("Last", last);
            item.set("Count", -(bookmark.children.len() as i64));
        }
        document.objects.insert(ids[index], item.into());
    }
    (ids[0], ids[ids.len() - 1])
}

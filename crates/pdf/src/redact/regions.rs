//! Which areas of which pages: numbers of pages and places as every program has them.

use std::collections::{BTreeMap, HashSet};

use lopdf::{Document, Object, ObjectId};
use serde::Deserialize;

use super::{area::Area, taken::impossible};
use crate::{
    Error,
    copy::inherited,
    flatten::numbers,
    open::{resolve, value},
    stamp::view,
};

/// Maximum number of areas of a file.
const MAX_REGIONS: usize = 10_000;
/// Maximum depth of the tree of pages.
const MAX_DEPTH: usize = 64;
/// What an area has of its page at least, both ways, in points: less is a mistake.
const LEAST: f32 = 0.1;

/// An area of a page whose content is taken out, in points; `x` and `y` are those of its lower left
/// corner, from the lower left corner of the page as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Number of the page, from 1.
    pub page: usize,
    /// From the left edge.
    pub x: f32,
    /// From the bottom.
    pub y: f32,
    /// Its width.
    pub width: f32,
    /// Its height.
    pub height: f32,
}

/// The areas of each page, in the space of its content.
pub(super) fn areas_of(
    document: &Document,
    regions: &[Region],
) -> Result<BTreeMap<ObjectId, Vec<Area>>, Error> {
    if regions.is_empty() {
        return Err(Error::BadRegion("there is none".to_owned()));
    }
    if regions.len() > MAX_REGIONS {
        return Err(Error::TooLarge {
            what: "areas to redact",
            count: regions.len(),
            most: MAX_REGIONS,
        });
    }
    let pages = pages_of(document)?;
    let mut areas: BTreeMap<ObjectId, Vec<Area>> = BTreeMap::new();
    for region in regions {
        let Region {
            page: number,
            x,
            y,
            width,
            height,
        } = *region;
        let Some(page) = number.checked_sub(1).and_then(|index| pages.get(index)) else {
            let count = pages.len();
            let why = format!("page {number} is not one of the {count} pages, counted from 1");
            return Err(Error::BadRegion(why));
        };
        let numbers = [x, y, width, height, x + width, y + height];
        if !numbers.iter().all(|it| it.is_finite()) || width <= 0.0 || height <= 0.0 {
            return Err(Error::BadRegion(
                "its width and height must be above 0".to_owned(),
            ));
        }
        let ((wide, high), turned) = shown(document, *page)?;
        if (x + width).min(wide) - x.max(0.0) < LEAST || (y + height).min(high) - y.max(0.0) < LEAST
        {
            return Err(Error::BadRegion(format!(
                "it is not on page {number}, which is {wide} by {high} points"
            )));
        }
        let area = Area::around(&[x, y, x + width, y + height], turned);
        areas.entry(*page).or_default().push(area);
    }
    Ok(areas)
}

/// The pages, if every program counts them in the same way.
fn pages_of(document: &Document) -> Result<Vec<ObjectId>, Error> {
    let mut tree = Tree {
        document,
        seen: HashSet::new(),
        pages: Vec::new(),
    };
    let is_plain = tree.walk(document.catalog()?.get(b"Pages")?, 0).is_some();
    let pages = tree.pages;
    match is_plain && document.page_iter().eq(pages.iter().copied()) {
        true => Ok(pages),
        false => Err(impossible("programs may count its pages in different ways")),
    }
}

struct Tree<'a> {
    document: &'a Document,
    seen: HashSet<ObjectId>,
    pages: Vec<ObjectId>,
}

impl Tree<'_> {
    /// Goes through a part of the tree of pages (7.7.3); `None` if anything is not as it should be.
    fn walk(&mut self, object: &Object, depth: usize) -> Option<()> {
        let document = self.document;
        let (Some(id), Object::Dictionary(entries)) = document.dereference(object).ok()? else {
            return None;
        };
        if depth > MAX_DEPTH || !self.seen.insert(id) {
            return None;
        }
        let kind = value(document, entries, b"Type")?.as_name().ok()?;
        match (kind, value(document, entries, b"Kids")) {
            (b"Page", None) => self.pages.push(id),
            (b"Pages", Some(Object::Array(kids))) => {
                let before = self.pages.len();
                for kid in kids {
                    self.walk(kid, depth + 1)?;
                }
                let count = value(document, entries, b"Count")?.as_i64().ok()?;
                let found = self.pages.len() - before;
                if usize::try_from(count).ok()? != found {
                    return None;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// The size of a page as it is shown, and the transformation from there to the space of its content.
/// What is shown is the crop box within the media box (14.11.2).
fn shown(document: &Document, page: ObjectId) -> Result<((f32, f32), [f32; 6]), Error> {
    let entries = document.get_dictionary(page)?;
    let read = |key: &[u8]| inherited(document, entries, key);
    let rotation = read(b"Rotate");
    let rotation = rotation.as_ref().and_then(|it| resolve(document, it));
    let is_turned_right = rotation.is_none_or(|it| it.as_i64().is_ok_and(|turn| turn % 90 == 0));
    let unit = value(document, entries, b"UserUnit").map_or(Ok(1.0), Object::as_float);
    let edges = |key: &[u8]| -> Option<[f32; 4]> {
        let [a, b, c, d] = numbers::<4>(document, Some(&read(key)?))?;
        Some([a.min(c), b.min(d), a.max(c), b.max(d)])
    };
    let is_within = match (edges(b"MediaBox"), edges(b"CropBox")) {
        (Some(media), Some(crop)) => {
            media[0] <= crop[0] && media[1] <= crop[1] && media[2] >= crop[2] && media[3] >= crop[3]
        }
        (Some(_), None) => read(b"CropBox").is_none(),
        _ => false,
    };
    match is_turned_right && unit.is_ok_and(|unit| unit == 1.0) && is_within {
        true => view(document, page),
        false => Err(impossible(
            "its page has a crop box beyond its media box, a unit of its own, or an odd rotation",
        )),
    }
}

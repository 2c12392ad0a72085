//! Turns pages (7.7.3.3, `Rotate`).

use lopdf::{Document, ObjectId};

use crate::{Error, Limits, imported_page::rotation_of, selection::Selection};

/// How pages are turned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    /// Clockwise, in degrees: 90, 180 or 270. It adds to how a page is turned already.
    pub degrees: u16,
    /// Whether `degrees`, which may be 0 then, replaces how a page is turned already.
    pub replaces: bool,
    /// Which pages; all without it.
    pub pages: Option<Selection>,
}

/// Turns the pages of `document`.
pub(crate) fn rotate(
    document: &mut Document,
    rotation: &Rotation,
    limits: &Limits,
) -> Result<(), Error> {
    let is_upright = rotation.replaces && rotation.degrees == 0;
    if !is_upright && ![90, 180, 270].contains(&rotation.degrees) {
        return Err(Error::BadAngle(rotation.degrees));
    }
    let pages: Vec<ObjectId> = document.page_iter().collect();
    for id in Selection::or_all(rotation.pages.as_ref(), &pages, limits)? {
        let page = document.get_dictionary(id)?;
        let before = match rotation.replaces {
            true => 0,
            false => rotation_of(document, page),
        };
        let after = (before + i64::from(rotation.degrees)).rem_euclid(360);
        document.get_dictionary_mut(id)?.set("Rotate", after);
    }
    Ok(())
}

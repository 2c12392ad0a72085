//! Tags (14.7.2): what they say instead of what they show goes where something of it was taken out.

use std::collections::{HashMap, HashSet};

use lopdf::{Document, Object, ObjectId};

use super::{
    part::SAID,
    taken::impossible,
    traces::{Traces, end_of},
};
use crate::{
    Error,
    open::{resolve, value},
};

/// Maximum depth of the tree.
const MAX_DEPTH: usize = 200;
/// Maximum number of kids that are looked at: so many, and so many for each object of the file.
const MAX_KIDS: (usize, usize) = (1_000_000, 4);
/// The work may end before every so many of them.
const CHECKED: usize = 4_096;

/// Takes what tags say from those that lost something.
pub(super) fn silence(
    document: &mut Document,
    traces: &Traces,
    checkpoint: &dyn Fn(),
) -> Result<(), Error> {
    let root = document
        .catalog()
        .ok()
        .and_then(|catalog| value(document, catalog, b"StructTreeRoot"));
    let Some(Object::Dictionary(root)) = root else {
        return Ok(());
    };
    let mut tree = Tree {
        document,
        traces,
        checkpoint,
        left: MAX_KIDS.0 + MAX_KIDS.1 * document.objects.len(),
        lost: HashSet::new(),
        seen: HashMap::new(),
    };
    if let Ok(kids) = root.get(b"K") {
        tree.kid(kids, None, 0)?;
    }
    let (lost, seen) = (tree.lost, tree.seen);
    let has_lost = traces.taken.values().any(|taken| taken.count > 0);
    for (id, object) in &mut document.objects {
        let Object::Dictionary(element) = object else {
            continue;
        };
        // One that the tree does not lead to may still be found by its parent.
        let is_stray = has_lost
            && !seen.contains_key(id)
            && element.has(b"S")
            && (element.has_type(b"StructElem") || (element.has(b"P") && element.has(b"K")));
        if lost.contains(id) || is_stray {
            SAID.iter()
                .chain(&[b"A".as_slice(), b"C", b"AF"])
                .for_each(|key| drop(element.remove(key)));
        }
    }
    Ok(())
}

struct Tree<'a> {
    document: &'a Document,
    traces: &'a Traces,
    checkpoint: &'a dyn Fn(),
    left: usize,
    lost: HashSet<ObjectId>,
    /// Whether something below elements that were seen lost something.
    seen: HashMap<ObjectId, bool>,
}

impl Tree<'_> {
    /// Whether a kid, or something below it, lost something.
    fn kid(&mut self, kid: &Object, page: Option<ObjectId>, depth: usize) -> Result<bool, Error> {
        self.left = self.left.saturating_sub(1);
        if self.left.is_multiple_of(CHECKED) {
            (self.checkpoint)();
        }
        if depth > MAX_DEPTH || self.left == 0 {
            return Err(impossible(
                "its tags are within each other too often, or too many",
            ));
        }
        let id = end_of(self.document, kid);
        let entries = match resolve(self.document, kid) {
            Some(Object::Integer(number)) => return Ok(self.has_lost(page, Some(*number))),
            Some(Object::Dictionary(entries)) => entries,
            Some(Object::Array(list)) => {
                let mut is_lost = false;
                for kid in list {
                    is_lost |= self.kid(kid, page, depth + 1)?;
                }
                return Ok(is_lost);
            }
            _ => return Ok(false),
        };
        let of = |key: &[u8]| end_of(self.document, entries.get(key).ok()?);
        let page = of(b"Pg").or(page);
        if entries.has_type(b"MCR") || (entries.has(b"MCID") && !entries.has(b"S")) {
            let number = value(self.document, entries, b"MCID").and_then(|it| it.as_i64().ok());
            return Ok(match of(b"Stm") {
                Some(form) => self.traces.replaced.contains(&form) || self.has_lost(page, None),
                None => self.has_lost(page, number),
            });
        }
        if entries.has_type(b"OBJR") || (entries.has(b"Obj") && !entries.has(b"S")) {
            let is_gone = of(b"Obj").is_some_and(|id| {
                self.traces.gone.contains(&id) || self.traces.replaced.contains(&id)
            });
            return Ok(is_gone || self.has_lost(page, None));
        }
        if let Some(id) = id {
            // One within itself has lost nothing yet.
            if let Some(is_lost) = self.seen.insert(id, false) {
                self.seen.insert(id, is_lost);
                return Ok(is_lost);
            }
        }
        let is_lost = match entries.get(b"K") {
            Ok(kids) => self.kid(kids, page, depth + 1)?,
            Err(_) => false,
        };
        if is_lost {
            match id {
                Some(id) => {
                    self.lost.insert(id);
                    self.seen.insert(id, true);
                }
                None if SAID.iter().any(|key| entries.has(key)) => {
                    return Err(impossible("a tag that tells it is part of another"));
                }
                None => {}
            }
        }
        Ok(is_lost)
    }

    /// Whether a piece of marked content of a page lost something; without a number, a form or an
    /// object of it.
    fn has_lost(&self, page: Option<ObjectId>, number: Option<i64>) -> bool {
        let Some(page) = page else {
            // Nobody knows of which page it is.
            return self.traces.taken.values().any(|taken| taken.count > 0);
        };
        let taken = self.traces.taken.get(&page);
        taken.is_some_and(|taken| match number {
            Some(number) => taken.marked.contains(&number) || taken.of_forms,
            None => taken.of_forms,
        })
    }
}

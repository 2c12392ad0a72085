//! What is known while the content of a page is written anew.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    rc::Rc,
};

use lopdf::{Document, Object, ObjectId};

use super::{
    area::Area,
    budget::Budget,
    taken::{Taken, impossible},
};
use crate::{Error, text::Font};

/// Writes the content of a page anew.
pub(super) struct Rewriter<'a> {
    pub(super) document: &'a Document,
    pub(super) areas: &'a [Area],
    pub(super) checkpoint: &'a dyn Fn(),
    pub(super) fonts: HashMap<ObjectId, Rc<Font>>,
    pub(super) budget: Budget,
    /// The number of the last object.
    last: u32,
    /// From what on a byte of a JPEG file is white.
    pub(super) white: u8,
    /// New objects.
    pub(super) made: BTreeMap<ObjectId, Object>,
    /// Objects of the file that had something in the areas.
    pub(super) replaced: HashSet<ObjectId>,
    /// What is there instead of forms that were replaced.
    pub(super) moved: BTreeMap<ObjectId, ObjectId>,
    pub(super) taken: Taken,
    /// Properties of marked content that lost something, as they are written.
    pub(super) said: HashSet<(usize, Vec<u8>)>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        document: &'a Document,
        areas: &'a [Area],
        budget: Budget,
        checkpoint: &'a dyn Fn(),
    ) -> Self {
        let highest = document.objects.keys().next_back().map_or(0, |id| id.0);
        Self {
            document,
            areas,
            checkpoint,
            fonts: HashMap::new(),
            budget,
            last: document.max_id.max(highest),
            white: u8::MAX,
            made: BTreeMap::new(),
            replaced: HashSet::new(),
            moved: BTreeMap::new(),
            taken: Taken::default(),
            said: HashSet::new(),
        }
    }

    /// Counts work that is to be done.
    pub(super) fn spend(&mut self, operations: usize) -> Result<(), Error> {
        self.budget.spend(operations, self.checkpoint)
    }

    /// The work may end here.
    pub(super) fn look(&self) {
        (self.checkpoint)();
    }

    /// Whether something is in an area, at least in part.
    pub(super) fn is_hit(&self, area: &Area) -> bool {
        self.areas.iter().any(|one| one.touches(area))
    }

    /// Whether something is in the areas as a whole.
    pub(super) fn is_inside(&self, area: &Area) -> bool {
        area.is_covered(self.areas)
    }

    pub(super) fn new_id(&mut self) -> Result<ObjectId, Error> {
        self.last = self
            .last
            .checked_add(1)
            .ok_or_else(|| impossible("it has too many objects"))?;
        Ok((self.last, 0))
    }
}

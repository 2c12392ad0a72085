//! Glyph outlines, one unit per em, y axis down, cached by face and glyph.

use std::{collections::HashMap, rc::Rc};

use platen_layout::{
    FaceId, Shaper,
    figure::{PathCommand, glyph_outline},
};

/// The outlines of all glyphs drawn so far.
pub(super) struct Outlines<'a> {
    shaper: &'a Shaper,
    cache: HashMap<(FaceId, u16), Rc<Vec<PathCommand>>>,
}

impl<'a> Outlines<'a> {
    pub fn new(shaper: &'a Shaper) -> Self {
        Self {
            shaper,
            cache: HashMap::new(),
        }
    }

    /// The outline of a glyph; empty if it has none.
    pub fn get(&mut self, face: FaceId, glyph: u16) -> Rc<Vec<PathCommand>> {
        let shaper = self.shaper;
        let outline = self.cache.entry((face, glyph)).or_insert_with(|| {
            let data = shaper.face(face);
            Rc::new(data.map_or_else(Vec::new, |data| glyph_outline(data, glyph)))
        });
        Rc::clone(outline)
    }
}

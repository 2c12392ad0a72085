//! The graphics state, as far as it matters here.

use std::rc::Rc;

use lopdf::{Dictionary, Document, Object, content::Operation};

use super::{area::form_area, part::Walk, rewriter::Rewriter, taken::impossible};
use crate::{
    Error,
    drawn::times,
    flatten::numbers,
    open::{dictionary, resolve, value},
    text::{Font, State, UNIT},
};

/// Fonts that are held at once.
const MAX_FONTS: usize = 64;

/// The text state with the matrix, and what things are painted with.
#[derive(Clone)]
pub(super) struct Graphics {
    pub(super) text: State,
    /// Whether a pattern that is drawn fills, and whether one strokes (8.7).
    pub(super) patterns: [bool; 2],
    /// Width of lines.
    pub(super) width: f32,
    /// Whether lines have gaps.
    pub(super) is_dashed: bool,
    /// Whether text that is shown cuts what is drawn behind it (9.3.6).
    pub(super) cuts: bool,
}

impl Graphics {
    pub(super) fn new(matrix: [f32; 6]) -> Self {
        Self {
            text: State::new(matrix),
            patterns: [false; 2],
            width: 1.0,
            is_dashed: false,
            cuts: false,
        }
    }

    /// How far lines reach to either side on the page, with their corners (8.4.3.5).
    pub(super) fn reach(&self) -> f32 {
        let [a, b, c, d, ..] = self.text.matrix;
        // A corner reaches farther than half the width; sharp ones are cut off (miter limit 10).
        let scale = a.hypot(b).max(c.hypot(d));
        self.width.abs() / 2.0 * scale * 1.5
    }

    /// What an operation does to colors and lines, and to what text does.
    pub(super) fn set(&mut self, operation: &Operation) {
        let first = operation.operands.first();
        let number = first.and_then(|it| it.as_float().ok());
        match operation.operator.as_str() {
            "w" => self.width = number.unwrap_or(1.0),
            "d" => {
                let list = first.and_then(|it| it.as_array().ok());
                self.is_dashed = list.is_some_and(|list| !list.is_empty());
            }
            "Tr" => self.cuts = number.is_some_and(|mode| mode >= 4.0),
            _ => {}
        }
        match operation.operator.as_str() {
            "sc" | "scn" | "g" | "rg" | "k" | "cs" => self.patterns[0] = false,
            "SC" | "SCN" | "G" | "RG" | "K" | "CS" => self.patterns[1] = false,
            _ => {}
        }
    }

    /// Whether a pattern that is drawn paints what an operation paints.
    pub(super) fn is_patterned(&self, operator: &str) -> bool {
        let [fills, strokes] = self.patterns;
        match operator {
            "S" | "s" => strokes,
            "f" | "F" | "f*" => fills,
            _ => fills || strokes,
        }
    }
}

impl Rewriter<'_> {
    pub(super) fn set_font(
        &mut self,
        operation: &Operation,
        state: &mut Graphics,
        walk: &Walk<'_>,
    ) -> Result<(), Error> {
        let [Object::Name(name), size] = operation.operands.as_slice() else {
            return Ok(());
        };
        let fonts = walk
            .resources
            .and_then(|it| value(self.document, it, b"Font")?.as_dict().ok());
        let entry = fonts.and_then(|fonts| fonts.get(name).ok());
        self.use_font(entry, size, state)
    }

    /// Sets a color, or a pattern, as the resources of the content have it that sets it.
    pub(super) fn set_pattern(&self, operation: &Operation, state: &mut Graphics, walk: &Walk<'_>) {
        state.set(operation);
        let Some(Object::Name(name)) = operation.operands.last() else {
            return;
        };
        let document = self.document;
        let pattern = walk.resources.and_then(|it| {
            let all = value(document, it, b"Pattern")?.as_dict().ok()?;
            value(document, all, name)
        });
        // A shading is a dictionary; a pattern that is drawn has content.
        let is_harmless = match pattern {
            Some(Object::Dictionary(pattern)) => {
                !is_drawn(document, value(document, pattern, b"Shading"))
            }
            _ => false,
        };
        let which = usize::from(operation.operator == "SCN");
        state.patterns[which] = !is_harmless;
    }

    /// Whether a shading that paints an area is more than a gradient.
    pub(super) fn is_drawn_shading(&self, operation: &Operation, walk: &Walk<'_>) -> bool {
        let name = operation.operands.first().and_then(|it| it.as_name().ok());
        let shading = (|| {
            let all = value(self.document, walk.resources?, b"Shading")?;
            value(self.document, all.as_dict().ok()?, name?)
        })();
        is_drawn(self.document, shading)
    }

    fn use_font(
        &mut self,
        entry: Option<&Object>,
        size: &Object,
        state: &mut Graphics,
    ) -> Result<(), Error> {
        let size = resolve(self.document, size).and_then(|it| it.as_float().ok());
        state.text.size = size.ok_or_else(|| impossible("a font has no size"))?;
        let id = entry.and_then(|it| it.as_reference().ok());
        if let Some(known) = id.and_then(|id| self.fonts.get(&id)) {
            state.text.font = Some(Rc::clone(known));
            return Ok(());
        }
        let font = entry.and_then(|it| dictionary(self.document, it));
        let font = font.map(|font| Rc::new(Font::read(self.document, font)));
        // One that is not held is read again and again.
        self.spend(font.as_ref().map_or(0, |font| font.cost()))?;
        if let (Some(id), Some(font)) = (id, &font) {
            if self.fonts.len() >= MAX_FONTS {
                self.fonts.clear();
            }
            self.fonts.insert(id, Rc::clone(font));
        }
        state.text.font = font;
        Ok(())
    }

    /// A graphics state may have a font, and a mask that is drawn (8.4.5, 11.6.5.2).
    pub(super) fn set_state(
        &mut self,
        operation: &Operation,
        state: &mut Graphics,
        walk: &Walk<'_>,
    ) -> Result<(), Error> {
        let document = self.document;
        let name = operation.operands.first().and_then(|it| it.as_name().ok());
        let entries = (|| {
            let states = value(document, walk.resources?, b"ExtGState")?
                .as_dict()
                .ok()?;
            value(document, states, name?)?.as_dict().ok()
        })();
        // Some programs look for it among the resources of whoever draws the form.
        let entries = entries.ok_or_else(|| impossible("a graphics state is not there"))?;
        if let Some(width) = value(document, entries, b"LW") {
            let width = width.as_float();
            state.width = width.map_err(|_| impossible("a line has no width"))?;
        }
        if let Some(Object::Array(dash)) = value(document, entries, b"D") {
            let list = dash.first().and_then(|it| resolve(document, it));
            state.is_dashed = !matches!(list, Some(Object::Array(list)) if list.is_empty());
        }
        if let Some(Object::Array(font)) = value(document, entries, b"Font")
            && let [font, size] = font.as_slice()
        {
            self.use_font(Some(font), size, state)?;
        }
        if let Some(Object::Dictionary(mask)) = value(document, entries, b"SMask") {
            let form = value(document, mask, b"G").and_then(|it| it.as_stream().ok());
            let area = form.and_then(|form| {
                let own = numbers::<6>(document, form.dict.get(b"Matrix").ok()).unwrap_or(UNIT);
                form_area(document, &form.dict, times(own, state.text.matrix))
            });
            if area.is_none_or(|area| self.is_hit(&area)) {
                return Err(impossible("a mask that is drawn lies over it"));
            }
        }
        Ok(())
    }
}

/// Whether a shading may show anything: a mesh, or one whose colors are a table of points (8.7.4.5). Those
/// along a line, between circles, or of a formula are gradients.
fn is_drawn(document: &Document, shading: Option<&Object>) -> bool {
    let Some(Object::Dictionary(shading)) = shading else {
        return true;
    };
    let number = |of: &Dictionary, key: &[u8]| value(document, of, key)?.as_i64().ok();
    match number(shading, b"ShadingType") {
        Some(2 | 3) => false,
        Some(1) => match value(document, shading, b"Function") {
            Some(Object::Stream(function)) => number(&function.dict, b"FunctionType") != Some(4),
            _ => true,
        },
        _ => true,
    }
}

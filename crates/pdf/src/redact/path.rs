//! Drawings: paths that are filled, stroked or cut along (8.5).

use lopdf::{Object, content::Operation};

use super::{
    area::{Area, transformed},
    graphics::Graphics,
    part::Walk,
    rewriter::Rewriter,
    taken::impossible,
};
use crate::Error;

/// Drawings of more segments are taken out even if an area has only a part of them: they may be
/// letters. Rules, frames and backgrounds have fewer.
const SIMPLE: usize = 16;
/// So are drawings that are smaller than this both ways, in points: a letter may have few segments.
const LETTER: f32 = 24.0;
/// Half the width of a line whose gaps may say something, in points.
const THICK: f32 = 2.0;
/// Maximum number of operations of a path.
const MAX_OPERATIONS: usize = 1_000_000;

/// A path that is not painted yet.
#[derive(Default)]
pub(super) struct Path {
    operations: Vec<Operation>,
    clip: Option<Operation>,
    /// On the page.
    bounds: Option<Area>,
    /// In the space of the content.
    own: Option<Area>,
    segments: usize,
}

impl Path {
    pub(super) fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.clip.is_none()
    }

    /// Adds an operation that makes the path longer, or that cuts along it.
    pub(super) fn add(&mut self, operation: Operation, matrix: [f32; 6]) -> Result<(), Error> {
        if matches!(operation.operator.as_str(), "W" | "W*") {
            self.clip = Some(operation);
            return Ok(());
        }
        if self.operations.len() >= MAX_OPERATIONS {
            return Err(impossible("a drawing is too large"));
        }
        let numbers: Option<Vec<f32>> = (operation.operands.iter())
            .map(|operand| Object::as_float(operand).ok())
            .collect();
        let numbers = numbers.unwrap_or_default();
        let points: Vec<(f32, f32)> = match (operation.operator.as_str(), numbers.as_slice()) {
            ("h", []) => Vec::new(),
            ("re", &[x, y, width, height]) => vec![
                (x, y),
                (x + width, y + height),
                (x + width, y),
                (x, y + height),
            ],
            ("m" | "l", &[x, y]) => vec![(x, y)],
            ("c", &[a, b, c, d, e, f]) => vec![(a, b), (c, d), (e, f)],
            ("v" | "y", &[a, b, c, d]) => vec![(a, b), (c, d)],
            _ => return Err(impossible("a drawing is not as the standard says")),
        };
        self.segments += if operation.operator == "re" { 4 } else { 1 };
        for (x, y) in points {
            let (px, py) = transformed((x, y), matrix);
            if !px.is_finite() || !py.is_finite() {
                return Err(impossible("nobody knows where a drawing is"));
            }
            let on_page = self.bounds.unwrap_or_else(|| Area::at(px, py));
            self.bounds = Some(on_page.with(px, py));
            self.own = Some(self.own.unwrap_or_else(|| Area::at(x, y)).with(x, y));
        }
        self.operations.push(operation);
        Ok(())
    }
}

impl Rewriter<'_> {
    /// Paints a path, or takes it out.
    pub(super) fn paint(
        &mut self,
        path: Path,
        operation: Operation,
        state: &Graphics,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        self.spend(self.areas.len() / 16)?;
        let strokes = !matches!(operation.operator.as_str(), "f" | "F" | "f*" | "n");
        let bounds = path.bounds.map(|bounds| match strokes {
            true => bounds.grown(state.reach()),
            false => bounds,
        });
        let hit = bounds.filter(|bounds| self.is_hit(bounds));
        let Some(bounds) = hit else {
            put(&path, &operation, walk);
            return Ok(());
        };
        self.spend(self.areas.len())?;
        let (width, height) = bounds.size();
        let is_painted = operation.operator != "n";
        let is_small = width < LETTER && height < LETTER;
        let is_inside = path.bounds.is_some_and(|own| self.is_inside(&own));
        let is_out = is_inside || path.segments > SIMPLE || is_small;
        if is_painted && state.is_patterned(&operation.operator) {
            // The pattern would still be there.
            return Err(impossible(
                "something in it is filled with a pattern of drawings",
            ));
        }
        let is_letters = path.segments > 4;
        let is_narrow = width < LETTER || height < LETTER;
        if path.clip.is_some() && is_letters && !is_inside && (is_out || is_narrow) {
            return Err(impossible(
                "something in it is cut along an outline of many parts",
            ));
        }
        if !is_out {
            // The gaps of a thick line may be letters, or bars.
            if strokes && state.is_dashed && state.reach() > THICK {
                return Err(impossible("a thick line with gaps lies in it"));
            }
            put(&path, &operation, walk);
            return Ok(());
        }
        match path.clip {
            // What is cut along stays, but not its outline.
            Some(clip) if is_letters => {
                let [left, bottom, right, top] =
                    path.own.map(|own| own.edges()).unwrap_or_default();
                let sides = [left, bottom, right - left, top - bottom];
                let sides = sides.into_iter().map(Object::Real).collect();
                walk.lose(&mut self.taken);
                walk.part.put(&Operation::new("re", sides));
                walk.part.put(&clip);
                walk.part.put(&Operation::new("n", Vec::new()));
            }
            Some(_) => {
                let nothing = Operation::new("n", Vec::new());
                if is_painted {
                    walk.lose(&mut self.taken);
                }
                put(&path, &nothing, walk);
            }
            None if is_painted => walk.lose(&mut self.taken),
            None => {}
        }
        Ok(())
    }
}

fn put(path: &Path, operation: &Operation, walk: &mut Walk<'_>) {
    path.operations.iter().for_each(|it| walk.part.put(it));
    path.clip.iter().for_each(|it| walk.part.put(it));
    walk.part.put(operation);
}

//! Content of pages and forms, written anew without what is in the areas.

use lopdf::{
    Dictionary, Object, ObjectId, Stream,
    content::{Content, Operation},
};

use super::{
    graphics::Graphics,
    operators,
    part::{Part, Walk, weight},
    rewriter::Rewriter,
    source::{END, content_of, ended, packed},
    taken::impossible,
};
use crate::{
    Error,
    drawn::times,
    flatten::numbers,
    open::{dictionary, value},
    text::{Place, UNIT},
};

/// Maximum depth of forms within forms, and of saved graphics states.
const MAX_DEPTH: usize = 12;
const MAX_SAVED: usize = 256;
/// Keys of a form that say how it is coded, or that may hold more of it.
const MORE: [&str; 8] = [
    "Filter",
    "DecodeParms",
    "PieceInfo",
    "Metadata",
    "LastModified",
    "AF",
    "Ref",
    "OPI",
];
/// Refuses numbers so large that what is added to them is lost: nobody knows then where things are.
fn is_near(state: &Graphics, place: &Place) -> Result<(), Error> {
    let mut all = [state.text.matrix, place.now, place.line]
        .into_iter()
        .flatten();
    match all.all(|number| number.abs() <= operators::MOST) {
        true => Ok(()),
        false => Err(impossible("its numbers are too large to tell where it is")),
    }
}

/// Programs differ in where things are if operations stand elsewhere than they may (8.2).
fn in_order(operator: &str, is_nothing_saved: bool, walk: &Walk<'_>) -> Result<(), Error> {
    let is_odd = match operator {
        "q" | "Q" | "cm" | "BT" | "Do" | "sh" | "BI" | "m" | "l" | "c" | "v" | "y" | "h" | "re" => {
            walk.is_in_text
        }
        "ET" | "Tj" | "TJ" | "'" | "\"" | "Td" | "TD" | "Tm" | "T*" => !walk.is_in_text,
        _ => false,
    };
    if is_odd || (operator == "Q" && is_nothing_saved && walk.depth > 0) {
        return Err(impossible("text and drawings are not as the standard says"));
    }
    if matches!(operator, "q" | "Q" | "cm" | "BT" | "Do" | "BI") && !walk.path.is_empty() {
        return Err(impossible("a drawing is not as the standard says"));
    }
    Ok(())
}

impl Rewriter<'_> {
    /// The content of a page.
    pub(super) fn page(&mut self, content: &[u8], resources: &Dictionary) -> Result<Part, Error> {
        self.content(content, Some(resources), Graphics::new(UNIT), 0)
    }

    fn content(
        &mut self,
        content: &[u8],
        resources: Option<&Dictionary>,
        mut state: Graphics,
        depth: usize,
    ) -> Result<Part, Error> {
        let content =
            ended(content).ok_or_else(|| impossible("content cannot be read to its end"))?;
        let mut walk = Walk::new(resources, depth);
        let mut saved = Vec::new();
        let mut place = Place::default();
        let mut is_whole = false;
        for operation in Content::decode_iter(&content) {
            let Ok(operation) = operation else { break };
            self.spend(1)?;
            if is_whole {
                is_whole = false;
                break;
            }
            if operation.operator == END {
                is_whole = operation.operands.is_empty();
                continue;
            }
            operators::check(&operation)?;
            self.operation(operation, &mut state, &mut saved, &mut place, &mut walk)?;
        }
        self.said.extend(walk.part.lost().cloned());
        match is_whole && walk.path.is_empty() && !walk.is_in_text {
            true => Ok(walk.part),
            false => Err(impossible("content cannot be read to its end")),
        }
    }

    fn operation(
        &mut self,
        operation: Operation,
        state: &mut Graphics,
        saved: &mut Vec<Graphics>,
        place: &mut Place,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        in_order(&operation.operator, saved.is_empty(), walk)?;
        match operation.operator.as_str() {
            "m" | "l" | "c" | "v" | "y" | "h" | "re" | "W" | "W*" => {
                walk.path.add(operation, state.text.matrix)?;
            }
            "S" | "s" | "f" | "F" | "f*" | "B" | "B*" | "b" | "b*" | "n" => {
                let path = std::mem::take(&mut walk.path);
                self.paint(path, operation, state, walk)?;
            }
            "q" => {
                if saved.len() >= MAX_SAVED {
                    return Err(impossible("content saves its state too often"));
                }
                saved.push(state.clone());
                walk.part.put(&operation);
            }
            "Q" => {
                if let Some(before) = saved.pop() {
                    *state = before;
                }
                walk.part.put(&operation);
            }
            "DP" => self.mark_point(&operation, walk)?,
            "Do" => self.draw(&operation, state, walk)?,
            "BI" => self.inline_picture(&operation, state, walk)?,
            "BMC" | "BDC" => self.open_mark(&operation, walk)?,
            "EMC" => {
                walk.marks.pop();
                walk.part.put(&operation);
            }
            "Tj" | "TJ" | "'" | "\"" => {
                self.show(operation, state, place, walk)?;
                is_near(state, place)?;
            }
            _ => {
                self.change(&operation, state, place, walk)?;
                is_near(state, place)?;
                walk.part.put(&operation);
            }
        }
        Ok(())
    }

    /// What an operation that stays as it is does to the state.
    fn change(
        &mut self,
        operation: &Operation,
        state: &mut Graphics,
        place: &mut Place,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        match operation.operator.as_str() {
            "cm" => {
                if let Some(change) = crate::text::floats(&operation.operands) {
                    state.text.matrix = times(change, state.text.matrix);
                }
            }
            "BT" | "ET" => {
                walk.is_in_text = operation.operator == "BT";
                state.text.set(operation, place);
            }
            "scn" | "SCN" => self.set_pattern(operation, state, walk),
            "sh" if self.is_drawn_shading(operation, walk) => {
                return Err(impossible("a shading may show anything"));
            }
            "gs" => self.set_state(operation, state, walk)?,
            "Tf" => self.set_font(operation, state, walk)?,
            _ => {
                state.set(operation);
                state.text.set(operation, place);
            }
        }
        Ok(())
    }

    /// Draws another object instead of what an operation drew.
    pub(super) fn draw_new(&mut self, id: ObjectId, walk: &mut Walk<'_>) {
        let known = walk
            .resources
            .and_then(|it| value(self.document, it, b"XObject")?.as_dict().ok());
        let mut name = format!("Redacted{}", walk.part.added.len()).into_bytes();
        while known.is_some_and(|known| known.has(&name)) {
            name.push(b'x');
        }
        walk.part
            .put(&Operation::new("Do", vec![Object::Name(name.clone())]));
        walk.part.added.push((name, id));
    }

    fn draw(
        &mut self,
        operation: &Operation,
        state: &Graphics,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        let document = self.document;
        let name = operation.operands.first().and_then(|it| it.as_name().ok());
        let entry = (|| {
            let objects = value(document, walk.resources?, b"XObject")?
                .as_dict()
                .ok()?;
            document.dereference(objects.get(name?).ok()?).ok()
        })();
        // Some programs look for it among the resources of whoever draws the form.
        let (Some(name), Some((Some(id), Object::Stream(stream)))) = (name, entry) else {
            return Err(impossible("something is drawn that is not there"));
        };
        let kind = value(document, &stream.dict, b"Subtype").and_then(|it| it.as_name().ok());
        match kind {
            Some(b"Image") => self.draw_picture((name, id, stream), state, walk),
            Some(b"Form") => self.draw_form((name, id, stream), state, walk),
            // PostScript is not drawn by anybody any more (8.8.2), and nobody knows where.
            _ => Err(impossible(
                "something is drawn that is no picture and no form",
            )),
        }
    }

    /// Draws an object as it is.
    pub(super) fn keep(name: &[u8], walk: &mut Walk<'_>) {
        walk.part.used.insert(name.to_vec());
        let name = Object::Name(name.to_vec());
        walk.part.put(&Operation::new("Do", vec![name]));
    }

    fn draw_form(
        &mut self,
        (name, id, form): (&[u8], ObjectId, &Stream),
        state: &Graphics,
        walk: &mut Walk<'_>,
    ) -> Result<(), Error> {
        let document = self.document;
        let mut inner = state.clone();
        if form.dict.has(b"Matrix") {
            let own = numbers::<6>(document, form.dict.get(b"Matrix").ok())
                .filter(|own| own.iter().all(|it| it.abs() <= operators::MOST))
                .ok_or_else(|| impossible("nobody knows where a form is drawn"))?;
            inner.text.matrix = times(own, inner.text.matrix);
            is_near(&inner, &Place::default())?;
        }
        // One without resources of its own uses those of the page.
        walk.part.keeps_all |= !form.dict.has(b"Resources");
        if walk.depth == MAX_DEPTH {
            return Err(impossible("forms are within forms too often"));
        }
        self.spend(form.content.len() / 8)?;
        // What its box cuts off is not seen, but can be read.
        let content = content_of(document, form)?;
        self.spend(content.len() / 8)?;
        let own = form.dict.get(b"Resources").ok();
        let own = own.and_then(|it| dictionary(document, it));
        let resources = own.or(walk.resources);
        let part = self.content(&content, resources, inner, walk.depth + 1)?;
        if !part.is_changed {
            Self::keep(name, walk);
            return Ok(());
        }
        let mut entries = form.dict.clone();
        for key in MORE {
            entries.remove(key.as_bytes());
        }
        entries.set("Resources", self.resources(resources, &part));
        // Each drawing of a form has a copy of its own.
        self.spend(weight(&entries))?;
        let made = packed(entries, &part.bytes(), self.checkpoint)?;
        self.budget
            .make(made.content.len() + weight(&made.dict) * 8)?;
        let new = self.new_id()?;
        self.made.insert(new, made.into());
        self.replaced.insert(id);
        self.moved.insert(id, new);
        walk.lose(&mut self.taken);
        self.draw_new(new, walk);
        Ok(())
    }
}

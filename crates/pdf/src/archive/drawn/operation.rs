//! What each operation of content does.

use std::{collections::HashSet, rc::Rc};

use lopdf::{Dictionary, Object, content::Operation};

use super::{MAX_SAVED, Shown, State, Walker, address, too_much};
use crate::{
    Error,
    archive::{
        dictionaries::name,
        limits,
        operators::{INTENTS, is_operator, named},
    },
    open::{array, dictionary as dictionary_of, value},
    text::Font,
};

impl<'a> Walker<'a> {
    pub(super) fn operation(
        &mut self,
        operation: &Operation,
        resources: Option<&'a Dictionary>,
        states: &mut Vec<State>,
        depth: usize,
    ) -> Result<(), Error> {
        let operands = &operation.operands;
        self.name(operation, resources);
        if let Some(problem) = operands.iter().find_map(|it| limits::problem(it, 0)) {
            self.refuse(problem);
        }
        let saved = states.len() - 1;
        let Some(state) = states.last_mut() else {
            return Ok(());
        };
        match operation.operator.as_str() {
            "q" if saved < MAX_SAVED => {
                let state = state.clone();
                states.push(state);
            }
            "q" => self.refuse("its content saves the graphics state too deeply (6.1.13)"),
            "Q" if saved > 0 => drop(states.pop()),
            "Tf" => state.font = self.font(operands.first(), resources)?,
            "gs" => {
                state.font = self
                    .font_of_state(operands.first(), resources)?
                    .or(state.font);
            }
            "Tr" => {
                let mode = operands.first().and_then(|it| it.as_i64().ok());
                state.is_invisible = mode == Some(3);
            }
            "Tj" | "TJ" | "'" | "\"" => self.show(operation, state)?,
            "rg" | "RG" => self.drawn.devices.rgb = true,
            "k" | "K" => self.drawn.devices.cmyk = true,
            "cs" | "CS" => {
                let space = operands.first().and_then(|it| it.as_name().ok());
                self.drawn.devices.add(space.unwrap_or_default());
            }
            "Do" => {
                let state = state.clone();
                self.draw(operation, resources, &state, depth)?;
            }
            "ri" => {
                let intent = operands.first().and_then(|it| it.as_name().ok());
                if !intent.is_some_and(|it| INTENTS.contains(&it)) {
                    self.refuse("its content has a rendering intent that is none (6.2.6)");
                }
            }
            other if !is_operator(other) => {
                self.refuse("its content has an operator that PDF does not know (6.2.2)");
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes whether an operation names something that resources have: what only those around a form have
    /// is not its own.
    fn name(&mut self, operation: &Operation, resources: Option<&'a Dictionary>) {
        let Some((kind, name)) = named(operation) else {
            return;
        };
        self.names_something = true;
        let has = |resources| self.resource(resources, kind, name).is_some();
        if !has(resources) && has(self.around) {
            self.refuse("content names what only the resources around it have (6.2.2)");
        }
    }

    fn draw(
        &mut self,
        operation: &Operation,
        resources: Option<&'a Dictionary>,
        state: &State,
        depth: usize,
    ) -> Result<(), Error> {
        let name_of = operation.operands.first().and_then(|it| it.as_name().ok());
        let object = self.resource(resources, b"XObject", name_of.unwrap_or_default());
        let found = object.and_then(|object| match self.document.dereference(object).ok()? {
            (id, Object::Stream(form)) => Some((id, form)),
            _ => None,
        });
        match found {
            Some((id, form)) if name(&form.dict, b"Subtype") == Some(b"Form") => {
                self.form(form, id, resources, state.clone(), depth + 1)
            }
            _ => Ok(()),
        }
    }

    /// What resources have of a kind by a name.
    fn resource(
        &self,
        resources: Option<&'a Dictionary>,
        kind: &[u8],
        name: &[u8],
    ) -> Option<&'a Object> {
        let all = value(self.document, resources?, kind)?.as_dict().ok()?;
        all.get(name).ok()
    }

    /// The number of the font that resources have by a name.
    fn font(
        &mut self,
        key: Option<&Object>,
        resources: Option<&'a Dictionary>,
    ) -> Result<Option<usize>, Error> {
        let name = key.and_then(|it| it.as_name().ok()).unwrap_or_default();
        let font = self.resource(resources, b"Font", name);
        let font = font.and_then(|it| dictionary_of(self.document, it));
        font.map_or(Ok(None), |font| self.number(font))
    }

    /// The number of the font that a graphics state sets.
    fn font_of_state(
        &mut self,
        key: Option<&Object>,
        resources: Option<&'a Dictionary>,
    ) -> Result<Option<usize>, Error> {
        let document = self.document;
        let name = key.and_then(|it| it.as_name().ok()).unwrap_or_default();
        let state = self.resource(resources, b"ExtGState", name);
        let font = state.and_then(|state| {
            let state = dictionary_of(document, state)?;
            dictionary_of(document, array(document, state.get(b"Font").ok()).first()?)
        });
        font.map_or(Ok(None), |font| self.number(font))
    }

    fn number(&mut self, dictionary: &'a Dictionary) -> Result<Option<usize>, Error> {
        let document = self.document;
        if let Some(number) = self.known.get(&address(dictionary)) {
            return Ok(Some(*number));
        }
        let font = Rc::new(Font::read(document, dictionary));
        self.spend(font.cost())?;
        let number = self.drawn.fonts.len();
        self.known.insert(address(dictionary), number);
        self.drawn.fonts.push(Shown {
            dictionary,
            font,
            codes: HashSet::new(),
            is_shown: false,
        });
        Ok(Some(number))
    }

    fn show(&mut self, operation: &Operation, state: &State) -> Result<(), Error> {
        if state.is_invisible {
            return Ok(());
        }
        let Some(number) = state.font else {
            self.refuse("text is shown in a font that the resources do not have (6.2.2)");
            return Ok(());
        };
        self.drawn.fonts[number].is_shown = true;
        let texts = match operation.operands.last() {
            Some(Object::Array(list)) => list.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        for text in texts {
            if let Object::String(bytes, _) = text {
                self.spend(bytes.len() / 8)?;
                let shown = &mut self.drawn.fonts[number];
                let font = Rc::clone(&shown.font);
                let left = &mut self.codes_left;
                font.codes(bytes, &mut |code, value| {
                    if *left > 0 && shown.codes.insert((code.len(), value)) {
                        *left -= 1;
                    }
                });
                if self.codes_left == 0 {
                    return Err(too_much());
                }
            }
        }
        Ok(())
    }
}

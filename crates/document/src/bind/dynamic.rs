//! Parts of the template whose properties contain expressions: evaluates them and reads the part
//! again.

use std::cell::{Cell, OnceCell};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::Binder;
use crate::{
    Diagnostic,
    check::node_rules,
    expression::{Failure, Scope, Shared},
    parse::pointer_of,
    pointer,
    style_sheet::StyleSheet,
    template::{
        CellSpec, ColumnSpec, FullCellSpec, Node, PageSetup, StyleRef, Theme,
        dynamic::{DynamicPart, set},
    },
};

/// Maximum number of JSON values in all parts that are kept.
const MAX_KEPT: usize = 500_000;

/// Keeps values as long as a binding lasts.
#[derive(Debug)]
pub(super) struct Arena<T> {
    first: Slot<T>,
    /// Number of values.
    length: Cell<usize>,
}

#[derive(Debug)]
struct Slot<T> {
    values: OnceCell<Box<[OnceCell<T>]>>,
    next: OnceCell<Box<Slot<T>>>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self {
            values: OnceCell::new(),
            next: OnceCell::new(),
        }
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self {
            first: Slot::default(),
            length: Cell::new(0),
        }
    }
}

impl<T> Arena<T> {
    /// Keeps `value`. Each slot has twice as many places as the one before, so that there are few.
    fn keep(&self, value: T) -> &T {
        let index = self.length.get();
        self.length.set(index + 1);
        let (mut slot, mut first, mut places) = (&self.first, 0, 16);
        while index - first >= places {
            slot = slot.next.get_or_init(Box::default);
            first += places;
            places *= 2;
        }
        let values = slot
            .values
            .get_or_init(|| (0..places).map(|_| OnceCell::new()).collect());
        values[index - first].get_or_init(|| value)
    }
}

/// What binding keeps of the parts that it reads again.
#[derive(Debug, Default)]
pub(super) struct Arenas {
    nodes: Arena<Node>,
    columns: Arena<ColumnSpec>,
    cells: Arena<CellSpec>,
    pages: Arena<PageSetup>,
    sheets: Arena<StyleSheet>,
    /// Number of JSON values in all nodes, columns and cells.
    weight: Cell<usize>,
}

impl<'b> Binder<'b> {
    /// `node` with the values of properties that contain expressions; `None` after reporting an
    /// error. The current pointer is the node's.
    pub(super) fn dynamic_node(&mut self, node: &'b Node, scope: &Scope<'_>) -> Option<&'b Node> {
        match self.dynamic_part::<Node>(scope) {
            Ok(None) => Some(node),
            Err(()) => None,
            Ok(Some(node)) => {
                let mut found = Vec::new();
                node_rules(&node, &self.path, &mut found);
                self.check_style(node.style(), "style", &mut found);
                self.kept(found, scope)
                    .then(|| self.arenas.nodes.keep(node))
            }
        }
    }

    /// Like [`Self::dynamic_node`], for a column of a table.
    pub(super) fn dynamic_column(
        &mut self,
        column: &'b ColumnSpec,
        scope: &Scope<'_>,
    ) -> Option<&'b ColumnSpec> {
        match self.dynamic_part::<ColumnSpec>(scope) {
            Ok(None) => Some(column),
            Err(()) => None,
            Ok(Some(column)) => {
                let mut found = Vec::new();
                self.check_style(column.style.as_ref(), "style", &mut found);
                self.check_style(column.header_style.as_ref(), "headerStyle", &mut found);
                self.kept(found, scope)
                    .then(|| self.arenas.columns.keep(column))
            }
        }
    }

    /// Like [`Self::dynamic_node`], for a cell that is written out.
    pub(super) fn dynamic_cell(
        &mut self,
        cell: &'b CellSpec,
        scope: &Scope<'_>,
    ) -> Option<&'b CellSpec> {
        match self.dynamic_part::<FullCellSpec>(scope) {
            Ok(None) => Some(cell),
            Err(()) => None,
            Ok(Some(cell)) => {
                let mut found = Vec::new();
                self.check_style(cell.style.as_ref(), "style", &mut found);
                let cell = CellSpec::Full(Box::new(cell));
                self.kept(found, scope)
                    .then(|| self.arenas.cells.keep(cell))
            }
        }
    }

    /// Reads the theme and the page setup of the template again, if they contain expressions.
    pub(super) fn dynamic_setup(&mut self, root: &Scope<'_>) {
        self.path = "/theme".to_owned();
        if let Ok(Some(theme)) = self.dynamic_part::<Theme>(root) {
            let (sheet, found) = StyleSheet::new(&theme);
            if self.kept(found, root) {
                self.sheet = self.arenas.sheets.keep(sheet);
                self.name_styles();
            }
        }
        self.path = "/page".to_owned();
        if let Ok(Some(page)) = self.dynamic_part::<PageSetup>(root) {
            let mut found = Vec::new();
            crate::check::page(&page, &page, "/page", &mut found);
            if self.kept(found, root) {
                self.page = self.arenas.pages.keep(page);
            }
        }
        self.path.clear();
    }

    fn check_style(&self, style: Option<&StyleRef>, field: &str, found: &mut Vec<Diagnostic>) {
        if let Some(style) = style {
            let path = pointer::join(&self.path, field);
            self.sheet.check(style, &path, found);
        }
    }

    /// Reports `found`, and whether there is no error in it.
    fn kept(&mut self, found: Vec<Diagnostic>, scope: &Scope<'_>) -> bool {
        let mut sound = true;
        for diagnostic in found.into_iter().filter(Diagnostic::is_error) {
            sound = false;
            let path = std::mem::replace(&mut self.path, diagnostic.path);
            let failure = Failure {
                hint: diagnostic.hint,
                ..Failure::new("invalid-value", diagnostic.message)
            };
            self.report(failure, scope);
            self.path = path;
        }
        sound
    }

    /// The part of the template at the current pointer with the values of its properties that
    /// contain expressions; `Ok(None)` if it has none, an error after reporting one.
    pub(super) fn dynamic_part<T: DeserializeOwned>(
        &mut self,
        scope: &Scope<'_>,
    ) -> Result<Option<T>, ()> {
        let compiled = self.compiled;
        let Some(part) = compiled.template().dynamic.get(&self.path) else {
            return Ok(None);
        };
        let weight = self.arenas.weight.get() + part.weight;
        self.arenas.weight.set(weight);
        let charged = self.evaluation.shared.charge(part.weight * 4);
        if weight > MAX_KEPT {
            let message = "too many nodes have properties that contain expressions";
            self.mistake("too-much-work", message.to_owned(), scope);
            return Err(());
        }
        if let Err(failure) = charged {
            self.report(failure, scope);
            return Err(());
        }
        let json = self.filled(part, scope).ok_or(())?;
        match serde_path_to_error::deserialize(json) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let path = format!("{}{}", self.path, pointer_of(error.path()));
                let outer = std::mem::replace(&mut self.path, path);
                self.mistake("invalid-value", error.inner().to_string(), scope);
                self.path = outer;
                Err(())
            }
        }
    }

    /// The JSON of `part` with its values; `None` after reporting an error.
    fn filled(&mut self, part: &DynamicPart, scope: &Scope<'_>) -> Option<Json> {
        let mut json = part.json.clone();
        let mut sound = true;
        for property in &part.properties {
            let outer = self.path.clone();
            for token in &property.tokens {
                pointer::push(&mut self.path, token);
            }
            match self.dynamic_value(&property.text, scope) {
                Some(value) => place(&mut json, &property.tokens, value),
                None => sound = false,
            }
            self.path = outer;
        }
        sound.then_some(json)
    }

    /// The value of a property: typed if it is a single expression, otherwise text.
    pub(super) fn dynamic_value(
        &mut self,
        text: &crate::template::Text,
        scope: &Scope<'_>,
    ) -> Option<Json> {
        let compiled = self.compiled.text(text)?;
        let value = match compiled.single() {
            Some(expression) => expression
                .evaluate(scope, &self.evaluation)
                .map(|value| cleaned(value.into_json(), &self.evaluation.shared)),
            None => compiled.evaluate(scope, &self.evaluation).map(Json::from),
        };
        match value {
            Ok(value) => Some(value),
            Err(failure) => {
                self.report(failure, scope);
                None
            }
        }
    }
}

/// `json` with sanitized texts: some properties are shown, such as the mark of a list.
fn cleaned(json: Json, shared: &Shared) -> Json {
    crate::work::check();
    match json {
        Json::String(text) => Json::String(shared.clean(&text).into_owned()),
        Json::Array(items) => {
            let items = items.into_iter().map(|item| cleaned(item, shared));
            Json::Array(items.collect())
        }
        Json::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (name, cleaned(value, shared)));
            Json::Object(fields.collect())
        }
        other => other,
    }
}

/// Sets the value at `tokens` of `json`; null leaves an optional property out.
fn place(json: &mut Json, tokens: &[String], value: Json) {
    let Some((last, above)) = tokens.split_last() else {
        return;
    };
    let parent = above.iter().try_fold(json, |json, token| match json {
        Json::Array(items) => items.get_mut(token.parse::<usize>().ok()?),
        json => json.get_mut(token),
    });
    match (parent, value) {
        (Some(Json::Object(_)), Json::Null) | (None, _) => {}
        (Some(parent), value) => set(parent, last, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_keeps_every_value() {
        let arena = Arena::default();
        let kept: Vec<&usize> = (0..1_000).map(|index| arena.keep(index)).collect();
        assert!(kept.into_iter().copied().eq(0..1_000));
    }
}

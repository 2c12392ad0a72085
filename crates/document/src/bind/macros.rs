//! Uses of macros.

use serde_json::Value as Json;

use super::{Binder, Place};
use crate::{
    bound::Block,
    expression::{Entry, Scope},
    template::Use,
};

/// Work charged for a use: macros that use others several times multiply.
const WORK: usize = 100;

impl<'b> Binder<'b> {
    /// Binds the nodes of a macro with the values of its parameters in scope.
    pub(super) fn use_macro(
        &mut self,
        node: &'b Use,
        place: Place,
        scope: &Scope<'_>,
        blocks: &mut Vec<Block>,
    ) {
        let compiled = self.compiled;
        let Some(used) = compiled.template().macros.get(&node.name) else {
            return;
        };
        if let Err(failure) = self.evaluation.shared.charge(WORK) {
            return self.report(failure, scope);
        }
        let mut values = Vec::with_capacity(node.with.len());
        for (name, text) in &node.with {
            let value = self.below("with", |binder| {
                binder.below(name, |binder| binder.dynamic_value(text, scope))
            });
            match value {
                Some(value) => values.push((name.as_str(), value)),
                None => return,
            }
        }
        let mut path = String::from("/macros");
        crate::pointer::push(&mut path, &node.name);
        path.push_str("/body");
        let outer = std::mem::replace(&mut self.path, path);
        within(scope, &values, &mut |scope| {
            self.nodes(&used.body, place, scope, blocks);
        });
        self.path = outer;
    }
}

/// Calls `bind` with all of `values` in scope.
fn within(scope: &Scope<'_>, values: &[(&str, Json)], bind: &mut dyn FnMut(&Scope<'_>)) {
    match values.split_first() {
        None => bind(scope),
        Some(((name, value), rest)) => within(&scope.with(name, Entry::Json(value)), rest, bind),
    }
}

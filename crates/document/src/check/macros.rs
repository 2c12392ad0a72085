//! Checks of macros: known names, all parameters, no macro that uses itself.

use std::collections::BTreeMap;

use super::variable_name;
use crate::{
    Diagnostic, pointer, suggestion,
    template::{
        Node, Template, Use,
        visit::{Site, visit},
    },
};

pub(super) fn macros(template: &Template, found: &mut Vec<Diagnostic>) {
    for (name, used) in &template.macros {
        let path = pointer::join(&pointer::join("/macros", name), "parameters");
        for (index, parameter) in used.parameters.iter().enumerate() {
            variable_name(parameter, pointer::join(&path, index), found);
        }
    }
    // The macros that each macro uses, with the place of the use.
    let mut uses: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    visit(template, &mut |path, site| {
        let Site::Node(Node::Use(node)) = site else {
            return;
        };
        arguments(template, node, path, found);
        let mut tokens = path.split('/').skip(1);
        if let (Some("macros"), Some(user)) = (tokens.next(), tokens.next()) {
            let user = user.replace("~1", "/").replace("~0", "~");
            let used = (node.name.clone(), path.to_owned());
            uses.entry(user).or_default().push(used);
        }
    });
    for name in uses.keys() {
        if let Some(path) = cycle(name, &uses) {
            let message = format!("the macro `{name}` uses itself");
            found.push(Diagnostic::error("macro-cycle", path, message));
            // The other macros of the circle would say the same.
            return;
        }
    }
}

fn arguments(template: &Template, node: &Use, path: &str, found: &mut Vec<Diagnostic>) {
    let Some(used) = template.macros.get(&node.name) else {
        let names = template.macros.keys().map(String::as_str);
        let message = format!("unknown macro `{}`", node.name);
        found.push(
            Diagnostic::error("unknown-macro", pointer::join(path, "macro"), message)
                .with_hint(suggestion::hint(&node.name, names)),
        );
        return;
    };
    for name in node
        .with
        .keys()
        .filter(|name| !used.parameters.contains(name))
    {
        let path = pointer::join(&pointer::join(path, "with"), name);
        let message = format!("the macro `{}` has no parameter `{name}`", node.name);
        let names = used.parameters.iter().map(String::as_str);
        found.push(
            Diagnostic::error("unknown-field", path, message)
                .with_hint(suggestion::hint(name, names)),
        );
    }
    for name in used
        .parameters
        .iter()
        .filter(|name| !node.with.contains_key(*name))
    {
        let message = format!("the macro `{}` needs the parameter `{name}`", node.name);
        found.push(Diagnostic::error(
            "missing-field",
            pointer::join(path, "with"),
            message,
        ));
    }
}

/// The place of the use through which the macro `start` comes back to itself.
fn cycle(start: &str, uses: &BTreeMap<String, Vec<(String, String)>>) -> Option<String> {
    let mut seen = Vec::new();
    let mut open = vec![start];
    while let Some(name) = open.pop() {
        for (used, path) in uses.get(name).into_iter().flatten() {
            if used == start {
                return Some(path.clone());
            }
            if !seen.contains(&used.as_str()) {
                seen.push(used);
                open.push(used);
            }
        }
    }
    None
}

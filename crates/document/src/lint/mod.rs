//! What is legal in a template and unwise: it renders, but not as a typesetter, a reader with a
//! screen reader or the next author would want it.

mod ground;
mod look;
mod structure;
#[cfg(test)]
mod tests;
mod text;

use serde_json::{Map, Value as Json};

use crate::{Diagnostic, pointer};

/// Most findings of one rule; a habit of the author needs no hundred mentions.
const MAX_OF_A_RULE: usize = 10;

/// Reads a template's source and returns warnings, in the order of the template. Whether it is valid
/// is for [`crate::parse_template`] to say.
#[must_use]
pub fn lint(template: &Json) -> Vec<Diagnostic> {
    let mut lint = Lint {
        found: Vec::new(),
        nodes: Vec::new(),
    };
    collect(template.get("body"), "/body", &mut lint.nodes);
    structure::check(&mut lint, template);
    text::check(&mut lint);
    look::check(&mut lint, template);
    lint.found
}

/// A node of the template and its pointer.
struct Node<'t> {
    path: String,
    fields: &'t Map<String, Json>,
}

impl<'t> Node<'t> {
    fn kind(&self) -> &'t str {
        self.text("type").unwrap_or_default()
    }

    fn text(&self, field: &str) -> Option<&'t str> {
        self.fields.get(field).and_then(Json::as_str)
    }
}

struct Lint<'t> {
    found: Vec<Diagnostic>,
    /// All nodes in the order of the document.
    nodes: Vec<Node<'t>>,
}

impl Lint<'_> {
    fn warn(&mut self, code: &'static str, path: String, message: &str, hint: &str) {
        let same = self.found.iter().filter(|one| one.code == code).count();
        if same < MAX_OF_A_RULE {
            let warning = Diagnostic::warning(code, path, message).with_hint(hint);
            self.found.push(warning);
        }
    }
}

/// Collects every object with a `type` below `value`, wherever lists of nodes are.
fn collect<'t>(value: Option<&'t Json>, path: &str, nodes: &mut Vec<Node<'t>>) {
    match value {
        Some(Json::Object(fields)) => {
            if fields.get("type").is_some_and(Json::is_string) {
                nodes.push(Node {
                    path: path.to_owned(),
                    fields,
                });
            }
            for (key, value) in fields {
                collect(Some(value), &pointer::join(path, key), nodes);
            }
        }
        Some(Json::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                collect(Some(item), &pointer::join(path, index), nodes);
            }
        }
        _ => {}
    }
}

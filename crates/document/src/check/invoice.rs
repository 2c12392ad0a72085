//! Checks the `invoice` section.

use platen_invoice::check_mapping;

use crate::{Diagnostic, template::Template};

/// Checks names and literal values.
pub(super) fn invoice(template: &Template, found: &mut Vec<Diagnostic>) {
    let Some(section) = &template.invoice else {
        return;
    };
    for problem in check_mapping(&section.mapping) {
        let path = format!("/invoice{}", problem.path);
        let mut diagnostic = Diagnostic::error("invalid-value", path, problem.message);
        diagnostic.hint = problem.hint;
        found.push(diagnostic);
    }
}

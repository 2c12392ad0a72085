//! Rules of form fields.

use crate::{
    Diagnostic, pointer,
    template::{FieldKind, FormField},
};

/// Maximum number of options written out.
const MAX_OPTIONS: usize = 1_000;

/// Checks that a field has the properties of its kind, and no others.
pub(super) fn field(field: &FormField, path: &str, found: &mut Vec<Diagnostic>) {
    let kind = field.kind;
    let takes_text = matches!(kind, FieldKind::Text | FieldKind::Date);
    let has_options = !field.options.is_empty() || field.each.is_some();
    let mut mistake = |property: &str, message: &str| {
        let path = pointer::join(path, property);
        found.push(Diagnostic::error("invalid-form-field", path, message));
    };
    if kind.has_options() && !has_options {
        mistake(
            "kind",
            "this kind needs `options`, or `each`, an array of them",
        );
    }
    if !kind.has_options() && has_options {
        let property = match field.options.is_empty() {
            true => "each",
            false => "options",
        };
        mistake(property, "only `dropDown` and `radio` have options");
    }
    if field.options.len() > MAX_OPTIONS {
        mistake(
            "options",
            "a field has at most 1,000 options here; `each` takes more",
        );
    }
    if field.checked.is_some() && kind != FieldKind::CheckBox {
        mistake(
            "checked",
            "only a `checkBox` is checked; other kinds have a `value`",
        );
    }
    if field.value.is_some() && !takes_text && !kind.has_options() {
        mistake(
            "value",
            "a check box has `checked` instead, and a button has no value",
        );
    }
    if field.lines.is_some() && kind != FieldKind::Text {
        mistake("lines", "only `text` has lines");
    }
    if field.lines.is_some_and(|lines| !(1..=100).contains(&lines)) {
        mistake("lines", "there are 1 to 100 lines");
    }
    if field.max_length.is_some() && kind != FieldKind::Text {
        mistake("maxLength", "only `text` has a maximum length");
    }
    if field.max_length == Some(0) {
        mistake("maxLength", "a text has at least one character");
    }
    if field.submit.is_some() && kind != FieldKind::Button {
        mistake("submit", "only a `button` sends the form");
    }
}

//! Form fields: names, values and options.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Binder, inline::push_text};
use crate::{
    bound::{BlockKind, FormField, FormFieldKind, FormOption, Inline, plain_text},
    expression::{Scope, Shared},
    template::{self, FieldKind, FieldOption, Text},
};

/// Maximum number of options of a field.
const MAX_OPTIONS: usize = 10_000;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 200;

impl<'b> Binder<'b> {
    pub(super) fn form_field(
        &mut self,
        node: &'b template::FormField,
        scope: &Scope<'_>,
    ) -> BlockKind {
        let name = self.line_at("name", &node.name, scope);
        if name.trim().is_empty() || name.len() > MAX_NAME {
            let message = "the name of a form field has 1 to 200 characters";
            self.field_mistake("name", message.to_owned(), scope);
        }
        let style = self.named_style(match node.kind {
            FieldKind::CheckBox | FieldKind::Button => "body",
            _ => "small",
        });
        let label = node.label.as_ref().map(|label| {
            let text = self.line_at("label", label, scope);
            let mut inlines: Vec<Inline> = Vec::new();
            push_text(&mut inlines, &text, style, None);
            inlines
        });
        let value = (node.value.as_ref())
            .map(|value| self.text_at("value", value, scope))
            .unwrap_or_default();
        let purpose = label.as_deref().map(plain_text);
        let field = FormField {
            purpose: purpose.unwrap_or_else(|| name.clone()),
            name,
            kind: self.field_kind(node, scope),
            label,
            value,
            required: node.required,
            read_only: node.read_only,
            width: node.width.map(|length| length.to_points()),
            height: node.height.map(|length| length.to_points()),
        };
        if !field.options().is_empty() && !field.value.is_empty() && field.chosen().is_none() {
            let message = format!("`{}` is not the value of an option", field.value);
            self.field_mistake("value", message, scope);
        }
        BlockKind::FormField(Arc::new(field))
    }

    fn field_mistake(&mut self, property: &str, message: String, scope: &Scope<'_>) {
        self.below(property, |binder| {
            binder.mistake("invalid-form-field", message, scope);
        });
    }

    fn field_kind(&mut self, node: &'b template::FormField, scope: &Scope<'_>) -> FormFieldKind {
        match node.kind {
            FieldKind::Text => FormFieldKind::Text {
                lines: node.lines.unwrap_or(1).max(1),
                max_length: node.max_length,
            },
            FieldKind::Date => FormFieldKind::Date,
            FieldKind::CheckBox => FormFieldKind::CheckBox {
                checked: node.checked.is_some()
                    && self.holds("checked", node.checked.as_ref(), scope),
            },
            FieldKind::DropDown => FormFieldKind::DropDown(self.field_options(node, scope)),
            FieldKind::Radio => FormFieldKind::Radio(self.field_options(node, scope)),
            FieldKind::Button => FormFieldKind::Button {
                submit: (node.submit.as_ref())
                    .and_then(|address| self.below("submit", |binder| binder.link(address, scope))),
            },
        }
    }

    fn field_options(
        &mut self,
        node: &'b template::FormField,
        scope: &Scope<'_>,
    ) -> Vec<FormOption> {
        let mut options = Vec::new();
        for (index, option) in node.options.iter().enumerate() {
            options.push(self.item("options", index, |binder| match option {
                FieldOption::Text(text) => FormOption::same(binder.line(text, scope)),
                FieldOption::Full(option) => FormOption {
                    value: binder.line_at("value", &option.value, scope),
                    label: binder.line_at("label", &option.label, scope),
                },
            }));
        }
        let rows = (node.each.as_ref()).and_then(|each| self.rows("each", each, scope));
        let Some(rows) = rows else {
            return options;
        };
        for row in rows.as_refs() {
            if !self.charge("each", scope) {
                break;
            }
            let message = match option_of(row, &self.evaluation.shared) {
                _ if options.len() >= MAX_OPTIONS => "a field has at most 10,000 options",
                Some(option) => {
                    options.push(option);
                    continue;
                }
                None => {
                    "an option is a text, a number, or an object with the texts `value` and `label`"
                }
            };
            self.field_mistake("each", message.to_owned(), scope);
            break;
        }
        options
    }

    /// Evaluates the text in the field `token`, which may have several lines.
    fn text_at(&mut self, token: &str, text: &Text, scope: &Scope<'_>) -> String {
        self.below(token, |binder| match binder.compiled.text(text) {
            Some(compiled) => binder.evaluate_text(compiled, scope),
            None => String::new(),
        })
    }
}

impl FormOption {
    fn same(value: String) -> Self {
        Self {
            label: value.clone(),
            value,
        }
    }
}

/// The option that an element of the data describes.
fn option_of(row: &Json, shared: &Shared) -> Option<FormOption> {
    let text = |json: &Json| match json {
        Json::String(text) => Some(shared.clean(text).into_owned()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let Some(object) = row.as_object() else {
        return text(row).map(FormOption::same);
    };
    let value = text(object.get("value")?)?;
    let label = object.get("label").and_then(text);
    Some(FormOption {
        label: label.unwrap_or_else(|| value.clone()),
        value,
    })
}

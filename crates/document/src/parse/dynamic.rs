//! Finds properties that contain expressions although their type has none.

use serde_json::{Value as Json, json};

use super::structure::Walk;
use crate::{pointer, template::dynamic::Found};

impl<'s> Walk<'s> {
    /// Records `value` if it is text with expressions where `schema`, the type `name`, expects
    /// something else. False if it is not.
    pub(super) fn is_dynamic(&mut self, schema: &Json, name: Option<&str>, value: &Json) -> bool {
        let (Some(part), Json::String(text)) = (self.part, value) else {
            return false;
        };
        if !text.contains("{{") || self.takes_text(schema, name) {
            return false;
        }
        let Some(stand_in) = self.stand_in(schema, name) else {
            return false;
        };
        self.dynamic.push(Found {
            part: self.path[..part].to_owned(),
            path: self.path.clone(),
            text: text.clone(),
            stand_in: Some(stand_in),
        });
        true
    }

    /// Lets the property `field` be left out if it was found just now and `schema`, the type of the
    /// object, does not require it.
    pub(super) fn leave_out(&mut self, schema: &Json, field: &str) {
        let Some(last) = self.dynamic.last_mut() else {
            return;
        };
        let required = schema.get("required").and_then(Json::as_array);
        let required = required.is_some_and(|names| names.iter().any(|name| name == field));
        if !required && last.path == pointer::join(&self.path, field) {
            last.stand_in = None;
        }
    }

    /// Whether the type takes text with expressions anyway.
    fn takes_text(&self, schema: &Json, name: Option<&str>) -> bool {
        matches!(name, Some("Text" | "Expression"))
            || self.branches(schema).any(|branch| {
                let (branch, name) = self.look_up(branch);
                self.takes_text(branch, name)
            })
    }

    fn branches<'j>(&self, schema: &'j Json) -> impl Iterator<Item = &'j Json> + use<'j> {
        let unions = ["anyOf", "oneOf"].into_iter();
        unions
            .filter_map(|union| schema.get(union)?.as_array())
            .flatten()
    }

    /// Follows a `$ref` of any lifetime.
    fn look_up<'j>(&'j self, schema: &'j Json) -> (&'j Json, Option<&'j str>) {
        let name = schema
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(|reference| reference.strip_prefix("#/$defs/"));
        let definition = name.and_then(|name| self.definitions?.get(name));
        (definition.unwrap_or(schema), name)
    }

    /// Any value of a type that is written as one value; `None` for lists and objects.
    fn stand_in(&self, schema: &Json, name: Option<&str>) -> Option<Json> {
        match name {
            Some("Length") => return Some(json!("1pt")),
            Some("Color") => return Some(json!("#000000")),
            Some("ColumnWidth") => return Some(json!("auto")),
            Some("PaperSize") => return Some(json!("A4")),
            Some("StyleRef" | "StylePart") => return Some(json!("body")),
            _ => {}
        }
        if let Some(constant) = schema.get("const") {
            return constant.is_string().then(|| constant.clone());
        }
        if let Some(known) = schema.get("enum").and_then(Json::as_array) {
            return known.iter().find(|known| known.is_string()).cloned();
        }
        let kinds = match schema.get("type") {
            Some(Json::String(kind)) => vec![kind.as_str()],
            Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
            _ => {
                return self.branches(schema).find_map(|branch| {
                    let (branch, name) = self.look_up(branch);
                    self.stand_in(branch, name)
                });
            }
        };
        kinds.into_iter().find_map(|kind| match kind {
            "boolean" => Some(json!(false)),
            "integer" | "number" => Some(schema.get("minimum").cloned().unwrap_or(json!(1))),
            "string" => Some(json!("x")),
            _ => None,
        })
    }
}

//! Properties that contain expressions although their type has none, such as a color or a width.
//!
//! Parsing takes them out of the template, so that the rest has the types of the format. Binding
//! evaluates them and reads the part of the template that contains them again, with their values.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Text;
use crate::pointer;

/// The parts of a template with such properties, by RFC 6901 pointer. A part is a node, run, column
/// or fixed cell of a table, style rule or page setup, or the theme.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DynamicParts(BTreeMap<String, DynamicPart>);

/// A part of a template with properties that contain expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DynamicPart {
    /// The part, with other values in the place of the expressions.
    pub(crate) json: Json,
    /// Number of JSON values in it.
    pub(crate) weight: usize,
    pub(crate) properties: Vec<DynamicProperty>,
}

/// A property that contains expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DynamicProperty {
    /// Its place in the part.
    pub(crate) tokens: Vec<String>,
    /// Its value.
    pub(crate) text: Text,
}

/// A property found while parsing.
#[derive(Debug)]
pub(crate) struct Found {
    /// Pointer of the part.
    pub(crate) part: String,
    /// Pointer of the property.
    pub(crate) path: String,
    pub(crate) text: String,
    /// A value of the property's type; `None` if it may be left out.
    pub(crate) stand_in: Option<Json>,
}

impl DynamicParts {
    /// Takes the properties `found` out of `template`.
    pub(crate) fn take(template: &mut Json, found: Vec<Found>) -> Self {
        let mut parts: BTreeMap<String, Vec<DynamicProperty>> = BTreeMap::new();
        for property in found {
            replace(template, &property.path, property.stand_in);
            let tokens = pointer::tokens(&property.path[property.part.len()..]);
            parts
                .entry(property.part)
                .or_default()
                .push(DynamicProperty {
                    tokens,
                    text: Text(property.text),
                });
        }
        let whole = |(path, properties): (String, Vec<DynamicProperty>)| {
            let json = template.pointer(&path)?.clone();
            let part = DynamicPart {
                weight: weight(&json),
                json,
                properties,
            };
            Some((path, part))
        };
        Self(parts.into_iter().filter_map(whole).collect())
    }

    /// The part at `path`, if it has such properties.
    pub(crate) fn get(&self, path: &str) -> Option<&DynamicPart> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(path)
    }

    /// All properties with their pointers.
    pub(super) fn texts(&self) -> impl Iterator<Item = (String, &Text)> {
        self.0.iter().flat_map(|(path, part)| {
            part.properties.iter().map(move |property| {
                let path = property
                    .tokens
                    .iter()
                    .fold(path.clone(), |path, token| pointer::join(&path, token));
                (path, &property.text)
            })
        })
    }
}

/// Replaces the value at `path`, or removes it.
fn replace(template: &mut Json, path: &str, stand_in: Option<Json>) {
    let Some((parent, _)) = path.rsplit_once('/') else {
        return;
    };
    let last = pointer::tokens(path).pop().unwrap_or_default();
    match (template.pointer_mut(parent), stand_in) {
        (Some(Json::Object(fields)), None) => {
            // The order of the other fields stays.
            fields.shift_remove(&last);
        }
        (Some(parent), Some(value)) => set(parent, &last, value),
        _ => {}
    }
}

/// Sets the field or element `token` of `parent`.
pub(crate) fn set(parent: &mut Json, token: &str, value: Json) {
    match parent {
        Json::Object(fields) => {
            fields.insert(token.to_owned(), value);
        }
        Json::Array(items) => {
            let item = token
                .parse()
                .ok()
                .and_then(|index: usize| items.get_mut(index));
            if let Some(item) = item {
                *item = value;
            }
        }
        _ => {}
    }
}

fn weight(json: &Json) -> usize {
    1 + match json {
        Json::Array(items) => items.iter().map(weight).sum(),
        Json::Object(fields) => fields.values().map(weight).sum::<usize>(),
        _ => 0,
    }
}

//! The `invoice` section: what the e-invoice says.

use std::borrow::Cow;

use platen_invoice::Mapping;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

use super::{Expression, Text};
use crate::pointer;

/// The section with its expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct InvoiceSection {
    pub(crate) mapping: Mapping,
    /// Texts with expressions, by pointer in the section.
    pub(crate) texts: Vec<(String, Text)>,
    /// Expressions of repeats, by pointer in the section.
    pub(crate) expressions: Vec<(String, Expression)>,
}

impl InvoiceSection {
    fn new(mapping: Mapping) -> Self {
        let mut section = Self {
            mapping,
            texts: Vec::new(),
            expressions: Vec::new(),
        };
        let fields = Json::Object(section.mapping.0.clone());
        section.collect(&fields, &mut String::new());
        section
    }

    fn collect(&mut self, value: &Json, path: &mut String) {
        let length = path.len();
        match value {
            Json::String(text) if text.contains("{{") => {
                self.texts.push((path.clone(), Text(text.clone())));
            }
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer::push(path, &index.to_string());
                    self.collect(item, path);
                    path.truncate(length);
                }
            }
            Json::Object(fields) => {
                let is_repeat = fields.contains_key("each");
                for (name, value) in fields {
                    pointer::push(path, name);
                    match value {
                        Json::String(text)
                            if is_repeat && matches!(name.as_str(), "each" | "when") =>
                        {
                            let expression = Expression(text.clone());
                            self.expressions.push((path.clone(), expression));
                        }
                        value => self.collect(value, path),
                    }
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

impl Serialize for InvoiceSection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.mapping.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for InvoiceSection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Mapping::deserialize(deserializer).map(Self::new)
    }
}

impl JsonSchema for InvoiceSection {
    fn schema_name() -> Cow<'static, str> {
        Mapping::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Mapping::json_schema(generator)
    }
}

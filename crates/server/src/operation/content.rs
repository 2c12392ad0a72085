//! What bodies and answers consist of.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value as Json, json as value};

/// Where a schema comes from.
#[derive(Clone, Debug)]
enum Source {
    /// A type, whose schema becomes a component of the description.
    Type(fn(&mut SchemaGenerator) -> Schema),
    Value(Json),
}

/// Media types, each with its schema.
#[derive(Clone, Debug, Default)]
pub struct Content(Vec<(String, Source)>);

impl Content {
    /// With another media type beside those.
    pub fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Whether it is JSON of a type of ours, whose mistakes are all reported.
    pub(super) fn is_typed(&self) -> bool {
        self.0
            .iter()
            .any(|(_, source)| matches!(source, Source::Type(_)))
    }

    /// Whether it is a file.
    pub fn is_file(&self) -> bool {
        let is_binary = |source: &Source| matches!(source, Source::Value(schema) if schema["format"] == "binary");
        self.0.iter().any(|(_, source)| is_binary(source))
    }

    /// The media types as OpenAPI writes them; types go to `generator`.
    pub fn describe(&self, generator: &mut SchemaGenerator) -> Json {
        let described = self.0.iter().map(|(media_type, source)| {
            let schema = match source {
                Source::Type(schema) => schema(generator).to_value(),
                Source::Value(schema) => schema.clone(),
            };
            (media_type.clone(), value!({"schema": schema}))
        });
        Json::Object(described.collect())
    }
}

/// JSON of a type.
pub fn json<T: JsonSchema>() -> Content {
    description("application/json", schema_of::<T>())
}

/// The schema of a type, for a media type that is not plain JSON.
pub fn schema_of<T: JsonSchema>() -> impl Into<SchemaSource> {
    SchemaSource(Source::Type(SchemaGenerator::subschema_for::<T>))
}

/// A schema for [`description`].
pub struct SchemaSource(Source);

impl From<Json> for SchemaSource {
    fn from(schema: Json) -> Self {
        Self(Source::Value(schema))
    }
}

/// A media type with the schema of its content.
pub fn description(media_type: &str, schema: impl Into<SchemaSource>) -> Content {
    Content(vec![(media_type.to_owned(), schema.into().0)])
}

/// JSON of any kind.
pub fn any_json() -> Content {
    description("application/json", value!({}))
}

/// Files of these media types.
pub fn binary(media_types: &[&str]) -> Content {
    let schema = value!({"type": "string", "format": "binary"});
    let all = media_types.iter();
    Content(
        all.map(|one| ((*one).to_owned(), Source::Value(schema.clone())))
            .collect(),
    )
}

/// Texts of these media types.
pub fn text(media_types: &[&str]) -> Content {
    let schema = value!({"type": "string"});
    let all = media_types.iter();
    Content(
        all.map(|one| ((*one).to_owned(), Source::Value(schema.clone())))
            .collect(),
    )
}

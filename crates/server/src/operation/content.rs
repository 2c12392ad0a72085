//! Content of bodies and responses.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value as Json, json as value};

/// Source of a schema.
#[derive(Clone, Debug)]
enum Source {
    /// A type, whose schema becomes a component of the OpenAPI document.
    Type(fn(&mut SchemaGenerator) -> Schema),
    Value(Json),
}

/// Media types with their schemas.
#[derive(Clone, Debug, Default)]
pub struct Content(Vec<(String, Source)>);

impl Content {
    /// Adds another media type.
    pub fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// True for JSON of one of our types. Such a body reports all of its errors in one response.
    pub(super) fn is_typed(&self) -> bool {
        self.0
            .iter()
            .any(|(_, source)| matches!(source, Source::Type(_)))
    }

    /// True for a file.
    pub fn is_file(&self) -> bool {
        let is_binary = |source: &Source| matches!(source, Source::Value(schema) if schema["format"] == "binary");
        self.0.iter().any(|(_, source)| is_binary(source))
    }

    /// The OpenAPI content object; registers types with `generator`.
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

/// JSON of type `T`.
pub fn json<T: JsonSchema>() -> Content {
    description("application/json", schema_of::<T>())
}

/// The schema of `T`, for a media type other than plain JSON.
pub fn schema_of<T: JsonSchema>() -> impl Into<SchemaSource> {
    SchemaSource(Source::Type(SchemaGenerator::subschema_for::<T>))
}

/// A schema argument of [`description`].
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

/// Arbitrary JSON.
pub fn any_json() -> Content {
    description("application/json", value!({}))
}

/// Binary content with these media types.
pub fn binary(media_types: &[&str]) -> Content {
    let schema = value!({"type": "string", "format": "binary"});
    let all = media_types.iter();
    Content(
        all.map(|one| ((*one).to_owned(), Source::Value(schema.clone())))
            .collect(),
    )
}

/// Text with these media types.
pub fn text(media_types: &[&str]) -> Content {
    let schema = value!({"type": "string"});
    let all = media_types.iter();
    Content(
        all.map(|one| ((*one).to_owned(), Source::Value(schema.clone())))
            .collect(),
    )
}

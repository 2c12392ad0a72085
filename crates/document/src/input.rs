//! The schema of a template's data (JSON Schema 2020-12), and what data says against it.

use jsonschema::{Retrieve, Uri, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value as Json;

use crate::{Diagnostic, suggestion};

/// Most mistakes reported of one set of data.
const MAX_MISTAKES: usize = 100;

/// A schema ready to check data.
#[derive(Debug)]
pub struct InputSchema(Validator);

/// Refuses every reference that leads out of the schema.
struct NoRetrieval;

impl Retrieve for NoRetrieval {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Json, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{uri}` is not part of the schema, and nothing is fetched").into())
    }
}

impl InputSchema {
    /// Builds `schema`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(schema: &Json) -> Result<Self, Box<Diagnostic>> {
        jsonschema::draft202012::options()
            .with_retriever(NoRetrieval)
            .should_validate_formats(true)
            .build(schema)
            .map(Self)
            .map_err(|error| {
                let path = format!("/inputSchema{}", error.instance_path());
                let message = format!("the schema of the data is not valid: {}", short(&error));
                Box::new(Diagnostic::error("invalid-input-schema", path, message))
            })
    }

    /// What `data` says against the schema; at most 100 mistakes.
    #[must_use]
    pub fn check(&self, data: &Json) -> Vec<Diagnostic> {
        self.0
            .iter_errors(data)
            .take(MAX_MISTAKES)
            .map(|error| mistake(&error, data))
            .collect()
    }
}

fn mistake(error: &ValidationError<'_>, data: &Json) -> Diagnostic {
    let path = error.instance_path().to_string();
    let keyword = kebab(error.kind().keyword());
    let near = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let object = data.pointer(&path).and_then(Json::as_object);
            let names = object.into_iter().flat_map(serde_json::Map::keys);
            property
                .as_str()
                .and_then(|missing| suggestion::nearest(missing, names.map(String::as_str)))
                .map(|near| format!("is `{near}` meant to be {property}?"))
        }
        _ => None,
    };
    let mut diagnostic =
        Diagnostic::error(&format!("data-{keyword}"), path, short(error)).in_data();
    diagnostic.hint = near;
    diagnostic
}

/// The error's sentence; values of the data in it are cut short.
fn short(error: &ValidationError<'_>) -> String {
    let message = error.to_string();
    match message.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

fn kebab(keyword: &str) -> String {
    let mut kebab = String::new();
    for symbol in keyword.chars() {
        if symbol.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(symbol.to_ascii_lowercase());
    }
    kebab
}

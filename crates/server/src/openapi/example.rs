//! Examples of parameters and bodies: complete, working requests, in the order of the operations.
//! The page at `/docs` shows them; a test sends them.

use std::sync::LazyLock;

use serde_json::{Value as Json, json};

use crate::operation::Operation;

/// Bodies refer to shared `values` by `@name`, so that each template appears only once.
static EXAMPLES: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).unwrap_or_default());

/// Adds the examples of an operation to its description.
pub(super) fn add(operation: &Operation, described: &mut Json) {
    add_parameters(operation, described);
    add_bodies(operation, described);
}

fn add_parameters(operation: &Operation, described: &mut Json) {
    let known = EXAMPLES["parameters"].as_object();
    let fits = known.into_iter().flatten();
    let fits = fits.filter(|(prefix, _)| operation.path.starts_with(prefix.as_str()));
    let Some((_, examples)) = fits.max_by_key(|(prefix, _)| prefix.len()) else {
        return;
    };
    let list = described.get_mut("parameters").and_then(Json::as_array_mut);
    for parameter in list.into_iter().flatten() {
        let example = parameter["name"]
            .as_str()
            .and_then(|name| examples.get(name))
            .cloned();
        if let (Some(example), Some(fields)) = (example, parameter.as_object_mut()) {
            fields.insert("example".into(), example);
        }
    }
}

fn add_bodies(operation: &Operation, described: &mut Json) {
    let bodies = EXAMPLES["bodies"][operation.name].as_object();
    for (name, example) in bodies.into_iter().flatten() {
        let media_type = example["type"].as_str().unwrap_or("application/json");
        let content = described
            .get_mut("requestBody")
            .and_then(|body| body.get_mut("content"))
            .and_then(|contents| contents.get_mut(media_type))
            .and_then(Json::as_object_mut);
        let Some(content) = content else {
            continue;
        };
        let shown = json!({"summary": example["summary"], "value": resolved(&example["value"])});
        content.entry("examples").or_insert_with(|| json!({}))[name.as_str()] = shown;
        if let Some(encoding) = example.get("encoding") {
            content.insert("encoding".into(), encoding.clone());
        }
    }
}

/// Replaces `@name` references in `value` with the shared values.
fn resolved(value: &Json) -> Json {
    match value {
        Json::String(text) => text
            .strip_prefix('@')
            .and_then(|name| EXAMPLES["values"].get(name))
            .unwrap_or(value)
            .clone(),
        Json::Array(items) => items.iter().map(resolved).collect(),
        Json::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), resolved(value)))
            .collect(),
        _ => value.clone(),
    }
}

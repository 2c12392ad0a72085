//! Examples of parameters and bodies: requests that work as they stand, in the order in which operations come. The
//! page at `/docs` fills them in; a test sends them.

use std::sync::LazyLock;

use serde_json::{Value as Json, json};

use crate::routes::Route;

/// `values` are named by `@name` in bodies, so that a template stands once.
static EXAMPLES: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_str(include_str!("examples.json")).unwrap_or_default());

/// Adds what is known of `route` to its operation.
pub(super) fn add(route: &Route, operation: &mut Json) {
    add_parameters(route, operation);
    add_bodies(route, operation);
}

fn add_parameters(route: &Route, operation: &mut Json) {
    let known = EXAMPLES["parameters"].as_object();
    let fits = known.into_iter().flatten();
    let fits = fits.filter(|(prefix, _)| route.path.starts_with(prefix.as_str()));
    let Some((_, examples)) = fits.max_by_key(|(prefix, _)| prefix.len()) else {
        return;
    };
    let list = operation.get_mut("parameters").and_then(Json::as_array_mut);
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

fn add_bodies(route: &Route, operation: &mut Json) {
    let bodies = EXAMPLES["bodies"][route.operation].as_object();
    for (name, example) in bodies.into_iter().flatten() {
        let media_type = example["type"].as_str().unwrap_or("application/json");
        let content = operation
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

/// `value` with the values that it names.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{openapi, routes::ROUTES};

    #[test]
    fn every_example_has_its_place() {
        let document = openapi::document().to_string();
        let bodies = EXAMPLES["bodies"].as_object().unwrap();
        assert!(!bodies.is_empty(), "examples.json is JSON");
        for (operation, examples) in bodies {
            let route = ROUTES.iter().find(|route| route.operation == operation);
            let route = route.unwrap_or_else(|| panic!("no operation {operation}"));
            let described = openapi::operation::of(route);
            for (name, example) in examples.as_object().unwrap() {
                let media_type = example["type"].as_str().unwrap_or("application/json");
                let shown = &described["requestBody"]["content"][media_type]["examples"][name];
                assert!(shown["value"] != Json::Null, "{operation} {name}");
            }
        }
        let paths = EXAMPLES["parameters"].as_object().unwrap();
        for (prefix, examples) in paths {
            let of_path = ROUTES.iter().filter(|route| route.path.starts_with(prefix));
            let all: Vec<Json> = of_path.map(openapi::operation::of).collect();
            for name in examples.as_object().unwrap().keys() {
                let parameters = all.iter().filter_map(|one| one["parameters"].as_array());
                let found = parameters.flatten().any(|one| one["name"] == *name);
                assert!(found, "{prefix} has no parameter {name}");
            }
        }
        for name in EXAMPLES["values"].as_object().unwrap().keys() {
            assert!(
                !document.contains(&format!("\"@{name}\"")),
                "{name} is named, not written out"
            );
        }
    }
}

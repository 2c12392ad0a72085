//! The JSON Schema that editors check templates with. It allows expressions wherever a template may
//! have them; the one that templates are read by has the types behind them.

use serde_json::{Map, Value as Json, json};

/// The JSON Schema of templates of kind `document`, for editors.
#[must_use]
pub fn editor_schema() -> Json {
    let mut schema = super::json_schema();
    let definitions = schema.get("$defs").and_then(Json::as_object).cloned();
    let definitions = definitions.unwrap_or_default();
    if let Some(own) = schema.get_mut("$defs").and_then(Json::as_object_mut) {
        for definition in own.values_mut() {
            allow(definition, &definitions);
        }
    }
    schema
}

/// Allows expressions in the properties of objects that `schema` describes.
fn allow(schema: &mut Json, definitions: &Map<String, Json>) {
    for union in ["anyOf", "oneOf"] {
        for branch in schema
            .get_mut(union)
            .and_then(Json::as_array_mut)
            .into_iter()
            .flatten()
        {
            allow(branch, definitions);
        }
    }
    let properties = schema.get_mut("properties").and_then(Json::as_object_mut);
    for (_, property) in properties.into_iter().flatten() {
        allow(property, definitions);
        if property.get("const").is_some() || !wants_expression(property, definitions) {
            continue;
        }
        let mut wider = Map::new();
        for note in ["description", "default"] {
            if let Some(text) = property.as_object_mut().and_then(|it| it.remove(note)) {
                wider.insert(note.to_owned(), text);
            }
        }
        let expression = json!({"type": "string", "pattern": "\\{\\{"});
        wider.insert("anyOf".to_owned(), json!([property.take(), expression]));
        *property = Json::Object(wider);
    }
}

/// Whether values are single ones, such as a number or a name, but not any text.
fn wants_expression(schema: &Json, definitions: &Map<String, Json>) -> bool {
    let mut takes = (false, false);
    look(schema, definitions, &mut takes);
    takes.0 && !takes.1
}

/// Finds whether `schema` takes single values, and any text.
fn look(schema: &Json, definitions: &Map<String, Json>, takes: &mut (bool, bool)) {
    let reference = schema.get("$ref").and_then(Json::as_str);
    if let Some(name) = reference.and_then(|it| it.strip_prefix("#/$defs/")) {
        if let Some(definition) = definitions.get(name) {
            look(definition, definitions, takes);
        }
        return;
    }
    for union in ["anyOf", "oneOf"] {
        for branch in schema
            .get(union)
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            look(branch, definitions, takes);
        }
    }
    if schema.get("const").is_some() || schema.get("enum").is_some() {
        takes.0 = true;
        return;
    }
    let kinds = match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        Some(Json::String(kind)) => vec![kind.as_str()],
        _ => Vec::new(),
    };
    for kind in kinds {
        match kind {
            "string" if schema.get("pattern").is_none() => takes.1 = true,
            "string" | "integer" | "number" | "boolean" => takes.0 = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_stand_in_for_values_of_any_type() {
        let schema = editor_schema();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let template = |node: Json| json!({"key": "t", "body": [node]});
        for node in [
            json!({"type": "text", "content": "a", "style": {"bold": "{{ a }}", "fontSize": "{{ s }}", "align": "{{ b }}"}}),
            json!({"type": "heading", "level": "{{ level }}", "content": [{"text": "a", "color": "{{ c }}"}]}),
            json!({"type": "image", "source": "{{ s }}", "alt": "", "width": "{{ w }}mm", "fit": "{{ f }}"}),
            json!({"type": "heading", "level": 2, "content": "a"}),
        ] {
            let template = template(node);
            let found: Vec<String> = validator
                .iter_errors(&template)
                .map(|it| it.to_string())
                .collect();
            assert!(found.is_empty(), "{template}: {found:?}");
        }
        for node in [
            json!({"type": "text", "content": "a", "style": {"bold": "yes"}}),
            json!({"type": "heading", "level": 9, "content": "a"}),
            json!({"type": "{{ kind }}", "content": "a"}),
        ] {
            assert!(!validator.is_valid(&template(node.clone())), "{node}");
        }
    }
}

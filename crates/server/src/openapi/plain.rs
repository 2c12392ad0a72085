//! Rewrites schemas for client generators. Validators treat both forms alike.

use serde_json::{Map, Value as Json, json};

/// Keywords whose value is a schema.
const ONE: [&str; 6] = ["items", "contains", "not", "if", "then", "else"];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value is a map of schemas.
const MAP: [&str; 3] = ["properties", "patternProperties", "$defs"];

/// Replaces the schema `true` with `{}`: equivalent, and readable for generators that only know
/// schema objects.
pub(super) fn open_booleans(schema: &mut Json) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in keywords {
        let inner: Vec<&mut Json> = match value {
            Json::Object(all) if MAP.contains(&keyword.as_str()) => all.values_mut().collect(),
            Json::Array(all) if LIST.contains(&keyword.as_str()) => all.iter_mut().collect(),
            value if ONE.contains(&keyword.as_str()) || keyword == "additionalProperties" => {
                vec![value]
            }
            _ => continue,
        };
        for one in inner {
            if *one == Json::Bool(true) && keyword != "additionalProperties" {
                *one = json!({});
            }
            open_booleans(one);
        }
    }
}

/// Names the variants of unions: generators create a class for each, and recursive unions such as
/// nodes need names. `table` of `Node` becomes `TableNode`.
pub(super) fn name_variants(all: &mut Map<String, Json>) {
    let mut named = Vec::new();
    for (name, schema) in all.iter_mut() {
        for keyword in ["oneOf", "anyOf"] {
            let Some(variants) = schema.get_mut(keyword).and_then(Json::as_array_mut) else {
                continue;
            };
            for variant in variants.iter_mut() {
                if variant["type"] != "object" || !variant["properties"].is_object() {
                    continue;
                }
                let own = match tag(variant) {
                    Some(tag) => format!("{}{name}", capitalised(tag)),
                    // The full object form, next to a shorthand.
                    None => format!("{name}Object"),
                };
                let reference = json!({"$ref": format!("#/components/schemas/{own}")});
                named.push((own, std::mem::replace(variant, reference)));
            }
        }
    }
    all.extend(named);
}

/// The constant that discriminates a variant.
fn tag(variant: &Json) -> Option<&str> {
    let properties = variant["properties"].as_object()?;
    properties.values().find_map(|one| one["const"].as_str())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_become_plain() {
        let mut schema = json!({"properties": {"a": true, "b": {"items": true}},
            "additionalProperties": true, "anyOf": [true, {"not": true}]});
        open_booleans(&mut schema);
        let plain = json!({"properties": {"a": {}, "b": {"items": {}}},
            "additionalProperties": true, "anyOf": [{}, {"not": {}}]});
        assert_eq!(schema, plain);
    }

    #[test]
    fn variants_get_names() {
        let table = json!({"type": "object", "properties": {"type": {"const": "table"}}});
        let plain = json!({"type": "object", "properties": {"a": {}}});
        let node = json!({"oneOf": [table, {"type": "string"}, plain]});
        let mut all = Map::from_iter([("Node".to_owned(), node)]);
        name_variants(&mut all);
        assert_eq!(all["TableNode"], table);
        assert_eq!(all["NodeObject"], plain);
        assert_eq!(
            all["Node"]["oneOf"][0]["$ref"],
            "#/components/schemas/TableNode"
        );
    }
}

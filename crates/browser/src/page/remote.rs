//! JavaScript values as DevTools describes them.

use serde_json::Value;

/// The first line of an exception.
pub(super) fn thrown(details: &Value) -> String {
    let text = details["exception"]["description"].as_str();
    let text = text.or(details["exception"]["value"].as_str());
    let text = text.or(details["text"].as_str()).unwrap_or("it throws");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Truthiness of a remote object; `None` for `undefined`.
pub(super) fn is_true(object: &Value) -> Option<bool> {
    if object["type"] == "undefined" {
        return None;
    }
    if let Some(number) = object["unserializableValue"].as_str() {
        return Some(!["NaN", "-0", "0n"].contains(&number));
    }
    Some(match &object["value"] {
        Value::Bool(value) => *value,
        Value::Number(value) => value.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        _ => object["subtype"] != "null",
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn truth_is_that_of_javascript() {
        let objects = [
            (json!({"type": "undefined"}), None),
            (
                json!({"type": "object", "subtype": "null", "value": null}),
                Some(false),
            ),
            (json!({"type": "object", "className": "Object"}), Some(true)),
            (json!({"type": "boolean", "value": true}), Some(true)),
            (json!({"type": "number", "value": 0}), Some(false)),
            (
                json!({"type": "number", "unserializableValue": "NaN"}),
                Some(false),
            ),
            (json!({"type": "string", "value": ""}), Some(false)),
            (json!({"type": "string", "value": "0"}), Some(true)),
        ];
        for (object, expected) in objects {
            assert_eq!(is_true(&object), expected, "{object}");
        }
    }
}

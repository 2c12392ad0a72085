//! References of a schema: where they lead, and what may be there.

use serde_json::{Map, Value as Json};

/// Whether a keyword refers to another schema.
pub(super) fn is_reference(keyword: &str, value: &Json) -> bool {
    matches!(keyword, "$ref" | "$dynamicRef") && value.is_string()
}

/// Keywords that hold schemas by names, which are no keywords.
pub(super) fn holds_named_schemas(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "patternProperties"
            | "$defs"
            | "definitions"
            | "dependentSchemas"
            | "dependencies"
    )
}

/// Keywords that hold values, which are compared with data and get no steps.
pub(super) fn holds_values(keyword: &str) -> bool {
    matches!(
        keyword,
        "const" | "enum" | "dependentRequired" | "$vocabulary"
    )
}

/// The first reference that leads where no schema with a step is: into a value, or to a map of names.
pub(super) fn misled(schema: &Json) -> Option<String> {
    let mut rest = vec![schema];
    while let Some(part) = rest.pop() {
        match part {
            Json::Array(values) => rest.extend(values),
            Json::Object(members) => {
                if let Some(found) = misled_in(members) {
                    return Some(found);
                }
                rest.extend(members.values());
            }
            _ => {}
        }
    }
    None
}

fn misled_in(members: &Map<String, Json>) -> Option<String> {
    let references = members
        .iter()
        .filter(|(keyword, value)| is_reference(keyword, value));
    let mut references = references.filter_map(|(_, value)| value.as_str());
    references.find(|it| leads_astray(it)).map(str::to_owned)
}

/// Whether the JSON Pointer of a reference ends within a value or at a map of names.
fn leads_astray(reference: &str) -> bool {
    let Some((_, fragment)) = reference.split_once('#') else {
        return false;
    };
    let fragment = decoded(fragment);
    let Some(pointer) = fragment.strip_prefix('/') else {
        return false;
    };
    let mut is_map = false;
    for name in pointer.split('/') {
        let name = name.replace("~1", "/").replace("~0", "~");
        if is_map {
            is_map = false;
        } else if holds_values(&name) {
            return true;
        } else {
            is_map = holds_named_schemas(&name);
        }
    }
    is_map
}

/// A fragment without its percent-encoding (RFC 3986, section 2.1).
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut text = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%')
            .then(|| fragment.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        text.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_to_schemas() {
        for good in [
            "#",
            "#/$defs/a",
            "#/properties/const",
            "#/properties/enum/items",
            "#/examples/0",
            "#/dependencies/a",
            "other.json",
            "#name",
        ] {
            assert!(!leads_astray(good), "{good}");
        }
        for bad in [
            "#/const",
            "#/$defs/a/const",
            "#/%63onst",
            "#/properties",
            "a.json#/allOf/0/enum/1",
            "#/$defs/a/properties",
        ] {
            assert!(leads_astray(bad), "{bad}");
        }
    }
}

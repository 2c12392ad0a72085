//! Validation of data against its schema (JSON Schema 2020-12).
//!
//! A schema is a program: 3 KB of references can require 2^45 comparisons, or produce as many
//! errors. Therefore every subschema gets an additional keyword, [`STEP`], which counts the work
//! and checks the deadline; and every reference gets one that the validator evaluates before it
//! follows the reference, which also checks the depth of the stack. Patterns are matched in linear
//! time: those that look around have no bound.

mod references;

use jsonschema::{
    Keyword, Retrieve, Uri, ValidationError, Validator, error::ValidationErrorKind, paths::Location,
};
use serde_json::{Map, Value as Json, json};

use self::references::{holds_named_schemas, holds_values, is_reference, misled};
use crate::{
    Diagnostic, suggestion,
    work::{self, Bounds, Interruption},
};

/// Maximum number of errors reported for one input.
const MAX_MISTAKES: usize = 100;
/// The counting keyword. Its value says whether a reference follows.
const STEP: &str = "\u{1}step";
/// Steps granted to every check.
const LEAST_STEPS: u64 = 100_000;
/// Steps per value of the data and subschema: references let each pair meet several times.
const STEPS_EACH: u64 = 4;
/// Upper limit of steps for any check; a few seconds.
const MOST_STEPS: u64 = 200_000_000;
/// Upper limit of steps while collecting errors, since each step may keep one.
const MOST_REPORT_STEPS: u64 = 1_000_000;
/// Steps per subschema for building a validator; `unevaluatedProperties` builds some repeatedly.
const BUILD_STEPS_EACH: u64 = 20;
/// Stack space for nested references. A thread has 2 MiB.
const MAX_STACK_BYTES: usize = 768 << 10;
const PATTERN_HINT: &str = "patterns have no look-around and no back-references: use `not`, or several patterns \
    in `allOf`";

/// A compiled schema.
#[derive(Debug)]
pub struct InputSchema {
    validator: Validator,
    subschemas: u64,
}

/// Rejects every reference to something outside the schema.
struct NoRetrieval;

impl Retrieve for NoRetrieval {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Json, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{uri}` is not part of the schema, and references are not fetched").into())
    }
}

/// Counts a step; every value satisfies it.
struct Step {
    before_reference: bool,
}

impl<'i> Keyword<'i> for Step {
    fn validate(&self, value: &'i Json) -> Result<(), ValidationError<'i>> {
        self.is_valid(value);
        Ok(())
    }

    fn is_valid(&self, _: &'i Json) -> bool {
        match self.before_reference {
            true => work::look(),
            false => work::check(),
        }
        true
    }
}

fn count_step<'a>(
    _: &'a Map<String, Json>,
    before_reference: &'a Json,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    // Checked on every call rather than only now and then: building recurses deeply in few steps,
    // with large frames.
    work::look();
    let before_reference = *before_reference == Json::Bool(true);
    Ok(Box::new(Step { before_reference }))
}

impl InputSchema {
    /// Compiles `schema`.
    ///
    /// # Errors
    /// The schema is invalid or too complex.
    pub fn new(schema: &Json) -> Result<Self, Box<Diagnostic>> {
        if let Some(reference) = misled(schema) {
            let message = format!(
                "the reference `{reference}` leads to a value or to names, not to a schema"
            );
            let error = Diagnostic::error("invalid-input-schema", "/inputSchema", message);
            return Err(Box::new(error));
        }
        let mut subschemas = 0;
        let counting = with_steps(schema, &mut subschemas);
        let patterns = jsonschema::PatternOptions::regex();
        let build = || {
            jsonschema::draft202012::options()
                .with_retriever(NoRetrieval)
                .should_validate_formats(true)
                .with_pattern_options(patterns)
                .with_keyword(STEP, count_step)
                .build(&counting)
        };
        let steps = 1_000 + subschemas * BUILD_STEPS_EACH;
        match work::run(bounds(steps), build) {
            Ok(Ok(validator)) => Ok(Self {
                validator,
                subschemas,
            }),
            Ok(Err(error)) => {
                let path = format!("/inputSchema{}", error.instance_path());
                let message = format!("the schema of the data is not valid: {}", short(&error));
                let is_pattern = path.ends_with("/pattern") || path.contains("/patternProperties");
                let error = Diagnostic::error("invalid-input-schema", path, message);
                Err(Box::new(match is_pattern {
                    true => error.with_hint(PATTERN_HINT),
                    false => error,
                }))
            }
            Err(interruption) => Err(Box::new(too_complex(interruption, "/inputSchema"))),
        }
    }

    /// Validates `data`. Returns at most 100 errors.
    #[must_use]
    pub fn check(&self, data: &Json) -> Vec<Diagnostic> {
        let values = count_values(data);
        let steps = (values * self.subschemas * STEPS_EACH).clamp(LEAST_STEPS, MOST_STEPS);
        match work::run(bounds(steps), || self.validator.is_valid(data)) {
            Ok(true) => return Vec::new(),
            Ok(false) => {}
            Err(interruption) => return vec![too_complex(interruption, "").in_data()],
        }
        let find = || {
            let errors = self.validator.iter_errors(data).take(MAX_MISTAKES);
            errors.map(|error| mistake(&error, data)).collect()
        };
        work::run(bounds(steps.min(MOST_REPORT_STEPS)), find).unwrap_or_else(|_| {
            let message = "the data does not match the schema in so many ways that they cannot \
                           be listed";
            vec![Diagnostic::error("data-mismatch", "", message).in_data()]
        })
    }
}

fn bounds(steps: u64) -> Bounds {
    Bounds {
        steps: Some(steps),
        stack_bytes: Some(MAX_STACK_BYTES),
        ..Bounds::default()
    }
}

fn too_complex(interruption: Interruption, path: &str) -> Diagnostic {
    let (message, hint) = match interruption {
        Interruption::Stack { .. } => (
            "the references of the schema are nested too deep",
            "point each reference directly at its target, not at another reference",
        ),
        _ => (
            "the schema asks for too many comparisons",
            "its references multiply: nested `anyOf`, `oneOf` or `allOf` of references to the same \
             schema double the work at each level",
        ),
    };
    Diagnostic::error("schema-too-complex", path, message).with_hint(hint)
}

/// Number of values in `data`, including itself.
fn count_values(data: &Json) -> u64 {
    1 + match data {
        Json::Array(values) => values.iter().map(count_values).sum(),
        Json::Object(members) => members.values().map(count_values).sum(),
        _ => 0,
    }
}

/// Adds [`STEP`] to every object that may be a subschema. A validator orders keywords itself but
/// keeps the order of `allOf`, so references move into an `allOf`, behind their step.
fn with_steps(schema: &Json, subschemas: &mut u64) -> Json {
    let Json::Object(members) = schema else {
        return match schema {
            Json::Array(values) => {
                let values = values.iter().map(|value| with_steps(value, subschemas));
                Json::Array(values.collect())
            }
            other => other.clone(),
        };
    };
    *subschemas += 1;
    let mut counting = Map::with_capacity(members.len() + 1);
    counting.insert(STEP.to_owned(), Json::Bool(false));
    let mut all_of = Vec::new();
    for (keyword, value) in members {
        if is_reference(keyword, value) {
            *subschemas += 2;
            all_of.push(json!({ STEP: true }));
            all_of.push(json!({ keyword.as_str(): value }));
            continue;
        }
        let value = match value {
            // A step inside of them would be compared with the data.
            _ if holds_values(keyword) => value.clone(),
            Json::Object(named) if holds_named_schemas(keyword) => {
                let named = named.iter();
                let named =
                    named.map(|(name, value)| (name.clone(), with_steps(value, subschemas)));
                Json::Object(named.collect())
            }
            _ => with_steps(value, subschemas),
        };
        counting.insert(keyword.clone(), value);
    }
    if !all_of.is_empty() {
        match counting.get_mut("allOf") {
            Some(Json::Array(schemas)) => {
                all_of.append(schemas);
                *schemas = all_of;
            }
            _ => {
                counting.insert("allOf".to_owned(), all_of.into());
            }
        }
    }
    Json::Object(counting)
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

/// The validator's message, with long values of the data cut off.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(schema: &Json, data: &Json) -> Vec<String> {
        match InputSchema::new(schema) {
            Ok(schema) => schema.check(data),
            Err(mistake) => vec![*mistake],
        }
        .into_iter()
        .map(|found| format!("{} {}", found.code, found.path))
        .collect()
    }

    /// A schema of `levels` definitions, each of which `make` builds from two references to the
    /// next.
    fn doubling(levels: usize, make: impl Fn(Json) -> Json) -> Json {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), make(next));
        }
        definitions.insert(format!("d{levels}"), json!({"type": "string"}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    }

    #[test]
    fn patterns_are_matched_in_linear_time() {
        let with = |pattern: &str| json!({"properties": {"a": {"pattern": pattern}}});
        let text = json!({"a": format!("{}b#", "a".repeat(1 << 20))});
        for endless in [
            "^((?=a)){1000000000000}",
            "^(?:(?=[^#]*#)a)*#$",
            "^(?=a)(a|a|aa)+(?<!b)$",
            r"^(a)\1",
        ] {
            let refused = ["invalid-input-schema /inputSchema/properties/a/pattern"];
            assert_eq!(found(&with(endless), &text), refused, "{endless}");
        }
        assert_eq!(
            found(&with("^[^[\\]]*$"), &json!({"a": "x"})),
            [] as [String; 0]
        );
        assert_eq!(found(&with("^(a|a|aa)+b#$"), &text), [] as [String; 0]);
        assert_eq!(found(&with("^(a|a|aa)+c$"), &text), ["data-pattern /a"]);
    }

    #[test]
    fn references_into_values_are_counted_or_refused() {
        let list: Vec<Json> = (1..46)
            .map(|at| {
                let next = json!({"$ref": format!("#/examples/{at}")});
                json!({"anyOf": [next, next]})
            })
            .chain([json!({"type": "string"})])
            .collect();
        let examples = json!({"$ref": "#/examples/0", "examples": list});
        assert_eq!(found(&examples, &json!({})), ["schema-too-complex "]);
        let refused = ["invalid-input-schema /inputSchema"];
        let constant = json!({"$ref": "#/$defs/a/const", "$defs": {"a": {"const": {"$ref": "#"}}}});
        assert_eq!(found(&constant, &json!({})), refused);
        let names = json!({"$ref": "#/properties", "properties": {"anyOf": {}}});
        assert_eq!(found(&names, &json!({})), refused);
        let named = json!({
            "properties": {"const": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"type": "number"}},
            "examples": [{"properties": {"name": "Berlin"}, "pattern": "*.log"}],
        });
        assert_eq!(found(&named, &json!({"const": "b"})), ["data-type /const"]);
    }

    #[test]
    fn references_that_multiply_are_refused() {
        let any_of = doubling(45, |next| json!({"anyOf": [next.clone(), next]}));
        assert_eq!(found(&any_of, &json!({})), ["schema-too-complex "]);
        let kept = doubling(
            28,
            |next| json!({"anyOf": [next.clone(), next, {"type": "null"}]}),
        );
        assert_eq!(found(&kept, &json!({})), ["schema-too-complex "]);
        let all_of = doubling(45, |next| json!({"allOf": [next.clone(), next]}));
        assert_eq!(found(&all_of, &json!("text")), ["schema-too-complex "]);
        let unevaluated = doubling(
            40,
            |next| json!({"anyOf": [next.clone(), next], "unevaluatedProperties": false}),
        );
        assert_eq!(
            found(&unevaluated, &json!({"a": 1})),
            ["schema-too-complex /inputSchema"]
        );
    }

    #[test]
    fn long_chains_of_references_do_not_end_the_stack() {
        let chain = doubling(20_000, |next| json!({"allOf": [next]}));
        let found = found(&chain, &json!("text"));
        assert!(
            matches!(found.as_slice(), [one] if one.starts_with("schema-too-complex")),
            "{found:?}"
        );
    }

    #[test]
    fn a_schema_of_itself_ends() {
        let _ = found(&json!({"anyOf": [{"$ref": "#"}]}), &json!({}));
        let _ = found(
            &json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
            &json!({}),
        );
        let dynamic = json!({"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]});
        let _ = found(&dynamic, &json!({}));
    }

    #[test]
    fn what_is_common_is_not_in_the_way() {
        let schema = json!({
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
            "$defs": {"item": {
                "type": "object",
                "required": ["kind"],
                "dependentRequired": {"price": ["currency"]},
                "properties": {"kind": {"enum": ["a", {"b": 1}]}, "price": {"type": "number"}},
                "additionalProperties": true,
            }},
        });
        let rows = |row: &Json| json!({"items": vec![row.clone(); 5_000]});
        assert!(found(&schema, &rows(&json!({"kind": {"b": 1}}))).is_empty());
        let wrong = found(&schema, &rows(&json!({"kind": "c", "price": 1})));
        assert_eq!(wrong.len(), MAX_MISTAKES);
        assert!(
            wrong.contains(&"data-enum /items/0/kind".to_owned()),
            "{wrong:?}"
        );
        let strict = json!({"properties": {"a": {}}, "additionalProperties": false});
        assert_eq!(
            found(&strict, &json!({"b": 1})),
            ["data-additional-properties "]
        );
    }
}

//! The `invoice` section of a template: an [`Invoice`] whose texts may contain expressions, and
//! whose lists may be repeats.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{Invoice, Problem, bounds};

/// Maximum number of values of a mapping: beyond it, the section is not one that people write.
const MAX_VALUES: usize = 10_000;

/// The section as its author wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mapping(pub Map<String, Json>);

impl JsonSchema for Mapping {
    fn schema_name() -> Cow<'static, str> {
        "InvoiceMapping".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let invoice = generator.subschema_for::<Invoice>();
        json_schema!({
            "description": "Texts and numbers may be `{{ expressions }}`. A list may be \
                `{\"each\": expression, \"as\": name, \"value\": item}`.",
            "anyOf": [invoice, {"type": "object"}],
        })
    }
}

/// The mapping of [`Invoice`] in evaluated form: texts, lists and objects.
///
/// What is empty is absent: data often has an empty text for what is not known.
///
/// # Errors
/// The first value that has no place in an invoice.
pub fn invoice_of(mut value: Json) -> Result<Invoice, Problem> {
    if count(&value) > bounds::MAX_VALUES {
        let message = format!("an invoice has at most {} values", bounds::MAX_VALUES);
        return Err(Problem::error("too-large", "", message));
    }
    strip(&mut value);
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = pointer_of(error.path());
        Problem::error("invalid-value", path, error.inner().to_string())
    })
}

/// Fields that hold a [`crate::Number`], wherever they are text.
const NUMBERS: [&str; 20] = [
    "allowances",
    "amount",
    "base",
    "charges",
    "days",
    "due",
    "gross",
    "grossPrice",
    "lines",
    "net",
    "paid",
    "percent",
    "price",
    "priceDiscount",
    "priceQuantity",
    "quantity",
    "rate",
    "rounding",
    "vat",
    "vatInVatCurrency",
];

impl Invoice {
    /// The invoice as JSON for expressions: with numbers to compute with instead of text, and with
    /// lists that can be repeated even if they are empty.
    #[must_use]
    pub fn to_numbers(&self) -> Json {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        to_numbers(&mut value);
        complete(
            &mut value,
            &[
                "allowances",
                "charges",
                "exemptions",
                "notes",
                "supportingDocuments",
            ],
        );
        for line in value["lines"].as_array_mut().into_iter().flatten() {
            complete(line, &["allowances", "attributes", "charges", "classes"]);
        }
        value
    }
}

/// Adds the `lists` that `object` does not have.
fn complete(object: &mut Json, lists: &[&str]) {
    for list in lists {
        if object.get(list).is_none() {
            object[*list] = Json::Array(Vec::new());
        }
    }
}

fn to_numbers(value: &mut Json) {
    match value {
        Json::Object(object) => {
            for (name, value) in object.iter_mut() {
                match value.as_str() {
                    Some(text) if NUMBERS.contains(&name.as_str()) => {
                        let whole = text.parse::<i64>().map(Json::from);
                        *value = whole
                            .unwrap_or_else(|_| text.parse::<f64>().map_or(Json::Null, Json::from));
                    }
                    _ => to_numbers(value),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(to_numbers),
        _ => {}
    }
}

fn count(value: &Json) -> usize {
    1 + match value {
        Json::Object(object) => object.values().map(count).sum(),
        Json::Array(items) => items.iter().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Removes members that are null, empty texts or empty objects.
fn strip(value: &mut Json) {
    match value {
        Json::Object(object) => {
            object.values_mut().for_each(strip);
            object.retain(|_, value| !is_empty(value));
        }
        Json::Array(items) => {
            items.iter_mut().for_each(strip);
            items.retain(|item| !is_empty(item));
        }
        _ => {}
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Object(object) => object.is_empty(),
        _ => false,
    }
}

fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                pointer.push_str(&format!("/{}", token(key)));
            }
            Segment::Unknown => {}
        }
    }
    pointer
}

/// `name` as a token of a JSON pointer.
pub(crate) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl Mapping {
    /// Where the author wrote what is at `pointer` in the [`Invoice`], and which element it is of
    /// each list that is repeated, from 0.
    #[must_use]
    pub fn locate(&self, pointer: &str) -> (String, Vec<usize>) {
        let root = Json::Object(self.0.clone());
        let (mut at, mut path, mut elements) = (&root, String::new(), Vec::new());
        for name in pointer.split('/').skip(1) {
            let next = match (repeat(at), name.parse::<usize>()) {
                (Some(repeat), Ok(index)) => {
                    elements.push(index);
                    path.push_str("/value");
                    repeat.get("value")
                }
                _ => {
                    let found = match at {
                        Json::Object(object) => object.get(name),
                        Json::Array(items) => name.parse().ok().and_then(|at: usize| items.get(at)),
                        _ => None,
                    };
                    if found.is_some() {
                        path.push_str(&format!("/{}", token(name)));
                    }
                    found
                }
            };
            let Some(next) = next else { break };
            at = next;
        }
        (path, elements)
    }
}

/// Whether `value` is a list that is repeated for each element of an expression.
fn repeat(value: &Json) -> Option<&Map<String, Json>> {
    value
        .as_object()
        .filter(|object| object.contains_key("each"))
}

/// What is wrong with `mapping` before there is any data: names that no business term has, literal
/// values that are none. The paths begin at the section.
#[must_use]
pub fn check_mapping(mapping: &Mapping) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut count = 0;
    let sample = sample(
        &Json::Object(mapping.0.clone()),
        "",
        &mut count,
        &mut problems,
    );
    if count > MAX_VALUES {
        let message = format!("the section has more than {MAX_VALUES} values");
        return vec![Problem::error("too-large", "", message)];
    }
    if let Err(error) = serde_path_to_error::deserialize::<_, Invoice>(sample) {
        let (path, _) = mapping.locate(&pointer_of(error.path()));
        problems.push(Problem::error(
            "invalid-value",
            path,
            error.inner().to_string(),
        ));
    }
    problems
}

/// `value` with repeats as lists of one, and numbers for expressions, which any text and any number
/// can be read from.
fn sample(value: &Json, path: &str, count: &mut usize, problems: &mut Vec<Problem>) -> Json {
    *count += 1;
    if *count > MAX_VALUES {
        return Json::Null;
    }
    match value {
        Json::Object(object) if repeat(value).is_some() => {
            for (key, value) in object {
                if key != "value" && !value.is_string() {
                    let message = format!("`{key}` of a repeat is a text");
                    problems.push(Problem::error("invalid-value", path, message));
                }
                if !matches!(key.as_str(), "each" | "as" | "when" | "value") {
                    let message =
                        format!("a repeat has `each`, `as`, `when` and `value`, but no `{key}`");
                    problems.push(Problem::error("invalid-value", path, message));
                }
            }
            let inner = object.get("value").unwrap_or(&Json::Null);
            let path = format!("{path}/value");
            Json::Array(vec![sample(inner, &path, count, problems)])
        }
        Json::Object(object) => {
            let mut made = Map::new();
            for (key, value) in object {
                // A profile from data cannot be checked before there is some.
                let dynamic = value.as_str().is_some_and(|text| text.contains("{{"));
                if dynamic && matches!(key.as_str(), "profile" | "syntax" | "kind") {
                    continue;
                }
                let path = format!("{path}/{}", token(key));
                made.insert(key.clone(), sample(value, &path, count, problems));
            }
            Json::Object(made)
        }
        Json::Array(items) => {
            let item = |(index, item): (usize, &Json)| {
                sample(item, &format!("{path}/{index}"), count, problems)
            };
            Json::Array(items.iter().enumerate().map(item).collect())
        }
        Json::String(text) if text.contains("{{") => Json::from("1"),
        other => other.clone(),
    }
}

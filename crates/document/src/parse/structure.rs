//! Compares a template's JSON with its JSON Schema. Continues after errors, chooses the branch of a
//! union by what was written, and suggests what was meant.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

use super::{MAX_DIAGNOSTICS, MAX_NODES, MAX_TEXT_BYTES};
use crate::{
    Color, Diagnostic, Length, pointer, suggestion,
    template::{ColumnWidth, PaperSize, dynamic::Found, json_schema},
};

/// The schema of templates of kind `document`.
pub(super) static DOCUMENT: LazyLock<Json> = LazyLock::new(json_schema);
/// The schema of templates of kind `html`.
pub(super) static HTML: LazyLock<Json> = LazyLock::new(crate::html::json_schema);

/// All structural errors of a template, and its properties with expressions that their types do not
/// have.
pub(super) fn check(template: &Json, schema: &'static Json) -> (Vec<Diagnostic>, Vec<Found>) {
    let mut walk = Walk {
        definitions: schema.get("$defs").and_then(Json::as_object),
        found: Vec::new(),
        nodes: 0,
        path: String::new(),
        part: None,
        dynamic: Vec::new(),
        branches: Vec::new(),
    };
    if template.is_object() {
        walk.value(schema, template, "the template");
    } else {
        walk.mistake(
            "wrong-type",
            format!("a template must be an object, not {}", kind_of(template)),
            None,
        );
    }
    if walk.nodes > MAX_NODES {
        walk.path.clear();
        walk.mistake(
            "too-many-nodes",
            format!(
                "the template has {} nodes; at most {MAX_NODES} are allowed",
                walk.nodes
            ),
            Some("bind a table or a `repeat` to an array of the data".to_owned()),
        );
    }
    (walk.found, walk.dynamic)
}

pub(super) struct Walk<'s> {
    pub(super) definitions: Option<&'s Map<String, Json>>,
    found: Vec<Diagnostic>,
    nodes: usize,
    pub(super) path: String,
    /// Length of the pointer of the innermost part that may have properties with expressions.
    pub(super) part: Option<usize>,
    pub(super) dynamic: Vec<Found>,
    /// Branches of unions that were found, and the types of their values.
    branches: Vec<(&'s str, &'s Json)>,
}

/// The types whose values are parts of a template with properties that may contain expressions.
const PARTS: [&str; 8] = [
    "Node",
    "FullRun",
    "ColumnSpec",
    "FullCellSpec",
    "RowStyle",
    "CellStyle",
    "PageSetup",
    "Theme",
];

impl<'s> Walk<'s> {
    fn mistake(&mut self, code: &str, message: String, hint: Option<String>) {
        if self.found.len() < MAX_DIAGNOSTICS {
            let mut diagnostic = Diagnostic::error(code, self.path.clone(), message);
            diagnostic.hint = hint;
            self.found.push(diagnostic);
        }
    }

    /// Follows a `$ref`. Returns the schema and the name of its type.
    fn resolve(&self, schema: &'s Json) -> (&'s Json, Option<&'s str>) {
        let Some(name) = schema
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(|reference| reference.strip_prefix("#/$defs/"))
        else {
            return (schema, None);
        };
        match self
            .definitions
            .and_then(|definitions| definitions.get(name))
        {
            Some(definition) => (definition, Some(name)),
            None => (schema, Some(name)),
        }
    }

    fn value(&mut self, schema: &'s Json, value: &Json, what: &str) {
        let (resolved, name) = self.resolve(schema);
        let outer = self.part;
        // The page setup of a section is part of its node.
        if name
            .is_some_and(|name| PARTS.contains(&name) && (name != "PageSetup" || outer.is_none()))
        {
            self.part = Some(self.path.len());
        }
        if !self.is_dynamic(resolved, name, value) {
            self.resolved(resolved, name, value, what);
        }
        self.part = outer;
    }

    fn resolved(&mut self, schema: &'s Json, name: Option<&'s str>, value: &Json, what: &str) {
        if let Some(name) = name
            && self.parsed_from_text(name, value)
        {
            return;
        }
        if name == Some("Node") {
            self.nodes += 1;
        }
        if let Some(branches) = schema.get("anyOf").and_then(Json::as_array) {
            return self.any_of(branches, value, what);
        }
        if let Some(branches) = schema.get("oneOf").and_then(Json::as_array) {
            return self.one_of(branches, value, what);
        }
        if !self.accepts(schema, value) {
            let expected = self.expected(schema);
            return self.wrong_type(what, &expected, value);
        }
        if let Some(known) = schema.get("enum").and_then(Json::as_array)
            && !known.contains(value)
        {
            let known: Vec<&str> = known.iter().filter_map(Json::as_str).collect();
            return self.unknown_value(what, &known, value);
        }
        match value {
            Json::Object(fields) => self.object(schema, fields, what),
            Json::Array(items) => {
                if let Some(item) = schema.get("items") {
                    for (index, value) in items.iter().enumerate() {
                        self.below(item, value, &index.to_string(), what);
                    }
                }
            }
            Json::Number(number) => self.range(schema, number, what),
            Json::String(text) => self.text_length(text),
            Json::Null | Json::Bool(_) => {}
        }
    }

    fn below(&mut self, schema: &'s Json, value: &Json, token: &str, what: &str) {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        self.value(schema, value, what);
        self.path.truncate(length);
    }

    fn object(&mut self, schema: &'s Json, fields: &Map<String, Json>, what: &str) {
        let known = schema.get("properties").and_then(Json::as_object);
        let rest = schema.get("additionalProperties");
        for (name, value) in fields {
            if let Some(field) = known.and_then(|known| known.get(name)) {
                self.below(field, value, name, &format!("`{name}`"));
                self.leave_out(schema, name);
            } else if rest == Some(&Json::Bool(false)) {
                let names = known
                    .into_iter()
                    .flat_map(Map::keys)
                    .map(String::as_str)
                    .filter(|known| !fields.contains_key(*known));
                let hint = suggestion::hint(name, names);
                let length = self.path.len();
                pointer::push(&mut self.path, name);
                let message = format!("`{name}` is not a field of {what}");
                self.mistake("unknown-field", message, Some(hint));
                self.path.truncate(length);
            } else if let Some(rest) = rest.filter(|rest| rest.is_object()) {
                self.below(rest, value, name, &format!("`{name}`"));
            }
        }
        let required = schema.get("required").and_then(Json::as_array);
        for name in required.into_iter().flatten().filter_map(Json::as_str) {
            if !fields.contains_key(name) {
                self.mistake(
                    "missing-field",
                    format!("{what} needs the field `{name}`"),
                    None,
                );
            }
        }
    }

    fn any_of(&mut self, branches: &'s [Json], value: &Json, what: &str) {
        let fitting: Vec<&'s Json> = branches
            .iter()
            .filter(|branch| self.accepts(branch, value))
            .collect();
        match fitting.as_slice() {
            [] => {
                let expected: Vec<String> = branches
                    .iter()
                    .map(|branch| self.expected(branch))
                    .filter(|expected| expected != "null")
                    .collect();
                let expected = expected.join(" or ");
                self.wrong_type(what, &expected, value);
            }
            // Later branches are wider: the name of an aggregate is also a text.
            [.., branch] => self.value(branch, value, what),
        }
    }

    fn one_of(&mut self, branches: &'s [Json], value: &Json, what: &str) {
        if branches.iter().all(|branch| constant(branch).is_some()) {
            let mut names = branches.iter().filter_map(constant);
            return match value {
                Json::String(text) if names.any(|name| name == text) => {}
                Json::String(_) => {
                    let names: Vec<&'s str> = branches.iter().filter_map(constant).collect();
                    self.unknown_value(what, &names, value);
                }
                _ => self.wrong_type(what, "a name", value),
            };
        }
        let Json::Object(fields) = value else {
            return self.wrong_type("a node", "an object with a `type`", value);
        };
        let types = || branches.iter().filter_map(type_name);
        match fields.get("type") {
            None => self.mistake(
                "missing-field",
                "a node needs the field `type`".to_owned(),
                Some(suggestion::hint("", types())),
            ),
            Some(Json::String(kind)) => {
                if let Some(branch) = self.branch_of_type(branches, kind) {
                    self.value(branch, value, &format!("a `{kind}` node"));
                } else {
                    let hint = suggestion::hint(kind, types());
                    let length = self.path.len();
                    self.path.push_str("/type");
                    let message = format!("unknown node type `{}`", shorten(kind));
                    self.mistake("unknown-node-type", message, Some(hint));
                    self.path.truncate(length);
                }
            }
            Some(other) => self.wrong_type("`type`", "the name of a node type", other),
        }
    }

    /// The branch whose values have this type. A template has many nodes, and they few types.
    fn branch_of_type(&mut self, branches: &'s [Json], kind: &str) -> Option<&'s Json> {
        let own = branches.as_ptr_range();
        let known = (self.branches.iter().copied())
            .find(|(name, branch)| *name == kind && own.contains(&std::ptr::from_ref(*branch)));
        if let Some((_, branch)) = known {
            return Some(branch);
        }
        let named = branches
            .iter()
            .filter_map(|branch| Some((type_name(branch)?, branch)));
        let (name, branch) = { named }.find(|(name, _)| *name == kind)?;
        self.branches.push((name, branch));
        Some(branch)
    }

    /// Checks the types that are parsed from text with `FromStr`; false for others.
    fn parsed_from_text(&mut self, name: &str, value: &Json) -> bool {
        let text = match (name, value) {
            ("Length", Json::Number(number)) => format!("{number}pt"),
            ("Length" | "Color" | "ColumnWidth" | "PaperSize", Json::String(text)) => text.clone(),
            _ => return false,
        };
        let outcome = match name {
            "Length" => text
                .parse::<Length>()
                .map(drop)
                .map_err(|reason| ("invalid-length", reason)),
            "Color" => text
                .parse::<Color>()
                .map(drop)
                .map_err(|reason| ("invalid-color", reason)),
            "ColumnWidth" => text
                .parse::<ColumnWidth>()
                .map(drop)
                .map_err(|reason| ("invalid-width", reason)),
            _ => {
                if PaperSize::Named(text.clone()).dimensions().is_none() {
                    let names: Vec<&str> = PaperSize::NAMES.iter().map(|size| size.0).collect();
                    self.unknown_value("`size`", &names, value);
                }
                return true;
            }
        };
        if let Err((code, reason)) = outcome {
            self.mistake(code, shorten(&reason), None);
        }
        true
    }

    fn accepts(&self, schema: &'s Json, value: &Json) -> bool {
        let (schema, name) = self.resolve(schema);
        if name == Some("Length") {
            return value.is_string() || value.is_number();
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(union).and_then(Json::as_array) {
                return branches.iter().any(|branch| self.accepts(branch, value));
            }
        }
        match schema.get("type") {
            None => true,
            Some(Json::String(kind)) => is_kind(kind, value),
            Some(Json::Array(kinds)) => kinds
                .iter()
                .filter_map(Json::as_str)
                .any(|kind| is_kind(kind, value)),
            Some(_) => false,
        }
    }

    fn expected(&self, schema: &'s Json) -> String {
        let (schema, name) = self.resolve(schema);
        match name {
            Some("Length") => return "a length such as `20mm`".to_owned(),
            Some("Color") => return "a colour such as `#1F4E79`".to_owned(),
            _ => {}
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(union).and_then(Json::as_array) {
                let mut expected: Vec<String> = branches
                    .iter()
                    .map(|branch| self.expected(branch))
                    .collect();
                expected.dedup();
                return expected.join(" or ");
            }
        }
        let name = |kind: &str| match kind {
            "string" => "text".to_owned(),
            "array" => "a list".to_owned(),
            "object" => "an object".to_owned(),
            "integer" => "a whole number".to_owned(),
            "number" => "a number".to_owned(),
            "boolean" => "true or false".to_owned(),
            other => other.to_owned(),
        };
        match schema.get("type") {
            Some(Json::String(kind)) => name(kind),
            Some(Json::Array(kinds)) => kinds
                .iter()
                .filter_map(Json::as_str)
                .filter(|kind| *kind != "null")
                .map(name)
                .collect::<Vec<_>>()
                .join(" or "),
            _ => "something else".to_owned(),
        }
    }

    fn wrong_type(&mut self, what: &str, expected: &str, value: &Json) {
        let message = format!("{what} must be {expected}, not {}", kind_of(value));
        self.mistake("wrong-type", message, None);
    }

    fn unknown_value(&mut self, what: &str, known: &[&str], value: &Json) {
        let written = value.as_str().unwrap_or_default();
        let message = format!("{what} cannot be `{}`", shorten(written));
        let hint = suggestion::hint(written, known.iter().copied());
        self.mistake("unknown-value", message, Some(hint));
    }

    fn range(&mut self, schema: &Json, number: &serde_json::Number, what: &str) {
        let Some(value) = number.as_f64() else {
            return;
        };
        let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        if least.is_some_and(|least| value < least) || most.is_some_and(|most| value > most) {
            let message = match (least, most) {
                (Some(least), Some(most)) => format!("{what} must be {least} to {most}"),
                (Some(least), None) => format!("{what} must be at least {least}"),
                (_, most) => format!("{what} must be at most {}", most.unwrap_or_default()),
            };
            self.mistake("out-of-range", message, None);
        }
    }

    fn text_length(&mut self, text: &str) {
        let is_long = ["/assets/", "/html", "/css"];
        if text.len() > MAX_TEXT_BYTES && !is_long.iter().any(|path| self.path.starts_with(path)) {
            self.mistake(
                "text-too-long",
                format!(
                    "this text has {} bytes; at most {MAX_TEXT_BYTES} are allowed",
                    text.len()
                ),
                None,
            );
        }
    }
}

/// The only value that a schema allows.
fn constant(schema: &Json) -> Option<&str> {
    schema.get("const")?.as_str()
}

/// The type of the nodes that a schema describes.
fn type_name(schema: &Json) -> Option<&str> {
    constant(schema.get("properties")?.get("type")?)
}

fn is_kind(kind: &str, value: &Json) -> bool {
    match kind {
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// At most 60 characters of `text`, for messages.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

//! Parses JSON into a [`Template`] and finds all errors in one pass.
//!
//! The structure is checked against the JSON Schema generated from the template types
//! ([`crate::template::json_schema`]), by a traversal that continues after errors; serde alone
//! would stop at the first. [`crate::check`] checks what the schema cannot express.

mod dynamic;
mod structure;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::{
    Diagnostic,
    html::HtmlTemplate,
    imports,
    pins::Pins,
    pointer,
    template::{Template, dynamic::DynamicParts},
};

/// Maximum size of a template, in bytes of JSON.
pub const MAX_TEMPLATE_BYTES: usize = 4 << 20;
/// Maximum nesting of arrays and objects, below the 127 levels that serde_json supports.
pub const MAX_DEPTH: usize = 120;
/// Maximum number of nodes in a template.
pub const MAX_NODES: usize = 20_000;
/// Maximum length of a text, in bytes; assets may be longer.
pub const MAX_TEXT_BYTES: usize = 200_000;
/// Maximum number of errors reported for a template.
pub const MAX_DIAGNOSTICS: usize = 200;

/// Parses a template.
///
/// # Errors
/// All errors, each with a pointer.
pub fn parse_template(bytes: &[u8]) -> Result<Template, Vec<Diagnostic>> {
    template_from_json(json_from_bytes(bytes)?)
}

/// Parses a template from a JSON value.
///
/// # Errors
/// All errors, each with a pointer.
pub fn template_from_json(json: Json) -> Result<Template, Vec<Diagnostic>> {
    let template = structure_from_json(json)?;
    let mut found: Vec<Diagnostic> = crate::compile::analyse(&template)
        .1
        .into_iter()
        .filter(Diagnostic::is_error)
        .collect();
    if found.is_empty() {
        return Ok(template);
    }
    found.truncate(MAX_DIAGNOSTICS);
    Err(found)
}

/// Parses a template, checking only its structure.
pub(crate) fn structure_from_json(mut json: Json) -> Result<Template, Vec<Diagnostic>> {
    let pins = Pins::take(&mut json);
    let linked = match imports::has_imports(&json) {
        false => json,
        true if depth_exceeds(&json, MAX_DEPTH) => return Err(vec![too_deep()]),
        true => imports::link(json, &|template| {
            structure::check(template, &structure::DOCUMENT).0
        })?,
    };
    let (mut template, dynamic): (Template, _) = checked(linked, &structure::DOCUMENT)?;
    template.dynamic = dynamic;
    template.pins = pins;
    Ok(template)
}

/// Parses a template of kind `html`, checking only its structure.
pub(crate) fn html_from_json(mut json: Json) -> Result<HtmlTemplate, Vec<Diagnostic>> {
    let pins = Pins::take(&mut json);
    let (template, _) = checked::<HtmlTemplate>(json, &structure::HTML)?;
    Ok(HtmlTemplate { pins, ..template })
}

fn checked<T: DeserializeOwned>(
    mut json: Json,
    schema: &'static Json,
) -> Result<(T, DynamicParts), Vec<Diagnostic>> {
    if depth_exceeds(&json, MAX_DEPTH) {
        return Err(vec![too_deep()]);
    }
    let (mut found, dynamic) = structure::check(&json, schema);
    if found.iter().any(Diagnostic::is_error) {
        found.truncate(MAX_DIAGNOSTICS);
        return Err(found);
    }
    let dynamic = DynamicParts::take(&mut json, dynamic);
    match serde_path_to_error::deserialize(json) {
        Ok(template) => Ok((template, dynamic)),
        Err(error) => {
            let path = pointer_of(error.path());
            let message = error.inner().to_string();
            Err(vec![Diagnostic::error("invalid-value", path, message)])
        }
    }
}

/// Parses JSON after checking its size and depth, since the parser recurses.
pub(crate) fn json_from_bytes(bytes: &[u8]) -> Result<Json, Vec<Diagnostic>> {
    if bytes.len() > MAX_TEMPLATE_BYTES {
        return Err(vec![
            Diagnostic::error(
                "template-too-large",
                "",
                format!(
                    "the template has {} bytes; at most {MAX_TEMPLATE_BYTES} are read",
                    bytes.len()
                ),
            )
            .with_hint("keep long texts and pictures in the data or as assets of their own"),
        ]);
    }
    if bytes_depth(bytes) > MAX_DEPTH {
        return Err(vec![too_deep()]);
    }
    serde_json::from_slice(bytes).map_err(|error| {
        vec![
            Diagnostic::error("invalid-json", "", format!("this is not JSON: {error}"))
                .with_hint("check the place that line and column name; the end may be missing"),
        ]
    })
}

fn too_deep() -> Diagnostic {
    Diagnostic::error(
        "too-deep",
        "",
        format!("arrays and objects are nested deeper than {MAX_DEPTH} levels"),
    )
    .with_hint("use `repeat` or `conditional` instead of nesting by hand")
}

/// Whether `json` is nested deeper than `limit`. Does not recurse.
pub(crate) fn depth_exceeds(json: &Json, limit: usize) -> bool {
    let mut waiting = vec![(json, 1)];
    while let Some((value, depth)) = waiting.pop() {
        let nested = matches!(value, Json::Array(_) | Json::Object(_));
        if nested && depth > limit {
            return true;
        }
        match value {
            Json::Array(items) => waiting.extend(
                items
                    .iter()
                    .filter(|item| item.is_array() || item.is_object())
                    .map(|item| (item, depth + 1)),
            ),
            Json::Object(fields) => waiting.extend(
                fields
                    .values()
                    .filter(|item| item.is_array() || item.is_object())
                    .map(|item| (item, depth + 1)),
            ),
            _ => {}
        }
    }
    false
}

/// Maximum nesting of brackets, ignoring strings.
fn bytes_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

pub(crate) fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer::push(&mut text, &index.to_string()),
            Segment::Map { key } => pointer::push(&mut text, key),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    text
}

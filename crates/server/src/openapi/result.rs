//! What is said of results that are stored: of the operations that store, and of the one that reads.

use serde_json::{Value as Json, json};

use super::{convert, operation::reference, parameter::parameter};
use crate::routes::Route;

/// Operations whose document may be stored instead of sent.
const STORING: [&str; 4] = [
    "create_render",
    "create_render_in_format",
    "create_html_render",
    "convert_document",
];

/// Statuses of problems that are its alone.
pub(super) fn problem_codes(route: &Route) -> &'static [u16] {
    match route.operation {
        "get_result" => &[403, 410],
        operation if STORING.contains(&operation) => &[507],
        _ => &[],
    }
}

/// Adds the answer with a link.
pub(super) fn add_answer(route: &Route, answers: &mut serde_json::Map<String, Json>) {
    if !STORING.contains(&route.operation) {
        return;
    }
    let answer = json!({
        "description": "The document was stored, as `output.store` says.",
        "headers": {"Location": {
            "description": "Link to the document.", "schema": {"type": "string"},
        }},
        "content": {"application/json": {"schema": reference("StoredResult")}},
    });
    answers.insert("201".into(), answer);
}

/// What a stored document may be.
pub(super) fn content() -> Json {
    convert::content()
}

/// What a link is made of.
pub(super) fn parameters(route: &Route) -> Vec<Json> {
    if route.operation != "get_result" {
        return Vec::new();
    }
    let string = || json!({"type": "string"});
    let digest = json!({"type": "string", "pattern": "^[0-9a-f]{64}$"});
    let end = json!({"type": "integer"});
    vec![
        parameter(
            "path",
            "digest",
            digest,
            "SHA-256 of the document, which is its ETag.",
        ),
        parameter("path", "name", string(), "File name."),
        parameter("query", "type", string(), "Media type."),
        parameter(
            "query",
            "disposition",
            string(),
            "`attachment` where a browser saves the file.",
        ),
        parameter(
            "query",
            "expires",
            end,
            "When the link ends, in seconds since 1970.",
        ),
        parameter(
            "query",
            "signature",
            string(),
            "HMAC-SHA256 of all of it, in hexadecimal.",
        ),
    ]
}

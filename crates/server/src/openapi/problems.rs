//! Problems as reusable components of the OpenAPI document.

use serde_json::{Map, Value as Json, json};

/// Header of every response.
pub(super) const REQUEST_ID: (&str, &str) = ("X-Request-Id", "ID of the request, also in the log.");

#[rustfmt::skip]
const PROBLEMS: [(u16, &str, &str); 20] = [
    (400, "BadRequest", "The request is malformed; `detail` says where."),
    (401, "Unauthorized", "The API key is missing or unknown."),
    (403, "Forbidden", "The API key lacks the scope that the operation needs, or the signature of the link is invalid."),
    (404, "NotFound", "No such template, version, format or result."),
    (406, "NotAcceptable", "None of the media types in Accept is available."),
    (408, "RequestTimeout", "The body arrived too slowly."),
    (409, "Conflict", "A template or flow with this key exists (ETag has its version), or the run is in another state."),
    (410, "Gone", "The link has expired."),
    (412, "PreconditionFailed", "Another version is current; ETag names it."),
    (413, "ContentTooLarge", "The body is too large."),
    (415, "UnsupportedMediaType", "The body is not JSON where it must be, or it has a Content-Encoding."),
    (422, "UnprocessableContent", "The template or the data has errors, all listed in `diagnostics`; or the document cannot be processed or would exceed a limit."),
    (428, "PreconditionRequired", "If-Match is missing."),
    (429, "TooManyRequests", "Too many requests per minute; retry after the time in Retry-After."),
    (500, "InternalServerError", "Internal failure; the log has the cause under the request ID."),
    (501, "NotImplemented", "Chromium (for HTML) or LibreOffice (for Office files) is not installed; `detail` says how to install it."),
    (502, "BadGateway", "Chromium, LibreOffice or the sandbox crashed; a retry may succeed."),
    (503, "ServiceUnavailable", "A queue is full; retry after the time in Retry-After."),
    (504, "GatewayTimeout", "The deadline passed."),
    (507, "InsufficientStorage", "No space to store the document: RESULTS_MAX_BYTES is reached, or the disk is full; `what` says which."),
];

pub(super) fn name_of(code: u16) -> &'static str {
    PROBLEMS
        .iter()
        .find(|(known, ..)| *known == code)
        .map_or("InternalServerError", |(_, name, _)| name)
}

/// The component of a problem that is text, unless the client accepts JSON.
pub(super) fn name_of_text(code: u16) -> String {
    format!("{}Text", name_of(code))
}

/// The response components of all problems, and of those that are text.
pub(super) fn components() -> Map<String, Json> {
    let document =
        json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
    let mut either = document.clone();
    either["text/plain"] = json!({"schema": {"type": "string"}});
    let mut all = of_content(&document, "");
    all.extend(of_content(&either, "Text"));
    all
}

fn of_content(content: &Json, ending: &str) -> Map<String, Json> {
    PROBLEMS
        .iter()
        .map(|(code, name, about)| {
            let (id, what) = REQUEST_ID;
            let mut headers = json!({id: {"description": what, "schema": {"type": "string"}}});
            if matches!(code, 429 | 503) {
                headers["Retry-After"] = json!({
                    "description": "Seconds to wait before a retry.",
                    "schema": {"type": "integer", "minimum": 1}
                });
            }
            let answer = json!({"description": about, "headers": headers, "content": content});
            (format!("{name}{ending}"), answer)
        })
        .collect()
}

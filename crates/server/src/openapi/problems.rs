//! Problems as reusable components of the OpenAPI document.

use serde_json::{Map, Value as Json, json};

/// Header of every response.
pub(super) const REQUEST_ID: (&str, &str) = ("X-Request-Id", "Names the request in the log.");

#[rustfmt::skip]
const PROBLEMS: [(u16, &str, &str); 20] = [
    (400, "BadRequest", "The request is not JSON, or not as described; `detail` names line and column."),
    (401, "Unauthorized", "No API key, or an unknown one."),
    (403, "Forbidden", "The API key lacks the admin scope; or the link is not signed by this service."),
    (404, "NotFound", "No such template, version, format or result."),
    (406, "NotAcceptable", "Nothing in Accept is made here."),
    (408, "RequestTimeout", "The body came too slowly."),
    (409, "Conflict", "A template or flow of that key exists, ETag has its version; or the run is in another state."),
    (410, "Gone", "The link has ended."),
    (412, "PreconditionFailed", "Another version is current; ETag has it."),
    (413, "ContentTooLarge", "The body is too large."),
    (415, "UnsupportedMediaType", "The body is not JSON."),
    (422, "UnprocessableContent", "Errors in the template or the data, all in `diagnostics`; or the document cannot be processed, or would exceed a limit."),
    (428, "PreconditionRequired", "If-Match is missing."),
    (429, "TooManyRequests", "Too many requests a minute; Retry-After says when to come back."),
    (500, "InternalServerError", "A failure of the service; the log has the cause under the request id."),
    (501, "NotImplemented", "Chromium, which prints HTML, or LibreOffice, which converts Office files, is not installed; `detail` says how to install it."),
    (502, "BadGateway", "Chromium, LibreOffice or the sandbox crashed during the work; another try may succeed."),
    (503, "ServiceUnavailable", "Too much waits already; Retry-After says when to come back."),
    (504, "GatewayTimeout", "Not done before the deadline."),
    (507, "InsufficientStorage", "No room to store the document: RESULTS_MAX_BYTES is reached, or the disk is full; `what` tells which."),
];

pub(super) fn name_of(code: u16) -> &'static str {
    PROBLEMS
        .iter()
        .find(|(known, ..)| *known == code)
        .map_or("InternalServerError", |(_, name, _)| name)
}

/// The response components of all problems.
pub(super) fn components() -> Map<String, Json> {
    PROBLEMS
        .iter()
        .map(|(code, name, about)| {
            let content = json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
            let (id, what) = REQUEST_ID;
            let mut headers = json!({id: {"description": what, "schema": {"type": "string"}}});
            if matches!(code, 429 | 503) {
                headers["Retry-After"] = json!({
                    "description": "Seconds after which another try makes sense.",
                    "schema": {"type": "integer", "minimum": 1}
                });
            }
            let answer = json!({"description": about, "headers": headers, "content": content});
            ((*name).to_owned(), answer)
        })
        .collect()
}

//! The answer to a request that became a durable run.

use axum::response::Response;
use hyper::{
    HeaderMap, StatusCode,
    header::{HeaderName, HeaderValue, LOCATION},
};
use platen_fault::Code;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    operation::{self, Route},
    problem::Problem,
    respond,
};

/// Headers of a response with a run.
const RUN_HEADERS: [(&str, &str); 2] = [
    ("Location", "URL path of the run."),
    ("X-Run-Id", "ID of the run."),
];
/// Largest file that a run may carry, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;
/// Header with the id of a run.
pub(crate) const RUN_ID: HeaderName = HeaderName::from_static("x-run-id");
/// Longest `Idempotency-Key` in bytes.
const MAX_KEY_BYTES: usize = 200;

/// A run that was accepted and stored durably.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AcceptedRun {
    /// ID of the run.
    pub(crate) run: String,
    /// URL path of the run.
    pub(crate) address: String,
    /// True if the run existed before: same Idempotency-Key, or continued by a callback.
    pub(crate) known: bool,
}

/// 202 with the location of the durable run.
pub(crate) fn response(id: &str, known: bool) -> Response {
    let run = AcceptedRun {
        run: id.to_owned(),
        address: format!("/runs/{id}"),
        known,
    };
    let mut response = respond::json(StatusCode::ACCEPTED, &run);
    add_run(response.headers_mut(), id);
    if let Ok(location) = HeaderValue::from_str(&run.address) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// Adds the header with the id of a run.
pub(crate) fn add_run(headers: &mut HeaderMap, id: &str) {
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(RUN_ID, value);
    }
}

/// Declares the response 202 with the location of a run.
pub(crate) fn declared<S>(route: Route<S>, about: &'static str) -> Route<S> {
    route
        .answer(202, operation::json::<AcceptedRun>())
        .answer_is(about)
        .answer_headers(&RUN_HEADERS)
}

/// The key by which a client marks requests that are one.
///
/// # Errors
/// 400 for a key that is empty or too long.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = key.to_str().unwrap_or_default().trim();
    if key.is_empty() || key.len() > MAX_KEY_BYTES {
        let detail = format!("Idempotency-Key has 1 to {MAX_KEY_BYTES} printable ASCII characters");
        return Err(Problem::new(Code::InvalidRequest, detail));
    }
    Ok(Some(key.to_owned()))
}

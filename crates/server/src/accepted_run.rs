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
    rate_limit::Client,
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
/// Begins the idempotency keys that belong to a caller. No header has this character, nor do the
/// keys of triggers begin with it.
const OWNED: char = '\u{2}';

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

/// As [`idempotency_key`], for flows that are the same for all callers: a key stands for the runs of
/// this caller only, as its runs have its documents. Callers without an API key are one.
///
/// # Errors
/// As [`idempotency_key`].
pub(crate) fn own_idempotency_key(
    headers: &HeaderMap,
    client: Client,
) -> Result<Option<String>, Problem> {
    let key = idempotency_key(headers)?;
    Ok(key.map(|key| match client {
        Client::Key(number) | Client::Limited { number, .. } => format!("{OWNED}{number}:{key}"),
        Client::Address(_) | Client::Rest => key,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_caller_can_name_the_key_of_another() {
        let mut headers = HeaderMap::new();
        assert_eq!(own_idempotency_key(&headers, Client::Key(1)).unwrap(), None);
        headers.insert("idempotency-key", HeaderValue::from_static("7"));
        let key = |client| own_idempotency_key(&headers, client).unwrap().unwrap();
        assert_ne!(key(Client::Key(1)), key(Client::Key(2)));
        let limited = Client::Limited {
            number: 1,
            per_minute: 9,
        };
        assert_eq!(key(Client::Key(1)), key(limited), "a limit is no caller");
        assert_eq!(key(Client::Address(1)), key(Client::Address(2)));
        assert_eq!(key(Client::Rest), "7");
        // Nobody can send what begins the keys of a caller, or of triggers.
        for text in [key(Client::Key(1)), "\u{1}schedule:1".to_owned()] {
            assert!(HeaderValue::from_bytes(text.as_bytes()).is_err());
        }
    }
}

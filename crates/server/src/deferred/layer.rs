//! Middleware of the routes that `?async=true` defers.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{Uri, uri::PathAndQuery},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{DeferredRequests, Replay};
use crate::{intake::multipart, problem::Problem, services::Services};

/// Time limit of a deferred request, over the limits of what it does: a batch may take long.
const MAX_TIME: Duration = Duration::from_secs(3600);

/// State of the middleware.
#[derive(Clone)]
pub struct Deferral {
    requests: Arc<DeferredRequests>,
    max_body_bytes: u64,
    form_max_body_bytes: u64,
}

impl Deferral {
    /// The middleware's state.
    pub fn new(services: &Services) -> Self {
        Self {
            requests: Arc::clone(&services.deferred),
            max_body_bytes: services.config.max_body_bytes,
            form_max_body_bytes: services.config.form_max_body_bytes,
        }
    }
}

/// Defers a request with `?async=true`; passes on every other.
pub async fn handle(
    State(deferral): State<Deferral>,
    mut request: Request,
    next: Next,
) -> Response {
    let (is_async, rest) = without_async(request.uri());
    if !is_async || request.extensions().get::<Replay>().is_some() {
        return next.run(request).await;
    }
    // The stored request must not defer itself again.
    *request.uri_mut() = rest;
    let limit = match multipart::boundary(request.headers()) {
        Some(_) => (deferral.form_max_body_bytes, "FORM_MAX_BODY_BYTES"),
        None => (deferral.max_body_bytes, "MAX_BODY_BYTES"),
    };
    let accepted = deferral.requests.accept(request, limit, MAX_TIME).await;
    accepted.map_or_else(Problem::into_response, super::Accepted::into_response)
}

/// Whether the query asks for a later answer, and the address without that.
fn without_async(uri: &Uri) -> (bool, Uri) {
    let query = uri.query().unwrap_or_default();
    let mut is_async = false;
    let rest = query.split('&').filter(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, "true"));
        let is_it = name == "async";
        is_async |= is_it && (value == "1" || value.eq_ignore_ascii_case("true"));
        !is_it
    });
    let rest: Vec<&str> = rest.collect();
    let path = match rest.join("&") {
        query if query.is_empty() => uri.path().to_owned(),
        query => format!("{}?{query}", uri.path()),
    };
    let mut parts = uri.clone().into_parts();
    // A part of a valid address is valid.
    parts.path_and_query = PathAndQuery::try_from(path).ok().or(parts.path_and_query);
    let rest = Uri::from_parts(parts).unwrap_or_else(|_| uri.clone());
    (is_async, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_says_whether_a_request_is_deferred() {
        let asks = |uri: &str| {
            let (is_async, rest) = without_async(&uri.parse().unwrap());
            (is_async, rest.to_string())
        };
        assert_eq!(asks("/a?async=true"), (true, "/a".to_owned()));
        assert_eq!(asks("/a?async=TRUE"), (true, "/a".to_owned()));
        assert_eq!(asks("/a?b=1&async&c"), (true, "/a?b=1&c".to_owned()));
        assert_eq!(asks("/a?async=false&b"), (false, "/a?b".to_owned()));
        assert!(!asks("/a?asynchronous=true").0);
        assert_eq!(asks("/a"), (false, "/a".to_owned()));
    }
}

//! Cross-origin requests (Fetch standard, "CORS protocol").

use axum::{body::Body, response::Response};
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
        HeaderName, HeaderValue, ORIGIN, VARY,
    },
};
use platen_fault::Code;

use crate::problem::Problem;

/// `CORS_ALLOWED_ORIGINS`; `*` allows all.
pub(crate) type AllowedOrigins = Vec<String>;

const METHODS: &str = "GET, HEAD, POST, PUT, DELETE";
const REQUEST_HEADERS: &str = "authorization, content-type, idempotency-key, if-match, \
    if-none-match, prefer, traceparent, x-api-key, x-change-note, x-pulpengine-change-note, \
    x-request-id";
const RESPONSE_HEADERS: &str = "content-disposition, etag, location, retry-after, server-timing, \
    x-render-duration-ms, x-render-pages, x-render-size-bytes, x-render-warnings, x-request-id, \
    x-run-id, x-template-version";

/// CORS state of a request.
pub(crate) struct Cors {
    /// The origin to return in the response, if it is allowed.
    allowed: Option<HeaderValue>,
    preflight: bool,
    configured: bool,
}

impl Cors {
    pub(crate) fn of(origins: &AllowedOrigins, headers: &HeaderMap) -> Self {
        let origin = headers.get(ORIGIN);
        let allowed = origin.and_then(|origin| {
            if origins.iter().any(|one| one == "*") {
                return Some(HeaderValue::from_static("*"));
            }
            let known = origins
                .iter()
                .any(|one| one.as_bytes() == origin.as_bytes());
            known.then(|| origin.clone())
        });
        Self {
            allowed,
            preflight: origin.is_some() && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
            configured: !origins.is_empty(),
        }
    }

    /// The response to a preflight; `None` for other requests.
    pub(crate) fn preflight(&self, method: &Method) -> Option<Result<Response, Problem>> {
        if !self.preflight || method != Method::OPTIONS {
            return None;
        }
        if self.allowed.is_none() {
            return Some(Err(Problem::new(
                Code::Forbidden,
                "this origin is not in CORS_ALLOWED_ORIGINS",
            )));
        }
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let fixed: [(HeaderName, &'static str); 3] = [
            (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
            (ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
            (ACCESS_CONTROL_MAX_AGE, "600"),
        ];
        for (name, value) in fixed {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        Some(Ok(response))
    }

    /// Adds the CORS response headers.
    pub(crate) fn add(&self, headers: &mut HeaderMap) {
        if self.configured {
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
        let Some(origin) = &self.allowed else { return };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(RESPONSE_HEADERS),
        );
        headers.insert(
            HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("cross-origin"),
        );
    }
}

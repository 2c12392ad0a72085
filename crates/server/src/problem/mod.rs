//! Errors as RFC 9457 problem documents. The code determines the HTTP status.

mod browser;
mod office;

use std::error::Error as StdError;

use axum::response::{IntoResponse, Response};
use hyper::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER},
};
use platen_document::Diagnostic;
use platen_fault::{Backend, Code, Fault, Resource, Stage, What};
use platen_render::{Error as RenderError, chain, of_mistakes};
use schemars::JsonSchema;
use serde::Serialize;

/// Media type of problem documents.
pub const MEDIA_TYPE: &str = "application/problem+json";
/// Media type of errors as text.
const TEXT: &str = "text/plain; charset=UTF-8";

/// A failed request. The middleware adds the request id, and logs the cause once.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The code's status, unless a compatibility API uses another.
    pub status: StatusCode,
    /// The error code; its facts become members of the document.
    pub code: Code,
    /// Explanation for people; empty for internal errors.
    pub detail: String,
    /// All errors of the template's author, with warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Cause, for the log only.
    pub cause: Option<String>,
    /// Response headers other than the media type.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether the response is the detail as text, as a compatibility API has it.
    pub is_plain: bool,
}

/// Problem details of a failed request, RFC 9457.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Problem")]
pub struct ProblemDocument {
    /// URN of the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Reason phrase of the status.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// What happened, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    pub detail: String,
    /// Machine-readable code: a stable name in kebab-case.
    pub code: String,
    /// Phase in which it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<&'static str>,
    /// Kind of resource concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<&'static str>,
    /// Backend that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<&'static str>,
    /// What is too large, too numerous or full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<&'static str>,
    /// The limit: bytes for memory and sizes, milliseconds for CPU time, otherwise a count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Identifier of the request, also in the log.
    pub request_id: String,
    /// All errors in the template or the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// When to try again what does not work at the moment, unless its error says more. Seconds.
const UNAVAILABLE_SECONDS: u64 = 2;

impl Problem {
    /// A problem with the facts and status of its code; temporary ones have a `Retry-After`.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(code.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let problem = Self {
            status,
            code,
            detail: detail.into(),
            diagnostics: Vec::new(),
            cause: None,
            headers: Vec::new(),
            is_plain: false,
        };
        match code.fault() {
            Fault::Busy => problem.retry_after(1),
            Fault::Unavailable if status == StatusCode::SERVICE_UNAVAILABLE => {
                problem.retry_after(UNAVAILABLE_SECONDS)
            }
            _ => problem,
        }
    }

    /// A problem for an error of a lower layer. Only the log records the cause of an internal
    /// error.
    pub fn of_error(code: Code, error: &dyn StdError) -> Self {
        match code.fault() {
            Fault::Internal => Self::internal(chain(error)),
            fault if fault.is_ours() => Self {
                cause: Some(chain(error)),
                ..Self::new(code, error.to_string())
            },
            _ => Self::new(code, chain(error)),
        }
    }

    /// A problem with the errors of the template's author.
    pub fn mistakes(diagnostics: Vec<Diagnostic>) -> Self {
        let count = diagnostics.len();
        let plural = if count == 1 { "" } else { "s" };
        let detail = format!("the template or the data has {count} error{plural}");
        let code = of_mistakes(&diagnostics);
        Self {
            diagnostics,
            ..Self::new(code, detail)
        }
    }

    /// An internal error; `cause` goes to the log only.
    pub fn internal(cause: impl Into<String>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(Code::InternalError, "")
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Replaces `Retry-After`; the minimum is one second.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.retain(|(name, _)| *name != RETRY_AFTER);
        self.with_header(RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    /// The body of the response.
    pub fn document(&self, request_id: &str) -> ProblemDocument {
        let facts = self.code.facts();
        ProblemDocument {
            kind: format!("urn:platen:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail.clone(),
            code: self.code.name().to_owned(),
            stage: facts.stage.map(Stage::as_str),
            resource: facts.resource.map(Resource::as_str),
            backend: facts.backend.map(Backend::as_str),
            what: facts.what.map(What::as_str),
            limit: facts.limit,
            request_id: request_id.to_owned(),
            diagnostics: self.diagnostics.clone(),
        }
    }

    /// The complete response.
    pub fn into_document_response(self, request_id: &str) -> Response {
        let (body, media_type) = match (self.is_plain, self.detail.as_str()) {
            (false, _) => {
                let document = serde_json::to_vec(&self.document(request_id));
                (document.unwrap_or_default(), MEDIA_TYPE)
            }
            (true, "") => {
                let reason = self.status.canonical_reason().unwrap_or("Error");
                (reason.into(), TEXT)
            }
            (true, detail) => (detail.into(), TEXT),
        };
        let mut response = Response::new(body.into());
        *response.status_mut() = self.status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        response.headers_mut().extend(self.headers);
        response
    }
}

impl IntoResponse for Problem {
    /// The status, with the problem attached; the middleware writes the document.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<platen_engine::Error> for Problem {
    fn from(error: platen_engine::Error) -> Self {
        match error {
            platen_engine::Error::Render(RenderError::Mistakes(diagnostics)) => {
                Self::mistakes(diagnostics)
            }
            platen_engine::Error::Browser(error) => error.into(),
            other => Self::of_error(other.code(), &other),
        }
    }
}

impl From<platen_storage::Error> for Problem {
    fn from(error: platen_storage::Error) -> Self {
        Self::of_store(&error, Resource::Template)
    }
}

impl Problem {
    /// A storage error about a `resource`.
    pub fn of_store(error: &platen_storage::Error, resource: Resource) -> Self {
        use platen_storage::Error;
        let problem = Self::of_error(error.code(resource), error);
        match error {
            Error::Exists(version) | Error::Stale(version) => problem.with_version(*version),
            Error::NotFound => Self {
                detail: match resource {
                    Resource::Run => "there is no such run; those that ended long ago are deleted",
                    Resource::Flow => {
                        "there is no such flow or version: GET /flows lists the flows"
                    }
                    Resource::Template => {
                        "there is no such template or version: GET /templates lists the templates"
                    }
                    Resource::Asset => {
                        "there is no such asset or version: GET /assets lists the assets"
                    }
                    _ => return problem,
                }
                .to_owned(),
                ..problem
            },
            // Clients must not learn the path of the data folder.
            Error::Gone(_) => Self {
                detail:
                    "the data folder was deleted while the service was running; nothing was stored"
                        .to_owned(),
                ..problem
            },
            // They name the server, the role and the database; the log has them.
            Error::Server(_) | Error::Unavailable(_) => Self {
                detail: "the database does not answer; nothing is acknowledged: try again"
                    .to_owned(),
                cause: Some(error.to_string()),
                ..problem
            },
            _ => problem,
        }
    }
}

impl Problem {
    fn with_version(self, version: u32) -> Self {
        match HeaderValue::from_str(&format!("\"{version}\"")) {
            Ok(value) => self.with_header(hyper::header::ETAG, value),
            Err(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_failures_say_nothing_but_a_code() {
        let error = platen_engine::Error::from(RenderError::Bug("secret path".to_owned()));
        let problem = Problem::from(error);
        let document = serde_json::to_string(&problem.document("r1")).unwrap();
        assert_eq!(problem.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(problem.cause.unwrap().contains("secret"));
        assert!(!document.contains("secret"), "{document}");
        assert!(document.contains("r1"));
    }

    #[test]
    fn store_errors_keep_their_meaning() {
        let status = |error: platen_storage::Error| Problem::from(error).status.as_u16();
        assert_eq!(status(platen_storage::Error::NotFound), 404);
        assert_eq!(status(platen_storage::Error::Exists(2)), 409);
        assert_eq!(status(platen_storage::Error::Stale(2)), 412);
        assert_eq!(status(platen_storage::Error::Busy), 503);
    }
}

//! What a client is told when a request fails: RFC 9457 problem documents, and the one table from
//! faults to status codes.

mod browser;
mod office;

use std::error::Error as StdError;

use axum::response::{IntoResponse, Response};
use hyper::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER},
};
use platen_document::Diagnostic;
use platen_engine::IsolationError;
use platen_render::{Error as RenderError, Fault};
use schemars::JsonSchema;
use serde::Serialize;

/// Media type of problem documents.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A failed request. The middleware adds the request id and logs the cause, once.
#[derive(Clone, Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    pub diagnostics: Vec<Diagnostic>,
    /// For the log only.
    pub cause: Option<String>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// A failed request, as RFC 9457 writes it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Problem")]
pub struct ProblemDocument {
    /// URN of the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// What happened, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    pub detail: String,
    /// What happened, for programs: a stable name in kebab-case.
    pub code: String,
    /// Identifier of the request, also in the log.
    pub request_id: String,
    /// Every mistake of the author of the template or the data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub diagnostics: Vec<Diagnostic>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            diagnostics: Vec::new(),
            cause: None,
            headers: Vec::new(),
        }
    }

    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// Mistakes of an author.
    pub fn mistakes(diagnostics: Vec<Diagnostic>) -> Self {
        let count = diagnostics.len();
        let plural = if count == 1 { "" } else { "s" };
        let detail = format!("the template or the data has {count} mistake{plural}");
        Self {
            diagnostics,
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "mistakes", detail)
        }
    }

    /// A failure of ours; `cause` goes to the log only.
    pub fn internal(cause: impl Into<String>) -> Self {
        Self {
            cause: Some(cause.into()),
            ..Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "")
        }
    }

    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    pub fn retry_after(self, seconds: u64) -> Self {
        self.with_header(RETRY_AFTER, HeaderValue::from(seconds.max(1)))
    }

    pub fn document(&self, request_id: &str) -> ProblemDocument {
        ProblemDocument {
            kind: format!("urn:platen:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail.clone(),
            code: self.code.to_owned(),
            request_id: request_id.to_owned(),
            diagnostics: self.diagnostics.clone(),
        }
    }

    /// The whole response.
    pub fn into_document_response(self, request_id: &str) -> Response {
        let body = serde_json::to_vec(&self.document(request_id)).unwrap_or_default();
        let mut response = Response::new(body.into());
        *response.status_mut() = self.status;
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        response.headers_mut().extend(self.headers);
        response
    }
}

impl IntoResponse for Problem {
    /// The status with the problem beside it; the middleware writes the document.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// An error with its causes, for the log.
pub fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Status and code of a fault.
fn of_fault(fault: Fault) -> (StatusCode, &'static str) {
    match fault {
        Fault::Caller => (StatusCode::UNPROCESSABLE_ENTITY, "unprocessable"),
        Fault::Limit => (StatusCode::GATEWAY_TIMEOUT, "deadline-passed"),
        Fault::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        Fault::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        Fault::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

impl From<platen_engine::Error> for Problem {
    fn from(error: platen_engine::Error) -> Self {
        use platen_engine::Error;
        let (status, code) = of_fault(error.fault());
        match error {
            Error::Render(RenderError::Mistakes(diagnostics)) => Self::mistakes(diagnostics),
            Error::Render(RenderError::NoSuchPage { .. }) => {
                Self::new(status, "no-such-page", error.to_string())
            }
            Error::Render(RenderError::PictureTooLarge) => {
                Self::new(status, "picture-too-large", error.to_string())
            }
            Error::Browser(error) => error.into(),
            Error::Data(_) => Self::bad_request("json-invalid", error.to_string()),
            Error::Isolation(error) => of_isolation(status, &error),
            Error::NotFromHtml(_) => Self::new(status, "format-not-made", error.to_string()),
            other if status.is_server_error() && status != StatusCode::GATEWAY_TIMEOUT => Self {
                cause: Some(chain(&other)),
                ..Self::new(status, code, "")
            },
            other => Self::new(status, code, chain(&other)),
        }
    }
}

fn of_isolation(status: StatusCode, error: &IsolationError) -> Problem {
    let code = match error {
        IsolationError::CpuTime { .. } => "render-cpu-time",
        IsolationError::Memory { .. } => "render-memory",
        IsolationError::Output { .. } => "document-too-large",
        IsolationError::Input { .. } => "render-input-too-large",
        IsolationError::Deadline { .. } => "deadline-passed",
        IsolationError::Crashed(_) => "render-crashed",
        IsolationError::Unavailable(_) => "sandbox-unavailable",
    };
    let problem = Problem::new(status, code, error.to_string());
    if status.is_server_error() && status != StatusCode::GATEWAY_TIMEOUT {
        let cause = Some(chain(error));
        return Problem { cause, ..problem };
    }
    problem
}

impl From<platen_storage::Error> for Problem {
    fn from(error: platen_storage::Error) -> Self {
        use platen_storage::Error;
        let text = error.to_string();
        match error {
            Error::NotFound => Self::new(StatusCode::NOT_FOUND, "template-not-found", text),
            Error::Exists(version) => {
                Self::new(StatusCode::CONFLICT, "template-exists", text).with_version(version)
            }
            Error::Stale(version) => {
                let status = StatusCode::PRECONDITION_FAILED;
                Self::new(status, "version-stale", text).with_version(version)
            }
            Error::Busy => {
                let (status, code) = of_fault(Fault::Busy);
                Self::new(status, code, "too many writes wait; try again").retry_after(1)
            }
            Error::DiskFull => Self {
                cause: Some(text),
                ..Self::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", "")
            },
            Error::Gone(_) => Self {
                cause: Some(text),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "store-gone",
                    "the data folder was deleted under the service; nothing was stored",
                )
            },
            other => {
                let (status, code) = of_fault(match other {
                    Error::Closed => Fault::Unavailable,
                    _ => Fault::Internal,
                });
                Self {
                    cause: Some(chain(&other)),
                    ..Self::new(status, code, "")
                }
            }
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

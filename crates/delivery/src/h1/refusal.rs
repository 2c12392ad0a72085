//! Requests that the connection refuses before the service sees them, and their problem documents
//! (RFC 9457).

use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};

use crate::Body;

/// Why a request is refused before the service sees it. The connection closes after the response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// Status of the response.
    pub status: StatusCode,
    /// Stable error code, in kebab-case.
    pub code: &'static str,
    /// Explanation for people.
    pub detail: String,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self {
            status,
            code,
            detail,
        }
    }

    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "request-malformed", detail)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let detail = format!("the request's head is larger than {limit} bytes");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        Self::new(status, "head-too-large", detail)
    }

    pub(crate) fn too_many_headers(limit: usize) -> Self {
        let detail = format!("the request has more than {limit} header lines");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        Self::new(status, "too-many-headers", detail)
    }

    pub(crate) fn slow(limit: std::time::Duration) -> Self {
        let detail = format!("the request's head did not come within {limit:?}");
        Self::new(StatusCode::REQUEST_TIMEOUT, "head-timeout", detail)
    }

    pub(crate) fn version() -> Self {
        let status = StatusCode::HTTP_VERSION_NOT_SUPPORTED;
        Self::new(
            status,
            "version-not-supported",
            "speak HTTP/1.1 or HTTP/1.0",
        )
    }

    pub(crate) fn method() -> Self {
        let detail = "this is not a proxy";
        Self::new(StatusCode::NOT_IMPLEMENTED, "method-not-supported", detail)
    }

    pub(crate) fn expectation() -> Self {
        let detail = "only `100-continue` may be expected";
        Self::new(StatusCode::EXPECTATION_FAILED, "expectation-failed", detail)
    }

    /// The response: a problem document, with the id of the request if there is one.
    #[must_use]
    pub fn into_response(self, request_id: Option<&str>) -> Response<Body> {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let mut document = format!(
            r#"{{"type":"urn:platen:problem:{}","title":"{title}","status":{},"detail":"{}","code":"{}""#,
            self.code,
            self.status.as_u16(),
            escape(&self.detail),
            self.code,
        );
        if let Some(id) = request_id {
            document.push_str(&format!(r#","requestId":"{}""#, escape(id)));
        }
        document.push('}');
        let mut response = Response::new(Body::from(document));
        *response.status_mut() = self.status;
        let media_type = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, media_type);
        response
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            character if character.is_control() => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            character => escaped.push(character),
        }
    }
    escaped
}

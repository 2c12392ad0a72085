//! Requests that the connection refuses before the handler sees them, and their problem documents
//! (RFC 9457).

use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};
use platen_fault::Code;

use crate::Body;

/// Why a request is refused before the handler sees it. The connection closes after the response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// What is wrong; the status of the answer follows from it.
    pub code: Code,
    /// Explanation for people.
    pub detail: String,
}

impl Refusal {
    fn new(code: Code, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { code, detail }
    }

    /// Status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::BAD_REQUEST)
    }

    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, detail)
    }

    pub(crate) fn method() -> Self {
        let detail = "this is not a proxy";
        Self::new(Code::MethodNotSupported, detail)
    }

    pub(crate) fn expectation() -> Self {
        let detail = "only `100-continue` is supported in `Expect`";
        Self::new(Code::ExpectationFailed, detail)
    }

    /// The response: a problem document, with the id of the request if there is one.
    #[must_use]
    pub fn into_response(self, request_id: Option<&str>) -> Response<Body> {
        let status = self.status();
        let title = status.canonical_reason().unwrap_or("Error");
        let mut document = format!(
            r#"{{"type":"urn:platen:problem:{}","title":"{title}","status":{},"detail":"{}","code":"{}""#,
            self.code,
            status.as_u16(),
            escape(&self.detail),
            self.code,
        );
        if let Some(id) = request_id {
            document.push_str(&format!(r#","requestId":"{}""#, escape(id)));
        }
        document.push('}');
        let mut response = Response::new(Body::from(document));
        *response.status_mut() = status;
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

//! Response builders: JSON, files, versions as entity tags.

use axum::{body::Body, response::Response};
use hyper::{
    HeaderMap, Method, StatusCode,
    header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue, LOCATION},
};
use platen_delivery::{Body as Delivered, Metadata};
use platen_render::Disposition;
use serde::Serialize;

use crate::problem::Problem;

/// Whether browsers may run scripts of a document of this media type: in the origin of the service only with a policy
/// that forbids it.
pub fn is_active(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    // Those of Office Open XML are archives, if nothing else stands beside them.
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"/.+-".contains(&it);
    let is_archive = media_type.starts_with("application/vnd.openxmlformats-officedocument.")
        && !media_type.ends_with("+xml")
        && media_type.bytes().all(is_plain);
    let mut kinds = ["html", "svg", "xml", "xsl", "rdf", "multipart"].iter();
    !is_archive && kinds.any(|kind| media_type.contains(kind))
}

/// A response whose body the connection sends in the most efficient way.
pub fn delivered(body: Delivered) -> Response {
    platen_delivery::BodyHandle::attach(Response::new(body)).map(Body::new)
}

/// A response for stored content. Supports conditional and range requests (200, 206, 304, 412 or
/// 416), and the connection sends `body` in the most efficient way.
pub fn document(
    method: &Method,
    headers: &HeaderMap,
    body: impl Into<Delivered>,
    metadata: &Metadata,
) -> Response {
    let answer = platen_delivery::document(method, headers, body.into(), metadata);
    platen_delivery::BodyHandle::attach(answer).map(Body::new)
}

/// A response that leads to an address in the bucket, which is signed and ends soon.
pub fn redirect(url: &str) -> Result<Response, Problem> {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    let place = HeaderValue::from_str(url)
        .map_err(|_| Problem::internal("an address in the bucket cannot be written"))?;
    let headers = response.headers_mut();
    headers.insert(LOCATION, place);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// A JSON response.
pub fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes_of("application/json", status, bytes)
}

/// A response with `bytes` of a media type.
pub fn bytes_of(media_type: &'static str, status: StatusCode, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Formats milliseconds since 1970 as RFC 3339.
pub fn moment(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map_or_else(|_| String::new(), |at| format!("{at:.3}"))
}

/// Sets the media type and file name of a download.
pub fn file_headers(
    response: &mut Response,
    name: &str,
    media_type: &'static str,
) -> Result<(), Problem> {
    let headers = response.headers_mut();
    let media_type = HeaderValue::from_static(media_type);
    headers.insert(CONTENT_TYPE, media_type);
    let disposition = content_disposition(name, Some(Disposition::Attachment))?;
    headers.insert(CONTENT_DISPOSITION, disposition);
    Ok(())
}

/// The `Content-Disposition` of RFC 6266, with `filename*` (RFC 8187) if the name is not plain
/// ASCII.
pub fn content_disposition(
    name: &str,
    disposition: Option<Disposition>,
) -> Result<HeaderValue, Problem> {
    HeaderValue::from_str(&platen_render::content_disposition(name, disposition))
        .map_err(|_| Problem::internal("Content-Disposition cannot be written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_types_of_archives_are_passive() {
        let archive = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        assert!(!is_active(archive) && !is_active("application/pdf") && !is_active("text/plain"));
        for other in [
            "TEXT/HTML; x=openxmlformats",
            "application/openxmlformats+xml",
            &format!("{archive},text/html"),
            &format!("{archive}.main+xml"),
            "text/rdf",
            "multipart/x-mixed-replace; boundary=a",
        ] {
            assert!(is_active(other), "{other}");
        }
    }
}

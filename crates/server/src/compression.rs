//! gzip for text responses, if the client accepts it and the text is long enough. Formats that are
//! compressed already (PDF, Office files, images, ZIP) are left alone.

use std::io::Write;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper::{
    HeaderMap,
    header::{
        ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderValue, VARY,
    },
};

const MIN_BYTES: u64 = 1_024;
const MAX_BYTES: u64 = 64 << 20;
/// Longer texts are compressed off the async threads. Bytes.
const INLINE_BYTES: usize = 16 << 10;

/// Whether the client accepts gzip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish(bool);

impl Wish {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self(accepts(headers, "gzip"))
    }
}

/// Whether the client accepts a content coding, by its name.
pub(crate) fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|part| takes(part, coding))
}

fn takes(part: &str, wanted: &str) -> bool {
    let mut pieces = part.split(';').map(str::trim);
    let named = pieces
        .next()
        .is_some_and(|coding| coding.eq_ignore_ascii_case(wanted));
    let refused = pieces
        .filter_map(|piece| piece.strip_prefix("q="))
        .any(|quality| quality.parse::<f32>().is_ok_and(|quality| quality <= 0.0));
    named && !refused
}

fn is_text(headers: &HeaderMap) -> bool {
    let media_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default();
    matches!(
        media_type,
        "application/json"
            | "application/problem+json"
            | "application/schema+json"
            | "text/html"
            | "text/css"
            | "text/csv"
            | "text/javascript"
            | "text/plain"
            | "image/svg+xml"
    )
}

/// Compresses `response` if the client accepts it and it pays off.
pub(crate) async fn compress(response: Response, wish: Wish) -> Response {
    let size = response.body().size_hint().exact().unwrap_or(0);
    let headers = response.headers();
    // A strong ETag identifies these exact bytes, and clients send it back in If-Match.
    let strong = headers
        .get(ETAG)
        .is_some_and(|tag| !tag.as_bytes().starts_with(b"W/"));
    let fixed = strong || headers.contains_key(CONTENT_ENCODING);
    if fixed || !is_text(headers) || !(MIN_BYTES..=MAX_BYTES).contains(&size) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts
        .headers
        .append(VARY, HeaderValue::from_static("accept-encoding"));
    if !wish.0 {
        return Response::from_parts(parts, body);
    }
    let Ok(collected) = body.collect().await else {
        return Response::from_parts(parts, Body::empty());
    };
    let bytes = collected.to_bytes();
    let packed = if bytes.len() <= INLINE_BYTES {
        gzip(&bytes)
    } else {
        let shared = bytes.clone();
        tokio::task::spawn_blocking(move || gzip(&shared))
            .await
            .unwrap_or(None)
    };
    let Some(packed) = packed else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    parts.headers.remove(CONTENT_LENGTH);
    parts
        .headers
        .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, Body::from(packed))
}

fn gzip(bytes: &Bytes) -> Option<Vec<u8>> {
    gzip_at(Compression::fast(), bytes)
}

/// `bytes` by gzip at its highest level, for what is compressed once.
pub(crate) fn smallest_gzip(bytes: &Bytes) -> Option<Vec<u8>> {
    gzip_at(Compression::best(), bytes)
}

fn gzip_at(level: Compression, bytes: &Bytes) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

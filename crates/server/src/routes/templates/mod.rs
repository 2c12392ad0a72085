//! Templates and their versions over HTTP.

pub(crate) mod content;
pub(crate) mod declaration;
pub(crate) mod precondition;
pub(crate) mod preview;
pub(crate) mod version;

use std::sync::Arc;

use axum::response::Response;
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, ETAG, HeaderName, HeaderValue, LAST_MODIFIED},
};
use platen_fault::Code;
use platen_storage::VersionInfo;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    intake::Intake,
    problem::Problem,
    rendering::Renderer,
    respond::{self, moment},
};

/// State of the template handlers.
#[derive(Clone)]
pub(crate) struct TemplateApi {
    pub(crate) renderer: Arc<Renderer>,
    pub(crate) intake: Arc<Intake>,
}

/// Header with the version of a template.
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("x-template-version");
/// Longest change note, in bytes.
pub(crate) const MAX_NOTE_BYTES: usize = 2_000;
/// A version of a template, without its content.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TemplateVersion")]
pub(crate) struct VersionDocument {
    /// Key of the template.
    key: String,
    /// Number, from 1.
    version: u32,
    /// Name for people.
    name: String,
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The version whose content this restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    restored_from: Option<u32>,
    /// When it was written, RFC 3339.
    created_at: String,
    /// Size of the content in bytes.
    size_bytes: u64,
}

impl From<VersionInfo> for VersionDocument {
    fn from(info: VersionInfo) -> Self {
        Self {
            created_at: moment(info.created_unix_ms),
            key: info.key,
            version: info.version,
            name: info.name,
            note: info.note,
            restored_from: info.restored_from,
            size_bytes: info.size_bytes,
        }
    }
}

/// Headers of a response with a version.
pub(crate) const VERSION_HEADERS: [(&str, &str); 2] = [
    ("ETag", "The version in quotes."),
    ("X-Template-Version", "The version."),
];
/// Header of a write.
pub(crate) const CHANGE_NOTE: (&str, &str) = (
    "X-Change-Note",
    "What changed: percent-encoded UTF-8, at most 2000 bytes. X-PulpEngine-Change-Note is the same.",
);
/// Response header with the path of the created resource.
pub(crate) const LOCATION: (&str, &str) = ("Location", "Address of what was created.");

/// The change note of a write. Text outside the header character set is percent-encoded UTF-8.
pub(crate) fn change_note(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let header = headers
        .get("x-change-note")
        .or_else(|| headers.get("x-pulpengine-change-note"));
    let Some(header) = header else {
        return Ok(None);
    };
    let invalid = || {
        Problem::new(
            Code::InvalidRequest,
            format!("a change note is percent-encoded UTF-8 of at most {MAX_NOTE_BYTES} bytes"),
        )
    };
    let note = String::from_utf8(percent_decoded(header.as_bytes())).map_err(|_| invalid())?;
    if note.len() > MAX_NOTE_BYTES || note.contains('\0') {
        return Err(invalid());
    }
    Ok(Some(note.trim().to_owned()).filter(|note| !note.is_empty()))
}

fn percent_decoded(bytes: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| (*byte? as char).to_digit(16);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        let pair = (digit(bytes.get(index + 1)), digit(bytes.get(index + 2)));
        if let (b'%', (Some(high), Some(low))) = (byte, pair) {
            decoded.push((high * 16 + low) as u8);
            index += 3;
        } else {
            decoded.push(*byte);
            index += 1;
        }
    }
    decoded
}

/// Responds with a written version.
pub(in crate::routes) fn written(status: StatusCode, info: VersionInfo) -> Response {
    let version = info.version;
    let response = respond::json(status, &VersionDocument::from(info));
    with_version(response, version)
}

fn with_version(mut response: Response, version: u32) -> Response {
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        headers.insert(ETAG, tag);
    }
    headers.insert(VERSION_HEADER, HeaderValue::from(version));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

fn with_moment(mut response: Response, unix_ms: i64) -> Response {
    let moment = jiff::Timestamp::from_millisecond(unix_ms)
        .map(|at| at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
    if let Some(value) = moment
        .ok()
        .and_then(|text| HeaderValue::from_str(&text).ok())
    {
        response.headers_mut().insert(LAST_MODIFIED, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_percent_decoded() {
        let note = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(
                "x-change-note",
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
            change_note(&headers).ok()
        };
        assert_eq!(
            note("Gr%C3%BC%C3%9Fe 100%"),
            Some(Some("Grüße 100%".to_owned()))
        );
        assert_eq!(note("Grüße"), Some(Some("Grüße".to_owned())));
        assert_eq!(note("  "), Some(None));
        assert_eq!(note("%FF"), None);
        assert_eq!(note("%00"), None);
    }
}

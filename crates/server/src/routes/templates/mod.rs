//! Templates and their versions over HTTP.

pub(crate) mod content;
pub(crate) mod declaration;
pub(crate) mod draft;
pub(crate) mod editors;
pub(crate) mod precondition;
pub(crate) mod preview;
pub(crate) mod version;

use std::sync::Arc;

use axum::response::Response;
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, ETAG, HeaderName, HeaderValue, LAST_MODIFIED},
};
use percent_encoding::percent_decode;
use platen_fault::Code;
use platen_storage::{DraftStore, VersionInfo};
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
    pub(crate) drafts: Arc<dyn DraftStore>,
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
    /// Version number, from 1.
    version: u32,
    /// Display name.
    name: String,
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Version that was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    restored_from: Option<u32>,
    /// Time of the write, RFC 3339.
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
    ("ETag", "Version number in quotes."),
    ("X-Template-Version", "Version number."),
];
/// Header of a write.
pub(crate) const CHANGE_NOTE: (&str, &str) = (
    "X-Change-Note",
    "Change note: percent-encoded UTF-8, at most 2000 bytes. X-PulpEngine-Change-Note is an alias.",
);
/// Response header with the path of the created resource.
pub(crate) const LOCATION: (&str, &str) = ("Location", "Path of the created resource.");

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
    let note = percent_decode(header.as_bytes()).decode_utf8();
    let note = note.map_err(|_| invalid())?;
    if note.len() > MAX_NOTE_BYTES || note.contains('\0') {
        return Err(invalid());
    }
    Ok(Some(note.trim().to_owned()).filter(|note| !note.is_empty()))
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

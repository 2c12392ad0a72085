//! Templates and their versions over HTTP.

pub(crate) mod content;
pub(crate) mod precondition;
pub(crate) mod preview;
pub(crate) mod version;

use axum::{extract::FromRequestParts, http::request::Parts, response::Response};
use hyper::{
    HeaderMap, StatusCode,
    header::{CACHE_CONTROL, ETAG, HeaderName, HeaderValue, LAST_MODIFIED},
};
use platen_storage::VersionInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    problem::Problem,
    respond::{json, moment},
};

/// Header with the version of a template.
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("x-template-version");
/// Longest change note in bytes.
pub(crate) const MAX_NOTE_BYTES: usize = 2_000;
/// Most entries of one page of a list.
pub(crate) const MAX_PAGE: u32 = 500;
const DEFAULT_PAGE: u32 = 50;

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

/// Query of a list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageQuery {
    limit: Option<u32>,
    pub(in crate::routes) after: Option<String>,
}

impl PageQuery {
    pub(in crate::routes) fn limit(&self) -> Result<u32, Problem> {
        match self.limit {
            Some(limit) if !(1..=MAX_PAGE).contains(&limit) => Err(Problem::bad_request(
                "query-invalid",
                format!("`limit` is from 1 to {MAX_PAGE}"),
            )),
            limit => Ok(limit.unwrap_or(DEFAULT_PAGE)),
        }
    }
}

/// Query parameters, mistakes as problems.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Sync, T: serde::de::DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| Problem::bad_request("query-invalid", error.body_text()))
    }
}

/// Key and, where the path has one, version.
pub(crate) struct Place {
    pub(crate) key: String,
    pub(crate) version: Option<u32>,
}

#[derive(Deserialize)]
struct RawPlace {
    key: String,
    version: Option<String>,
}

impl<S: Sync + Send> FromRequestParts<S> for Place {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<RawPlace>::from_request_parts(parts, state).await;
        let axum::extract::Path(raw) =
            path.map_err(|error| Problem::bad_request("path-invalid", error.body_text()))?;
        if !platen_document::is_key(&raw.key) {
            return Err(Problem::bad_request(
                "key-invalid",
                "a key has lower-case letters, digits, `-`, `_` and `.`, up to 128",
            ));
        }
        let version = raw.version.map(|version| {
            version
                .parse()
                .ok()
                .filter(|version| *version > 0)
                .ok_or_else(|| {
                    Problem::bad_request("version-invalid", "a version is a number from 1")
                })
        });
        Ok(Self {
            key: raw.key,
            version: version.transpose()?,
        })
    }
}

/// The change note of a write. Text that headers cannot carry is percent-encoded UTF-8.
pub(crate) fn change_note(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let header = headers
        .get("x-change-note")
        .or_else(|| headers.get("x-pulpengine-change-note"));
    let Some(header) = header else {
        return Ok(None);
    };
    let invalid = || {
        Problem::bad_request(
            "note-invalid",
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

/// A written version.
pub(in crate::routes) fn written(status: StatusCode, info: VersionInfo) -> Response {
    let version = info.version;
    let response = json(status, &VersionDocument::from(info));
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

//! Stored results: the response becomes a file named by its content, and an expiring signed link.
//! The disk alone records which files exist and until when; the link carries the rest.

mod link;
mod store;

use std::time::{SystemTime, UNIX_EPOCH};

use axum::response::Response;
use hyper::{
    StatusCode,
    header::{
        CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
        HeaderValue, LOCATION, TRAILER,
    },
};
use platen_fault::{Backend, Code};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    link::ResultLink,
    store::{Followed, Results, sweep_expired},
};
use crate::{log::LogFields, problem::Problem, respond};

/// Headers of a response with a link.
pub(crate) const STORED_HEADERS: [(&str, &str); 1] = [("Location", "Link to the document.")];

/// Delivery of a document other than as the response.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OutputRequest {
    /// Stores the document and responds with 201 and a link that needs no API key.
    pub(crate) store: bool,
    /// Lifetime of the link; by default RESULTS_TTL_SECONDS (a day), at most
    /// RESULTS_MAX_TTL_SECONDS (a week).
    #[schemars(range(min = 1))]
    pub(crate) ttl_seconds: Option<u64>,
}

/// A stored document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredResult {
    /// Link to the document; it needs no API key. Begins with PUBLIC_URL; without it, with the
    /// address that a trusted proxy names, or with a slash.
    pub(crate) url: String,
    /// Expiry of the link, RFC 3339.
    pub(crate) expires_at: String,
    /// Size in bytes.
    pub(crate) size_bytes: u64,
    /// Media type.
    pub(crate) content_type: String,
    /// File name.
    pub(crate) file_name: String,
    /// SHA-256 of the document, in hexadecimal.
    pub(crate) sha256: String,
    /// Number of pages, for formats with pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages: Option<u32>,
}

/// Response extension: file name of the document.
#[derive(Clone, Debug)]
pub(crate) struct FileName(pub(crate) String);

/// Expiry of a result, in seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends(u64);

impl Ends {
    fn time(self) -> SystemTime {
        UNIX_EPOCH + std::time::Duration::from_secs(self.0)
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

impl Results {
    /// Retention of a result in seconds; `None` for a direct response.
    ///
    /// # Errors
    /// 400 for a time out of range, 501 if storage is disabled.
    pub(crate) fn retention(&self, output: Option<OutputRequest>) -> Result<Option<u64>, Problem> {
        let Some(output) = output.filter(|output| output.store) else {
            return Ok(None);
        };
        let config = self.config();
        if config.max_bytes == 0 {
            let detail = "this service stores no results (RESULTS_MAX_BYTES is 0)";
            return Err(Problem::new(Code::BackendMissing(Backend::Results), detail));
        }
        let seconds = output.ttl_seconds.unwrap_or(config.ttl_seconds);
        let most = config.max_ttl_seconds;
        if seconds == 0 || seconds > most {
            let detail = format!(
                "`/output/ttlSeconds` must be 1 to {most} (RESULTS_MAX_TTL_SECONDS), not {seconds}"
            );
            return Err(Problem::new(Code::InvalidRequest, detail));
        }
        Ok(Some(seconds))
    }

    /// Stores the streamed document of `answer` for `ttl_seconds` and responds with its link.
    /// Returns `answer` unchanged if `ttl_seconds` is `None`.
    ///
    /// # Errors
    /// 507 if the storage is full; the source's own error if the document breaks off.
    pub(crate) async fn keep(
        &self,
        answer: Response,
        ttl_seconds: Option<u64>,
    ) -> Result<Response, Problem> {
        let Some(ttl_seconds) = ttl_seconds else {
            return Ok(answer);
        };
        let ends = Ends(now() + ttl_seconds);
        let (mut parts, body) = answer.into_parts();
        let (kept, trailers) = self.receive(body, ends).await?;
        let text = |name| parts.headers.get(name)?.to_str().ok();
        let media_type = text(CONTENT_TYPE).unwrap_or("application/octet-stream");
        let is_saved = text(CONTENT_DISPOSITION).is_some_and(|it| it.starts_with("attachment"));
        let name = parts.extensions.get::<FileName>();
        let link = ResultLink {
            digest: kept.digest,
            name: name.map_or_else(|| "document".to_owned(), |name| name.0.clone()),
            media_type: media_type.to_owned(),
            is_saved,
            expires: ends.0,
        };
        let pages = pages(&trailers).or_else(|| pages(&parts.headers));
        let stored = self.stored(link, kept.size_bytes, pages);
        let document = respond::json(StatusCode::CREATED, &stored);
        let location = HeaderValue::from_str(&stored.url)
            .map_err(|_| Problem::internal("Location cannot be written"))?;
        for name in [
            CONTENT_DISPOSITION,
            CONTENT_LENGTH,
            CONTENT_SECURITY_POLICY,
            CONTENT_TYPE,
            TRAILER,
        ] {
            parts.headers.remove(name);
        }
        let (mut new, body) = document.into_parts();
        new.headers.extend(parts.headers);
        new.headers.insert(LOCATION, location);
        let mut note = parts.extensions.remove::<LogFields>().unwrap_or_default();
        note.0.push(("stored", stored.sha256.into()));
        new.extensions.insert(note);
        Ok(Response::from_parts(new, body))
    }
}

fn pages(headers: &HeaderMap) -> Option<u32> {
    headers.get("x-render-pages")?.to_str().ok()?.parse().ok()
}

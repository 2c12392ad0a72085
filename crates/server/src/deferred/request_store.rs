//! Requests that are executed later. One is stored before the client gets its answer, and outlives a
//! restart of the service.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    sync::Arc,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::{HeaderMap, Method, Uri, header::HeaderName};
use platen_fault::{Code, Resource, What};
use platen_render::chain;
use platen_storage::blobs::{BlobError, RequestFiles, RequestLimits};
use serde::{Deserialize, Serialize};

use crate::{
    base_url::BaseUrl, config::Config, intake::content::Content, middleware::Context,
    problem::Problem, rate_limit::Client,
};

/// Most stored requests. The ready queue of the runs that execute them must hold them all, so that
/// no backlog of theirs delays the runs of flows.
const MAX_REQUESTS: usize = 4_000;
/// Retention of a request that was executed: until the end of its run is certainly on disk. A run
/// that a kill interrupts before that starts again and needs its request.
const DONE_RETENTION: Duration = Duration::from_secs(600);
/// Longest description of a request, in bytes. The server bounds heads far below.
const MAX_HEAD_BYTES: u32 = 1 << 20;
/// Headers that are not stored: credentials have been checked already.
const SECRET: [&str; 5] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
    "x-editor-token",
];

/// The requests that wait for their execution, or for a retry of it.
pub(crate) struct RequestStore {
    files: Arc<dyn RequestFiles>,
}

/// The limits of the settings.
pub(crate) fn limits(config: &Config) -> RequestLimits {
    RequestLimits {
        max_requests: MAX_REQUESTS,
        max_bytes: config.webhook.deferred_max_bytes,
        retention: Duration::from_secs(u64::from(config.flow.retention_hours) * 3_600),
        done_retention: DONE_RETENTION,
    }
}

/// A request without its body.
#[derive(Clone, Debug)]
pub(crate) struct RequestHead {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) context: Context,
}

/// A stored request. Its body starts at `offset` of the file.
#[derive(Debug)]
pub(crate) struct StoredRequest {
    pub(crate) head: RequestHead,
    pub(crate) file: File,
    pub(crate) offset: u64,
    pub(crate) size_bytes: u64,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct HeadDocument {
    method: String,
    uri: String,
    /// Id of the original request, for the log.
    request_id: String,
    /// Whose rate limit counts what the request does.
    client: Client,
    /// Prefix of links to its results.
    #[serde(default)]
    base_url: Option<String>,
    /// Names, and values in base64: a value may be any bytes.
    headers: Vec<(String, String)>,
}

impl RequestStore {
    /// The store of these files.
    pub(crate) fn new(files: Arc<dyn RequestFiles>) -> Self {
        Self { files }
    }

    /// Stores a request durably and returns its name. Blocks.
    ///
    /// # Errors
    /// `overloaded requests` if too many requests wait; `backend-unavailable` if the bucket fails;
    /// an internal error of the disk.
    pub(crate) fn put(&self, head: &RequestHead, body: &Content) -> Result<String, Problem> {
        let head = serde_json::to_vec(&HeadDocument::of(head)).map_err(io::Error::other);
        let head = head.map_err(|error| failed(BlobError::Failed(error)))?;
        let size_bytes = 4 + head.len() as u64 + body.size_bytes();
        let stored = self.files.put(size_bytes, &mut |mut target| {
            let length = u32::try_from(head.len()).map_err(io::Error::other)?;
            target.write_all(&length.to_le_bytes())?;
            target.write_all(&head)?;
            body.write_to(&mut target)
        });
        stored.map_err(failed)
    }

    /// Opens a stored request; one that the store does not give at once is asked for again until
    /// `patience` has passed. Blocks.
    ///
    /// # Errors
    /// `not-found` if it was removed; `backend-unavailable` if the bucket fails; an internal error
    /// for a damaged file.
    pub(crate) fn get(&self, name: &str, patience: Duration) -> Result<StoredRequest, Problem> {
        let file = self.files.open(name, patience).map_err(failed)?;
        read(file).map_err(|error| failed(BlobError::Failed(error)))
    }

    /// Removes a request for which there is no run. Blocks.
    pub(crate) fn remove(&self, name: &str) {
        self.files.remove(name);
    }

    /// Lets a request that was executed make room for others. Blocks.
    pub(crate) fn end(&self, name: &str, has_failed: bool) {
        self.files.end(name, has_failed);
    }

    /// Removes requests whose retention has ended. Blocks.
    pub(crate) fn sweep(&self) {
        self.files.sweep();
    }
}

fn failed(error: BlobError) -> Problem {
    match error {
        BlobError::Full { .. } => {
            let detail = "too many requests wait to be executed (DEFERRED_MAX_BYTES)";
            Problem::new(Code::Overloaded(What::Requests), detail)
        }
        BlobError::NotFound => {
            let detail = "the request is no longer stored (FLOW_RETENTION_HOURS)";
            Problem::new(Code::NotFound(Resource::Run), detail)
        }
        error if error.is_of_server() => {
            Problem::of_error(error.code(Resource::Run, What::Requests), &error)
        }
        error => Problem::internal(format!("a deferred request: {}", chain(&error))),
    }
}

fn read(mut file: File) -> io::Result<StoredRequest> {
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_HEAD_BYTES {
        return Err(io::Error::other("its head is too long"));
    }
    let mut head = vec![0; length as usize];
    file.read_exact_at(&mut head, 4)?;
    let document: HeadDocument = serde_json::from_slice(&head)?;
    let offset = 4 + u64::from(length);
    let end = file.metadata()?.len();
    Ok(StoredRequest {
        head: document.head().map_err(io::Error::other)?,
        file,
        offset,
        size_bytes: end.saturating_sub(offset),
    })
}

impl HeadDocument {
    fn of(head: &RequestHead) -> Self {
        let kept = head.headers.iter();
        let kept = kept.filter(|(name, _)| !SECRET.contains(&name.as_str()));
        let headers = kept.map(|(name, value)| (name.to_string(), STANDARD.encode(value)));
        let base_url = head.context.base_url.as_ref();
        Self {
            method: head.method.to_string(),
            uri: head.uri.to_string(),
            request_id: head.context.request_id.to_string(),
            client: head.context.client,
            base_url: base_url.map(|base| base.0.to_string()),
            headers: headers.collect(),
        }
    }

    fn head(self) -> Result<RequestHead, String> {
        fn wrong(error: impl ToString) -> String {
            error.to_string()
        }
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers {
            let name: HeaderName = name.parse().map_err(wrong)?;
            let value = STANDARD.decode(value).map_err(wrong)?;
            headers.append(name, value.try_into().map_err(wrong)?);
        }
        Ok(RequestHead {
            method: self.method.parse().map_err(wrong)?,
            uri: self.uri.parse().map_err(wrong)?,
            headers,
            context: Context {
                client: self.client,
                request_id: self.request_id.into(),
                base_url: self.base_url.map(|base| BaseUrl(base.into())),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use platen_storage::blobs::RequestFolder;

    use super::*;

    const WEEK: Duration = Duration::from_secs(7 * 86_400);

    fn head() -> RequestHead {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", "secret".parse().unwrap());
        headers.insert("x-mine", "\u{e9}".parse().unwrap());
        headers.append("x-mine", "two".parse().unwrap());
        RequestHead {
            method: Method::POST,
            uri: "/forms/a?b=c".parse().unwrap(),
            headers,
            context: Context {
                client: Client::Key(1),
                request_id: "r1".into(),
                base_url: Some(BaseUrl("https://a.example".into())),
            },
        }
    }

    fn held(text: &'static str) -> Content {
        Content::Held(text.as_bytes().into())
    }

    fn store(folder: &std::path::Path, max_bytes: u64) -> RequestStore {
        let limits = RequestLimits {
            max_requests: MAX_REQUESTS,
            max_bytes,
            retention: WEEK,
            done_retention: DONE_RETENTION,
        };
        RequestStore::new(Arc::new(RequestFolder::new(folder.to_owned(), limits)))
    }

    #[test]
    fn a_request_comes_back_without_its_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path(), 1 << 20);
        let name = store.put(&head(), &held("body")).unwrap();
        let stored = store.get(&name, WEEK).unwrap();
        let mut body = vec![0; stored.size_bytes as usize];
        stored.file.read_exact_at(&mut body, stored.offset).unwrap();
        assert_eq!(body, b"body");
        assert_eq!(stored.head.uri, "/forms/a?b=c");
        assert_eq!(stored.head.context.client, Client::Key(1));
        assert_eq!(stored.head.headers.get_all("x-mine").iter().count(), 2);
        let raw = std::fs::read(folder.path().join(&name)).unwrap();
        let secret = STANDARD.encode("secret");
        assert!(!String::from_utf8_lossy(&raw).contains(&secret));
        for has_failed in [true, false, true] {
            store.end(&name, has_failed);
            assert!(store.get(&name, WEEK).is_ok(), "a retry finds it");
        }
        let other = store.put(&head(), &held("body")).unwrap();
        store.remove(&other);
        assert_eq!(store.get(&other, WEEK).unwrap_err().status.as_u16(), 404);
    }

    #[test]
    fn each_failure_has_its_status() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path(), 600);
        let full = loop {
            match store.put(&head(), &held("more")) {
                Ok(_) => {}
                Err(problem) => break problem,
            }
        };
        assert_eq!(full.code, Code::Overloaded(What::Requests));
        let name = "abcdefghijklmnopqrstuv";
        std::fs::write(folder.path().join(name), b"damaged").unwrap();
        assert_eq!(store.get(name, WEEK).unwrap_err().status.as_u16(), 500);
        let gone = failed(BlobError::Unavailable("no answer".to_owned()));
        assert_eq!(gone.status.as_u16(), 503);
        let is_wait = |(name, _): &(HeaderName, _)| name == "retry-after";
        assert!(gone.headers.iter().any(is_wait), "{:?}", gone.headers);
    }
}

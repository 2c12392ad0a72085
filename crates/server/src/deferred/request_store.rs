//! Requests on disk that are executed later. A file is written before the client gets its answer,
//! and outlives a restart of the service.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, FileExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::{HeaderMap, Method, Uri, header::HeaderName};
use parking_lot::Mutex;
use platen_fault::{Code, Resource, What};
use serde::{Deserialize, Serialize};

use crate::{intake::content::Content, middleware::Context, problem::Problem, rate_limit::Client};

/// Most stored requests. The ready queue of the runs that execute them must hold them all, so that
/// no backlog of theirs delays the runs of flows.
const MAX_REQUESTS: usize = 4_000;
/// Characters of a request's name, all letters and digits.
const NAME_CHARACTERS: usize = 22;
/// Extension of a request that failed, and is kept for a retry.
const FAILED: &str = "failed";
/// Extension of a request that was executed.
const DONE: &str = "done";
/// Retention of a request that was executed: until the end of its run is certainly on disk. A run
/// that a kill interrupts before that starts again and needs its request.
const DONE_RETENTION: Duration = Duration::from_secs(600);
/// Extension of a file that is being written.
const PART: &str = "part";
/// Longest description of a request, in bytes. The server bounds heads far below.
const MAX_HEAD_BYTES: u32 = 1 << 20;
/// Headers that are not written to disk: credentials have been checked already.
const SECRET: [&str; 4] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
];

/// The requests that wait for their execution, or for a retry of it.
pub(crate) struct RequestStore {
    folder: PathBuf,
    max_bytes: u64,
    retention: Duration,
    /// Serialises the check of the limits with the file that it admits.
    admission: Mutex<()>,
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
    /// Names, and values in base64: a value may be any bytes.
    headers: Vec<(String, String)>,
}

impl RequestStore {
    /// The store in `folder`, which is created with the first request. It holds at most `max_bytes`,
    /// and keeps requests that failed for `retention`.
    pub(crate) fn new(folder: PathBuf, max_bytes: u64, retention: Duration) -> Self {
        Self {
            folder,
            max_bytes,
            retention,
            admission: Mutex::default(),
        }
    }

    /// Writes a request durably and returns its name. Blocks.
    ///
    /// # Errors
    /// `overloaded requests` if too many requests wait; an internal error of the disk.
    pub(crate) fn put(&self, head: &RequestHead, body: &Content) -> Result<String, Problem> {
        let failed = |error: io::Error| Problem::internal(format!("a deferred request: {error}"));
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(failed)?;
        // The lock holds no data that a panic could leave inconsistent.
        let _admission = self.admission.lock();
        self.make_room(body.size_bytes())?;
        self.write(head, body).map_err(failed)
    }

    fn write(&self, head: &RequestHead, body: &Content) -> io::Result<String> {
        let head = serde_json::to_vec(&HeadDocument::of(head))?;
        // Readable by this user only, as tempfile makes it.
        let mut draft = tempfile::Builder::new()
            .prefix("")
            .rand_bytes(NAME_CHARACTERS)
            .suffix(&format!(".{PART}"))
            .tempfile_in(&self.folder)?;
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        draft.write_all(&length.to_le_bytes())?;
        draft.write_all(&head)?;
        body.write_to(draft.as_file_mut())?;
        draft.as_file().sync_all()?;
        let name = draft.path().file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        draft.persist(self.folder.join(&name))?;
        // Without this, a loss of power could forget the name.
        File::open(&self.folder)?.sync_all()?;
        Ok(name)
    }

    /// Opens a stored request. Blocks.
    ///
    /// # Errors
    /// `not-found` if it was removed; an internal error for a damaged file.
    pub(crate) fn get(&self, name: &str) -> Result<StoredRequest, Problem> {
        let open = |path: PathBuf| match path {
            // Names come from the records of runs, and must not lead out of the folder.
            _ if !is_name(name) => Err(io::Error::from(io::ErrorKind::NotFound)),
            path => File::open(path),
        };
        let file = self.paths(name).into_iter().map(open).reduce(Result::or);
        let file = file.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let detail = "the request is no longer stored (FLOW_RETENTION_HOURS)";
                Problem::new(Code::NotFound(Resource::Run), detail)
            }
            _ => Problem::internal(format!("a deferred request: {error}")),
        })?;
        read(file).map_err(|error| Problem::internal(format!("a deferred request: {error}")))
    }

    /// Removes a request for which there is no run. Blocks.
    pub(crate) fn remove(&self, name: &str) {
        // What remains is removed once it has expired and there is no room.
        let _ = std::fs::remove_file(self.folder.join(name));
    }

    /// Lets a request that was executed make room for others. Blocks.
    pub(crate) fn end(&self, name: &str, has_failed: bool) {
        let extension = if has_failed { FAILED } else { DONE };
        let new = self.folder.join(format!("{name}.{extension}"));
        for path in self.paths(name) {
            // If this fails, the request keeps its name, under which it is found too.
            if path != new && std::fs::rename(path, &new).is_ok() {
                return;
            }
        }
    }

    /// Where the request can be.
    fn paths(&self, name: &str) -> [PathBuf; 3] {
        let with = |extension| self.folder.join(format!("{name}.{extension}"));
        [self.folder.join(name), with(FAILED), with(DONE)]
    }

    /// Removes requests whose retention has ended. Blocks.
    pub(crate) fn sweep(&self) {
        let _admission = self.admission.lock();
        // No new request wants room, so it does not matter that there may be none.
        let _ = self.make_room(0);
    }

    /// Removes requests whose retention has ended, and while there is no room the oldest of those
    /// that were executed. A request that still waits is removed only if it has expired and there is
    /// no room.
    fn make_room(&self, wanted_bytes: u64) -> Result<(), Problem> {
        let mut files = list(&self.folder);
        files.sort_unstable_by_key(|file| file.modified);
        let mut count = files.len();
        let mut bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
        let is_full = |count: usize, bytes: u64| {
            count >= MAX_REQUESTS || bytes.saturating_add(wanted_bytes) > self.max_bytes
        };
        for file in files {
            let extension = file.path.extension().and_then(|it| it.to_str());
            let (waits, retention) = match extension {
                Some(DONE) => (false, DONE_RETENTION.min(self.retention)),
                Some(FAILED) => (false, self.retention),
                _ => (true, self.retention),
            };
            let expired = file.modified.elapsed().is_ok_and(|age| age > retention);
            let is_over = match (waits, expired) {
                (false, true) => true,
                (true, false) => false,
                _ => is_full(count, bytes),
            };
            if is_over && std::fs::remove_file(&file.path).is_ok() {
                count -= 1;
                bytes -= file.size_bytes;
            }
        }
        if is_full(count, bytes) {
            let detail = "too many requests wait to be executed (DEFERRED_MAX_BYTES)";
            return Err(Problem::new(Code::Overloaded(What::Requests), detail));
        }
        Ok(())
    }
}

struct Entry {
    path: PathBuf,
    modified: SystemTime,
    size_bytes: u64,
}

fn list(folder: &Path) -> Vec<Entry> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        Some(Entry {
            path: entry.path(),
            modified: metadata.modified().ok()?,
            size_bytes: metadata.len(),
        })
    });
    files.collect()
}

fn is_name(name: &str) -> bool {
    name.len() == NAME_CHARACTERS && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
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
        Self {
            method: head.method.to_string(),
            uri: head.uri.to_string(),
            request_id: head.context.request_id.to_string(),
            client: head.context.client,
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
            },
        })
    }
}

#[cfg(test)]
mod tests {
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
            },
        }
    }

    fn held(text: &'static str) -> Content {
        Content::Held(text.as_bytes().into())
    }

    #[test]
    fn a_request_comes_back_without_its_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let store = RequestStore::new(folder.path().join("deferred"), 1 << 20, WEEK);
        let name = store.put(&head(), &held("body")).unwrap();
        let stored = store.get(&name).unwrap();
        let mut body = vec![0; stored.size_bytes as usize];
        stored.file.read_exact_at(&mut body, stored.offset).unwrap();
        assert_eq!(body, b"body");
        assert_eq!(stored.head.uri, "/forms/a?b=c");
        assert_eq!(stored.head.context.client, Client::Key(1));
        assert_eq!(stored.head.headers.get_all("x-mine").iter().count(), 2);
        let raw = std::fs::read(folder.path().join("deferred").join(&name)).unwrap();
        let secret = STANDARD.encode("secret");
        assert!(!String::from_utf8_lossy(&raw).contains(&secret));
        for has_failed in [true, false, true] {
            store.end(&name, has_failed);
            assert!(store.get(&name).is_ok(), "a retry finds it");
        }
        let other = store.put(&head(), &held("body")).unwrap();
        store.remove(&other);
        assert_eq!(store.get(&other).unwrap_err().status.as_u16(), 404);
    }

    #[test]
    fn names_do_not_lead_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("other"), "\0\0\0\0").unwrap();
        let store = RequestStore::new(folder.path().join("deferred"), 1 << 20, WEEK);
        for name in ["../other", "", ".", "a", "../../../../../etc/pwd"] {
            assert_eq!(store.get(name).unwrap_err().status.as_u16(), 404, "{name}");
        }
    }

    #[test]
    fn failed_requests_make_room_and_waiting_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = RequestStore::new(folder.path().to_owned(), 600, WEEK);
        let first = store.put(&head(), &held("one")).unwrap();
        let second = store.put(&head(), &held("two")).unwrap();
        let full = loop {
            match store.put(&head(), &held("more")) {
                Ok(_) => {}
                Err(problem) => break problem,
            }
        };
        assert_eq!(full.code, Code::Overloaded(What::Requests));
        store.end(&second, true);
        assert!(store.put(&head(), &held("three")).is_ok());
        assert!(store.get(&first).is_ok() && store.get(&second).is_err());
    }

    #[test]
    fn expired_requests_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = RequestStore::new(folder.path().to_owned(), 1 << 20, WEEK);
        let names = ["failed", "done", "waiting"].map(|text| {
            let name = store.put(&head(), &held(text)).unwrap();
            let file = File::options().write(true).open(folder.path().join(&name));
            let long_ago = SystemTime::now() - 2 * WEEK;
            file.unwrap().set_modified(long_ago).unwrap();
            name
        });
        store.end(&names[0], true);
        store.end(&names[1], false);
        store.sweep();
        let found = names.map(|name| store.get(&name).is_ok());
        assert_eq!(found, [false, false, true]);
    }
}

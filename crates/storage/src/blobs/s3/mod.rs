//! A bucket of Amazon S3, or of a server that speaks its protocol. Sources:
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html>, signatures of version 4.
//!
//! Methods block the calling thread. Each is repeated while the server fails, within a time limit;
//! the number of those under way is bounded. What was written is acknowledged by the server, which
//! has checked its SHA-256.

mod check;
mod content;
mod gate;
mod listing;
mod settings;
mod trouble;
mod wire;

use std::{
    cell::Cell,
    fmt,
    fs::File,
    io::{Read, Seek, Write},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusty_s3::Method;
use sha2::{Digest as _, Sha256};
use ureq::{Body, http::Response};

pub use self::settings::BucketSettings;
pub(super) use self::{
    content::Content,
    listing::{Object, Page},
};
use self::{
    trouble::Trouble,
    wire::{Ask, Wire},
};
use super::{BlobError, digest::Sum};

/// Largest object: Amazon's limit of a single upload. Bytes.
const MAX_OBJECT_BYTES: u64 = 5 << 30;
/// Most keys of a page.
const MAX_PAGE_KEYS: &str = "1000";
/// Largest answer to a request for a page, in bytes.
const MAX_PAGE_BYTES: u64 = 8 << 20;
/// The digest of an object, which it keeps with its content.
const DIGEST: &str = "x-amz-meta-sha256";
/// Size of a read from the server, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// A bucket.
pub struct Bucket {
    wire: Wire,
    /// Prefix of all keys: empty, or with a slash at its end.
    prefix: String,
    name: String,
    checked: Mutex<Option<check::Checked>>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the bucket {}", self.name)
    }
}

/// Counters of a process, since it opened the bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketCounts {
    /// Requests that were sent, with retries.
    pub requests: u64,
    /// Requests that repeated one that failed.
    pub retries: u64,
    /// Operations that were given up, because time was up or the server refused.
    pub failures: u64,
}

/// What became of an object that was to be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Stored,
    /// It is there already.
    Existed,
}

impl Bucket {
    /// A client of the bucket. Nothing is sent yet; see [`Bucket::check`].
    ///
    /// # Errors
    /// [`BlobError::Setting`] names the setting that cannot be used.
    pub fn new(settings: &BucketSettings) -> Result<Self, BlobError> {
        Ok(Self {
            wire: Wire::new(settings)?,
            prefix: settings.key_prefix()?,
            name: settings.bucket.clone(),
            checked: Mutex::default(),
        })
    }

    /// Stores a small object unless there is one of this key, and returns what is there: services
    /// that do this at once agree on the content.
    ///
    /// # Errors
    /// The server fails.
    pub fn once(&self, key: &str, bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>, BlobError> {
        match self.small(key, max_bytes) {
            Err(BlobError::NotFound) => {}
            found => return found,
        }
        self.put_new(key, Content::Slices(&[bytes]), Sum::of(bytes))?;
        self.small(key, max_bytes)
    }

    /// Reads a small object.
    ///
    /// # Errors
    /// [`BlobError::NotFound`], and the server fails.
    pub fn existing(&self, key: &str, max_bytes: u64) -> Result<Vec<u8>, BlobError> {
        self.small(key, max_bytes)
    }

    /// Stores an object unless there is one of this key.
    pub(super) fn put_new(
        &self,
        key: &str,
        content: Content<'_>,
        sum: Sum,
    ) -> Result<Put, BlobError> {
        match self.put(key, content, sum, true) {
            Ok(()) => Ok(Put::Stored),
            Err(trouble) if trouble.is_presence() => Ok(Put::Existed),
            Err(trouble) => Err(trouble.into()),
        }
    }

    /// Stores an object in place of whatever is there.
    pub(super) fn put_over(&self, key: &str, bytes: &[u8]) -> Result<(), BlobError> {
        let content: &[&[u8]] = &[bytes];
        Ok(self.put(key, Content::Slices(content), Sum::of(bytes), false)?)
    }

    fn put(
        &self,
        key: &str,
        content: Content<'_>,
        sum: Sum,
        is_new_only: bool,
    ) -> Result<(), Trouble> {
        let size_bytes = content.size_bytes();
        if size_bytes > MAX_OBJECT_BYTES {
            let text = "a bucket takes objects of at most 5 GiB";
            return Err(Trouble::Local(std::io::Error::other(text)));
        }
        let (digest, checksum) = (sum.to_hex(), sum.to_base64());
        let headers = [
            ("if-none-match", "*"),
            ("x-amz-checksum-sha256", &*checksum),
            (DIGEST, &*digest),
        ];
        let key = self.whole(key);
        let ask = Ask {
            headers: &headers[usize::from(!is_new_only)..],
            ..Ask::new(Method::Put, &key)
        };
        let deadline = Cell::new(Instant::now() + self.wire.limit(size_bytes));
        self.wire.persist(&deadline, |within| {
            let sent = self.wire.send(&ask, Some(content), within, Duration::ZERO);
            sent.map(drop)
        })
    }

    /// Reads an object into `file`, which is empty, and returns its size. Without `sum`, the
    /// content is compared with the digest that is kept with it. Retries until `patience` has
    /// passed, and longer by the size of the content.
    pub(super) fn fetch(
        &self,
        key: &str,
        file: &mut File,
        sum: Option<&str>,
        patience: Duration,
    ) -> Result<u64, BlobError> {
        let whole = self.whole(key);
        let ask = Ask::new(Method::Get, &whole);
        let deadline = Cell::new(Instant::now() + patience);
        let last = deadline.get();
        let mut is_damaged = false;
        let fetched = self.wire.persist(&deadline, |left| {
            file.rewind().map_err(Trouble::Local)?;
            file.set_len(0).map_err(Trouble::Local)?;
            let most = wire::time_for(MAX_OBJECT_BYTES);
            let response = self.wire.send(&ask, None, left, most)?;
            let size_bytes = size_of(&response)?;
            deadline.set(deadline.get().max(last + wire::time_for(size_bytes)));
            let wanted = sum.map(str::to_owned).or_else(|| digest_of(&response));
            let found = copy(response, file, deadline.get())?;
            if wanted.as_ref() == Some(&found.to_hex()) {
                return Ok(size_bytes);
            }
            // Once more: it may have been changed on its way.
            match std::mem::replace(&mut is_damaged, true) {
                false => Err(Trouble::Broken("the content was changed".to_owned())),
                true => Err(Trouble::Damaged),
            }
        });
        fetched.map_err(|trouble| trouble.about(key))
    }

    /// Reads an object of at most `max_bytes` into memory and compares it with its digest.
    pub(super) fn small(&self, key: &str, max_bytes: u64) -> Result<Vec<u8>, BlobError> {
        let whole = self.whole(key);
        let read = self.wire.ask(&Ask::new(Method::Get, &whole), |response| {
            let wanted = digest_of(&response);
            let (_, mut body) = response.into_parts();
            // The client counts the end of a body, too.
            let limited = body.with_config().limit(max_bytes + 1);
            let bytes = limited.read_to_vec().map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => Trouble::Damaged,
                error => Trouble::of_transport(&error),
            })?;
            match wanted == Some(Sum::of(&bytes).to_hex()) {
                true => Ok(bytes),
                false => Err(Trouble::Damaged),
            }
        });
        read.map_err(|trouble| trouble.about(key))
    }

    /// The digest and the size of an object, if it is there.
    pub(super) fn head(&self, key: &str) -> Result<Option<(String, u64)>, BlobError> {
        let read = |response: Response<Body>| {
            let digest = digest_of(&response).ok_or(Trouble::Damaged)?;
            Ok(Some((digest, size_of(&response)?)))
        };
        let whole = self.whole(key);
        match self.wire.ask(&Ask::new(Method::Head, &whole), read) {
            Err(trouble) if trouble.is_absence() => Ok(None),
            other => other.map_err(|trouble| trouble.about(key)),
        }
    }

    /// Removes an object, if it is there.
    pub(super) fn delete(&self, key: &str) -> Result<(), BlobError> {
        let key = self.whole(key);
        match self.wire.ask(&Ask::new(Method::Delete, &key), |_| Ok(())) {
            Err(trouble) if trouble.is_absence() => Ok(()),
            other => Ok(other?),
        }
    }

    /// A page of the objects whose keys begin with `prefix` and come after `after`.
    pub(super) fn list(&self, prefix: &str, after: Option<&str>) -> Result<Page, BlobError> {
        let (prefix, after) = (self.whole(prefix), after.map(|after| self.whole(after)));
        let mut query = vec![
            ("list-type", "2"),
            ("max-keys", MAX_PAGE_KEYS),
            ("prefix", &prefix),
        ];
        query.extend(after.as_deref().map(|after| ("start-after", after)));
        let ask = Ask {
            query: &query,
            ..Ask::new(Method::Get, "")
        };
        Ok(self.wire.ask(&ask, |response| self.read_page(response))?)
    }

    fn read_page(&self, response: Response<Body>) -> Result<Page, Trouble> {
        let (parts, mut body) = response.into_parts();
        let now = parts.headers.get("date").and_then(|it| it.to_str().ok());
        let now = now.and_then(trouble::time_of);
        let limited = body.with_config().limit(MAX_PAGE_BYTES);
        let text = limited.read_to_string();
        let text = text.map_err(|error| Trouble::of_transport(&error))?;
        let now = now.unwrap_or_else(listing::own_time);
        listing::read(&text, &self.prefix, now)
            .map_err(|error| Trouble::Broken(format!("its list cannot be read: {error}")))
    }

    /// An address under which anybody may read an object for a while; `query` is in the order of
    /// its names.
    pub(super) fn link(&self, key: &str, query: &[(&str, &str)], life: Duration) -> String {
        let key = self.whole(key);
        let ask = Ask {
            query,
            ..Ask::new(Method::Get, &key)
        };
        self.wire.signed(&ask, life)
    }

    /// What this process has asked the bucket for.
    #[must_use]
    pub fn counts(&self) -> BucketCounts {
        let counts = &self.wire.counts;
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        BucketCounts {
            requests: load(&counts.requests),
            retries: load(&counts.retries),
            failures: load(&counts.failures),
        }
    }

    /// How long an operation without content may take, with its retries.
    pub(super) fn timeout(&self) -> Duration {
        self.wire.limit(0)
    }

    fn whole(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

fn digest_of(response: &Response<Body>) -> Option<String> {
    let value = response.headers().get(DIGEST)?.to_str().ok()?;
    Some(value.to_owned())
}

fn size_of(response: &Response<Body>) -> Result<u64, Trouble> {
    let value = response.headers().get("content-length");
    let size_bytes = value.and_then(|value| value.to_str().ok()?.parse().ok());
    let size_bytes =
        size_bytes.ok_or_else(|| Trouble::Broken("it did not say the length".to_owned()))?;
    match size_bytes {
        0..=MAX_OBJECT_BYTES => Ok(size_bytes),
        _ => Err(Trouble::Damaged),
    }
}

/// Copies the content of an answer and returns its sum.
fn copy(response: Response<Body>, file: &mut File, deadline: Instant) -> Result<Sum, Trouble> {
    let mut reader = response.into_body().into_reader();
    let (mut hasher, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
    loop {
        let read = reader.read(&mut chunk);
        let read = read.map_err(|error| Trouble::of_body(&error))?;
        if read == 0 {
            return Ok(Sum::finish(&mut hasher));
        }
        if Instant::now() > deadline {
            return Err(Trouble::Broken("the content came too slowly".to_owned()));
        }
        hasher.update(&chunk[..read]);
        file.write_all(&chunk[..read]).map_err(Trouble::Local)?;
    }
}

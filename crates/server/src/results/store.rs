//! Result files: stores them as they stream in, caches hot ones in memory, sweeps expired ones.

use std::{
    fmt::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::HeaderMap;
use platen_delivery::{Body as Delivered, FileCache};
use platen_fault::{Code, Resource, What};
use platen_render::chain;
use platen_signing::LinkKey;
use platen_storage::blobs::{BlobError, Draft, ExpiringBlobs, Kept, Presentation, Usage};

use super::{Ends, ResultLink, StoredResult, now};
use crate::{
    base_url,
    config::{Config, ResultConfig},
    metrics::{Metrics, head},
    problem::Problem,
    respond::moment,
};

/// Size of one write, in bytes.
const WRITE_BYTES: usize = 256 << 10;
/// Larger files are never cached in memory. Bytes.
const MAX_HOT_BYTES: u64 = 4 << 20;

/// Lifetime of an address in the bucket: a client follows it at once.
const REDIRECT_LIFE: Duration = Duration::from_secs(300);

/// Where the document of a link is.
pub(crate) enum Followed {
    /// Here, for as many seconds.
    Here(ResultLink, Delivered, u64),
    /// At this address.
    Elsewhere(String),
}

/// Store of results.
pub(crate) struct Results {
    blobs: Arc<dyn ExpiringBlobs>,
    key: Arc<LinkKey>,
    cache: FileCache,
    config: ResultConfig,
    metrics: Arc<Metrics>,
    counts: Counts,
}

/// Counters of this process.
#[derive(Debug, Default)]
struct Counts {
    stored_files: AtomicU64,
    stored_bytes: AtomicU64,
    swept_files: AtomicU64,
    swept_bytes: AtomicU64,
    refused_full: AtomicU64,
    refused_disk: AtomicU64,
}

impl Results {
    /// The results in `blobs`; `key` signs links.
    pub(crate) fn new(
        config: &Config,
        blobs: Arc<dyn ExpiringBlobs>,
        key: Arc<LinkKey>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let config = config.results.clone();
        let cache_bytes = usize::try_from(config.cache_bytes).unwrap_or(usize::MAX);
        Self {
            blobs,
            key,
            cache: FileCache::new(cache_bytes, MAX_HOT_BYTES),
            config,
            metrics,
            counts: Counts::default(),
        }
    }

    pub(super) fn config(&self) -> &ResultConfig {
        &self.config
    }

    /// Writes a body to disk as it streams in, and collects its trailers.
    pub(super) async fn receive(
        &self,
        mut body: Body,
        ends: Ends,
    ) -> Result<(Kept, HeaderMap), Problem> {
        let (mut draft, mut trailers) = (None, HeaderMap::new());
        let (mut waiting, mut waiting_bytes) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            match frame.map_err(broken)?.into_data() {
                Ok(piece) => {
                    waiting_bytes += piece.len();
                    waiting.push(piece);
                }
                Err(frame) => trailers = frame.into_trailers().unwrap_or_default(),
            }
            let is_last = http_body::Body::is_end_stream(&body);
            if waiting_bytes >= WRITE_BYTES && !is_last {
                draft = Some(self.write(draft, std::mem::take(&mut waiting)).await?);
                waiting_bytes = 0;
            }
        }
        Ok((self.finish(draft, waiting, ends).await?, trailers))
    }

    /// Stores a document from memory.
    ///
    /// # Errors
    /// 507 if the storage is full.
    pub(crate) async fn store(
        &self,
        bytes: Bytes,
        mut link: ResultLink,
        ttl_seconds: u64,
        pages: Option<u32>,
    ) -> Result<StoredResult, Problem> {
        let ends = Ends(now() + ttl_seconds);
        let kept = self.finish(None, vec![bytes], ends).await?;
        link.digest = kept.digest;
        link.expires = ends.0;
        Ok(self.stored(link, kept.size_bytes, pages))
    }

    /// The response body for a stored document.
    pub(super) fn stored(
        &self,
        link: ResultLink,
        size_bytes: u64,
        pages: Option<u32>,
    ) -> StoredResult {
        let of_request = base_url::current();
        let base = self.config.public_url.as_deref();
        let base = base.or(of_request.as_ref().map(|base| &*base.0));
        let base = base.unwrap_or_default();
        let milliseconds = i64::try_from(link.expires.saturating_mul(1_000)).unwrap_or(i64::MAX);
        StoredResult {
            url: format!("{base}{}", link.path(&self.key)),
            expires_at: moment(milliseconds),
            size_bytes,
            content_type: link.media_type,
            file_name: link.name,
            sha256: link.digest,
            pages,
        }
    }

    async fn write(
        &self,
        draft: Option<Box<dyn Draft>>,
        pieces: Vec<Bytes>,
    ) -> Result<Box<dyn Draft>, Problem> {
        let blobs = Arc::clone(&self.blobs);
        self.blocking(move || {
            let mut draft = match draft {
                Some(draft) => draft,
                None => blobs.begin()?,
            };
            for piece in &pieces {
                draft.write(piece)?;
            }
            Ok(draft)
        })
        .await
    }

    async fn finish(
        &self,
        draft: Option<Box<dyn Draft>>,
        pieces: Vec<Bytes>,
        ends: Ends,
    ) -> Result<Kept, Problem> {
        let blobs = Arc::clone(&self.blobs);
        let kept = self.blocking(move || match draft {
            Some(mut draft) => {
                for piece in &pieces {
                    draft.write(piece)?;
                }
                draft.finish(ends.time())
            }
            None => {
                let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &piece[..]).collect();
                blobs.put(&pieces, ends.time())
            }
        });
        let kept = kept.await?;
        let counts = &self.counts;
        counts.stored_files.fetch_add(1, Ordering::Relaxed);
        let stored_bytes = &counts.stored_bytes;
        stored_bytes.fetch_add(kept.size_bytes, Ordering::Relaxed);
        Ok(kept)
    }

    /// Runs a blocking store operation off the async threads.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
    ) -> Result<T, Problem> {
        let done = tokio::task::spawn_blocking(work).await;
        let done = done.map_err(|error| Problem::internal(error.to_string()))?;
        done.map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &BlobError) -> Problem {
        let (reason, detail, count) = match error {
            BlobError::Full { quota_bytes } => {
                let detail = format!(
                    "the stored results use all of {quota_bytes} bytes (RESULTS_MAX_BYTES); space \
                     becomes free as results expire"
                );
                ("storage-full", detail, &self.counts.refused_full)
            }
            BlobError::DiskFull => {
                let detail =
                    "the disk is full; omit `output` to receive the document in the response"
                        .to_owned();
                ("disk-full", detail, &self.counts.refused_disk)
            }
            other => return failed(other),
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.metrics.rejected(reason);
        Problem::new(error.code(Resource::Result, What::Results), detail)
    }

    /// Resolves a link. `disposition` makes the header of that name for a redirect.
    ///
    /// # Errors
    /// 403 for an invalid link, 410 for an expired one, 404 if the document was deleted, 503 if the
    /// bucket fails.
    pub(crate) async fn follow(
        &self,
        address: (String, String),
        query: &[(String, String)],
        disposition: impl FnOnce(&ResultLink) -> Result<String, Problem>,
    ) -> Result<Followed, Problem> {
        let link = ResultLink::read(address, query, &self.key)?;
        let ends = Ends(link.expires).time();
        let left = match link.left() {
            Ok(left) => left,
            Err(expired) => {
                let has = self.read(&link, move |blobs, digest| blobs.has(&digest, ends));
                return Err(match has.await {
                    Ok(false) => gone(&BlobError::NotFound),
                    Ok(true) => expired,
                    Err(error) => gone(&error),
                });
            }
        };
        if self.config.is_redirected && !link.is_active() {
            let presentation = Presentation {
                media_type: &link.media_type,
                disposition: &disposition(&link)?,
            };
            let life = REDIRECT_LIFE.min(Duration::from_secs(left));
            let elsewhere = self.blobs.link(&link.digest, ends, &presentation, life);
            if let Some(url) = elsewhere {
                return Ok(Followed::Elsewhere(url));
            }
        }
        let open = || async {
            let found = self.read(&link, move |blobs, digest| blobs.open(&digest, ends));
            found.await.map(|found| (found.file, found.size_bytes))
        };
        let body = self.cache.body(&link.digest, open).await;
        let body = body.map_err(|error: BlobError| gone(&error))?;
        Ok(Followed::Here(link, body, left))
    }

    /// Reads the blob of a link, off the async threads.
    async fn read<T: Send + 'static>(
        &self,
        link: &ResultLink,
        work: impl FnOnce(&dyn ExpiringBlobs, String) -> Result<T, BlobError> + Send + 'static,
    ) -> Result<T, BlobError> {
        let (blobs, digest) = (Arc::clone(&self.blobs), link.digest.clone());
        let done = tokio::task::spawn_blocking(move || work(&*blobs, digest)).await;
        done.map_err(|error| BlobError::Failed(error.into()))?
    }

    /// Deletes expired results. Blocks.
    pub(crate) fn sweep(&self) -> Result<Usage, BlobError> {
        let swept = self.blobs.sweep(SystemTime::now())?;
        let counts = &self.counts;
        counts.swept_files.fetch_add(swept.files, Ordering::Relaxed);
        let swept_bytes = &counts.swept_bytes;
        swept_bytes.fetch_add(swept.size_bytes, Ordering::Relaxed);
        Ok(swept)
    }

    /// Writes the metrics of stored results.
    pub(crate) fn write_metrics(&self, text: &mut String) {
        let (usage, counts) = (self.blobs.usage(), &self.counts);
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let cached = self.cache.size_bytes() as u64;
        #[rustfmt::skip]
        let values = [
            ("files", "gauge", usage.files, "Stored results, as of the last sweep plus those stored by this process since."),
            ("bytes", "gauge", usage.size_bytes, "Disk space of stored results, in blocks of 4 KiB."),
            ("max_bytes", "gauge", self.config.max_bytes, "Disk space limit of stored results."),
            ("cache_bytes", "gauge", cached, "Bytes of results in the memory cache."),
            ("stored_total", "counter", load(&counts.stored_files), "Results stored, including those that already existed."),
            ("stored_bytes_total", "counter", load(&counts.stored_bytes), "Bytes of results stored."),
            ("swept_total", "counter", load(&counts.swept_files), "Results removed by this process."),
            ("swept_bytes_total", "counter", load(&counts.swept_bytes), "Disk space freed by removed results."),
        ];
        for (name, kind, value, about) in values {
            head(text, &format!("results_{name}"), kind, about);
            let _ = writeln!(text, "platen_results_{name} {value}");
        }
        let about = "Results that were not stored, by reason.";
        head(text, "results_refused_total", "counter", about);
        for (reason, count) in [
            ("storage-full", &counts.refused_full),
            ("disk-full", &counts.refused_disk),
        ] {
            let labels = format!("reason=\"{reason}\"");
            let _ = writeln!(
                text,
                "platen_results_refused_total{{{labels}}} {}",
                load(count)
            );
        }
    }
}

/// The problem for a document that cannot be read.
fn gone(error: &BlobError) -> Problem {
    match error {
        BlobError::NotFound => {
            let detail = "the document has expired";
            Problem::new(Code::NotFound(Resource::Result), detail)
        }
        other => failed(other),
    }
}

/// The problem for an error that has no words of its own.
fn failed(error: &BlobError) -> Problem {
    match error.is_of_server() {
        true => Problem::of_error(error.code(Resource::Result, What::Results), error),
        false => Problem::internal(format!("the stored results: {}", chain(error))),
    }
}

/// The problem for a document that breaks off while it is stored.
fn broken(error: axum::Error) -> Problem {
    let text = format!("the document ended early: {}", chain(&error));
    let inside = error.into_inner().downcast::<std::io::Error>().ok();
    let of_browser =
        inside.and_then(|error| error.into_inner()?.downcast::<platen_browser::Error>().ok());
    of_browser.map_or_else(|| Problem::internal(text), |error| (*error).into())
}

/// Sweeps now and every `RESULTS_SWEEP_SECONDS`, forever.
pub(crate) async fn sweep_expired(results: Arc<Results>) {
    let pause = Duration::from_secs(results.config.sweep_seconds);
    loop {
        let shared = Arc::clone(&results);
        let swept = tokio::task::spawn_blocking(move || shared.sweep()).await;
        let failed = match swept {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(chain(&error)),
            Err(error) => Some(error.to_string()),
        };
        if let Some(cause) = failed {
            tracing::error!(cause, "expired results could not be removed");
        }
        tokio::time::sleep(pause).await;
    }
}

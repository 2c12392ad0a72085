//! Result files: writes them as they stream in, caches hot ones in memory, sweeps expired ones.

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
use platen_storage::blobs::{BlobError, Draft, ExpiringBlobs, Kept, Usage};

use super::{Ends, ResultLink, StoredResult, now};
use crate::{
    config::{Config, ResultConfig},
    metrics::{Metrics, head},
    problem::Problem,
    respond::moment,
};

/// Size of one write, in bytes.
const WRITE_BYTES: usize = 256 << 10;
/// Larger files are never cached in memory. Bytes.
const MAX_HOT_BYTES: u64 = 4 << 20;

/// Store of results.
pub(crate) struct Results {
    blobs: Arc<ExpiringBlobs>,
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
    /// Opens the store in the data folder and counts its files. Blocks.
    pub(crate) fn open(
        config: &Config,
        key: Arc<LinkKey>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, BlobError> {
        let folder = config.database_folder().join("results");
        let config = config.results.clone();
        let cache_bytes = usize::try_from(config.cache_bytes).unwrap_or(usize::MAX);
        let results = Self {
            blobs: Arc::new(ExpiringBlobs::open(&folder, config.max_bytes)?),
            key,
            cache: FileCache::new(cache_bytes, MAX_HOT_BYTES),
            config,
            metrics,
            counts: Counts::default(),
        };
        results.sweep()?;
        Ok(results)
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
        let base = self.config.public_url.as_deref().unwrap_or_default();
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

    async fn write(&self, draft: Option<Draft>, pieces: Vec<Bytes>) -> Result<Draft, Problem> {
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
        draft: Option<Draft>,
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
            None => blobs.put(pieces.iter().map(|piece| &piece[..]), ends.time()),
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
            other => return Problem::internal(format!("the stored results: {}", chain(other))),
        };
        count.fetch_add(1, Ordering::Relaxed);
        self.metrics.rejected(reason);
        Problem::new(error.code(Resource::Result, What::Results), detail)
    }

    /// Resolves a link: returns the link, the document, and for how many seconds clients may cache
    /// it.
    ///
    /// # Errors
    /// 403 for an invalid link, 410 for an expired one, 404 if the document was deleted.
    pub(crate) async fn follow(
        &self,
        address: (String, String),
        query: &[(String, String)],
    ) -> Result<(ResultLink, Delivered, u64), Problem> {
        let link = ResultLink::read(address, query, &self.key)?;
        let gone = |error: BlobError| match error {
            BlobError::NotFound => {
                let detail = "the document has expired";
                Problem::new(Code::NotFound(Resource::Result), detail)
            }
            other => Problem::internal(format!("the stored results: {}", chain(&other))),
        };
        let size_bytes = self.blobs.size_bytes(&link.digest).map_err(gone)?;
        let left = link.left()?;
        let open = || self.blobs.file(&link.digest);
        let body = self.cache.body(&link.digest, size_bytes, open).await;
        let body = body.map_err(|error| gone(error.into()))?;
        Ok((link, body, left))
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

/// The problem for a document that breaks off while it is stored.
fn broken(error: axum::Error) -> Problem {
    let text = format!("the document ended early: {}", chain(&error));
    let inside = error.into_inner().downcast::<std::io::Error>().ok();
    let of_browser =
        inside.and_then(|error| error.into_inner()?.downcast::<platen_browser::Error>().ok());
    of_browser.map_or_else(|| Problem::internal(text), |error| (*error).into())
}

/// Sweeps every `RESULTS_SWEEP_SECONDS`, forever.
pub(crate) async fn sweep_expired(results: Arc<Results>) {
    let pause = Duration::from_secs(results.config.sweep_seconds);
    loop {
        tokio::time::sleep(pause).await;
        let shared = Arc::clone(&results);
        let swept = tokio::task::spawn_blocking(move || shared.sweep()).await;
        let failed = match swept {
            Ok(Ok(_)) => continue,
            Ok(Err(error)) => chain(&error),
            Err(error) => error.to_string(),
        };
        tracing::error!(cause = failed, "expired results could not be removed");
    }
}

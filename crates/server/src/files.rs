//! Files of the service that outlive requests: results, custom actions, requests that wait, and the
//! key of links. They are in the data folder, or in a bucket that several services share.

use std::{
    fmt::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use platen_outbound::Trust;
use platen_signing::LinkKey;
use platen_storage::blobs::{
    BlobStore, Bucket, BucketBlobs, DiskCache, ExpiringBlobs, ExpiringBucket, ExpiringFolder,
    FolderBlobs, RequestBucket, RequestFiles, RequestFolder,
};

use crate::{
    config::{Config, ConfigError},
    deferred, link_key,
    metrics::head,
    start_error::Error,
};

/// How long a bucket may fail before the service gives up its start.
const START_PATIENCE: Duration = Duration::from_secs(10);

/// The stores of files.
pub(crate) struct Files {
    pub(crate) pieces: Box<dyn BlobStore>,
    pub(crate) results: Arc<dyn ExpiringBlobs>,
    pub(crate) requests: Arc<dyn RequestFiles>,
    /// Signs links, at all services and processes alike.
    pub(crate) key: Arc<LinkKey>,
    pub(crate) bucket: Option<Arc<Bucket>>,
}

impl Files {
    /// Opens the stores. Without a bucket, `pieces` is the folder of the custom actions. Blocks.
    ///
    /// # Errors
    /// What cannot be opened.
    pub(crate) fn open(config: &Config, pieces: &Path) -> Result<Self, Error> {
        match bucket(config)? {
            Some(bucket) => Self::in_bucket(config, bucket),
            None => Self::in_folder(config, pieces),
        }
    }

    fn in_folder(config: &Config, pieces: &Path) -> Result<Self, Error> {
        let folder = config.database_folder();
        let key = match &config.s3.link_secret {
            Some(secret) => link_key::of_secret(secret),
            None => link_key::open(folder).map_err(Error::LinkKey)?,
        };
        let pieces = FolderBlobs::open(pieces, config.blobs_max_bytes).map_err(Error::Blobs)?;
        let results = ExpiringFolder::open(&folder.join("results"), config.results.max_bytes);
        let results = results.map_err(Error::Results)?;
        results.sweep(SystemTime::now()).map_err(Error::Results)?;
        let requests = RequestFolder::new(folder.join("deferred"), deferred::limits(config));
        Ok(Self {
            pieces: Box::new(pieces),
            results: Arc::new(results),
            requests: Arc::new(requests),
            key: Arc::new(key),
            bucket: None,
        })
    }

    fn in_bucket(config: &Config, bucket: Bucket) -> Result<Self, Error> {
        let bucket = Arc::new(bucket);
        let cache = DiskCache::open(
            &config.database_folder().join("bucket-cache"),
            config.s3.cache_bytes,
        );
        let cache = Arc::new(cache.map_err(|error| Error::Blobs(error.into()))?);
        let key = match &config.s3.link_secret {
            Some(secret) => link_key::of_secret(secret),
            None => link_key::in_bucket(&bucket).map_err(Error::Bucket)?,
        };
        let both = || (Arc::clone(&bucket), Arc::clone(&cache));
        let pieces = {
            let (bucket, cache) = both();
            BucketBlobs::new(bucket, cache, config.blobs_max_bytes)
        };
        let results = {
            let (bucket, cache) = both();
            ExpiringBucket::new(bucket, cache, config.results.max_bytes)
        };
        results.find_moved().map_err(Error::Bucket)?;
        let requests = {
            let (bucket, cache) = both();
            RequestBucket::new(bucket, cache, deferred::limits(config))
        };
        Ok(Self {
            pieces: Box::new(pieces),
            results: Arc::new(results),
            requests: Arc::new(requests),
            key: Arc::new(key),
            bucket: Some(bucket),
        })
    }
}

/// The bucket of the settings, which was found to be usable.
pub(crate) fn bucket(config: &Config) -> Result<Option<Bucket>, Error> {
    let trust = match &config.s3.ca_file {
        None => Trust::default(),
        Some(file) => Trust::only(file).map_err(|error| {
            Error::Config(ConfigError {
                message: format!("S3_CA_FILE `{}`: {error}", file.display()),
                hint: None,
            })
        })?,
    };
    let Some(settings) = config.s3.settings(trust) else {
        return Ok(None);
    };
    let at_start = platen_storage::blobs::BucketSettings {
        timeout: settings.timeout.min(START_PATIENCE),
        ..settings.clone()
    };
    let checked = Bucket::new(&at_start).and_then(|bucket| bucket.check());
    checked.map_err(Error::Bucket)?;
    Bucket::new(&settings).map(Some).map_err(Error::Bucket)
}

/// Writes the metrics of the bucket.
pub(crate) fn write_metrics(bucket: &Bucket, text: &mut String) {
    let counts = bucket.counts();
    for (name, value, about) in [
        (
            "requests",
            counts.requests,
            "Requests to the S3 bucket, with retries.",
        ),
        (
            "retries",
            counts.retries,
            "Requests to the S3 bucket that repeated one that failed.",
        ),
        (
            "failures",
            counts.failures,
            "Operations on the S3 bucket that were given up.",
        ),
    ] {
        head(text, &format!("bucket_{name}_total"), "counter", about);
        let _ = writeln!(text, "platen_bucket_{name}_total {value}");
    }
}

/// Whether the bucket answers; a service without one is always ready. Asks at most every two
/// seconds.
///
/// # Errors
/// Why not.
pub(crate) async fn respond(bucket: Option<&Arc<Bucket>>) -> Result<(), String> {
    let Some(bucket) = bucket.map(Arc::clone) else {
        return Ok(());
    };
    let answer = tokio::task::spawn_blocking(move || bucket.respond()).await;
    answer.unwrap_or_else(|error| Err(error.to_string()))
}

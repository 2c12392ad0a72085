//! A bucket of a server, as the stores see it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use platen_storage::blobs::{Bucket, BucketSettings, DiskCache};

use super::server::{KEY, SECRET, Server, shared};

/// A new bucket of the shared server.
pub fn place() -> Option<Place> {
    shared().map(Place::of)
}

/// A bucket, and a folder for caches.
pub struct Place {
    pub server: Arc<Server>,
    pub name: String,
    /// That of the server, or of a proxy in front of it.
    pub port: u16,
    cache: tempfile::TempDir,
}

impl Place {
    /// A new bucket of a server.
    pub fn of(server: Arc<Server>) -> Self {
        Self {
            name: server.create_bucket(),
            port: server.port,
            cache: tempfile::tempdir().unwrap(),
            server,
        }
    }

    pub fn settings(&self) -> BucketSettings {
        settings(&format!("http://127.0.0.1:{}", self.port), &self.name)
    }

    pub fn bucket(&self) -> Arc<Bucket> {
        Arc::new(Bucket::new(&self.settings()).unwrap())
    }

    pub fn cache(&self) -> Arc<DiskCache> {
        Arc::new(DiskCache::open(self.cache.path(), 10 << 20).unwrap())
    }

    /// The folder that the server keeps the objects in, below the prefix.
    pub fn folder(&self) -> PathBuf {
        self.server
            .folder
            .path()
            .join("data")
            .join(&self.name)
            .join("platen")
    }

    /// The file that the server keeps an object in.
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder().join(key)
    }
}

pub fn settings(endpoint: &str, bucket: &str) -> BucketSettings {
    BucketSettings {
        bucket: bucket.to_owned(),
        endpoint: Some(endpoint.to_owned()),
        region: "us-east-1".to_owned(),
        is_path_style: None,
        prefix: "platen".to_owned(),
        access_key_id: KEY.to_owned(),
        secret_access_key: SECRET.to_owned(),
        session_token: None,
        timeout: Duration::from_secs(30),
        trust: platen_outbound::Trust::default(),
    }
}

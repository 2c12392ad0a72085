//! Template repository: the store, with caches of compiled templates and current versions. Flows
//! use a repository of the same type and are never compiled.
//!
//! Versions are immutable, so a write only invalidates which version is current. A reader that
//! began before a write must not cache the outdated version: it notes the number of writes before
//! it queries the store, and caches the result only if no write has finished meanwhile.

mod cache;
pub(crate) mod diff;

use std::sync::{Arc, atomic::Ordering};

use parking_lot::{Mutex, MutexGuard};
use platen_engine::{Engine, Origin, PreparedTemplate};
use platen_fault::Resource;
use platen_storage::{DocumentStore, Error, NewVersion, StoredDocument, VersionInfo};
use sha2::{Digest, Sha256};

use self::cache::{Cache, Identity};
use crate::{config::Config, metrics::Metrics, problem::Problem};

/// A repository of templates or flows.
#[derive(Clone)]
pub(crate) struct TemplateRepository {
    store: Arc<dyn DocumentStore>,
    cache: Arc<Mutex<Cache>>,
    metrics: Arc<Metrics>,
    /// Resource type, for error messages.
    resource: Resource,
    /// True if another process writes: only the store knows the current versions.
    is_shared: bool,
}

/// A located template, loaded or not yet.
pub(crate) struct Found {
    /// Version, if stored.
    pub(crate) version: Option<u32>,
    state: State,
}

enum State {
    Loaded(Arc<PreparedTemplate>),
    Source {
        identity: Identity,
        source: Arc<[u8]>,
        writes: u64,
    },
}

impl TemplateRepository {
    pub(crate) fn new(
        store: Arc<dyn DocumentStore>,
        resource: Resource,
        config: &Config,
        metrics: Arc<Metrics>,
        is_shared: bool,
    ) -> Self {
        let cache = Cache::new(
            config.template_cache_max_items as usize,
            config.template_cache_max_bytes,
        );
        Self {
            store,
            cache: Arc::new(Mutex::new(cache)),
            metrics,
            resource,
            is_shared,
        }
    }

    /// Read access to the store.
    pub(crate) fn store(&self) -> &dyn DocumentStore {
        &*self.store
    }

    /// A storage error about this resource.
    pub(crate) fn problem(&self, error: &Error) -> Problem {
        Problem::of_store(error, self.resource)
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock()
    }

    /// Number and source bytes of the cached compiled templates.
    pub(crate) fn cached(&self) -> (usize, u64) {
        self.cache().size()
    }

    /// Finds a stored template; the current version if `version` is `None`.
    pub(crate) async fn find(&self, key: &str, version: Option<u32>) -> Result<Found, Error> {
        let writes = {
            let mut cache = self.cache();
            let known = !self.is_shared;
            let wanted = version.or_else(|| cache.current(key));
            let compiled = wanted.filter(|_| known).and_then(|version| {
                let identity = Identity::Stored(key.to_owned(), version);
                Some((version, cache.compiled(&identity)?))
            });
            if let Some((version, template)) = compiled {
                self.metrics.cache_hits.fetch_add(1, Ordering::Relaxed);
                return Ok(Found {
                    version: Some(version),
                    state: State::Loaded(template),
                });
            }
            cache.writes()
        };
        let stored = self.store.get(key.to_owned(), version).await?;
        let found = stored.info.version;
        let identity = Identity::Stored(key.to_owned(), found);
        let mut cache = self.cache();
        if version.is_none() && !self.is_shared {
            cache.keep_current(key, found, writes);
        }
        let state = match cache.compiled(&identity) {
            Some(template) => State::Loaded(template),
            None => State::Source {
                identity,
                source: stored.source,
                writes,
            },
        };
        Ok(Found {
            version: Some(found),
            state,
        })
    }

    /// An inline template of a request.
    pub(crate) fn inline(&self, source: &str) -> Found {
        let identity = Identity::Inline(Sha256::digest(source.as_bytes()).into());
        let mut cache = self.cache();
        let state = match cache.compiled(&identity) {
            Some(template) => {
                self.metrics.cache_hits.fetch_add(1, Ordering::Relaxed);
                State::Loaded(template)
            }
            None => State::Source {
                identity,
                source: source.as_bytes().into(),
                writes: cache.writes(),
            },
        };
        Found {
            version: None,
            state,
        }
    }

    /// Prepares `found` for rendering: compiled, or as its source if a sandbox compiles it. A cache
    /// miss takes milliseconds: do not call it from an async task.
    pub(crate) fn prepare(
        &self,
        engine: &Engine,
        found: Found,
    ) -> Result<Arc<PreparedTemplate>, platen_engine::Error> {
        match found.state {
            State::Loaded(template) => Ok(template),
            State::Source {
                identity,
                source,
                writes,
            } => {
                self.metrics.cache_misses.fetch_add(1, Ordering::Relaxed);
                let size = source.len() as u64;
                let origin = match identity {
                    Identity::Inline(_) => Origin::Stranger,
                    Identity::Stored(..) => Origin::Owner,
                };
                let template = Arc::new(engine.prepare(&source, origin)?);
                self.cache()
                    .keep_compiled(identity, Arc::clone(&template), size, writes);
                Ok(template)
            }
        }
    }

    /// Returns a stored template with its source.
    pub(crate) async fn source(
        &self,
        key: &str,
        version: Option<u32>,
    ) -> Result<StoredDocument, Error> {
        self.store.get(key.to_owned(), version).await
    }

    /// Number of the current version.
    pub(crate) async fn current_version(&self, key: &str) -> Result<u32, Error> {
        if let Some(version) = self.cache().current(key) {
            return Ok(version);
        }
        self.store.current_version(key.to_owned()).await
    }

    pub(crate) async fn create(&self, new: NewVersion) -> Result<VersionInfo, Problem> {
        let key = new.key.clone();
        self.write(key, move |store| async move { store.create(new).await })
            .await
    }

    pub(crate) async fn update(
        &self,
        new: NewVersion,
        expected: u32,
    ) -> Result<VersionInfo, Problem> {
        let key = new.key.clone();
        self.write(key, move |store| async move {
            store.update(new, expected).await
        })
        .await
    }

    pub(crate) async fn restore(
        &self,
        key: String,
        version: u32,
        expected: u32,
        note: Option<String>,
    ) -> Result<VersionInfo, Problem> {
        self.write(key.clone(), move |store| async move {
            store.restore(key, version, expected, note).await
        })
        .await
    }

    pub(crate) async fn delete(&self, key: String, expected: u32) -> Result<(), Problem> {
        self.write(key.clone(), move |store| async move {
            store.delete(key, expected).await
        })
        .await
    }

    /// Writes in a task of its own: if the client disconnects, the cache must still learn of a
    /// write that the store has completed.
    async fn write<T, W>(
        &self,
        key: String,
        work: impl FnOnce(Arc<dyn DocumentStore>) -> W + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Error>> + Send,
    {
        let library = self.clone();
        let task = tokio::spawn(async move {
            let result = work(Arc::clone(&library.store)).await;
            library.cache().forget(&key);
            result
        });
        let result = task
            .await
            .map_err(|error| Problem::internal(format!("a write was aborted: {error}")))?;
        result.map_err(|error| self.problem(&error))
    }
}

//! Template repository: the store, with caches of compiled templates and current versions. Flows
//! use a repository of the same type and are never compiled.
//!
//! Versions are immutable, so a write only invalidates which version is current. A reader that
//! began before a write must not cache the outdated version: it notes the number of writes before
//! it queries the store, and caches the result only if no write has finished meanwhile.

mod cache;
pub(crate) mod diff;
mod imports;

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use platen_engine::{Engine, Origin, PreparedTemplate};
use platen_fault::Resource;
use platen_storage::{
    DocumentStore, Error, NewVersion, Peers, Signal, StoredDocument, VersionInfo,
};
use sha2::{Digest, Sha256};
use tokio::sync::broadcast::error::RecvError;

use self::cache::{Cache, Identity};
pub(crate) use self::imports::as_written;
use crate::{config::Config, metrics::Metrics, problem::Problem};

/// A repository of templates or flows.
#[derive(Clone)]
pub(crate) struct TemplateRepository {
    store: Arc<dyn DocumentStore>,
    cache: Arc<Mutex<Cache>>,
    metrics: Arc<Metrics>,
    /// Resource type, for error messages.
    resource: Resource,
    writers: Writers,
}

/// Who else writes to the store.
#[derive(Clone)]
pub(crate) enum Writers {
    /// Nobody.
    Alone,
    /// Another process of the group: only the store knows the current versions.
    Leader,
    /// Other services, which signal their writes. A write whose signal was lost is noticed within
    /// [`MAX_AGE`].
    Fleet(Arc<dyn Peers>),
}

/// How long the store is believed to hold what it held, if no service signals a write.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(2);

/// A located template, loaded or not yet.
pub(crate) struct Found {
    /// Version, if stored.
    pub(crate) version: Option<u32>,
    state: State,
}

enum State {
    Loaded(Arc<PreparedTemplate>),
    /// Not to be cached.
    Unsaved(Arc<[u8]>),
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
        writers: Writers,
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
            writers,
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
        let begin = Instant::now();
        let writes = {
            let mut cache = self.cache();
            let known = match &self.writers {
                Writers::Alone => true,
                Writers::Leader => false,
                Writers::Fleet(_) => cache.is_fresh(key, version, MAX_AGE),
            };
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
        if version.is_none()
            && let Some(found) = self.find_unchanged(key, begin, writes).await?
        {
            return Ok(found);
        }
        let stored = self.store.get(key.to_owned(), version).await?;
        let found = stored.info.version;
        let identity = Identity::Stored(key.to_owned(), found);
        let mut cache = self.cache();
        if version.is_none() && !matches!(self.writers, Writers::Leader) {
            cache.keep_current(key, found, writes);
        }
        if let Writers::Fleet(_) = &self.writers {
            cache.note_look(key, version, begin, writes);
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

    /// Finds the current version by its number alone, without reading its source; `None` if it is
    /// not compiled.
    async fn find_unchanged(
        &self,
        key: &str,
        begin: Instant,
        writes: u64,
    ) -> Result<Option<Found>, Error> {
        let compiled =
            |cache: &mut Cache, version| cache.compiled(&Identity::Stored(key.to_owned(), version));
        let may_be_compiled = match &self.writers {
            Writers::Alone => false,
            Writers::Leader => true,
            Writers::Fleet(_) => {
                let mut cache = self.cache();
                let known = cache.current(key);
                known.is_some_and(|version| compiled(&mut cache, version).is_some())
            }
        };
        if !may_be_compiled {
            return Ok(None);
        }
        let version = self.store.current_version(key.to_owned()).await?;
        let mut cache = self.cache();
        let Some(template) = compiled(&mut cache, version) else {
            return Ok(None);
        };
        if let Writers::Fleet(_) = &self.writers {
            cache.keep_current(key, version, writes);
            cache.note_look(key, None, begin, writes);
        }
        self.metrics.cache_hits.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Found {
            version: Some(version),
            state: State::Loaded(template),
        }))
    }

    /// An inline template of a request.
    ///
    /// # Errors
    /// As [`TemplateRepository::with_imports`].
    pub(crate) async fn inline(&self, source: &str) -> Result<Found, Problem> {
        let source = self.with_imports(source.as_bytes()).await?;
        let identity = Identity::Inline(Sha256::digest(&source).into());
        let mut cache = self.cache();
        let state = match cache.compiled(&identity) {
            Some(template) => {
                self.metrics.cache_hits.fetch_add(1, Ordering::Relaxed);
                State::Loaded(template)
            }
            None => State::Source {
                identity,
                source,
                writes: cache.writes(),
            },
        };
        Ok(Found {
            version: None,
            state,
        })
    }

    /// An unsaved template in an editor, which changes with each key: it is not kept.
    ///
    /// # Errors
    /// As [`TemplateRepository::with_imports`].
    pub(crate) async fn unsaved(&self, source: &str) -> Result<Found, Problem> {
        let source = self.with_imports(source.as_bytes()).await?;
        Ok(Found {
            version: None,
            state: State::Unsaved(source),
        })
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
            State::Unsaved(source) => Ok(Arc::new(engine.prepare(&source, Origin::Stranger)?)),
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
        {
            let cache = self.cache();
            let is_known = match &self.writers {
                Writers::Fleet(_) => cache.is_fresh(key, None, MAX_AGE),
                Writers::Alone | Writers::Leader => true,
            };
            if let Some(version) = cache.current(key).filter(|_| is_known) {
                return Ok(version);
            }
        }
        self.store.current_version(key.to_owned()).await
    }

    /// Follows the writes of other services, as long as these are there. Returns at once if
    /// there are none.
    pub(crate) async fn follow_fleet(self) {
        let Writers::Fleet(peers) = &self.writers else {
            return;
        };
        let mut signals = peers.listen();
        loop {
            match (signals.recv().await, self.resource) {
                (Ok(Signal::Template(key)), Resource::Template)
                | (Ok(Signal::Flow(key)), Resource::Flow) => self.cache().forget(&key),
                (Ok(Signal::Missed) | Err(RecvError::Lagged(_)), _) => self.cache().doubt(),
                (Ok(_), _) => {}
                (Err(RecvError::Closed), _) => return,
            }
        }
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
            if let Writers::Fleet(peers) = &library.writers {
                peers.notify(match library.resource {
                    Resource::Flow => Signal::Flow(key),
                    _ => Signal::Template(key),
                });
            }
            result
        });
        let result = task
            .await
            .map_err(|error| Problem::internal(format!("a write was aborted: {error}")))?;
        result.map_err(|error| self.problem(&error))
    }
}

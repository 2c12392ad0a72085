//! Cache of flows by key and version: a flow is parsed and checked once.

use std::{collections::HashMap, num::NonZero, sync::Arc};

use lru::LruCache;
use parking_lot::{Mutex, MutexGuard};
use platen_storage::{DocumentStore, Error as StoreError};
use sha2::{Digest, Sha256};

use crate::{
    Error,
    execution::{LoadedFlow, load_flow},
};

/// Flows in the cache.
const MAX_READY: NonZero<usize> = NonZero::new(256).unwrap();
/// Flows of single runs in the cache, which are not stored.
const MAX_OF_RUNS: NonZero<usize> = NonZero::new(16).unwrap();
/// Longest source of such a flow in the cache, in bytes.
const MAX_OF_RUN_BYTES: usize = 256 << 10;

/// A version of a flow, ready to run.
#[derive(Debug)]
pub struct FlowVersion {
    /// The flow.
    pub loaded: LoadedFlow,
    /// Its source, unchanged.
    pub source: Arc<[u8]>,
    /// SHA-256 of the source, hexadecimal.
    pub hash: String,
    /// Its version; 0 for a flow that is not stored.
    pub version: u32,
}

impl FlowVersion {
    /// Parses and checks a flow.
    ///
    /// # Errors
    /// [`Error::Flow`].
    pub fn read(source: Arc<[u8]>, version: u32) -> Result<Self, Error> {
        let loaded = load_flow(&source).map_err(Error::Flow)?;
        let hash = Sha256::digest(&source);
        Ok(Self {
            loaded,
            hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            source,
            version,
        })
    }
}

struct State {
    published: HashMap<String, u32>,
    /// Changes of `published`.
    changes: u64,
    /// Concurrency limits, for flows that have one.
    limits: HashMap<String, u32>,
    ready: LruCache<(String, u32), Arc<FlowVersion>>,
    /// By source and version.
    of_runs: LruCache<(Arc<[u8]>, u32), Arc<FlowVersion>>,
}

impl State {
    fn set_limit(&mut self, flow: &FlowVersion) {
        let flow = flow.loaded.flow();
        match (flow.concurrency, self.limits.get_mut(&flow.key)) {
            (Some(limit), Some(known)) => *known = limit.max(1),
            (Some(limit), None) => {
                self.limits.insert(flow.key.clone(), limit.max(1));
            }
            (None, Some(_)) => {
                self.limits.remove(&flow.key);
            }
            (None, None) => {}
        }
    }
}

/// The cache of flows.
pub(crate) struct FlowCache {
    store: Arc<dyn DocumentStore>,
    state: Mutex<State>,
}

impl FlowCache {
    pub fn new(store: Arc<dyn DocumentStore>) -> Self {
        Self {
            store,
            state: Mutex::new(State {
                published: HashMap::new(),
                changes: 0,
                limits: HashMap::new(),
                ready: LruCache::new(MAX_READY),
                of_runs: LruCache::new(MAX_OF_RUNS),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub fn set_published(&self, flow: &str, version: Option<u32>) {
        let mut state = self.state();
        state.changes += 1;
        match version {
            Some(version) => state.published.insert(flow.to_owned(), version),
            None => state.published.remove(flow),
        };
    }

    /// How often a published version was set.
    pub fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Replaces all published versions by those that were read after `changes`, unless one has
    /// been set meanwhile. Returns the flows with another version than before.
    pub fn replace_published(
        &self,
        published: impl Iterator<Item = (String, u32)>,
        changes: u64,
    ) -> Vec<String> {
        let mut state = self.state();
        if state.changes != changes {
            return Vec::new();
        }
        let published: HashMap<String, u32> = published.collect();
        let old = std::mem::replace(&mut state.published, published);
        let new = state.published.iter();
        new.filter(|(flow, version)| old.get(*flow) != Some(version))
            .map(|(flow, _)| flow.clone())
            .collect()
    }

    pub fn published(&self, flow: &str) -> Option<u32> {
        self.state().published.get(flow).copied()
    }

    /// All published flows.
    pub fn all_published(&self) -> Vec<(String, u32)> {
        let state = self.state();
        let all = state.published.iter();
        all.map(|(flow, version)| (flow.clone(), *version))
            .collect()
    }

    /// The concurrency limit of a flow, from the version that was used last.
    pub fn limit(&self, flow: &str) -> Option<u32> {
        self.state().limits.get(flow).copied()
    }

    /// The published version of a flow.
    pub async fn current(&self, flow: &str) -> Result<Arc<FlowVersion>, Error> {
        if let Some(version) = self.published(flow) {
            return self.get(flow, version).await;
        }
        match self.store.current_version(flow.to_owned()).await {
            Ok(_) => Err(Error::NotPublished),
            Err(error) => Err(Error::of_flow(error)),
        }
    }

    /// A version of a flow.
    pub async fn get(&self, flow: &str, version: u32) -> Result<Arc<FlowVersion>, Error> {
        let key = (flow.to_owned(), version);
        {
            let mut state = self.state();
            if let Some(ready) = state.ready.get(&key).cloned() {
                state.set_limit(&ready);
                return Ok(ready);
            }
        }
        let stored = self.store.get(flow.to_owned(), Some(version)).await;
        let stored = stored.map_err(Error::of_flow)?;
        let flow = read(stored.source, version).await?;
        let mut state = self.state();
        state.set_limit(&flow);
        state.ready.push(key, Arc::clone(&flow));
        Ok(flow)
    }

    /// The flow of a run that brings its own.
    pub async fn read(&self, source: &Arc<[u8]>, version: u32) -> Result<Arc<FlowVersion>, Error> {
        let key = (Arc::clone(source), version);
        if let Some(known) = self.state().of_runs.get(&key) {
            return Ok(Arc::clone(known));
        }
        let flow = read(Arc::clone(source), version).await?;
        if source.len() <= MAX_OF_RUN_BYTES {
            self.state().of_runs.push(key, Arc::clone(&flow));
        }
        Ok(flow)
    }
}

/// Parses and checks a flow off the async threads: it may take long.
async fn read(source: Arc<[u8]>, version: u32) -> Result<Arc<FlowVersion>, Error> {
    let read = tokio::task::spawn_blocking(move || FlowVersion::read(source, version));
    let read = read.await;
    Ok(Arc::new(
        read.map_err(|_| Error::Store(StoreError::Panicked))??,
    ))
}

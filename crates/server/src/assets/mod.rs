//! Stored assets: pictures and fonts that templates use by name, with versions as templates have.
//!
//! The bytes are in the database, as the bodies of templates are: an asset has its number and its
//! history in the same transaction, and a backup has all of it. Renderings read them by way of a
//! cache of versions, which do not change.

mod cache;
#[cfg(test)]
mod tests;
mod uses;

use std::{path::PathBuf, sync::Arc, time::Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use platen_document::pins::{Named, Pins, split_version};
use platen_engine::AssetKind;
use platen_fault::{Code, Resource, What};
use platen_render::{StoredAssets, Unread};
use platen_storage::{
    DocumentStore, DocumentSummary, Error, Listing, NewVersion, StoredDocument, VersionInfo,
};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};

use self::cache::Cache;
pub(crate) use self::uses::{Use, uses};
use crate::{
    intake::{Intake, MemoryPermit, counted},
    problem::Problem,
    templates::MAX_AGE,
};

/// Largest asset, in bytes.
pub(crate) const MAX_BYTES: usize = 16 << 20;
/// Most assets of a service.
const MAX_ASSETS: usize = 10_000;
/// Assets read at once for a list of all.
const PAGE: u32 = 500;
/// Most pins of a template; a template that shows more takes the others as they are.
const MAX_PINS: usize = 1_000;
/// Attempts of a write while others write.
const MAX_TRIES: usize = 8;
/// Searches for the uses of assets at once: each reads all templates.
const MAX_SEARCHES: usize = 2;
/// Between the families of a font in what the store notes.
const BETWEEN: char = '\n';

/// The stored assets.
pub(crate) struct AssetStore {
    store: Arc<dyn DocumentStore>,
    runtime: Handle,
    /// Files that come before stored assets of the same name.
    folder: Option<PathBuf>,
    cache: Mutex<Cache>,
    /// All assets, as they were a moment ago: templates ask for the fonts of families.
    all: Mutex<Option<(Instant, Arc<[DocumentSummary]>)>>,
    /// When the store did not answer for the last time.
    silent: Mutex<Option<Instant>>,
    /// Permits of searches for uses.
    searches: Arc<Semaphore>,
}

impl std::fmt::Debug for AssetStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AssetStore").finish_non_exhaustive()
    }
}

/// What a write replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// Whatever is there.
    Any,
    /// This version.
    Version(u32),
    /// Nothing: the asset is new.
    Nothing,
}

impl Replaced {
    /// Whether `current` may be the current version.
    fn is(self, current: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Version(version) => version == current,
            Self::Nothing => false,
        }
    }
}

/// Families that an asset has, by what the store notes.
pub(crate) fn families(note: Option<&str>) -> Vec<String> {
    let lines = note.unwrap_or_default().split(BETWEEN);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

impl AssetStore {
    /// The assets in `store`; files in `folder` come before them. Needs a Tokio runtime, which reads
    /// for renderings.
    pub(crate) fn new(store: Arc<dyn DocumentStore>, folder: Option<PathBuf>) -> Self {
        Self {
            store,
            runtime: Handle::current(),
            folder,
            cache: Mutex::default(),
            all: Mutex::default(),
            silent: Mutex::default(),
            searches: Arc::new(Semaphore::new(MAX_SEARCHES)),
        }
    }

    /// The store itself.
    pub(crate) fn store(&self) -> &dyn DocumentStore {
        &*self.store
    }

    /// A storage error about an asset.
    pub(crate) fn problem(error: &Error) -> Problem {
        Problem::of_store(error, Resource::Asset)
    }

    /// Whether the asset folder has a file of this name, which templates get first.
    pub(crate) fn is_in_folder(&self, name: &str) -> bool {
        let folder = self.folder.as_ref();
        folder.is_some_and(|folder| folder.join(name).exists())
    }

    /// All assets.
    pub(crate) async fn all(&self) -> Result<Vec<DocumentSummary>, Error> {
        let mut all: Vec<DocumentSummary> = Vec::new();
        loop {
            let after = all.last().map(|last| last.key.clone());
            let page = self.store.list(Listing::page(after, PAGE)).await?;
            all.extend(page.documents);
            if !page.more || all.len() >= MAX_ASSETS {
                return Ok(all);
            }
        }
    }

    /// Stores a version, if `may_replace` or there is none. The same bytes again make no version:
    /// the answer is the current one, and false.
    ///
    /// # Errors
    /// 403 if there is one and it may not be replaced, 412 if it is not what is `replaced`, 507 if
    /// there are too many.
    pub(crate) async fn put(
        &self,
        new: &NewVersion,
        replaced: Replaced,
        may_replace: bool,
    ) -> Result<(VersionInfo, bool), Problem> {
        let needs_one = matches!(replaced, Replaced::Version(_));
        for _ in 0..MAX_TRIES {
            let written = match self.store.get(new.key.clone(), None).await {
                Ok(current) => {
                    let version = current.info.version;
                    if !replaced.is(version) {
                        return Err(Self::problem(&Error::Stale(version)));
                    }
                    if current.source == new.source && current.info.note == new.note {
                        return Ok((current.info, false));
                    }
                    if !may_replace {
                        return Err(not_replaced(&new.key));
                    }
                    self.store.update(new.clone(), version).await
                }
                Err(Error::NotFound) if needs_one => Err(Error::NotFound),
                Err(Error::NotFound) => {
                    self.check_room().await?;
                    self.store.create(new.clone()).await
                }
                Err(error) => Err(error),
            };
            *self.all.lock() = None;
            match written {
                Ok(info) => return Ok((info, true)),
                // Another write came first.
                Err(Error::Exists(_) | Error::Stale(_)) => {}
                Err(Error::NotFound) if !needs_one => {}
                Err(error) => return Err(Self::problem(&error)),
            }
        }
        Err(Problem::internal("a write was retried too often"))
    }

    async fn check_room(&self) -> Result<(), Problem> {
        let count = self.all().await.map_err(|error| Self::problem(&error))?;
        if count.len() < MAX_ASSETS {
            return Ok(());
        }
        let detail = format!("{MAX_ASSETS} assets are stored: delete some first");
        Err(Problem::new(Code::StorageFull(What::Assets), detail))
    }

    /// Deletes an asset, the version `expected` of it if there is one.
    ///
    /// # Errors
    /// 404, 412.
    pub(crate) async fn delete(&self, name: &str, expected: Option<u32>) -> Result<(), Problem> {
        let deleted = async {
            let version = match expected {
                Some(version) => version,
                None => self.store.current_version(name.to_owned()).await?,
            };
            self.store.delete(name.to_owned(), version).await
        };
        let deleted = deleted.await;
        *self.all.lock() = None;
        deleted.map_err(|error| Self::problem(&error))
    }

    /// The versions that a template with this source is to keep to, if `all` are stored. Names that
    /// come from data are not known here.
    pub(crate) fn pins(&self, source: &[u8], all: &[DocumentSummary]) -> Pins {
        let mut pins = Pins::default();
        if all.is_empty() {
            return pins;
        }
        let named = Named::of(source);
        for asset in all {
            if named.has_asset(&asset.key)
                && pins.assets.len() < MAX_PINS
                && !self.is_in_folder(&asset.key)
            {
                pins.assets.insert(asset.key.clone(), asset.version);
            }
            for family in families(asset.note.as_deref()) {
                if named.has_family(&family) && pins.fonts.len() < MAX_PINS {
                    let files = pins.fonts.entry(family.to_lowercase()).or_default();
                    files.insert(asset.key.clone(), asset.version);
                }
            }
        }
        pins
    }

    /// A version, or the current one.
    pub(crate) async fn find(
        &self,
        name: &str,
        version: Option<u32>,
    ) -> Result<StoredDocument, Error> {
        self.store.get(name.to_owned(), version).await
    }

    /// What is known of a version, or of the current one, without its bytes.
    pub(crate) async fn info(
        &self,
        name: &str,
        version: Option<u32>,
    ) -> Result<VersionInfo, Error> {
        let before = version.map(|version| version.saturating_add(1));
        let found = self.store.versions(name.to_owned(), before, 1).await?;
        let found = found.into_iter().next();
        found
            .filter(|info| version.is_none_or(|version| info.version == version))
            .ok_or(Error::NotFound)
    }

    /// The bytes of a version for a response. With an `intake` they count as the memory of requests
    /// until the response is sent, for which a client may take its time.
    ///
    /// # Errors
    /// 503 if the requests in flight take too much already, and those of the store.
    pub(crate) async fn served(
        &self,
        info: &VersionInfo,
        intake: Option<&Intake>,
    ) -> Result<Bytes, Problem> {
        let permit = match intake {
            Some(intake) => intake.reserve_response(info.size_bytes)?,
            None => MemoryPermit::default(),
        };
        let bytes = self.kept(&info.key, info.version).await;
        let bytes = bytes.map_err(|error| Self::problem(&error))?;
        Ok(counted(bytes, permit))
    }

    /// A turn to look for uses in all templates; it ends when nobody holds it any more.
    ///
    /// # Errors
    /// 503 if too many look already.
    pub(crate) fn begin_search(&self) -> Result<Arc<OwnedSemaphorePermit>, Problem> {
        let turn = Arc::clone(&self.searches).try_acquire_owned();
        turn.map(Arc::new).map_err(|_| {
            let detail = "others look for the uses of assets at the moment; try again later";
            Problem::new(Code::Overloaded(What::Queue), detail)
        })
    }

    /// The bytes of a version, or of the current one.
    async fn bytes(&self, name: &str, version: Option<u32>) -> Result<Arc<[u8]>, Error> {
        let version = match version {
            None => self.store.current_version(name.to_owned()).await?,
            Some(version) => {
                let cached = || self.cache.lock().get(name, version);
                // Not once more for each asset of a document.
                if self.is_silent()
                    && let Some(bytes) = cached()
                {
                    return Ok(bytes);
                }
                match self.is_stored(name, version).await {
                    Ok(true) => version,
                    Ok(false) => return Err(Error::NotFound),
                    // As templates of the cache, which are rendered without the store.
                    Err(error) => return cached().filter(|_| is_away(&error)).ok_or(error),
                }
            }
        };
        self.kept(name, version).await
    }

    /// The bytes of a version that is stored, from the cache if it has them.
    async fn kept(&self, name: &str, version: u32) -> Result<Arc<[u8]>, Error> {
        let cached = self.cache.lock().get(name, version);
        if let Some(bytes) = cached {
            return Ok(bytes);
        }
        let stored = self.store.get(name.to_owned(), Some(version)).await?;
        self.cache.lock().keep(name, version, &stored.source);
        Ok(stored.source)
    }

    /// Whether there is this version. Those of a deleted asset must not be found in the cache.
    async fn is_stored(&self, name: &str, version: u32) -> Result<bool, Error> {
        let before = Some(version.saturating_add(1));
        let found = self.store.versions(name.to_owned(), before, 1).await;
        let found = self.heard(found)?;
        Ok(found.first().is_some_and(|info| info.version == version))
    }

    /// All assets, as they were at most a moment ago; as they were last known while the store does
    /// not answer.
    async fn recent(&self) -> Result<Arc<[DocumentSummary]>, Error> {
        let known = self.all.lock().clone();
        if let Some((at, all)) = &known
            && (at.elapsed() < MAX_AGE || self.is_silent())
        {
            return Ok(Arc::clone(all));
        }
        let at = Instant::now();
        let all = self.all().await;
        match (self.heard(all), known) {
            (Ok(all), _) => {
                let all: Arc<[DocumentSummary]> = all.into();
                *self.all.lock() = Some((at, Arc::clone(&all)));
                Ok(all)
            }
            (Err(error), Some((_, all))) if is_away(&error) => Ok(all),
            (Err(error), _) => Err(error),
        }
    }

    /// Reads the list of all in the background, so that the fonts are known should the store be away
    /// before the first template asks for one.
    pub(crate) fn read_ahead(self: &Arc<Self>) {
        let this = Arc::clone(self);
        self.runtime.spawn(async move {
            if let Err(error) = this.recent().await {
                tracing::warn!(%error, "the list of assets was not read");
            }
        });
    }

    /// Notes whether the store answers.
    fn heard<T>(&self, answer: Result<T, Error>) -> Result<T, Error> {
        if answer.as_ref().is_err_and(is_away) {
            *self.silent.lock() = Some(Instant::now());
        }
        answer
    }

    /// Whether the store did not answer a moment ago, so that another question would wait in vain.
    fn is_silent(&self) -> bool {
        let silent = *self.silent.lock();
        silent.is_some_and(|at| at.elapsed() < MAX_AGE)
    }
}

/// Whether the store cannot be asked.
fn is_away(error: &Error) -> bool {
    matches!(error, Error::Server(_) | Error::Unavailable(_))
}

impl StoredAssets for AssetStore {
    fn asset(&self, name: &str) -> Option<Arc<[u8]>> {
        self.read_asset(name).unwrap_or_default()
    }

    fn fonts(&self, family: &str) -> Vec<String> {
        self.read_fonts(family).unwrap_or_default()
    }

    fn read_asset(&self, name: &str) -> Result<Option<Arc<[u8]>>, Unread> {
        let Some((name, version)) = split_version(name) else {
            return Ok(None);
        };
        match self.runtime.block_on(self.bytes(name, version)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::NotFound) => Ok(None),
            Err(error) => {
                tracing::warn!(%error, name, "an asset was not read");
                Err(Unread)
            }
        }
    }

    fn read_fonts(&self, family: &str) -> Result<Vec<String>, Unread> {
        let all = self.runtime.block_on(self.recent()).map_err(|error| {
            tracing::warn!(%error, family, "fonts were not looked for");
            Unread
        })?;
        let family = family.to_lowercase();
        let has = |asset: &&DocumentSummary| {
            let mut own = families(asset.note.as_deref()).into_iter();
            own.any(|one| one.to_lowercase() == family)
        };
        let found = all.iter().filter(has);
        let names = found.map(|asset| format!("{}@{}", asset.key, asset.version));
        Ok(names.collect())
    }
}

/// The version of an asset of this kind.
pub(crate) fn version_of(name: String, kind: &AssetKind, bytes: &[u8]) -> NewVersion {
    let families = kind.families.join(&BETWEEN.to_string());
    NewVersion {
        key: name,
        name: kind.media_type.to_owned(),
        source: Arc::from(bytes),
        note: Some(families).filter(|families| !families.is_empty()),
    }
}

fn not_replaced(name: &str) -> Problem {
    let detail = format!(
        "there is an asset `{name}` already; this needs the scope `publish` to replace it, or another name"
    );
    Problem::new(Code::Forbidden, detail)
}

//! Assets of a store that does not answer.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use platen_storage::{DocumentPage, Labels, StoreFuture};
use tokio::runtime::Runtime;

use super::*;
use crate::{
    config::{Config, Settings},
    metrics::Metrics,
};

/// A store with the assets `logo` and `font`, at version 1.
#[derive(Default)]
struct TwoAssets {
    is_away: AtomicBool,
    /// How often bytes were read.
    reads: AtomicUsize,
}

impl TwoAssets {
    fn answer<T: Send + 'static>(&self, value: T) -> StoreFuture<'static, T> {
        let is_away = self.is_away.load(Ordering::Relaxed);
        Box::pin(async move {
            match is_away {
                true => Err(Error::Unavailable("it is away".to_owned())),
                false => Ok(value),
            }
        })
    }
}

fn version_info(key: String) -> VersionInfo {
    VersionInfo {
        key,
        version: 1,
        name: "image/png".to_owned(),
        note: None,
        restored_from: None,
        created_unix_ms: 0,
        size_bytes: 1,
    }
}

fn none<T: Send + 'static>() -> StoreFuture<'static, T> {
    Box::pin(async { Err(Error::NotFound) })
}

impl DocumentStore for TwoAssets {
    fn list(&self, _: Listing) -> StoreFuture<'_, DocumentPage> {
        self.answer(DocumentPage {
            documents: vec![DocumentSummary {
                key: "font".to_owned(),
                name: "font/ttf".to_owned(),
                version: 1,
                updated_unix_ms: 0,
                note: Some("House".to_owned()),
                size_bytes: 1,
                labels: Vec::new(),
            }],
            more: false,
        })
    }

    fn get(&self, key: String, _: Option<u32>) -> StoreFuture<'_, StoredDocument> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.answer(StoredDocument {
            info: version_info(key),
            source: Arc::from(*b"x"),
        })
    }

    fn current_version(&self, _: String) -> StoreFuture<'_, u32> {
        self.answer(1)
    }

    fn create(&self, _: NewVersion) -> StoreFuture<'_, VersionInfo> {
        none()
    }

    fn update(&self, _: NewVersion, _: u32) -> StoreFuture<'_, VersionInfo> {
        none()
    }

    fn restore(
        &self,
        _: String,
        _: u32,
        _: u32,
        _: Option<String>,
    ) -> StoreFuture<'_, VersionInfo> {
        none()
    }

    fn delete(&self, _: String, _: u32) -> StoreFuture<'_, ()> {
        none()
    }

    fn labels(&self, _: String) -> StoreFuture<'_, Labels> {
        none()
    }

    fn set_labels(&self, _: String, _: Vec<String>, _: Option<u32>) -> StoreFuture<'_, Labels> {
        none()
    }

    fn versions(&self, key: String, _: Option<u32>, _: u32) -> StoreFuture<'_, Vec<VersionInfo>> {
        self.answer(vec![version_info(key)])
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.answer(())
    }
}

fn two_assets(runtime: &Runtime) -> (Arc<TwoAssets>, Arc<AssetStore>) {
    let store = Arc::new(TwoAssets::default());
    let _within = runtime.enter();
    let assets = AssetStore::new(Arc::clone(&store) as Arc<dyn DocumentStore>, None);
    (store, Arc::new(assets))
}

#[test]
fn fonts_are_known_before_a_template_asks() {
    let runtime = Runtime::new().unwrap();
    let (store, assets) = two_assets(&runtime);
    assets.read_ahead();
    while assets.all.lock().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    store.is_away.store(true, Ordering::Relaxed);
    assert_eq!(assets.read_fonts("house"), Ok(vec!["font@1".to_owned()]));
    assert_eq!(assets.read_asset("logo"), Err(Unread));
}

#[test]
fn versions_of_the_cache_are_found_while_the_store_is_away() {
    let runtime = Runtime::new().unwrap();
    let (store, assets) = two_assets(&runtime);
    let bytes: Arc<[u8]> = Arc::from(*b"x");
    assert_eq!(assets.read_asset("logo@1"), Ok(Some(Arc::clone(&bytes))));
    assert_eq!(assets.read_fonts("house"), Ok(vec!["font@1".to_owned()]));
    store.is_away.store(true, Ordering::Relaxed);
    // The list is older than a moment.
    if let Some((at, _)) = &mut *assets.all.lock() {
        *at = at.checked_sub(MAX_AGE).unwrap();
    }
    assert_eq!(assets.read_fonts("house"), Ok(vec!["font@1".to_owned()]));
    // Both where the store is asked and where it did not answer a moment ago.
    assert_eq!(assets.read_asset("logo@1"), Ok(Some(Arc::clone(&bytes))));
    *assets.silent.lock() = None;
    assert_eq!(assets.read_asset("logo@1"), Ok(Some(bytes)));
    // What is not in the cache is not said to be missing.
    assert_eq!(assets.read_asset("font@1"), Err(Unread));
    assert_eq!(assets.read_asset("logo"), Err(Unread));
    *assets.all.lock() = None;
    assert_eq!(assets.read_fonts("house"), Err(Unread));
    assert_eq!(assets.read_asset("no asset"), Ok(None));
}

#[test]
fn bytes_of_responses_are_read_once_and_count_until_they_are_sent() {
    let runtime = Runtime::new().unwrap();
    let (store, assets) = two_assets(&runtime);
    let config = Config::load(None, |_| None, Settings::default()).unwrap();
    let intake = Intake::new(&config, Arc::new(Metrics::default()));
    let info = runtime.block_on(assets.info("logo", None)).unwrap();
    assert_eq!((info.key.as_str(), info.version), ("logo", 1));
    let unknown = runtime.block_on(assets.info("logo", Some(2)));
    assert!(matches!(unknown, Err(Error::NotFound)));
    assert_eq!(store.reads.load(Ordering::Relaxed), 0);
    let large = VersionInfo {
        size_bytes: config.max_inflight_body_bytes,
        ..info
    };
    let serve = |intake| runtime.block_on(assets.served(&large, intake));
    let sent = serve(Some(&intake)).unwrap();
    let refused = serve(Some(&intake)).unwrap_err();
    assert_eq!(refused.status.as_u16(), 503);
    assert_eq!(&serve(None).unwrap()[..], b"x", "a worker does not wait");
    drop(sent);
    assert_eq!(&serve(Some(&intake)).unwrap()[..], b"x");
    assert_eq!(store.reads.load(Ordering::Relaxed), 1);
}

#[test]
fn few_look_for_uses_at_once() {
    let runtime = Runtime::new().unwrap();
    let (_, assets) = two_assets(&runtime);
    let turns: Vec<_> = (0..MAX_SEARCHES)
        .map(|_| assets.begin_search().unwrap())
        .collect();
    // A search that nobody waits for any more holds its turn until it ends.
    let continued = Arc::clone(&turns[0]);
    let refused = assets.begin_search().unwrap_err();
    assert_eq!(refused.status.as_u16(), 503);
    let mut headers = refused.headers.iter();
    assert!(headers.any(|(name, _)| name == "retry-after"));
    drop(turns);
    let others: Vec<_> = (1..MAX_SEARCHES)
        .map(|_| assets.begin_search().unwrap())
        .collect();
    assert!(assets.begin_search().is_err());
    drop((continued, others));
    assert!(assets.begin_search().is_ok());
}

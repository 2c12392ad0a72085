//! Assets of a store that does not answer.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use platen_storage::{DocumentPage, Labels, StoreFuture};
use tokio::runtime::Runtime;

use super::*;

/// A store with the assets `logo` and `font`, at version 1.
#[derive(Default)]
struct TwoAssets {
    is_away: AtomicBool,
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

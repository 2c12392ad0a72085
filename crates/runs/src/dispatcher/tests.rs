//! The dispatcher without slots: what it holds in memory, and what it reads from the store.

use std::{future::pending, sync::atomic::AtomicBool, time::Instant};

use platen_storage::{
    DocumentPage, Labels, Listing, NewVersion, SqliteStore, StoredDocument, VersionInfo,
};
use serde_json::json;

use super::*;
use crate::{Request, ready_queue::Takes, work::Assignment};

/// A store of documents that does not answer the first question for version 1.
struct Failing {
    store: Arc<dyn DocumentStore>,
    has_failed: AtomicBool,
}

impl DocumentStore for Failing {
    fn get(&self, key: String, version: Option<u32>) -> StoreFuture<'_, StoredDocument> {
        if version == Some(1) && !self.has_failed.swap(true, Ordering::Relaxed) {
            return Box::pin(async { Err(StoreError::Unavailable("it is away".to_owned())) });
        }
        self.store.get(key, version)
    }

    fn list(&self, listing: Listing) -> StoreFuture<'_, DocumentPage> {
        self.store.list(listing)
    }

    fn current_version(&self, key: String) -> StoreFuture<'_, u32> {
        self.store.current_version(key)
    }

    fn create(&self, new: NewVersion) -> StoreFuture<'_, VersionInfo> {
        self.store.create(new)
    }

    fn update(&self, new: NewVersion, expected: u32) -> StoreFuture<'_, VersionInfo> {
        self.store.update(new, expected)
    }

    fn restore(
        &self,
        key: String,
        version: u32,
        expected: u32,
        note: Option<String>,
    ) -> StoreFuture<'_, VersionInfo> {
        self.store.restore(key, version, expected, note)
    }

    fn delete(&self, key: String, expected: u32) -> StoreFuture<'_, ()> {
        self.store.delete(key, expected)
    }

    fn labels(&self, key: String) -> StoreFuture<'_, Labels> {
        self.store.labels(key)
    }

    fn set_labels(
        &self,
        key: String,
        labels: Vec<String>,
        expected: Option<u32>,
    ) -> StoreFuture<'_, Labels> {
        self.store.set_labels(key, labels, expected)
    }

    fn versions(
        &self,
        key: String,
        before: Option<u32>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<VersionInfo>> {
        self.store.versions(key, before, limit)
    }

    fn check(&self) -> StoreFuture<'_, ()> {
        self.store.check()
    }
}

fn flow(key: &str) -> NewVersion {
    let flow = json!({"kind": "flow", "key": key, "name": key, "trigger": {"type": "webhook"},
        "concurrency": 1, "steps": [{"name": "reply", "type": "respond", "body": 1}]});
    NewVersion {
        key: key.to_owned(),
        name: key.to_owned(),
        source: Arc::from(flow.to_string().into_bytes()),
        note: None,
    }
}

/// A dispatcher with the flows `f` and `g`, of which one run may be under execution at once.
async fn dispatcher(settings: Settings) -> (Arc<Dispatcher>, SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let flows = store.flows();
    let dispatcher = Dispatcher::new(store.runs(), store.flows(), store.templates(), settings);
    for key in ["f", "g"] {
        flows.create(flow(key)).await.unwrap();
        dispatcher.publish(key, Some(1)).await.unwrap();
    }
    (dispatcher, store, folder)
}

async fn accept(dispatcher: &Dispatcher, flow: &str) -> Result<String, Error> {
    let request = Request {
        flow: dispatcher.flow(flow).await.unwrap(),
        lane: Lane::Async,
        trigger: Arc::from(&b"{}"[..]),
        idempotency: None,
        queue_timeout_ms: None,
        arrived: Instant::now(),
    };
    Ok(dispatcher.accept(request).await?.id)
}

/// Whether a slot that becomes free finds nothing to do.
fn is_idle(dispatcher: &Dispatcher) -> bool {
    let mut next = Box::pin(dispatcher.next("w", Takes::Flows, pending()));
    let mut context = Context::from_waker(Waker::noop());
    next.as_mut().poll(&mut context).is_pending()
}

/// What a slot takes while polls look into the store.
async fn next_of_store(dispatcher: &Arc<Dispatcher>) -> Assignment {
    let next = {
        let dispatcher = Arc::clone(dispatcher);
        tokio::spawn(async move { dispatcher.next("w", Takes::Flows, pending()).await })
    };
    for _ in 0..20_000 {
        if next.is_finished() {
            break;
        }
        if dispatcher.ready.needs_refill() {
            dispatcher.refill().await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(next.is_finished(), "nothing was taken");
    next.await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_their_flow_holds_back_hold_up_no_others() {
    let (dispatcher, _store, _folder) = dispatcher(Settings::default()).await;
    for _ in 0..42 {
        let many = (0..100).map(|_| {
            let dispatcher = Arc::clone(&dispatcher);
            tokio::spawn(async move { accept(&dispatcher, "f").await.unwrap() })
        });
        for one in many.collect::<Vec<_>>() {
            one.await.unwrap();
        }
    }
    let first = dispatcher.next("w", Takes::Flows, pending()).await.unwrap();
    assert_eq!(first.flow.loaded.flow().key, "f");
    assert!(is_idle(&dispatcher));
    let other = accept(&dispatcher, "g").await.unwrap();
    assert_eq!(next_of_store(&dispatcher).await.id, other);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_their_flow_holds_back_count_as_waiting() {
    let settings = Settings {
        async_queue: 10,
        ..Settings::default()
    };
    let (dispatcher, _store, _folder) = dispatcher(settings).await;
    accept(&dispatcher, "f").await.unwrap();
    dispatcher.next("w", Takes::Flows, pending()).await.unwrap();
    for _ in 0..10 {
        accept(&dispatcher, "f").await.unwrap();
        assert!(is_idle(&dispatcher));
    }
    assert_eq!(dispatcher.depth().parked, 10);
    let refused = accept(&dispatcher, "g").await;
    assert!(matches!(refused, Err(Error::Full { waiting: 10 })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_flow_cannot_be_read_now_is_started_later() {
    let (earlier, store, _folder) = dispatcher(Settings::default()).await;
    let id = accept(&earlier, "f").await.unwrap();
    store.flows().update(flow("f"), 1).await.unwrap();
    earlier.publish("f", Some(2)).await.unwrap();
    let flows = Arc::new(Failing {
        store: store.flows(),
        has_failed: AtomicBool::new(false),
    });
    let documents = Arc::clone(&flows) as Arc<dyn DocumentStore>;
    let dispatcher = Dispatcher::new(
        store.runs(),
        documents,
        store.templates(),
        Settings::default(),
    );
    // Nothing reads the flow g at version 1 before.
    earlier.publish("g", None).await.unwrap();
    dispatcher.reload_published().await.unwrap();
    dispatcher.refill().await.unwrap();
    let assignment = next_of_store(&dispatcher).await;
    assert_eq!((&assignment.id, assignment.epoch), (&id, 2));
    assert!(flows.has_failed.load(Ordering::Relaxed));
    let run = dispatcher.get(&id).await.unwrap();
    assert_eq!((run.state, run.worker_losses), (RunState::Running, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn all_old_runs_are_deleted_however_many() {
    let settings = Settings {
        retention: Duration::ZERO,
        ..Settings::default()
    };
    let (dispatcher, store, _folder) = dispatcher(settings).await;
    let runs = store.runs();
    let mut ids = Vec::new();
    for _ in 0..21 {
        let many = (0..100).map(|_| {
            let dispatcher = Arc::clone(&dispatcher);
            tokio::spawn(async move { accept(&dispatcher, "f").await.unwrap() })
        });
        for one in many.collect::<Vec<_>>() {
            ids.push(one.await.unwrap());
        }
    }
    for id in &ids {
        dispatcher.cancel(id).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(5)).await;
    dispatcher.prune().await;
    assert!(runs.get(ids.remove(0)).await.is_err());
    let left = runs.list(RunFilter {
        limit: 10,
        ..RunFilter::default()
    });
    assert!(left.await.unwrap().is_empty());
}

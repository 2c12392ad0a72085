//! The contract of every [`DocumentStore`].

use std::sync::Arc;

use platen_storage::{DocumentStore, Error, Listing, NewVersion, PostgresStore, SqliteStore};

fn version(key: &str, source: &str) -> NewVersion {
    NewVersion {
        key: key.to_owned(),
        name: format!("Name of {key}"),
        source: source.as_bytes().into(),
        note: None,
    }
}

async fn versions_are_immutable(store: &dyn DocumentStore) {
    let first = store.create(version("a", "one")).await.unwrap();
    assert_eq!((first.version, first.size_bytes), (1, 3));
    assert!(matches!(
        store.create(version("a", "x")).await,
        Err(Error::Exists(1))
    ));
    let second = store.update(version("a", "two"), 1).await.unwrap();
    assert_eq!(second.version, 2);
    assert!(matches!(
        store.update(version("a", "x"), 1).await,
        Err(Error::Stale(2))
    ));
    assert!(matches!(
        store.update(version("b", "x"), 1).await,
        Err(Error::NotFound)
    ));
    assert_eq!(&*store.get("a".into(), None).await.unwrap().source, b"two");
    assert_eq!(
        &*store.get("a".into(), Some(1)).await.unwrap().source,
        b"one"
    );
    assert!(matches!(
        store.get("a".into(), Some(9)).await,
        Err(Error::NotFound)
    ));
    let third = store
        .restore("a".into(), 1, 2, Some("back".into()))
        .await
        .unwrap();
    assert_eq!((third.version, third.restored_from), (3, Some(1)));
    assert_eq!(&*store.get("a".into(), None).await.unwrap().source, b"one");
    let all = store.versions("a".into(), None, 10).await.unwrap();
    assert_eq!(
        all.iter().map(|info| info.version).collect::<Vec<_>>(),
        [3, 2, 1]
    );
    let some = store.versions("a".into(), Some(3), 1).await.unwrap();
    assert_eq!(
        some.iter().map(|info| info.version).collect::<Vec<_>>(),
        [2]
    );
}

async fn numbers_survive_deletion(store: &dyn DocumentStore) {
    store.create(version("gone", "secret")).await.unwrap();
    assert!(matches!(
        store.delete("gone".into(), 7).await,
        Err(Error::Stale(1))
    ));
    store.delete("gone".into(), 1).await.unwrap();
    assert!(matches!(
        store.delete("gone".into(), 1).await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        store.get("gone".into(), None).await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        store.get("gone".into(), Some(1)).await,
        Err(Error::NotFound)
    ));
    let again = store.create(version("gone", "new")).await.unwrap();
    assert_eq!(again.version, 2);
    assert!(matches!(
        store.get("gone".into(), Some(1)).await,
        Err(Error::NotFound)
    ));
    assert_eq!(
        store.versions("gone".into(), None, 10).await.unwrap().len(),
        1
    );
}

async fn lists_are_paged(store: &dyn DocumentStore) {
    for key in ["p1", "p2", "p3"] {
        store.create(version(key, "x")).await.unwrap();
    }
    let page = store
        .list(Listing::page(Some("p".into()), 2))
        .await
        .unwrap();
    let keys: Vec<&str> = page.documents.iter().map(|one| one.key.as_str()).collect();
    assert_eq!((keys, page.more), (vec!["p1", "p2"], true));
    let page = store
        .list(Listing::page(Some("p2".into()), 2))
        .await
        .unwrap();
    assert_eq!((page.documents.len(), page.more), (1, false));
}

/// If many writers expect the same version, one succeeds.
async fn one_of_many_writers_wins(store: Arc<dyn DocumentStore>) {
    store.create(version("race", "0")).await.unwrap();
    let tasks: Vec<_> = (0..32)
        .map(|index| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.update(version("race", &index.to_string()), 1).await })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(info) => {
                assert_eq!(info.version, 2);
                won += 1;
            }
            Err(error) => assert!(matches!(error, Error::Stale(2)), "{error}"),
        }
    }
    assert_eq!(won, 1);
}

async fn labels_belong_to_a_document(store: &dyn DocumentStore) {
    let labels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    for key in ["labels-a", "labels-b"] {
        store.create(version(key, "x")).await.unwrap();
    }
    assert_eq!(store.labels("labels-a".into()).await.unwrap().revision, 0);
    let two: Vec<String> = labels(&["one", "two words"]);
    let written = store.set_labels("labels-a".into(), two.clone(), Some(0));
    assert_eq!(written.await.unwrap().revision, 1);
    let stale = store.set_labels("labels-a".into(), labels(&[]), Some(0));
    assert!(matches!(stale.await, Err(Error::Stale(1))));
    let other = store.set_labels("labels-b".into(), labels(&["two"]), None);
    assert_eq!(other.await.unwrap().revision, 1);
    let missing = store.set_labels("labels-c".into(), labels(&[]), None);
    assert!(matches!(missing.await, Err(Error::NotFound)));
    for (label, found) in [
        ("one", &["labels-a"][..]),
        ("two words", &["labels-a"]),
        ("two", &["labels-b"]),
        ("words", &[]),
    ] {
        let wanted = Listing {
            label: Some(label.to_owned()),
            ..Listing::page(None, 10)
        };
        let page = store.list(wanted).await.unwrap();
        let keys: Vec<_> = page.documents.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, found, "{label}");
    }
    let page = store.list(Listing::page(Some("labels".into()), 1)).await;
    let first = &page.unwrap().documents[0];
    assert_eq!((&first.labels, first.size_bytes), (&two, 1));
    store.delete("labels-a".into(), 1).await.unwrap();
    let deleted = store.labels("labels-a".into()).await;
    assert!(matches!(deleted, Err(Error::NotFound)));
    store.create(version("labels-a", "x")).await.unwrap();
    let anew = store.labels("labels-a".into()).await.unwrap();
    assert!(anew.labels.is_empty() && anew.revision == 2, "{anew:?}");
}

async fn contract(store: Arc<dyn DocumentStore>) {
    store.check().await.unwrap();
    versions_are_immutable(&*store).await;
    numbers_survive_deletion(&*store).await;
    lists_are_paged(&*store).await;
    labels_belong_to_a_document(&*store).await;
    one_of_many_writers_wins(store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap().templates();
    contract(store).await;
    // The documents are still there after the store was reopened.
    let store = SqliteStore::open(folder.path()).unwrap().templates();
    assert_eq!(store.current_version("a".into()).await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let Some(server) = crate::postgres::server::shared().await else {
        return;
    };
    let (url, options) = (server.database().await, crate::postgres::options());
    let store = PostgresStore::open(&url, &options).await.unwrap();
    contract(store.templates()).await;
    contract(store.flows()).await;
    contract(store.assets()).await;
    let store = PostgresStore::open(&url, &options).await.unwrap();
    assert_eq!(
        store.templates().current_version("a".into()).await.unwrap(),
        3
    );
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(folder.path()).unwrap().templates());
    let connection = rusqlite::Connection::open(folder.path().join("platen.db")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    assert!(matches!(
        SqliteStore::open(folder.path()),
        Err(Error::TooNew { found: 99, .. })
    ));
}

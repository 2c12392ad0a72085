//! The contract of every [`DraftStore`].

use std::sync::Arc;

use platen_storage::{
    DraftKind::{Sample, Template},
    DraftStore, Error, NewDraft, PostgresStore, SqliteStore,
};

fn draft(key: &str, base: Option<u32>, source: &str) -> NewDraft {
    NewDraft {
        key: key.to_owned(),
        name: format!("Name of {key}"),
        base,
        source: source.as_bytes().into(),
    }
}

async fn nobody_overwrites_what_they_have_not_seen(store: &dyn DraftStore) {
    let none = store.get(Template, "a".into()).await;
    assert!(matches!(none, Err(Error::NotFound)));
    let early = store.put(Template, draft("a", None, "x"), Some(1)).await;
    assert!(matches!(early, Err(Error::NotFound)));
    let first = store.put(Template, draft("a", None, "{}"), None).await;
    let first = first.unwrap();
    assert_eq!((first.size_bytes, first.base), (2, None));
    let again = store.put(Template, draft("a", None, "x"), None).await;
    assert!(matches!(again, Err(Error::Exists(at)) if at == first.revision));
    let second = (store.put(Template, draft("a", Some(3), "[]"), Some(first.revision))).await;
    let second = second.unwrap();
    assert_ne!(second.revision, first.revision);
    let stale = (store.put(Template, draft("a", None, "x"), Some(first.revision))).await;
    assert!(matches!(stale, Err(Error::Stale(at)) if at == second.revision));
    let found = store.get(Template, "a".into()).await.unwrap();
    assert_eq!((&*found.source, found.info.base), (&b"[]"[..], Some(3)));
    assert_eq!(found.info, second);
    // Kinds have nothing to do with each other.
    let sample = store.get(Sample, "a".into()).await;
    assert!(matches!(sample, Err(Error::NotFound)));
    let stale = store.delete(Template, "a".into(), first.revision).await;
    assert!(matches!(stale, Err(Error::Stale(_))));
    (store.delete(Template, "a".into(), second.revision).await).unwrap();
    let gone = store.delete(Template, "a".into(), second.revision).await;
    assert!(matches!(gone, Err(Error::NotFound)));
}

async fn lists_are_paged(store: &dyn DraftStore) {
    for key in ["p1", "p2", "p3"] {
        (store.put(Sample, draft(key, None, "1"), None).await).unwrap();
    }
    let keys = |all: Vec<platen_storage::DraftInfo>| -> Vec<String> {
        all.into_iter().map(|one| one.key).collect()
    };
    let page = store.list(Sample, None, 2).await.unwrap();
    assert_eq!(keys(page), ["p1", "p2"]);
    let page = store.list(Sample, Some("p2".into()), 2).await.unwrap();
    assert_eq!(keys(page), ["p3"]);
    assert_eq!(store.list(Template, None, 2).await.unwrap(), []);
}

/// Of many who make a draft, or change the same revision, one succeeds.
async fn one_of_many_writers_wins(store: Arc<dyn DraftStore>) {
    let mut expected = None;
    for _ in 0..2 {
        let tasks: Vec<_> = (0..16)
            .map(|index| {
                let store = Arc::clone(&store);
                let new = draft("race", None, &index.to_string());
                tokio::spawn(async move { store.put(Template, new, expected).await })
            })
            .collect();
        let mut won = Vec::new();
        for task in tasks {
            match task.await.unwrap() {
                Ok(info) => won.push(info.revision),
                Err(Error::Exists(_) | Error::Stale(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1);
        expected = won.pop();
    }
}

async fn contract(store: Arc<dyn DraftStore>) {
    nobody_overwrites_what_they_have_not_seen(&*store).await;
    lists_are_paged(&*store).await;
    one_of_many_writers_wins(store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    contract(SqliteStore::open(folder.path()).unwrap().drafts()).await;
    let store = SqliteStore::open(folder.path()).unwrap().drafts();
    assert_eq!(store.list(Sample, None, 9).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let Some(server) = crate::postgres::server::shared().await else {
        return;
    };
    let (url, options) = (server.database().await, crate::postgres::options());
    let store = PostgresStore::open(&url, &options).await.unwrap();
    contract(store.drafts()).await;
}

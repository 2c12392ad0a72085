//! The contract of every [`KeyStore`].

use std::collections::HashSet;

use platen_storage::{Error, KeyStore, NewKey, PostgresStore, SqliteStore};

fn new(id: &str) -> NewKey {
    NewKey {
        id: id.to_owned(),
        name: format!("Key {id}"),
        hash: [7; 32],
        roles: "viewer author".to_owned(),
        scopes: String::new(),
        requests_per_minute: None,
        created_by: "admin key 1".to_owned(),
        expires_unix_ms: None,
    }
}

async fn contract(store: &dyn KeyStore) {
    assert_eq!(store.list().await.unwrap(), []);
    let mut marks = HashSet::new();
    let mut is_new = async |store: &dyn KeyStore| {
        let mark = store.mark().await.unwrap();
        marks.insert((mark.count, mark.newest))
    };
    assert!(is_new(store).await);
    let limited = NewKey {
        requests_per_minute: Some(u32::MAX),
        expires_unix_ms: Some(i64::MAX),
        scopes: "render".to_owned(),
        ..new("b")
    };
    assert!(store.create(new("c")).await.unwrap());
    assert!(is_new(store).await);
    assert!(store.create(limited.clone()).await.unwrap());
    assert!(is_new(store).await);
    assert!(store.create(new("a")).await.unwrap());
    assert!(is_new(store).await);
    assert!(store.create(new("a")).await.is_err(), "ids are unique");
    assert!(!is_new(store).await);
    let all = store.list().await.unwrap();
    assert_eq!(all[1].key, limited);
    assert_eq!((&all[0].key, &all[2].key), (&new("c"), &new("a")));
    assert!(all.is_sorted_by_key(|one| one.number));
    assert!(all[0].created_unix_ms > 1_600_000_000_000);
    let uses = |list: &[(&str, i64)]| {
        let list = list.iter();
        list.map(|(id, at)| ((*id).to_owned(), *at)).collect()
    };
    let noted = store.note_uses(uses(&[("a", 5), ("z", 6), ("b", 9)])).await;
    noted.unwrap();
    store.note_uses(uses(&[("b", 8), ("a", 7)])).await.unwrap();
    store.note_uses(Vec::new()).await.unwrap();
    let all = store.list().await.unwrap();
    let used: Vec<_> = all.iter().map(|one| one.last_used_unix_ms).collect();
    assert_eq!(used, [None, Some(9), Some(7)]);
    assert!(!is_new(store).await, "uses change no set of keys");
    // A change is based on a state, and changes the mark.
    let changed = NewKey {
        name: "Key b, renamed".to_owned(),
        roles: "operator".to_owned(),
        ..limited
    };
    let before = all[1].clone();
    let update = store.update(before.number, changed.clone()).await;
    assert!(update.unwrap());
    assert!(is_new(store).await);
    let after = store.list().await.unwrap();
    // Keys of one millisecond are in the order of their last changes.
    let after = after.iter().find(|one| one.key.id == "b").unwrap();
    assert_eq!((&after.key, after.last_used_unix_ms), (&changed, Some(9)));
    assert!(after.number > all[2].number);
    let stale = store.update(before.number, changed.clone()).await;
    assert!(!stale.unwrap(), "somebody else was first");
    let unknown = store.update(before.number, new("z")).await;
    assert!(matches!(unknown, Err(Error::NotFound)));
    store.delete("b".into()).await.unwrap();
    assert!(is_new(store).await);
    let again = store.delete("b".into()).await;
    assert!(matches!(again, Err(Error::NotFound)));
    // The newest is deleted, and another comes: its number was never given before.
    store.delete("a".into()).await.unwrap();
    assert!(store.create(new("d")).await.unwrap());
    assert!(is_new(store).await);
    let all = store.list().await.unwrap();
    let ids: Vec<&str> = all.iter().map(|one| one.key.id.as_str()).collect();
    assert_eq!(ids, ["c", "d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    contract(&*SqliteStore::open(folder.path()).unwrap().keys()).await;
    let store = SqliteStore::open(folder.path()).unwrap().keys();
    assert_eq!(store.list().await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let Some(server) = crate::postgres::server::shared().await else {
        return;
    };
    let (url, options) = (server.database().await, crate::postgres::options());
    let store = PostgresStore::open(&url, &options).await.unwrap();
    contract(&*store.keys()).await;
}

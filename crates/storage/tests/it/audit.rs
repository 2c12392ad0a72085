//! The contract of every [`AuditStore`].

use platen_storage::{AuditStore, NewAuditEntry, PostgresStore, SqliteStore};

fn entry(action: &str, version: Option<u32>) -> NewAuditEntry {
    NewAuditEntry {
        actor: "admin key 1".to_owned(),
        action: action.to_owned(),
        subject: "/templates/a".to_owned(),
        version,
        request_id: "7".to_owned(),
        address: "::1".to_owned(),
    }
}

async fn contract(store: &dyn AuditStore) {
    assert_eq!(store.list(0, 10).await.unwrap(), []);
    for (action, version) in [("one", None), ("two", Some(2)), ("three", None)] {
        store.append(entry(action, version)).await.unwrap();
    }
    let all = store.list(0, 10).await.unwrap();
    let actions: Vec<&str> = all.iter().map(|one| one.action.as_str()).collect();
    assert_eq!(actions, ["one", "two", "three"]);
    assert!(all.is_sorted_by_key(|one| one.number));
    assert_eq!((all[1].version, all[1].address.as_str()), (Some(2), "::1"));
    let rest = store.list(all[0].number, 1).await.unwrap();
    assert_eq!(rest, [all[1].clone()]);
    let recent = store.recent(None, 2).await.unwrap();
    assert_eq!(recent, [all[2].clone(), all[1].clone()]);
    let earlier = store.recent(Some(all[1].number), 2).await.unwrap();
    assert_eq!(earlier, [all[0].clone()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    contract(&*SqliteStore::open(folder.path()).unwrap().audit()).await;
    let store = SqliteStore::open(folder.path()).unwrap().audit();
    assert_eq!(store.list(0, 10).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let Some(server) = crate::postgres::server::shared().await else {
        return;
    };
    let (url, options) = (server.database().await, crate::postgres::options());
    let store = PostgresStore::open(&url, &options).await.unwrap();
    contract(&*store.audit()).await;
}

//! The contract of every [`AuditStore`].

use std::{sync::Arc, time::Duration};

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

/// A collector that has read up to a number must not miss a lower one.
#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_given_in_the_order_of_commits() {
    let Some(server) = crate::postgres::server::shared().await else {
        return;
    };
    let (name, options) = (server.database_name().await, crate::postgres::options());
    let store = PostgresStore::open(&server.url(&name), &options).await;
    let store = store.unwrap();
    let audit = store.audit();
    // As another service that has appended, but not committed yet.
    let append = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('platen:audit', 0));
        INSERT INTO audit (at_unix_ms, actor, action, subject, request_id, address)
        VALUES (0, 'a', 'one', '/templates/b', '8', '::1')";
    let other = server.session(&name, append).await;
    let appending = Arc::clone(&audit);
    let appending = tokio::spawn(async move { appending.append(entry("two", None)).await });
    let waiting = "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = pg_locks.database
        WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()";
    while server.number(&name, waiting).await == 0 {
        assert!(!appending.is_finished(), "it does not wait for the commit");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(audit.list(0, 10).await.unwrap(), []);
    other.batch_execute("COMMIT").await.unwrap();
    appending.await.unwrap().unwrap();
    let all = audit.list(0, 10).await.unwrap();
    let actions: Vec<&str> = all.iter().map(|one| one.action.as_str()).collect();
    assert_eq!(actions, ["one", "two"]);
}

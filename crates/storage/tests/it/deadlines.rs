//! Times that end: of the wait for the first start of a run, and of leases.

use platen_storage::{RunStore, runs::NewRun};

use crate::runs::{lease, new};

pub(crate) async fn only_the_first_start_has_one(store: &dyn RunStore) {
    for id in ["a", "b"] {
        let new = NewRun {
            deadline_ms: Some(5_000),
            ..new(id)
        };
        store.accept(new).await.unwrap();
    }
    store.claim("a".into(), lease("w", 2_000)).await.unwrap();
    let expired = store.expire_leases(20_000, 9, 10).await.unwrap();
    assert_eq!(expired[0].queued.deadline_ms, None);
    let queued = store.queued(0, 10).await.unwrap();
    let deadlines: Vec<_> = queued.iter().map(|run| run.deadline_ms).collect();
    assert_eq!(deadlines, [None, Some(5_000)]);
}

pub(crate) async fn many_leases_are_extended_at_once(store: &dyn RunStore) {
    let mut leases = Vec::new();
    for index in 0..20 {
        let id = format!("run-{index}");
        drop(store.accept(new(&id)));
        drop(store.claim(id.clone(), lease("w", 1_000)));
        leases.push((id, if index % 5 == 0 { 2 } else { 1 }));
    }
    let lost = store
        .heartbeat(leases.clone(), 2_000, 50_000)
        .await
        .unwrap();
    leases.retain(|(_, epoch)| *epoch == 2);
    assert_eq!(lost, leases);
    let expired = store.expire_leases(30_000, 9, 100).await.unwrap();
    assert_eq!(expired.len(), lost.len());
    store
        .orphan(Some("w".into()), "other".into())
        .await
        .unwrap();
    assert_eq!(store.queued(0, 100).await.unwrap().len(), 20);
}

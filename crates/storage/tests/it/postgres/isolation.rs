//! A write that fails leaves nothing behind, and its neighbours stand.

use platen_storage::{Error, PostgresStore};

use super::{bytes, ending, lease, new, options, server, write};

/// PostgreSQL refuses the character NUL in a text, so a run with it fails, and the transaction
/// that it shares with others.
#[tokio::test(flavor = "multi_thread")]
async fn one_bad_run_of_a_batch_fails_alone() {
    let Some(server) = server::shared().await else {
        return;
    };
    let url = server.database().await;
    let mut one_lane = options();
    one_lane.writers = 1;
    let store = PostgresStore::open(&url, &one_lane).await.unwrap().runs();
    let ids: Vec<String> = (0..100).map(|index| format!("run-{index}")).collect();
    let mut sent = Vec::new();
    for (index, id) in ids.iter().enumerate() {
        let mut run = new(id);
        run.journal = Some(bytes("[0]"));
        if index % 10 == 7 {
            run.flow = "bad\0flow".to_owned();
        }
        let accepted = store.accept(run);
        let claimed = store.claim(id.clone(), lease("w"));
        let ended = store.finish(write(id, 1, "[1]"), ending());
        sent.push((index, accepted, claimed, ended));
    }
    for (index, accepted, claimed, ended) in sent {
        if index % 10 == 7 {
            assert!(matches!(accepted.await, Err(Error::Nul)));
            assert!(matches!(claimed.await, Err(Error::Fenced)));
            assert!(matches!(ended.await, Err(Error::Fenced)));
            let missing = store.get(ids[index].clone()).await;
            assert!(matches!(missing, Err(Error::NotFound)));
        } else {
            accepted.await.unwrap();
            claimed.await.unwrap();
            ended.await.unwrap();
            let journal = store.journal(ids[index].clone()).await.unwrap();
            assert_eq!(journal, [bytes("[0]"), bytes("[1]")]);
        }
    }
}

/// A statement in the middle of a write fails.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_fails_half_way_leaves_nothing() {
    let Some(server) = server::shared().await else {
        return;
    };
    let name = server.database_name().await;
    let store = PostgresStore::open(&server.url(&name), &options()).await;
    let store = store.unwrap().runs();
    store.accept(new("a")).await.unwrap();
    store.claim("a".into(), lease("w")).await.unwrap();
    let forbid = "ALTER TABLE kept ADD CHECK (key <> 'forbidden');
                  ALTER TABLE ended_runs ADD CHECK (answer <> 'forbidden')";
    server.execute(&name, forbid).await;
    let put = |key: &str| {
        let scope = platen_storage::runs::Scope::Flow;
        store.put_value(write("a", 1, "[1]"), scope, key.into(), Some(bytes("v")))
    };
    let results = [put("allowed"), put("forbidden"), put("allowed")];
    let [first, second, third] = results;
    assert!(first.await.is_ok() && third.await.is_ok());
    assert!(matches!(second.await, Err(Error::Statement(_))));
    assert_eq!(store.journal("a".into()).await.unwrap().len(), 2);
    let mut forbidden = ending();
    forbidden.answer = Some(bytes("forbidden"));
    let refused = store.finish(write("a", 1, "[2]"), forbidden).await;
    assert!(matches!(refused, Err(Error::Statement(_))));
    assert_eq!(store.journal("a".into()).await.unwrap().len(), 2);
    store.finish(write("a", 1, "[2]"), ending()).await.unwrap();
    assert_eq!(store.journal("a".into()).await.unwrap().len(), 3);
}

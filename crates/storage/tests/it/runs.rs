//! The contract of every [`RunStore`].

use std::sync::Arc;

use platen_storage::{
    Error, PostgresStore, RunState, RunStore, SqliteStore,
    runs::{
        Accepted, Ending, Hold, Lane, Lease, MAX_HEAD_BYTES, NewRun, Run, RunFilter, Scope, Write,
    },
};

use crate::deadlines;

fn bytes(text: &str) -> Arc<[u8]> {
    Arc::from(text.as_bytes())
}

pub(crate) fn new(id: &str) -> NewRun {
    NewRun {
        id: id.to_owned(),
        flow: "f".to_owned(),
        version: 1,
        definition: None,
        lane: Lane::Async,
        trigger: bytes("{}"),
        idempotency: None,
        deadline_ms: None,
        created_ms: 1_000,
        token: format!("token-{id}"),
        retry_of: None,
        trace: Some(format!("trace-{id}")),
        journal: None,
    }
}

pub(crate) fn lease(worker: &str, now_ms: u64) -> Lease {
    Lease {
        worker: worker.to_owned(),
        now_ms,
        until_ms: now_ms + 10_000,
    }
}

fn write(id: &str, epoch: u32, now_ms: u64, records: &str) -> Write {
    Write {
        id: id.to_owned(),
        epoch,
        now_ms,
        records: (!records.is_empty()).then(|| bytes(records)),
    }
}

fn hold(id: &str, epoch: u32, now_ms: u64) -> Hold {
    Hold {
        id: id.to_owned(),
        epoch,
        now_ms,
    }
}

fn ending(state: RunState, answer: &str) -> Ending {
    Ending {
        state,
        answer: Some(bytes(answer)),
        details: bytes("{}"),
    }
}

async fn lives(store: &dyn RunStore) {
    assert_eq!(store.accept(new("a")).await.unwrap(), Accepted::New);
    let queued = store.queued(0, 10).await.unwrap();
    assert_eq!(queued.len(), 1);
    assert_eq!(store.counts().await.unwrap(), [1, 0, 0]);
    let claimed = store.claim("a".into(), lease("w", 2_000)).await.unwrap();
    assert_eq!(
        (claimed.run.epoch, claimed.run.state),
        (1, RunState::Running)
    );
    assert_eq!(claimed.run.trace.as_deref(), Some("trace-a"));
    assert!(claimed.journal.is_empty());
    assert!(matches!(
        store.claim("a".into(), lease("v", 2_000)).await,
        Err(Error::Fenced)
    ));
    store.append(write("a", 1, 2_001, "[1]")).await.unwrap();
    store
        .respond(write("a", 1, 2_002, "[2]"), bytes("first"))
        .await
        .unwrap();
    let end = ending(RunState::Succeeded, "second");
    store
        .finish(write("a", 1, 2_003, "[3]"), end.clone())
        .await
        .unwrap();
    // There is one answer and one end.
    assert!(matches!(
        store.finish(write("a", 1, 2_004, ""), end.clone()).await,
        Err(Error::Fenced)
    ));
    assert!(matches!(
        store.stop("a".into(), end, 2_005).await,
        Err(Error::Ended)
    ));
    let run = store.get("a".into()).await.unwrap();
    assert_eq!(run.state, RunState::Succeeded);
    assert_eq!(run.answer.as_deref(), Some(&b"first"[..]));
    assert_eq!(run.trace.as_deref(), Some("trace-a"));
    assert_eq!((run.started_ms, run.ended_ms), (Some(2_000), Some(2_003)));
    let journal = store.journal("a".into()).await.unwrap();
    assert_eq!(journal, [bytes("[1]"), bytes("[2]"), bytes("[3]")]);
    // The same, list by list.
    let (mut position, mut read) = (0, Vec::new());
    while let Some((next, list)) = store.journal_after("a".into(), position).await.unwrap() {
        assert!(next > position);
        position = next;
        read.push(list);
    }
    assert_eq!(read, journal);
    let none = store.journal_after("none".into(), 0).await;
    assert!(matches!(none, Err(Error::NotFound)));
    assert_eq!(store.counts().await.unwrap(), [0, 0, 0]);
    assert_eq!(store.prune(2_003, 10).await.unwrap(), 0);
    assert_eq!(store.prune(2_004, 10).await.unwrap(), 1);
    assert!(matches!(store.get("a".into()).await, Err(Error::NotFound)));
}

async fn the_same_request_is_one_run(store: &dyn RunStore) {
    let with = |id: &str, key: &str, hash: u8| NewRun {
        idempotency: Some((key.to_owned(), vec![hash])),
        ..new(id)
    };
    store.accept(with("a", "k", 1)).await.unwrap();
    let known = |same| Accepted::Known {
        id: "a".to_owned(),
        same,
    };
    assert_eq!(store.accept(with("b", "k", 1)).await.unwrap(), known(true));
    assert_eq!(store.accept(with("c", "k", 2)).await.unwrap(), known(false));
    let elsewhere = NewRun {
        flow: "g".to_owned(),
        ..with("d", "k", 1)
    };
    assert_eq!(store.accept(elsewhere).await.unwrap(), Accepted::New);
}

async fn a_lapsed_lease_writes_nothing(store: &dyn RunStore) {
    store.accept(new("a")).await.unwrap();
    store.claim("a".into(), lease("w", 1_000)).await.unwrap();
    let lost = store
        .heartbeat(vec![("a".into(), 1)], 5_000, 15_000)
        .await
        .unwrap();
    assert!(lost.is_empty());
    assert!(store.expire_leases(15_000, 2, 10).await.unwrap().is_empty());
    // Too late, although nobody else has the run yet.
    for result in [
        store.append(write("a", 1, 15_001, "[1]")).await,
        store
            .finish(
                write("a", 1, 15_001, "[1]"),
                ending(RunState::Succeeded, "x"),
            )
            .await,
        store
            .respond(write("a", 1, 15_001, "[1]"), bytes("x"))
            .await,
        store
            .suspend(write("a", 1, 15_001, "[1]"), None)
            .await
            .map(drop),
        store
            .put_value(
                write("a", 1, 15_001, ""),
                Scope::Flow,
                "k".into(),
                Some(bytes("1")),
            )
            .await,
        store.release(write("a", 1, 15_001, "")).await,
    ] {
        assert!(matches!(result, Err(Error::Fenced)), "{result:?}");
    }
    let lost = store
        .heartbeat(vec![("a".into(), 1)], 15_001, 30_000)
        .await
        .unwrap();
    assert_eq!(lost, [("a".to_owned(), 1)]);
    let expired = store.expire_leases(15_001, 2, 10).await.unwrap();
    assert!(!expired[0].dead);
    let claimed = store.claim("a".into(), lease("v", 16_000)).await.unwrap();
    assert_eq!((claimed.run.epoch, claimed.run.worker_losses), (2, 1));
    // The first worker wakes up while the second holds the run.
    assert!(matches!(
        store.append(write("a", 1, 16_001, "[1]")).await,
        Err(Error::Fenced)
    ));
    assert!(store.journal("a".into()).await.unwrap().is_empty());
    let kept = store.get_value(hold("a", 2, 16_001), Scope::Flow, "k".into());
    assert!(kept.await.unwrap().is_none());
    // It cannot read anything either.
    let late = hold("a", 1, 16_001);
    let kept = store.get_value(late.clone(), Scope::Flow, "k".into());
    assert!(matches!(kept.await, Err(Error::Fenced)));
    assert!(matches!(store.check_hold(late).await, Err(Error::Fenced)));
    let expired = store.expire_leases(40_000, 2, 10).await.unwrap();
    assert!(expired[0].dead);
    let run = store.get("a".into()).await.unwrap();
    assert_eq!((run.state, run.worker_losses), (RunState::Dead, 2));
    let details = String::from_utf8(run.details.unwrap().to_vec()).unwrap();
    assert!(
        details.contains("dead-letter") && details.contains('v'),
        "{details}"
    );
    assert!(store.queued(0, 10).await.unwrap().is_empty());
}

async fn sleeps_and_callbacks(store: &dyn RunStore) {
    store.accept(new("a")).await.unwrap();
    store.claim("a".into(), lease("w", 1_000)).await.unwrap();
    let asleep = store
        .suspend(write("a", 1, 1_001, "[1]"), Some(9_000))
        .await;
    assert!(!asleep.unwrap());
    assert!(store.wake(8_999, 10).await.unwrap().is_empty());
    // A waiting run has no lease to lose.
    assert!(store.expire_leases(90_000, 2, 10).await.unwrap().is_empty());
    assert_eq!(store.wake(9_000, 10).await.unwrap().len(), 1);
    store.claim("a".into(), lease("w", 9_001)).await.unwrap();
    // The callback arrives before the wait is recorded.
    let call =
        |token: &str, seen| store.call_back("a".into(), token.into(), bytes("[\"call\"]"), seen);
    assert!(matches!(call("wrong", 0).await, Err(Error::NotFound)));
    assert_eq!(store.callbacks("a".into()).await.unwrap(), 0);
    assert_eq!(call("token-a", 0).await.unwrap(), RunState::Running);
    assert_eq!(store.callbacks("a".into()).await.unwrap(), 1);
    // Of two that have seen the same, the second one is refused.
    assert!(matches!(call("token-a", 0).await, Err(Error::Called)));
    assert!(
        store
            .suspend(write("a", 2, 9_002, "[2]"), None)
            .await
            .unwrap()
    );
    let claimed = store.claim("a".into(), lease("w", 9_003)).await.unwrap();
    assert_eq!(
        claimed.journal,
        [bytes("[1]"), bytes("[\"call\"]"), bytes("[2]")]
    );
    assert!(!store.suspend(write("a", 3, 9_004, ""), None).await.unwrap());
    assert_eq!(call("token-a", 1).await.unwrap(), RunState::Queued);
    store
        .stop("a".into(), ending(RunState::Cancelled, "x"), 9_005)
        .await
        .unwrap();
    assert!(matches!(call("token-a", 2).await, Err(Error::Ended)));
}

async fn a_cancelled_run_is_out_of_hands(store: &dyn RunStore) {
    store.accept(new("a")).await.unwrap();
    store.claim("a".into(), lease("w", 1_000)).await.unwrap();
    let before = store
        .stop("a".into(), ending(RunState::Cancelled, "x"), 1_001)
        .await;
    assert_eq!(before.unwrap(), RunState::Running);
    assert!(matches!(
        store.append(write("a", 1, 1_002, "[1]")).await,
        Err(Error::Fenced)
    ));
    assert!(matches!(
        store
            .put_value(
                write("a", 1, 1_002, ""),
                Scope::Flow,
                "k".into(),
                Some(bytes("1")),
            )
            .await,
        Err(Error::Fenced)
    ));
}

async fn given_back_and_orphaned(store: &dyn RunStore) {
    for id in ["a", "b", "c"] {
        store.accept(new(id)).await.unwrap();
    }
    store.claim("a".into(), lease("here", 1_000)).await.unwrap();
    store
        .claim("b".into(), lease("there", 1_000))
        .await
        .unwrap();
    store.claim("c".into(), lease("here", 1_000)).await.unwrap();
    store.release(write("c", 1, 1_001, "[1]")).await.unwrap();
    // The process that held `a` died, and the lease of the worker that holds `b` is unknown to its
    // successor.
    store.orphan(None, "here".into()).await.unwrap();
    let expired = store.expire_leases(1_002, 2, 10).await.unwrap();
    assert_eq!(expired.len(), 1);
    let mut deaths = Vec::new();
    for id in ["a", "b", "c"] {
        let run = store.get(id.into()).await.unwrap();
        deaths.push((run.state, run.worker_losses));
    }
    let queued = RunState::Queued;
    assert_eq!(deaths, [(queued, 1), (queued, 0), (queued, 0)]);
    let all = store
        .list(RunFilter {
            limit: 2,
            ..RunFilter::default()
        })
        .await
        .unwrap();
    assert_eq!(
        all.iter().map(|run| &*run.id).collect::<Vec<_>>(),
        ["c", "b"]
    );
    let older = RunFilter {
        before: Some(all[1].number),
        limit: 5,
        ..RunFilter::default()
    };
    assert_eq!(store.list(older).await.unwrap().len(), 1);
    let created = all[0].created_ms;
    let between = |since_ms: Option<u64>, until_ms: Option<u64>| RunFilter {
        since_ms,
        until_ms,
        limit: 5,
        ..RunFilter::default()
    };
    let count = async |filter| store.list(filter).await.unwrap().len();
    assert_eq!(count(between(Some(created), None)).await, 3);
    assert_eq!(count(between(Some(created + 1), None)).await, 0);
    assert_eq!(count(between(None, Some(created + 1))).await, 3);
    assert_eq!(count(between(None, Some(created))).await, 0);
}

async fn what_is_kept_and_published(store: &dyn RunStore) {
    store.accept(new("a")).await.unwrap();
    store.claim("a".into(), lease("w", 1_000)).await.unwrap();
    let keep = |scope, value: Option<&str>| {
        store.put_value(
            write("a", 1, 1_001, ""),
            scope,
            "k".into(),
            value.map(bytes),
        )
    };
    let kept = |run: &str, scope| store.get_value(hold(run, 1, 1_001), scope, "k".into());
    keep(Scope::Flow, Some("1")).await.unwrap();
    keep(Scope::Flow, Some("2")).await.unwrap();
    store.check_hold(hold("a", 1, 1_001)).await.unwrap();
    // Another flow has its own values, and the shared ones.
    let other = NewRun {
        flow: "g".to_owned(),
        ..new("b")
    };
    store.accept(other).await.unwrap();
    store.claim("b".into(), lease("w", 1_000)).await.unwrap();
    assert_eq!(kept("b", Scope::Flow).await.unwrap(), None);
    assert_eq!(kept("b", Scope::Shared).await.unwrap(), None);
    keep(Scope::Shared, Some("3")).await.unwrap();
    assert_eq!(kept("b", Scope::Shared).await.unwrap(), Some(bytes("3")));
    assert_eq!(kept("a", Scope::Flow).await.unwrap(), Some(bytes("2")));
    keep(Scope::Flow, None).await.unwrap();
    assert_eq!(kept("a", Scope::Flow).await.unwrap(), None);
    assert_eq!(kept("a", Scope::Shared).await.unwrap(), Some(bytes("3")));
    store.publish("f".into(), Some(3)).await.unwrap();
    store.save_cursor("f".into(), bytes("seen")).await.unwrap();
    store.publish("f".into(), Some(4)).await.unwrap();
    let published = store.published().await.unwrap();
    assert_eq!((published.len(), published[0].version), (1, 4));
    assert_eq!(published[0].cursor, Some(bytes("seen")));
    store.publish("f".into(), None).await.unwrap();
    assert!(store.published().await.unwrap().is_empty());
}

/// Long values are empty, short ones are as they are, and there is no trace.
async fn heads_have_no_long_values(store: &dyn RunStore) {
    let value = |bytes: usize| -> Arc<[u8]> { Arc::from(vec![b'1'; bytes]) };
    for (id, length) in [("short", MAX_HEAD_BYTES), ("long", MAX_HEAD_BYTES + 1)] {
        let of = NewRun {
            trigger: value(length),
            definition: Some(value(length)),
            ..new(id)
        };
        store.accept(of).await.unwrap();
        store.claim(id.into(), lease("w", 2_000)).await.unwrap();
        let end = Ending {
            details: value(length),
            ..ending(RunState::Succeeded, &"1".repeat(length))
        };
        store.finish(write(id, 1, 2_001, ""), end).await.unwrap();
    }
    let mut short = store.get("short".into()).await.unwrap();
    short.trace = None;
    let long = store.get("long".into()).await.unwrap();
    assert_eq!(long.details, Some(value(MAX_HEAD_BYTES + 1)));
    let head = Run {
        trigger: bytes(""),
        definition: Some(bytes("")),
        answer: Some(bytes("")),
        details: Some(bytes("")),
        trace: None,
        ..long
    };
    assert_eq!(store.head("long".into()).await.unwrap(), head);
    let all = RunFilter {
        limit: 5,
        ..RunFilter::default()
    };
    assert_eq!(store.list(all).await.unwrap(), [head, short]);
}

/// Nobody waits for a write before the next one is called.
async fn writes_happen_in_the_order_of_calls(store: &dyn RunStore) {
    let ids: Vec<String> = (0..40).map(|index| format!("run-{index}")).collect();
    let mut last = Vec::new();
    for id in &ids {
        drop(store.accept(new(id)));
        drop(store.claim(id.clone(), lease("w", 1_000)));
        drop(store.append(write(id, 1, 1_001, "[1]")));
        drop(store.respond(write(id, 1, 1_002, "[2]"), bytes("early")));
        drop(store.suspend(write(id, 1, 1_003, "[3]"), Some(1_004)));
        last.push(store.call_back(id.clone(), format!("token-{id}"), bytes("[4]"), 0));
    }
    for state in last {
        assert_eq!(state.await.unwrap(), RunState::Queued);
    }
    for id in ids {
        let claimed = store.claim(id.clone(), lease("v", 2_000)).await.unwrap();
        assert_eq!(claimed.run.epoch, 2);
        let all = ["[1]", "[2]", "[3]", "[4]"].map(bytes);
        assert_eq!(claimed.journal, all);
        drop(store.release(write(&id, 2, 2_001, "")));
        let ended = store.expire(id.clone(), ending(RunState::TimedOut, "late"), 2_002);
        assert!(ended.await.unwrap());
        let run = store.get(id).await.unwrap();
        assert_eq!(run.answer, Some(bytes("early")));
    }
}

/// Runs the whole suite, with a new store for each part.
async fn contract(mut fresh: impl AsyncFnMut() -> Arc<dyn RunStore>) {
    lives(&*fresh().await).await;
    the_same_request_is_one_run(&*fresh().await).await;
    a_lapsed_lease_writes_nothing(&*fresh().await).await;
    sleeps_and_callbacks(&*fresh().await).await;
    a_cancelled_run_is_out_of_hands(&*fresh().await).await;
    given_back_and_orphaned(&*fresh().await).await;
    deadlines::only_the_first_start_has_one(&*fresh().await).await;
    what_is_kept_and_published(&*fresh().await).await;
    writes_happen_in_the_order_of_calls(&*fresh().await).await;
    deadlines::many_leases_are_extended_at_once(&*fresh().await).await;
    heads_have_no_long_values(&*fresh().await).await;
}

#[tokio::test]
async fn sqlite() {
    let folders = std::cell::RefCell::new(Vec::new());
    contract(async || {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap().runs();
        folders.borrow_mut().push(folder);
        store
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    let Some(server) = crate::postgres::server::shared().await else {
        return;
    };
    contract(async || {
        let url = server.database().await;
        let options = crate::postgres::options();
        let store = PostgresStore::open(&url, &options).await.unwrap();
        store.runs()
    })
    .await;
}

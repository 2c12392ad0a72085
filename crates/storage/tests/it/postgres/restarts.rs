//! `kill -9` of the server under load, a server that stops to answer, and one that is gone.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use platen_storage::{Error, PostgresStore, RunState, RunStore};

use super::{bytes, ending, lease, new, options, server::Server, write};

/// What a caller was told of a run.
type Told = (String, bool);

async fn load(
    store: Arc<dyn RunStore>,
    caller: usize,
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
) -> Vec<Told> {
    let mut told = Vec::new();
    for index in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let id = format!("{caller}-{index}");
        match store.accept(new(&id)).await {
            Err(Error::Unavailable(_)) => continue,
            accepted => drop(accepted.unwrap()),
        }
        drop(store.claim(id.clone(), lease("w")));
        let finished = match store.finish(write(&id, 1, "[1]"), ending()).await {
            // The claim was not waited for, so it may have been the one that failed.
            Err(Error::Unavailable(_) | Error::Fenced) => false,
            finished => finished.is_ok(),
        };
        told.push((id, finished));
        count.fetch_add(1, Ordering::Relaxed);
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_runs_survive_a_killed_server() {
    let Some(server) = Server::start(&[]).await else {
        return;
    };
    let url = server.database().await;
    let mut patient = options();
    patient.connect_within = Duration::from_secs(120);
    let store = PostgresStore::open(&url, &patient).await.unwrap().runs();
    let (stop, count) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let callers: Vec<_> = (0..16)
        .map(|caller| {
            let (stop, count) = (Arc::clone(&stop), Arc::clone(&count));
            tokio::spawn(load(Arc::clone(&store), caller, stop, count))
        })
        .collect();
    for round in 1..=4 {
        while count.load(Ordering::Relaxed) < round * 300 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.kill();
        server.run().await;
    }
    stop.store(true, Ordering::Relaxed);
    let mut finished_count = 0;
    for caller in callers {
        for (id, finished) in caller.await.unwrap() {
            let run = store.get(id.clone()).await.unwrap();
            if finished {
                finished_count += 1;
                assert_eq!(run.state, RunState::Succeeded, "{id}");
                assert_eq!(store.journal(id).await.unwrap(), [bytes("[1]")]);
            }
        }
    }
    assert!(finished_count >= 1_000, "{finished_count}");
}

/// Fails if the call takes much longer than the store allows itself, which is seconds.
async fn answer<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let call = tokio::time::timeout(Duration::from_secs(180), call);
    call.await.expect("the store hangs")
}

async fn is_unavailable(store: &PostgresStore) {
    let runs = store.runs();
    let unavailable = |error: Option<Error>| match error {
        Some(Error::Unavailable(cause)) => assert!(!cause.contains("correct-horse")),
        other => panic!("{other:?}"),
    };
    unavailable(answer(runs.accept(new("a"))).await.err());
    unavailable(answer(runs.get("a".into())).await.err());
    unavailable(answer(runs.wake(1, 1)).await.err());
    unavailable(answer(store.templates().check()).await.err());
}

async fn works_again(store: &PostgresStore) {
    while answer(store.runs().accept(new("a"))).await.is_err() {}
    while answer(store.runs().get("a".into())).await.is_err() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_or_silent_is_reported() {
    let Some(server) = Server::start(&[]).await else {
        return;
    };
    let url = server.database().await;
    let mut impatient = options();
    impatient.connect_within = Duration::from_millis(500);
    impatient.statement_timeout = Duration::from_millis(500);
    let store = loop {
        if let Ok(store) = PostgresStore::open(&url, &impatient).await {
            break store;
        }
    };
    works_again(&store).await;
    server.signal_all("-STOP");
    is_unavailable(&store).await;
    server.signal_all("-CONT");
    works_again(&store).await;
    server.kill();
    is_unavailable(&store).await;
    let opened = answer(PostgresStore::open(&url, &impatient)).await.err();
    assert!(matches!(opened, Some(Error::Unavailable(_))), "{opened:?}");
    server.run().await;
    works_again(&store).await;
}

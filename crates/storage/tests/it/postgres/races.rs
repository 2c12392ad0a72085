//! Several stores on one database, as several processes have them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use platen_storage::{
    Error, NewVersion, PostgresStore, RunState,
    runs::{Accepted, Lease},
};

use super::{bytes, ending, lease, new, options, server, write};

/// Stores that open an empty database at the same time.
async fn stores(url: &str, count: usize) -> Vec<PostgresStore> {
    let opening: Vec<_> = (0..count)
        .map(|_| {
            let url = url.to_owned();
            tokio::spawn(async move { PostgresStore::open(&url, &options()).await.unwrap() })
        })
        .collect();
    let mut stores = Vec::new();
    for store in opening {
        stores.push(store.await.unwrap());
    }
    stores
}

#[tokio::test(flavor = "multi_thread")]
async fn no_run_is_executed_twice() {
    const RUNS: usize = 300;
    let Some(server) = server::shared().await else {
        return;
    };
    let stores = stores(&server.database().await, 3).await;
    for (index, store) in (0..RUNS).zip(stores.iter().cycle()) {
        drop(store.runs().accept(new(&format!("run-{index}"))));
    }
    let executed: Arc<Mutex<HashMap<String, String>>> = Arc::default();
    let workers = stores.iter().enumerate().flat_map(|(index, store)| {
        let runs = store.runs();
        let executed = Arc::clone(&executed);
        (0..4).map(move |slot| {
            let (runs, executed) = (Arc::clone(&runs), Arc::clone(&executed));
            let worker = format!("worker-{index}-{slot}");
            tokio::spawn(async move {
                while executed.lock().unwrap().len() < RUNS {
                    for queued in runs.queued(0, 10).await.unwrap() {
                        let id = queued.id;
                        let claimed = match runs.claim(id.clone(), lease(&worker)).await {
                            Err(Error::Fenced) => continue,
                            claimed => claimed.unwrap(),
                        };
                        assert_eq!((claimed.run.epoch, claimed.journal.len()), (1, 0));
                        let records = format!("[\"{worker}\"]");
                        runs.append(write(&id, 1, &records)).await.unwrap();
                        runs.finish(write(&id, 1, "[2]"), ending()).await.unwrap();
                        let before = executed.lock().unwrap().insert(id, worker.clone());
                        assert_eq!(before, None, "executed twice");
                    }
                }
            })
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    let runs = stores[0].runs();
    let executed = std::mem::take(&mut *executed.lock().unwrap());
    for (id, worker) in executed {
        let run = runs.get(id.clone()).await.unwrap();
        assert_eq!(
            (run.state, run.worker.as_ref()),
            (RunState::Succeeded, Some(&worker))
        );
        let journal = runs.journal(id).await.unwrap();
        assert_eq!(journal, [bytes(&format!("[\"{worker}\"]")), bytes("[2]")]);
    }
    assert_eq!(runs.counts().await.unwrap(), [0, 0, 0]);
}

/// All stores look for expired leases and due runs at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_worker_is_counted_once() {
    const RUNS: usize = 120;
    let Some(server) = server::shared().await else {
        return;
    };
    let stores = stores(&server.database().await, 3).await;
    let mut last = Vec::new();
    for (index, store) in (0..RUNS).zip(stores.iter().cycle()) {
        let (runs, id) = (store.runs(), format!("run-{index}"));
        drop(runs.accept(new(&id)));
        let short = Lease {
            until_ms: 2_500,
            ..lease("w")
        };
        drop(runs.claim(id.clone(), short));
        let is_asleep = index % 2 == 0;
        if is_asleep {
            drop(runs.suspend(write(&id, 1, "[1]"), Some(3_000)));
        }
        last.push(tokio::spawn(async move {
            // Behind everything else of the run.
            runs.append(write(&id, 1, "[2]")).await.is_ok() != is_asleep
        }));
    }
    for last in last {
        assert!(last.await.unwrap());
    }
    let sweeps = stores.iter().map(|store| {
        let runs = store.runs();
        tokio::spawn(async move {
            let mut found = Vec::new();
            for _ in 0..20 {
                let expired = runs.expire_leases(5_000, 9, 7).await.unwrap();
                found.extend(expired.into_iter().map(|one| one.queued.id));
                let woken = runs.wake(5_000, 7).await.unwrap();
                found.extend(woken.into_iter().map(|one| one.id));
            }
            found
        })
    });
    let mut found = Vec::new();
    for sweep in sweeps.collect::<Vec<_>>() {
        found.extend(sweep.await.unwrap());
    }
    assert_eq!(found.len(), RUNS);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), RUNS, "each once");
    for id in found {
        let run = stores[0].runs().get(id.clone()).await.unwrap();
        let number: usize = id.trim_start_matches("run-").parse().unwrap();
        let expected = (RunState::Queued, (number % 2) as u32);
        assert_eq!((run.state, run.worker_losses), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_requests_with_a_key_is_new() {
    let Some(server) = server::shared().await else {
        return;
    };
    let stores = stores(&server.database().await, 3).await;
    for key in 0..10 {
        let sent = (0..30).map(|index| {
            let runs = stores[index % 3].runs();
            let mut run = new(&format!("{key}-{index}"));
            run.idempotency = Some((format!("key-{key}"), vec![7]));
            tokio::spawn(async move { (run.id.clone(), runs.accept(run).await.unwrap()) })
        });
        let (mut new_ones, mut known) = (Vec::new(), Vec::new());
        for sent in sent.collect::<Vec<_>>() {
            match sent.await.unwrap() {
                (id, Accepted::New) => new_ones.push(id),
                (_, Accepted::Known { id, same }) => known.push((id, same)),
            }
        }
        assert_eq!((new_ones.len(), known.len()), (1, 29));
        assert!(known.iter().all(|(id, same)| *id == new_ones[0] && *same));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_creators_wins() {
    let Some(server) = server::shared().await else {
        return;
    };
    let stores = stores(&server.database().await, 3).await;
    for round in 0..10 {
        let sent = (0..9).map(|index| {
            let documents = stores[index % 3].templates();
            let new = NewVersion {
                key: format!("key-{round}"),
                name: "n".to_owned(),
                source: bytes("{}"),
                note: None,
            };
            tokio::spawn(async move { documents.create(new).await })
        });
        let mut won = 0;
        for sent in sent.collect::<Vec<_>>() {
            match sent.await.unwrap() {
                Ok(info) => {
                    assert_eq!(info.version, 1);
                    won += 1;
                }
                Err(error) => assert!(matches!(error, Error::Exists(1)), "{error:?}"),
            }
        }
        assert_eq!(won, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_is_that_of_the_server() {
    let Some(server) = server::shared().await else {
        return;
    };
    let store = PostgresStore::open(&server.database().await, &options()).await;
    let theirs = store.unwrap().runs().now_ms();
    let ours = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    // The server is on this machine.
    assert!(
        theirs.abs_diff(ours.as_millis() as u64) < 60_000,
        "{theirs}"
    );
}

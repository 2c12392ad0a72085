//! How fast both stores are, in turns: `cargo test --release -p platen-storage --test it speed --
//! --ignored --nocapture`. The figures are in `docs/decisions/0013-postgres.md`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use platen_storage::{PostgresOptions, PostgresStore, RunStore, SqliteStore};

use super::{bytes, ending, lease, new, server::Server, write};

const ROUND: Duration = Duration::from_secs(1);
const ROUNDS: usize = 3;
/// Numbers of lanes.
const WRITERS: [usize; 3] = [1, 2, 4];

/// Work of one caller.
async fn one(store: &dyn RunStore, id: String, is_life: bool) {
    let mut run = new(&id);
    run.trigger = bytes(&format!("{{\"payload\":\"{}\"}}", "x".repeat(600)));
    store.accept(run).await.unwrap();
    if is_life {
        // As the service does: only the row and the end are waited for.
        drop(store.claim(id.clone(), lease("w")));
        drop(store.append(write(&id, 1, "[1,2,3]")));
        store.finish(write(&id, 1, "[4]"), ending()).await.unwrap();
    }
}

/// Runs a second.
async fn rate(store: &Arc<dyn RunStore>, callers: usize, is_life: bool) -> f64 {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let (begun, done) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (store, done) = (Arc::clone(store), Arc::clone(&done));
            tokio::spawn(async move {
                while begun.elapsed() < ROUND {
                    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                    one(&*store, format!("run-{number}"), is_life).await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    done.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn speed() {
    let Some(server) = Server::start(&[]).await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut stores = vec![SqliteStore::open(folder.path()).unwrap().runs()];
    for writers in WRITERS {
        let options = PostgresOptions {
            writers,
            ..PostgresOptions::default()
        };
        let store = PostgresStore::open(&server.database().await, &options).await;
        stores.push(store.unwrap().runs());
    }
    println!("| what | callers | SQLite | PostgreSQL, by lanes {WRITERS:?} |");
    println!("|---|---|---|---|");
    for (is_life, label) in [(false, "accepted"), (true, "whole lives")] {
        for callers in [1, 8, 64, 256] {
            let mut rates = vec![Vec::new(); stores.len()];
            for _ in 0..ROUNDS {
                for (store, rates) in stores.iter().zip(&mut rates) {
                    rates.push(rate(store, callers, is_life).await);
                }
            }
            let rates: Vec<f64> = rates.into_iter().map(median).collect();
            let share = |rate: &f64| format!("{rate:.0}/s ({:.0} %)", rate / rates[0] * 100.0);
            let shares: Vec<String> = rates[1..].iter().map(share).collect();
            let (first, rest) = (rates[0], shares.join(", "));
            println!("| {label} | {callers} | {first:.0}/s | {rest} |");
        }
    }
}

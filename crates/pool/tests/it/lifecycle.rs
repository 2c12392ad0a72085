//! Starting, recycling, shutting down, and cleaning up after earlier processes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use platen_pool::{Config, Error, Lane, Plain, Pool, Reason};

use crate::child::{Shell, ask, bench, bench_of, eventually, processes_in, request};

#[tokio::test(flavor = "multi_thread")]
async fn children_are_recycled_after_their_number_of_jobs() {
    let config = Config {
        slots: 1,
        max_jobs: 3,
        ..Config::default()
    };
    let bench = bench(config);
    let mut pids = std::collections::BTreeSet::new();
    for _ in 0..9 {
        pids.insert(ask(&bench.pool, request(Lane::Batch), "pid").await.unwrap());
    }
    assert!(pids.len() >= 3, "{pids:?}");
    assert!(bench.pool.snapshot().replaced(Reason::RecycledJobs) >= 2);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_child_that_holds_too_much_is_recycled() {
    let config = Config {
        recycle_memory_bytes: 1,
        maintenance_interval: Duration::from_millis(10),
        backoff_first: Duration::from_millis(10),
        ..Config::default()
    };
    let bench = bench(config);
    let pool = &bench.pool;
    eventually("it is replaced", || {
        pool.snapshot().replaced(Reason::RecycledMemory) >= 2
    })
    .await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn starts_that_fail_are_told_and_do_not_storm() {
    let shell = Shell::default();
    let broken = Arc::clone(&shell.broken);
    broken.store(true, Ordering::SeqCst);
    let config = Config {
        backoff_first: Duration::from_millis(20),
        backoff_max: Duration::from_millis(500),
        ..Config::default()
    };
    let bench = bench_of(shell, config);
    let error = ask(&bench.pool, request(Lane::Batch), "echo no")
        .await
        .unwrap_err();
    let Error::CannotStart { source, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(source.to_string().contains("no paper"), "{source}");
    for _ in 0..50 {
        let error = ask(&bench.pool, request(Lane::Batch), "echo no")
            .await
            .unwrap_err();
        assert!(matches!(error, Error::CannotStart { .. }));
    }
    let failures = bench.pool.snapshot().start_failures;
    assert!(failures < 40, "{failures} starts for 51 jobs");

    broken.store(false, Ordering::SeqCst);
    let pool = &bench.pool;
    eventually("it recovers by itself", || pool.snapshot().idle >= 1).await;
    let answer = ask(pool, request(Lane::Batch), "echo yes").await;
    assert_eq!(answer.unwrap(), "yes");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_lets_jobs_end_and_kills_what_does_not() {
    let bench = bench(Config::default());
    let spawn = |question: &'static str| {
        let pool = Arc::clone(&bench.pool);
        tokio::spawn(async move { ask(&pool, request(Lane::Batch), question).await })
    };
    let (ending, hanging) = (spawn("sleep 0.2"), spawn("hang"));
    eventually("both run", || bench.pool.snapshot().waits.count == 2).await;
    bench.pool.shutdown(Duration::from_secs(2)).await;
    assert_eq!(ending.await.unwrap().unwrap(), "slept");
    let killed = hanging.await.unwrap();
    assert!(matches!(killed, Err(Error::ShuttingDown)), "{killed:?}");
    let refused = ask(&bench.pool, request(Lane::Batch), "echo late").await;
    assert!(matches!(refused, Err(Error::ShuttingDown)));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_pool_leaves_nothing() {
    let bench = bench(Config::default());
    ask(&bench.pool, request(Lane::Batch), "orphan")
        .await
        .unwrap();
    let folder = bench.folder;
    drop(bench.pool);
    eventually("no process", || processes_in(folder.path()).is_empty()).await;
    let is_empty = || std::fs::read_dir(folder.path()).unwrap().next().is_none();
    eventually("no folder", is_empty).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_owner_left_is_removed_and_what_a_living_one_has_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("platen-pool-shell-1-1-0");
    std::fs::create_dir_all(left.join("0")).unwrap();
    std::fs::write(left.join("owner.lock"), "").unwrap();
    std::fs::write(left.join("0/profile"), "text").unwrap();
    let mut survivor = tokio::process::Command::new("sleep")
        .arg("1000")
        .env("PLATEN_CHILD_FOLDER", left.join("0"))
        .spawn()
        .unwrap();
    let make = || {
        Pool::new(
            Shell::default(),
            Config::default(),
            Arc::new(Plain),
            folder.path(),
        )
    };
    let first = make().unwrap();
    assert!(!left.exists());
    assert!(!survivor.wait().await.unwrap().success(), "it was killed");
    let second = make().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    first.shutdown(Duration::ZERO).await;
    second.shutdown(Duration::ZERO).await;
}

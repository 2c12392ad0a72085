//! Lanes, the queue and deadlines.

use std::{sync::Arc, time::Duration};

use platen_pool::{Config, Error, Lane, Reason, Refusal, Request};

use crate::child::{ask, bench, eventually, request};

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_answered_and_counted() {
    let bench = bench(Config::default());
    assert!(bench.pool.warm(Duration::from_secs(60)).await);
    for number in 0..20 {
        let answer = ask(&bench.pool, request(Lane::Batch), &format!("echo {number}")).await;
        assert_eq!(answer.unwrap(), number.to_string());
    }
    let snapshot = bench.pool.snapshot();
    assert_eq!(snapshot.jobs.count, 20);
    assert_eq!(snapshot.waits.count, 20);
    assert!(
        snapshot.starts <= 3,
        "children are used again: {}",
        snapshot.starts
    );
    assert_eq!(snapshot.in_use, 0);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_at_once_and_a_lane_keeps_its_slots() {
    let config = Config {
        slots: 2,
        reserved: 1,
        max_queue: 1,
        ..Config::default()
    };
    let bench = bench(config);
    let spawn = |lane, question: &'static str| {
        let pool = Arc::clone(&bench.pool);
        tokio::spawn(async move { ask(&pool, request(lane), question).await })
    };
    let running = spawn(Lane::Batch, "hang");
    eventually("the job runs", || bench.pool.snapshot().in_use == 1).await;
    let waiting = spawn(Lane::Batch, "echo later");
    eventually("the job waits", || bench.pool.snapshot().waiting == 1).await;

    let refused = ask(&bench.pool, request(Lane::Batch), "echo no").await;
    let Err(Error::QueueFull { retry_after }) = refused else {
        panic!("{refused:?}")
    };
    assert!(retry_after >= Duration::from_secs(1));
    let answer = ask(&bench.pool, request(Lane::Interactive), "echo preview").await;
    assert_eq!(answer.unwrap(), "preview", "its slot was free all the time");

    running.abort();
    assert_eq!(waiting.await.unwrap().unwrap(), "later");
    assert_eq!(bench.pool.snapshot().refused(Refusal::QueueFull), 1);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_includes_the_wait() {
    let config = Config {
        slots: 1,
        ..Config::default()
    };
    let bench = bench(config);
    let pool = Arc::clone(&bench.pool);
    let running = tokio::spawn(async move { ask(&pool, request(Lane::Batch), "hang").await });
    eventually("the job runs", || bench.pool.snapshot().in_use == 1).await;
    let short = Request {
        timeout: Duration::from_millis(200),
        ..request(Lane::Batch)
    };
    let late = ask(&bench.pool, short, "echo never").await;
    assert!(
        matches!(late, Err(Error::DeadlinePassed { .. })),
        "{late:?}"
    );
    running.abort();
    eventually("the slot is free", || bench.pool.snapshot().in_use == 0).await;

    assert!(bench.pool.warm(Duration::from_secs(60)).await);
    let late = ask(&bench.pool, short, "hang").await;
    assert!(
        matches!(late, Err(Error::DeadlinePassed { .. })),
        "{late:?}"
    );
    assert_eq!(bench.pool.snapshot().refused(Refusal::Deadline), 2);
    let pool = &bench.pool;
    eventually("it is replaced", || {
        pool.snapshot().replaced(Reason::Deadline) == 1
    })
    .await;
    let answer = ask(&bench.pool, request(Lane::Batch), "echo again").await;
    assert_eq!(answer.unwrap(), "again");
    bench.end().await;
}

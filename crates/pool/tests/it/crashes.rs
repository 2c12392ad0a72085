//! Children that crash, stop or leave processes behind.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use platen_pool::{Config, Error, Lane, Reason, Request};

use crate::child::{
    Shell, ask, bench, bench_of, child_folders, eventually, keyed, processes_in, request,
};

fn signal(pid: i32, name: &str) {
    let arguments = [format!("-{name}"), pid.to_string()];
    let _ = std::process::Command::new("kill").args(arguments).status();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_killed_costs_its_job_one_retry() {
    let bench = bench(Config::default());
    let pool = Arc::clone(&bench.pool);
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&attempts);
    let answer = pool
        .run(keyed(1), move |line, attempt| {
            let counted = Arc::clone(&counted);
            Box::pin(async move {
                counted.fetch_add(1, Ordering::SeqCst);
                let question = if attempt.number == 1 {
                    "die"
                } else {
                    "echo alive"
                };
                line.ask(question).await
            })
        })
        .await;
    assert_eq!(answer.unwrap(), "alive");
    assert_eq!(attempts.load(Ordering::SeqCst), 2);
    assert_eq!(pool.snapshot().retries, 1);
    drop(pool);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_kills_twice_is_refused_and_harms_nobody_else() {
    let bench = bench(Config::default());
    let error = ask(&bench.pool, keyed(7), "die").await.unwrap_err();
    assert!(
        matches!(error, Error::Poisonous { crashes: 2 }),
        "{error:?}"
    );
    assert!(error.to_string().contains("crashed on it 2 times"));
    let starts = bench.pool.snapshot().replaced(Reason::Crashed);
    assert_eq!(starts, 2);
    for _ in 0..3 {
        let error = ask(&bench.pool, keyed(7), "die").await.unwrap_err();
        assert!(matches!(error, Error::Poisonous { .. }));
    }
    assert_eq!(
        bench.pool.snapshot().replaced(Reason::Crashed),
        2,
        "nothing more was killed"
    );
    let answer = ask(&bench.pool, keyed(8), "echo fine").await;
    assert_eq!(answer.unwrap(), "fine");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn random_kills_never_leave_anything_behind() {
    let config = Config {
        slots: 3,
        spares: 1,
        max_queue: 1000,
        max_jobs: 20,
        ..Config::default()
    };
    let bench = bench(config);
    let folder = bench.folder.path().to_owned();
    let (mut answered, mut poisonous, mut kills) = (0, 0, 0);
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for round in 0..40 {
        let jobs = (0..5).map(|job| {
            let pool = Arc::clone(&bench.pool);
            let text = format!("{round}-{job}");
            tokio::spawn(async move {
                let result = ask(&pool, request(Lane::Batch), &format!("echo {text}")).await;
                (text, result)
            })
        });
        let jobs: Vec<_> = jobs.collect();
        // Models a crash at any instant.
        tokio::time::sleep(Duration::from_micros(next() % 3000)).await;
        let children = processes_in(&folder);
        if !children.is_empty() {
            let index = usize::try_from(next()).unwrap() % children.len();
            signal(children[index], "KILL");
            kills += 1;
        }
        for job in jobs {
            match job.await.unwrap() {
                (text, Ok(answer)) => {
                    assert_eq!(answer, text);
                    answered += 1;
                }
                (_, Err(Error::Poisonous { crashes: 2 })) => poisonous += 1,
                (text, Err(error)) => panic!("{text}: {error:?}"),
            }
        }
    }
    assert_eq!(answered + poisonous, 200);
    assert!(kills >= 35, "{kills} kills");
    assert!(answered >= 190, "{answered} answered");
    let pool = &bench.pool;
    eventually("full strength", || {
        let now = pool.snapshot();
        now.in_use == 0 && now.idle >= 1 && now.starting == 0 && now.children == now.idle
    })
    .await;
    let now = pool.snapshot();
    eventually("a folder for each child", || {
        child_folders(&folder) == now.idle
    })
    .await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_child_is_noticed_when_idle_and_at_work() {
    let config = Config {
        slots: 1,
        spares: 0,
        probe_after: Duration::from_millis(50),
        probe_timeout: Duration::from_millis(500),
        maintenance_interval: Duration::from_millis(20),
        ..Config::default()
    };
    let bench = bench(config);
    let pid: i32 = ask(&bench.pool, request(Lane::Batch), "pid")
        .await
        .unwrap()
        .parse()
        .unwrap();
    signal(pid, "STOP");
    let pool = &bench.pool;
    eventually("it is replaced", || {
        pool.snapshot().replaced(Reason::Unhealthy) == 1
    })
    .await;

    let stopping = pool
        .run(
            Request {
                timeout: Duration::from_secs(2),
                ..request(Lane::Batch)
            },
            |line, _| {
                Box::pin(async move {
                    signal(line.pid, "STOP");
                    line.ask("echo never").await
                })
            },
        )
        .await;
    assert!(
        matches!(stopping, Err(Error::DeadlinePassed { .. })),
        "{stopping:?}"
    );
    let answer = ask(pool, request(Lane::Batch), "echo back").await;
    assert_eq!(answer.unwrap(), "back");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_left_the_group_is_killed_too() {
    let bench = bench(Config::default());
    let folder = bench.folder.path().to_owned();
    ask(&bench.pool, request(Lane::Batch), "orphan")
        .await
        .unwrap();
    let has_orphan = || processes_in(&folder).len() >= 2;
    eventually("the orphan is seen", has_orphan).await;
    let _ = ask(&bench.pool, keyed(1), "die").await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_within_execve_when_it_is_looked_for_is_killed_too() {
    let bench = bench(Config::default());
    let folder = bench.folder.path().to_owned();
    let has_orphan = || processes_in(&folder).len() >= 2;
    for _ in 0..40 {
        let started = ask(&bench.pool, request(Lane::Batch), "changing").await;
        assert_eq!(started.unwrap(), "started");
        eventually("the orphan is seen", has_orphan).await;
        let _ = ask(&bench.pool, request(Lane::Batch), "die").await;
    }
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_grows_is_killed_during_its_job() {
    let config = Config {
        kill_memory_bytes: 100_000_000,
        maintenance_interval: Duration::from_millis(20),
        ..Config::default()
    };
    let bench = bench(config);
    let error = bench
        .pool
        .run(keyed(1), |line, _| {
            Box::pin(async move {
                line.ask("grow").await?;
                std::future::pending::<()>().await;
                Ok(())
            })
        })
        .await;
    assert!(
        matches!(error, Err(Error::MemoryExceeded { .. })),
        "{error:?}"
    );
    assert_eq!(bench.pool.snapshot().replaced(Reason::MemoryExceeded), 1);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_frees_its_slot_and_its_child_is_proven_or_replaced() {
    for salvages in [false, true] {
        let shell = Shell {
            salvages,
            ..Shell::default()
        };
        let config = Config {
            slots: 1,
            spares: 0,
            ..Config::default()
        };
        let bench = bench_of(shell, config);
        let pool = Arc::clone(&bench.pool);
        let job = tokio::spawn(async move { ask(&pool, request(Lane::Batch), "sleep 0.3").await });
        eventually("the job runs", || {
            bench.pool.snapshot().jobs.count == 0 && bench.pool.snapshot().waits.count == 1
        })
        .await;
        job.abort();
        let answer = ask(&bench.pool, request(Lane::Batch), "echo next").await;
        assert_eq!(answer.unwrap(), "next");
        let replaced = bench.pool.snapshot().replaced(Reason::Cancelled);
        assert_eq!(replaced, u64::from(!salvages));
        assert_eq!(bench.pool.snapshot().starts, 1 + u64::from(!salvages));
        bench.end().await;
    }
}

//! Processes that are killed or stopped, and clients that disconnect: the converter recovers
//! completely.

use std::{
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use platen_office::{Error, Target};

use crate::fixture::{Bench, bench, docx, job, small, until};

/// Signals all processes at once: a repeated job must not be hit by the second signal.
fn signal(pids: &[u32], signal: &str) {
    let pids = pids.iter().map(u32::to_string);
    // Some may have ended a moment before.
    let _ = Command::new("kill")
        .arg(signal)
        .args(pids)
        .stderr(Stdio::null())
        .status();
}

/// Waits until a conversion is running.
async fn busy(bench: &Bench) {
    until("a conversion is running", async || {
        let pool = bench.office.status().pool;
        pool.in_use > 0 && pool.children > 0
    })
    .await;
}

/// Time that processes have spent on a processor, in clock ticks.
fn ticks(pids: &[u32]) -> u64 {
    let stat = |pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let spent = |stat: String| {
        let (_, rest) = stat.rsplit_once(") ")?;
        // proc(5): state is field 3, utime 14, stime 15.
        let fields = rest.split(' ').skip(11).take(2);
        Some(fields.filter_map(|it| it.parse::<u64>().ok()).sum::<u64>())
    };
    pids.iter().filter_map(|pid| spent(stat(pid))).sum()
}

/// Kills all processes of a converter, and waits until another is ready. If the next job met one that
/// was killed just after its own job was done, that would be a second crash for it.
struct Kill {
    pids: Vec<u32>,
    starts: u64,
}

impl Kill {
    fn now(bench: &Bench) -> Self {
        let starts = bench.office.status().pool.starts;
        let pids = bench.pids();
        signal(&pids, "-KILL");
        Self { pids, starts }
    }

    async fn replaced(self, bench: &Bench) {
        until("another process is ready", async || {
            let pool = bench.office.status().pool;
            let left = bench.processes();
            let is_gone = |pid: &u32| left.iter().all(|(known, _)| known != pid);
            self.pids.iter().all(is_gone)
                && pool.starts > self.starts
                && pool.idle > 0
                && pool.starting == 0
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_instant_costs_one_retry() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    assert!(bench.office.warm(Duration::from_secs(60)).await);
    // The first conversion waits for what later ones find ready.
    bench.convert(docx(1499), Target::Pdf).await.unwrap();
    let begin = Instant::now();
    bench.convert(docx(1500), Target::Pdf).await.unwrap();
    let usual = begin.elapsed();
    let bench = Arc::new(bench);
    // From loading to the end of storing. A different document each time: one that crashes twice is
    // refused.
    for part in 0..8 {
        let work = {
            let (bench, document) = (Arc::clone(&bench), docx(1501 + part as usize));
            tokio::spawn(async move { bench.convert(document, Target::Pdf).await })
        };
        busy(&bench).await;
        // Models a crash at that instant.
        tokio::time::sleep(usual * part / 8).await;
        let kill = Kill::now(&bench);
        let made = work.await.unwrap();
        let made = made.unwrap_or_else(|error| panic!("{part}: {error:?}"));
        assert!(made.starts_with(b"%PDF"));
        kill.replaced(&bench).await;
    }
    let retries = bench.office.status().pool.retries;
    // On a machine that was busy before and no longer is, some kills come after everything is done.
    assert!(retries >= 2, "{retries}");
    Arc::into_inner(bench).unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_kills_is_refused() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    assert!(bench.office.warm(Duration::from_secs(60)).await);
    let bench = Arc::new(bench);
    let document = docx(1500);
    let work = {
        let (bench, document) = (Arc::clone(&bench), document.clone());
        tokio::spawn(async move { bench.office.convert(job(document, Target::Pdf, &[])).await })
    };
    busy(&bench).await;
    let mut started = Kill::now(&bench).starts;
    // The second attempt runs once its process has started. A process that is still starting is not
    // killed, because that would be another failure.
    until("the conversion is given up", async || {
        let pool = bench.office.status().pool;
        if pool.starting == 0 && pool.starts > started && pool.in_use > 0 {
            started = Kill::now(&bench).starts;
        }
        work.is_finished()
    })
    .await;
    let error = work.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Crashed { crashes: 2 }), "{error:?}");
    if matches!(error, Error::Crashed { .. }) {
        let again = bench.convert(document, Target::Pdf).await;
        assert!(matches!(again, Err(Error::Crashed { .. })), "{again:?}");
    }
    // Starts that were interrupted delay the next one.
    until("another input is converted", async || {
        bench.convert(docx(2), Target::Pdf).await.is_ok()
    })
    .await;
    Arc::into_inner(bench).unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_process_ends_at_the_deadline() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    assert!(bench.office.warm(Duration::from_secs(60)).await);
    let bench = Arc::new(bench);
    let work = {
        let bench = Arc::clone(&bench);
        tokio::spawn(async move {
            let mut job = job(docx(1500), Target::Pdf, &[]);
            job.timeout = Duration::from_secs(4);
            bench.office.convert(job).await
        })
    };
    busy(&bench).await;
    signal(&bench.pids(), "-STOP");
    let error = work.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    let other = bench.convert(docx(2), Target::Pdf).await;
    assert!(other.is_ok(), "{other:?}");
    Arc::into_inner(bench).unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_frees_its_slot() {
    let Some(bench) = bench(small()).await else {
        return;
    };
    assert!(bench.office.warm(Duration::from_secs(60)).await);
    for part in [1, 50, 200] {
        let work = bench.office.convert(job(docx(1500), Target::Pdf, &[]));
        let gone = tokio::time::timeout(Duration::from_millis(part), work).await;
        drop(gone);
        assert_eq!(bench.office.status().pool.in_use, 0);
    }
    for _ in 0..3 {
        let other = bench.convert(docx(2), Target::Pdf).await;
        assert!(other.is_ok(), "{other:?}");
    }
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_told_at_once() {
    let config = platen_office::Config {
        max_queue: 1,
        ..small()
    };
    let Some(bench) = bench(config).await else {
        return;
    };
    let bench = Arc::new(bench);
    let work: Vec<_> = (0..6)
        .map(|_| {
            let bench = Arc::clone(&bench);
            tokio::spawn(async move { bench.convert(docx(300), Target::Pdf).await })
        })
        .collect();
    let (mut done, mut refused) = (0, 0);
    for work in work {
        match work.await.unwrap() {
            Ok(_) => done += 1,
            Err(Error::QueueFull { .. }) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!((done, refused), (2, 4));
    Arc::into_inner(bench).unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_death_is_told_with_its_reason() {
    let Some(mut bench) = bench(small()).await else {
        return;
    };
    let reported = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&reported);
    bench.office = bench
        .office
        .reporting(move |crash_report| kept.lock().unwrap().push(crash_report.clone()));
    assert!(bench.office.warm(Duration::from_secs(60)).await);
    // Large, so that it takes a while.
    let document = docx(20_000);
    let bench = Arc::new(bench);
    // A process that waits for a job takes no time, but one that starts does.
    until("processes are ready", async || {
        let pool = bench.office.status().pool;
        pool.idle > 0 && pool.starting == 0
    })
    .await;
    let pids = bench.pids();
    let before = ticks(&pids);
    let work = {
        let (bench, document) = (Arc::clone(&bench), document.clone());
        tokio::spawn(async move { bench.convert(document, Target::Pdf).await })
    };
    busy(&bench).await;
    until("it is converted", async || ticks(&pids) > before + 10).await;
    let kill = Kill::now(&bench);
    assert!(work.await.unwrap().is_ok());
    let crashes = std::mem::take(&mut *reported.lock().unwrap());
    assert_eq!(crashes.len(), 1, "{crashes:?}");
    assert!(crashes[0].why.contains("signal: 9"), "{crashes:?}");
    assert_eq!(crashes[0].filter, "MS Word 2007 XML");
    assert_eq!(crashes[0].document_bytes, document.len() as u64);
    assert!(
        crashes[0].phase.is_some() && crashes[0].attempt == 1,
        "{crashes:?}"
    );
    // A document that is not done in time.
    let mut late = job(docx(20_001), Target::Pdf, &[]);
    late.timeout = Duration::from_millis(400);
    kill.replaced(&bench).await;
    assert!(matches!(
        bench.office.convert(late).await,
        Err(Error::Timeout { .. })
    ));
    let crashes = std::mem::take(&mut *reported.lock().unwrap());
    assert!(
        crashes[0].why.contains("timed out after 400 ms"),
        "{crashes:?}"
    );
    Arc::into_inner(bench).unwrap().close().await;
}

//! A long run with crashes: nothing may grow. `cargo test -p platen-office --test it soak --
//! --ignored --nocapture`, with `SOAK_CONVERSIONS` and `SOAK_KILLS` for other numbers than 500 and
//! 20.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use platen_office::{Config, Error, Target};

use crate::fixture::{Bench, bench, docx, flat_sheet, flat_slides, pipes};

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |it| it.parse().unwrap())
}

/// Descriptors, own memory in kilobytes, memory of the processes in kilobytes, files, zombies.
fn state(bench: &Bench) -> [usize; 5] {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let rss = status
        .lines()
        .find_map(|it| it.strip_prefix("VmRSS:"))
        .unwrap();
    let rss = rss.trim().trim_end_matches(" kB").parse().unwrap();
    let zombies = bench.processes().iter().filter(|it| it.1 == 'Z').count();
    let children = usize::try_from(bench.office.status().pool.memory_bytes / 1024).unwrap();
    let mut files = 0;
    let mut folders = vec![bench.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // Profiles belong to the processes; anything else would belong to documents.
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("job-") {
                files += 1;
            } else if entry.file_type().is_ok_and(|it| it.is_dir())
                && name != "profile"
                && name != "template"
            {
                folders.push(entry.path());
            }
        }
    }
    [descriptors, rss, children, files, zombies]
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn nothing_grows() {
    let config = Config {
        slots: 2,
        reserved: 0,
        max_queue: 1000,
        ..Config::default()
    };
    let Some(bench) = bench(config).await else {
        return;
    };
    let (conversions, kills) = (number("SOAK_CONVERSIONS", 500), number("SOAK_KILLS", 20));
    assert!(bench.office.warm(Duration::from_secs(60)).await);
    let bench = Arc::new(bench);
    let next = Arc::new(AtomicUsize::new(0));
    let (done, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let (bench, next) = (bench.clone(), next.clone());
            let (done, failed) = (done.clone(), failed.clone());
            tokio::spawn(async move {
                loop {
                    let turn = next.fetch_add(1, Ordering::SeqCst);
                    if turn >= conversions {
                        return;
                    }
                    let row = format!(r#"<table:table-row><table:table-cell office:value-type="string"><text:p>{turn}</text:p></table:table-cell></table:table-row>"#);
                    let (input, target) = match turn % 5 {
                        0 => (docx(turn), Target::Pdf),
                        1 => (flat_sheet(&row), Target::Xlsx),
                        2 => (flat_slides(), Target::Pdf),
                        3 => (docx(20 + turn), Target::Odt),
                        _ => (docx(1 + turn).slice(..400), Target::Pdf),
                    };
                    match (bench.convert(input, target).await, turn % 5) {
                        (Ok(_), 0..4) | (Err(Error::Damaged), 4) => done.fetch_add(1, Ordering::SeqCst),
                        (Err(Error::Crashed { .. } | Error::CannotStart { .. }), _) => failed.fetch_add(1, Ordering::SeqCst),
                        (other, kind) => panic!("{turn} {kind}: {other:?}"),
                    };
                }
            })
        })
        .collect();
    let mut killed = 0;
    let mut states = Vec::new();
    while next.load(Ordering::SeqCst) < conversions {
        let turn = next.load(Ordering::SeqCst);
        if turn >= (killed + 1) * conversions / (kills + 1) {
            killed += 1;
            if let Some(pid) = bench.pids().first() {
                let _ = std::process::Command::new("kill")
                    .args(["-KILL", &pid.to_string()])
                    .status();
            }
        }
        if turn >= (states.len() + 1) * conversions / 11 {
            states.push(state(&bench));
        }
        // Between two looks at the conversions that are done; each of these has a deadline.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for worker in workers {
        worker.await.unwrap();
    }
    states.push(state(&bench));
    for state in &states {
        eprintln!("descriptors, own kB, LibreOffice kB, files of jobs, zombies: {state:?}");
    }
    let pool = bench.office.status().pool;
    eprintln!(
        "{killed} killed, {} done, {} failed, {} starts, {} retries, {} pipes",
        done.load(Ordering::SeqCst),
        failed.load(Ordering::SeqCst),
        pool.starts,
        pool.retries,
        pipes().len()
    );
    let (first, last) = (states[1], *states.last().unwrap());
    assert_eq!(last[3], 0, "files of jobs are left");
    assert_eq!(last[4], 0, "zombies");
    assert!(last[0] <= first[0] + 20, "descriptors: {first:?} {last:?}");
    assert!(
        last[1] <= first[1] + 50_000,
        "own memory: {first:?} {last:?}"
    );
    assert!(
        failed.load(Ordering::SeqCst) <= kills / 4,
        "killed documents are repeated"
    );
    Arc::into_inner(bench).unwrap().close().await;
    assert!(pipes().is_empty(), "{:?}", pipes());
}

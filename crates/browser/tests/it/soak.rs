//! Five hundred pages with twenty kills among them: nothing may grow. Takes a minute or more, so it
//! only runs on request: `--ignored soak`.

use std::{path::Path, sync::Arc, time::Duration};

use platen_browser::Error;

use crate::bench::{bench, eventually, has_chromium, job, signal, small, text_of};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn folders(folder: &Path) -> usize {
    let roots = std::fs::read_dir(folder).unwrap().flatten();
    let inside = roots.flat_map(|root| std::fs::read_dir(root.path()).into_iter().flatten());
    inside
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .count()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a minute"]
async fn soak() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let (mut answered, mut broken) = (0, 0);
    let mut before = (0, 0);
    for round in 0..250 {
        let pages = (0..2).map(|page| {
            let browser = Arc::clone(&bench.browser);
            let html = format!("<h1>{round}-{page}</h1>{}", "<p>line</p>".repeat(200));
            tokio::spawn(async move { browser.print(job(&html)).await?.bytes().await })
        });
        let pages: Vec<_> = pages.collect();
        if round % 12 == 11 {
            // Models a crash at any instant.
            tokio::time::sleep(Duration::from_millis(round % 40)).await;
            signal(bench.leader(), "KILL");
        }
        for (page, result) in pages.into_iter().enumerate() {
            match result.await.unwrap() {
                Ok(bytes) => {
                    answered += 1;
                    if round % 50 == 0 {
                        assert!(text_of(&bytes).contains(&format!("{round}-{page}")));
                    }
                }
                Err(Error::CrashedMidway) => broken += 1,
                Err(error) => panic!("round {round}: {error:?}"),
            }
        }
        bench.browser.warm(Duration::from_secs(60)).await;
        if round == 50 {
            before = (descriptors(), resident_kib());
        }
    }
    let browser = &bench.browser;
    eventually("at rest", || {
        let pages = browser.status().pages;
        pages.in_use == 0 && pages.children == pages.idle && pages.starting == 0
    })
    .await;
    eventually("descriptors are flat", || descriptors() <= before.0 + 4).await;
    eventually("one folder", || folders(bench.folder.path()) == 1).await;
    let grown = resident_kib().saturating_sub(before.1);
    println!("{answered} answered, {broken} broken midway, {grown} KiB grown since round 50");
    println!("{:?}", browser.status());
    assert_eq!(answered + broken, 500);
    assert!(broken <= 20, "{broken}");
    assert!(grown < 20_000, "{grown} KiB");
    bench.end().await;
}

//! Chromium is killed, stopped or missing; clients disconnect.

use std::{path::PathBuf, sync::Arc, time::Duration};

use platen_browser::{Config, Error, Key, Wait};

use crate::bench::{
    bench, eventually, has_chromium, job, leaders, scripted, signal, small, text_of,
};

#[tokio::test(flavor = "multi_thread")]
async fn without_chromium_the_answer_says_how_to_install_it() {
    let config = Config {
        program: Some(PathBuf::from("/nowhere/chromium")),
        ..small()
    };
    let bench = bench(config);
    let error = bench.bytes(job("<p>text")).await.unwrap_err();
    assert!(matches!(error, Error::NotInstalled(_)), "{error:?}");
    assert!(error.to_string().contains("apt-get install"), "{error}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_chromium_is_told() {
    let config = Config {
        program: Some(PathBuf::from("/bin/false")),
        ..small()
    };
    let bench = bench(config);
    let error = bench.bytes(job("<p>text")).await.unwrap_err();
    assert!(matches!(error, Error::CannotStart { .. }), "{error:?}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_at_many_instants_cost_a_retry_at_most() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let mut answered = 0;
    for round in 0..12_u64 {
        assert!(bench.browser.warm(Duration::from_secs(60)).await);
        let leader = bench.leader();
        let html = format!("<p>round {round}</p>{}", "<p>filler</p>".repeat(2000));
        let pages = (0..2).map(|_| {
            let browser = Arc::clone(&bench.browser);
            let job = job(&html);
            tokio::spawn(async move { browser.print(job).await?.bytes().await })
        });
        let pages: Vec<_> = pages.collect();
        // Models a crash at any instant.
        tokio::time::sleep(Duration::from_millis(round * 15)).await;
        signal(leader, "KILL");
        for page in pages {
            match page.await.unwrap() {
                Ok(bytes) => {
                    assert!(text_of(&bytes).contains(&format!("round {round}")));
                    answered += 1;
                }
                Err(Error::CrashedMidway) => {}
                Err(error) => panic!("round {round}: {error:?}"),
            }
        }
    }
    assert!(answered >= 20, "{answered} of 24");
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chromium_is_replaced_after_its_number_of_pages() {
    if !has_chromium() {
        return;
    }
    let config = Config {
        max_pages: 3,
        ..small()
    };
    let bench = bench(config);
    for number in 0..9 {
        let text = text_of(
            &bench
                .bytes(job(&format!("<p>page {number}")))
                .await
                .unwrap(),
        );
        assert!(text.contains(&format!("page {number}")));
    }
    let processes = bench.browser.status().processes;
    assert!(processes.starts >= 3, "{processes:?}");
    let folder = bench.folder.path().to_owned();
    eventually("former processes are gone", || leaders(&folder) <= 2).await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_while_pages_are_replaced_leaves_no_process() {
    if !has_chromium() {
        return;
    }
    for _ in 0..4 {
        let bench = bench(small());
        assert!(bench.browser.warm(Duration::from_secs(60)).await);
        let mut failing = scripted("<script>throw new Error('broken')</script>");
        failing.page.fail_on_exceptions = true;
        let error = bench.bytes(failing).await.unwrap_err();
        assert!(matches!(error, Error::Exceptions(_)), "{error:?}");
        bench.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_chromium_is_given_up() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    assert!(bench.browser.warm(Duration::from_secs(60)).await);
    signal(bench.leader(), "STOP");
    let mut job = job("<p>text");
    job.timeout = Duration::from_secs(3);
    let error = bench.bytes(job).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_crashes_is_refused_when_it_does_so_again() {
    if !has_chromium() {
        return;
    }
    let config = Config {
        script_heap_mb: 64,
        ..small()
    };
    let bench = bench(config);
    let html = "<script>const all = []; for (;;) all.push({ a: [all.length] })</script>";
    let mut job = scripted(html);
    job.key = Some(Key([9; 32]));
    let error = bench.bytes(job.clone()).await.unwrap_err();
    assert!(matches!(error, Error::Crashed { crashes: 2 }), "{error:?}");
    let starts = bench.browser.status().pages.starts;
    let error = bench.bytes(job).await.unwrap_err();
    assert!(matches!(error, Error::Crashed { .. }), "{error:?}");
    assert!(
        bench.browser.status().pages.starts <= starts + 1,
        "it was not tried again"
    );
    bench.still_works().await;
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_go_away_leave_nothing() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    for delay_ms in [0, 20, 60, 150] {
        let browser = Arc::clone(&bench.browser);
        let mut slow = job(&"<p>text</p>".repeat(3000));
        slow.page.wait = vec![Wait::Delay(Duration::from_millis(100))];
        let client = tokio::spawn(async move { browser.print(slow).await?.bytes().await });
        // Models a client that waits for a while.
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        client.abort();
    }
    let mut printed = bench
        .browser
        .print(job(&"<p>text 123</p>".repeat(8_000)))
        .await
        .unwrap();
    assert!(printed.next().await.unwrap().is_ok());
    drop(printed);
    let browser = &bench.browser;
    eventually("no slot is held", || browser.status().pages.in_use == 0).await;
    bench.still_works().await;
    eventually("no page is left", || bench.renderers() <= 2).await;
    bench.end().await;
}

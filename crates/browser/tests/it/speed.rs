//! How long a page takes, with pages prepared ahead and with pages created on demand. A
//! measurement, so it only runs on request: `--ignored --nocapture speed`.

use std::time::{Duration, Instant};

use crate::bench::{bench_with, has_chromium, job, small};

const ROUNDS: usize = 100;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures"]
async fn speed_of_one_page() {
    if !has_chromium() {
        return;
    }
    let html = invoice();
    let launcher = platen_browser::detect_launcher().await;
    let ahead = bench_with(small(), launcher.clone());
    let mut config = small();
    config.spares = 0;
    let on_demand = bench_with(config, launcher);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + 10 {
        for (index, bench) in [&ahead, &on_demand].into_iter().enumerate() {
            // Models a client that comes occasionally, and finds the spare page ready.
            if index == 0 {
                assert!(bench.browser.warm(Duration::from_secs(30)).await);
            }
            tokio::time::sleep(Duration::from_millis(60)).await;
            let start = Instant::now();
            let bytes = bench.bytes(job(&html)).await.unwrap();
            if round >= 10 {
                times[index].push(start.elapsed().as_secs_f64() * 1e3);
            }
            assert!(bytes.len() > 1000);
        }
    }
    for (name, times) in ["made ahead", "on demand"].iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let at = |part: usize| times[times.len() * part / 100];
        println!(
            "{name}: p50 {:.1} ms, p95 {:.1} ms, least {:.1} ms",
            at(50),
            at(95),
            times[0]
        );
    }
    let start = Instant::now();
    for _ in 0..ROUNDS {
        ahead.bytes(job(&html)).await.unwrap();
    }
    let rate = ROUNDS as f64 / start.elapsed().as_secs_f64();
    println!("one after another without pause: {rate:.1} pages/s");
    ahead.end().await;
    on_demand.end().await;
}

fn invoice() -> String {
    let rows: String = (1..=12)
        .map(|row| {
            format!(
                "<tr><td>Item {row}</td><td>{row}</td><td>{}.00</td></tr>",
                row * 10
            )
        })
        .collect();
    format!(
        "<!doctype html><style>body {{ font: 12px sans-serif }} table {{ width: 100% }} \
         td {{ border-bottom: 1px solid #ccc }}</style><h1>Invoice 7</h1><table>{rows}</table>"
    )
}

//! What children see: their environment, and no network if the machine allows that.

use std::sync::Arc;

use platen_pool::{Config, Lane, Launcher, Pool, Unshare};

use crate::child::{Shell, ask, bench, request};

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_is_cleared_and_the_folder_is_the_childs_own() {
    let bench = bench(Config::default());
    let place = ask(&bench.pool, request(Lane::Batch), "file note.txt")
        .await
        .unwrap();
    assert!(
        place.starts_with(bench.folder.path().to_str().unwrap()),
        "{place}"
    );
    let variables = bench
        .pool
        .run(request(Lane::Batch), |line, _| {
            Box::pin(async move {
                let mut all = vec![line.ask("env").await?];
                while all.last().is_some_and(|last| last != "END") {
                    all.push(line.ask("").await?);
                }
                Ok(all)
            })
        })
        .await
        .unwrap();
    let has = |name: &str| variables.iter().any(|line| line.starts_with(name));
    assert!(has("PATH=") && has("HOME=/") && has("TMPDIR=/"));
    assert!(!has("CARGO"), "{variables:?}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_network_not_even_loopback_is_reached() {
    let Some(launcher) = Unshare::detect().await else {
        let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
        assert!(!all, "this machine has no user and network namespaces");
        println!("SKIP: this machine has no user and network namespaces");
        return;
    };
    assert!(launcher.isolation().network);
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::new(
        Shell::default(),
        Config::default(),
        Arc::new(launcher),
        folder.path(),
    );
    let pool = pool.unwrap();
    assert!(pool.isolation().network);
    let inside = ask(&pool, request(Lane::Batch), "net").await.unwrap();
    let outside = std::fs::read_link("/proc/self/ns/net").unwrap();
    assert!(inside.starts_with("net:["), "{inside}");
    assert_ne!(inside, outside.to_str().unwrap());
    pool.shutdown(std::time::Duration::ZERO).await;
}

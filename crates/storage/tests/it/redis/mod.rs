//! Signals between stores through a real Redis server: who hears whom, restarts, and what the
//! server refuses.

mod server;

use std::{path::PathBuf, time::Duration};

use platen_storage::{PostgresOptions, PostgresStore, Redis, RedisError, Signal};
use tokio::{sync::broadcast::Receiver, time::timeout};

use self::server::Server;
use crate::postgres::{options, server as postgres};

/// What nothing takes unless it hangs.
const LONG: Duration = Duration::from_secs(60);

async fn store(url: &str, redis: &Server) -> PostgresStore {
    let redis = Some(Redis::new(&redis.url(), None).unwrap());
    let options = PostgresOptions { redis, ..options() };
    PostgresStore::open(url, &options).await.unwrap()
}

/// The next signal that says something.
async fn next(signals: &mut Receiver<Signal>) -> Signal {
    loop {
        let signal = timeout(LONG, signals.recv()).await.expect("a signal");
        match signal.unwrap() {
            Signal::Missed => {}
            signal => return signal,
        }
    }
}

/// Waits until the connection of these signals is there.
async fn connected(signals: &mut Receiver<Signal>) {
    let signal = timeout(LONG, signals.recv()).await.expect("a signal");
    assert_eq!(signal.unwrap(), Signal::Missed);
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_of_one_database_hear_each_other_and_no_other() {
    let Some(database) = postgres::shared().await else {
        return;
    };
    let Some(redis) = Server::start(&[]) else {
        return;
    };
    let url = database.database().await;
    let (one, two) = (store(&url, &redis).await, store(&url, &redis).await);
    let stranger = store(&database.database().await, &redis).await;
    let without = PostgresStore::open(&url, &options()).await.unwrap();
    let stores = [&one, &two, &stranger, &without];
    let mut heard = stores.map(|store| store.peers().listen());
    for signals in &mut heard {
        connected(signals).await;
    }
    let long = Signal::Template("k".repeat(200));
    for _ in 0..1_000 {
        one.peers().notify(long.clone());
    }
    one.peers().notify(Signal::Ready("first".to_owned()));
    let [own, other, strange, none] = &mut heard;
    assert_eq!(next(other).await, long);
    while next(other).await != Signal::Ready("first".to_owned()) {}
    // Each hears the others alone: what comes first is what was sent last.
    two.peers().notify(Signal::Published);
    assert_eq!(next(own).await, Signal::Published);
    without.peers().notify(Signal::Flow("f".to_owned()));
    let foreign = store(&url, &redis).await;
    connected(&mut foreign.peers().listen()).await;
    assert!(strange.try_recv().is_err());
    assert!(none.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_restarts_is_connected_to_again() {
    let Some(database) = postgres::shared().await else {
        return;
    };
    let Some(mut redis) = Server::start(&[]) else {
        return;
    };
    let url = database.database().await;
    let (one, two) = (store(&url, &redis).await, store(&url, &redis).await);
    let (mut of_one, mut of_two) = (one.peers().listen(), two.peers().listen());
    connected(&mut of_one).await;
    connected(&mut of_two).await;
    for round in 0..3 {
        redis.kill();
        // Sent by the next connection.
        one.peers().notify(Signal::Ready(format!("away {round}")));
        redis.run();
        connected(&mut of_one).await;
        connected(&mut of_two).await;
        one.peers().notify(Signal::Ready(format!("back {round}")));
        let back = Signal::Ready(format!("back {round}"));
        while next(&mut of_two).await != back {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_refuses_says_what_to_do() {
    let Some(strict) = Server::start(&["--requirepass", "right"]) else {
        return;
    };
    let at = |url: String| async move { Redis::new(&url, None).unwrap().check().await };
    let of = |user: &str| format!("redis://{user}127.0.0.1:{}", strict.port);
    assert_eq!(at(of(":right@")).await, Ok(()));
    for (user, said) in [
        ("", "give user and password"),
        (":wrong@", "check user and"),
    ] {
        match at(of(user)).await {
            Err(RedisError::Refused(message)) => assert!(message.contains(said), "{message}"),
            other => panic!("{user}: {other:?}"),
        }
    }
    let users = "user narrow on >word resetchannels &platen:* -@all +subscribe +publish +ping";
    let narrow: Vec<&str> = std::iter::once("--user")
        .chain(users.split(' ').skip(1))
        .collect();
    let narrow = Server::start(&narrow).unwrap();
    let url = format!("redis://narrow:word@127.0.0.1:{}", narrow.port);
    assert_eq!(at(url).await, Ok(()));
    let deaf = ["--user", "deaf", "on", ">word", "-@all", "+ping"];
    let deaf = Server::start(&deaf).unwrap();
    let url = format!("redis://deaf:word@127.0.0.1:{}", deaf.port);
    match at(url).await {
        Err(RedisError::Refused(message)) => assert!(message.contains("+subscribe"), "{message}"),
        other => panic!("{other:?}"),
    }
    let nobody = at("redis://127.0.0.1:1".to_owned()).await;
    assert!(
        matches!(nobody, Err(RedisError::Unavailable(_))),
        "{nobody:?}"
    );
}

/// Writes a certificate for 127.0.0.1 and its key.
fn certificate(folder: &std::path::Path) -> (PathBuf, PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("tls.pem"), folder.join("tls.key"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (certificate, key)
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_used_and_checked() {
    let files = tempfile::tempdir().unwrap();
    let (certificate, key) = certificate(files.path());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let settings = [
        "--tls-port",
        &port.to_string(),
        "--tls-auth-clients",
        "no",
        "--tls-cert-file",
        certificate.to_str().unwrap(),
        "--tls-key-file",
        key.to_str().unwrap(),
        "--tls-ca-cert-file",
        certificate.to_str().unwrap(),
    ];
    let Some(plain) = Server::start(&settings) else {
        return;
    };
    let url = format!("rediss://127.0.0.1:{port}");
    let known = Redis::new(&url, Some(&certificate)).unwrap();
    assert_eq!(known.check().await, Ok(()));
    let stranger = Redis::new(&url, None).unwrap().check().await;
    match stranger {
        Err(RedisError::Refused(message)) => {
            assert!(message.contains("REDIS_CA_FILE"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    // TLS with a server that speaks none.
    let url = format!("rediss://127.0.0.1:{}", plain.port);
    let failed = Redis::new(&url, Some(&certificate)).unwrap().check().await;
    assert!(failed.is_err());
}

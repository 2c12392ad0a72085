//! `kill -9` of a writing process: acknowledged writes are complete, and no write is partial.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use platen_storage::{NewVersion, SqliteStore};

const CHILD: &str = "PLATEN_STORAGE_KILL_TEST";

/// Content of a version: its number, many times, so that a torn write would show.
fn content(version: u32) -> String {
    format!("{version} ").repeat(2000)
}

/// The process that is killed: it prints each version once it is acknowledged.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let store = SqliteStore::open(folder.as_ref()).unwrap().templates();
    let mut version = store.current_version("t".into()).await.unwrap_or(0);
    loop {
        let new = NewVersion {
            key: "t".to_owned(),
            name: "T".to_owned(),
            source: content(version + 1).into_bytes().into(),
            note: None,
        };
        let info = match version {
            0 => store.create(new).await.unwrap(),
            _ => store.update(new, version).await.unwrap(),
        };
        version = info.version;
        println!("acknowledged {version}");
    }
}

#[tokio::test]
async fn acknowledged_versions_survive() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for round in 0..5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let enough = acknowledged + 20 + round * 7;
        for line in lines.by_ref() {
            let line = line.unwrap();
            if let Some((_, number)) = line.split_once("acknowledged ") {
                acknowledged = number.parse().unwrap();
                if acknowledged >= enough {
                    break;
                }
            }
        }
        // Models a kill in the middle of whatever comes next.
        std::thread::sleep(Duration::from_millis(3));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap().templates();
        let current = store.current_version("t".into()).await.unwrap();
        assert!(current >= acknowledged, "{current} < {acknowledged}");
        for version in 1..=current {
            let stored = store.get("t".into(), Some(version)).await.unwrap();
            assert_eq!(&*stored.source, content(version).as_bytes());
        }
        acknowledged = current;
    }
}

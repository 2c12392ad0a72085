//! A SQLite database with everything that there can be, moved into PostgreSQL.

use std::{path::Path, time::Duration};

use platen_storage::{
    DocumentStore, Error, Listing, NewKey, NewVersion, PostgresStore, RunState, RunStore,
    SqliteStore,
    runs::{Ending, Lane, Lease, NewRun, RunFilter, Scope, Write},
    transfer::{Progress, Start, Transfer},
};

use super::{bytes, new, options, server};

const FLOWS: [&str; 3] = ["f", "größer", "z"];

/// Some bytes, or none.
fn content(random: &mut fastrand::Rng) -> Vec<u8> {
    let length = if random.u8(..) < 8 {
        300_000
    } else {
        random.usize(..60)
    };
    (0..length).map(|_| random.u8(..)).collect()
}

async fn documents(store: &dyn DocumentStore, random: &mut fastrand::Rng) {
    for number in 0..random.usize(3..20) {
        let key = format!("{}-{number}", ["a", "Ä", "b"][number % 3]);
        let mut current = 0;
        for _ in 0..random.usize(1..5) {
            let version = NewVersion {
                key: key.clone(),
                name: format!("Name {number}\n€"),
                source: content(random).into(),
                note: random.bool().then(|| "a note".to_owned()),
            };
            let stored = match current {
                0 => store.create(version).await,
                _ => store.update(version, current).await,
            };
            current = stored.unwrap().version;
            if random.u8(..) < 40 {
                store.delete(key.clone(), current).await.unwrap();
                current = 0;
            }
        }
        if current > 0 && random.bool() {
            let labels = vec!["a label".to_owned(), format!("größe {number}")];
            store.set_labels(key, labels, None).await.unwrap();
        }
    }
}

/// A run in one of the states.
async fn run(store: &dyn RunStore, id: &str, random: &mut fastrand::Rng) {
    let flow = FLOWS[random.usize(..3)].to_owned();
    let accepted = NewRun {
        flow,
        lane: if random.bool() {
            Lane::Sync
        } else {
            Lane::Async
        },
        trigger: content(random).into(),
        definition: random.bool().then(|| content(random).into()),
        idempotency: random.bool().then(|| (format!("key-{id}"), vec![1, 2])),
        deadline_ms: random.bool().then(|| random.u64(..)),
        retry_of: random.bool().then(|| "former".to_owned()),
        trace: random.bool().then(|| format!("trace-{id}")),
        journal: random.bool().then(|| bytes("first")),
        ..new(id)
    };
    store.accept(accepted).await.unwrap();
    let stage = random.u8(..8);
    if stage == 0 {
        return;
    }
    let lease = Lease {
        worker: "w".to_owned(),
        now_ms: 2_000,
        until_ms: 5_000,
    };
    let epoch = store.claim(id.to_owned(), lease).await.unwrap().run.epoch;
    let write = |records: Option<Vec<u8>>| Write {
        id: id.to_owned(),
        epoch,
        now_ms: 3_000,
        records: records.map(Into::into),
    };
    store.append(write(Some(content(random)))).await.unwrap();
    let (key, value) = (format!("k{}", random.u8(..5)), content(random));
    let scope = if random.bool() {
        Scope::Flow
    } else {
        Scope::Shared
    };
    let put = store.put_value(write(None), scope, key, Some(value.into()));
    put.await.unwrap();
    let ending = |state| Ending {
        state,
        answer: Some(bytes("answer")),
        details: bytes("{}"),
    };
    match stage {
        1 => {}
        2 => {
            let wake = random.bool().then(|| random.u64(..));
            store.suspend(write(None), wake).await.unwrap();
        }
        // A callback that the worker does not know of yet.
        3 => {
            // A run that began with a journal has an entry like that of a callback.
            let seen = store.callbacks(id.to_owned()).await.unwrap();
            let token = format!("token-{id}");
            let called = store.call_back(id.to_owned(), token, bytes("called"), seen);
            called.await.unwrap();
        }
        4 => store.respond(write(None), bytes("early")).await.unwrap(),
        5 => store.release(write(None)).await.unwrap(),
        6 => store
            .finish(write(None), ending(RunState::Failed))
            .await
            .unwrap(),
        _ => store
            .finish(write(None), ending(RunState::Succeeded))
            .await
            .unwrap(),
    }
}

async fn fill(store: &SqliteStore, random: &mut fastrand::Rng, runs: usize) {
    documents(&*store.templates(), random).await;
    documents(&*store.flows(), random).await;
    documents(&*store.assets(), random).await;
    let keys = store.keys();
    for number in 0..random.usize(0..5) {
        keys.create(NewKey {
            id: format!("id{number}"),
            name: "Key ✓".to_owned(),
            hash: [random.u8(..); 32],
            roles: "viewer".to_owned(),
            scopes: "render".to_owned(),
            requests_per_minute: random.bool().then(|| random.u32(..)),
            created_by: "admin key 1".to_owned(),
            expires_unix_ms: random.bool().then(|| random.i64(..)),
        })
        .await
        .unwrap();
    }
    let used = keys.note_uses(vec![("id0".to_owned(), 7)]);
    used.await.unwrap();
    let records = store.runs();
    for flow in FLOWS {
        records.publish(flow.to_owned(), Some(3)).await.unwrap();
        if random.bool() {
            let saved = records.save_cursor(flow.to_owned(), bytes("cursor"));
            saved.await.unwrap();
        }
    }
    for number in 0..runs {
        run(&*records, &format!("r{number}"), random).await;
    }
    // Some were lost twice.
    for _ in 0..2 {
        for lost in records.expire_leases(6_000, 2, 3).await.unwrap() {
            let lease = Lease {
                worker: "v".to_owned(),
                now_ms: 2_000,
                until_ms: 5_000,
            };
            if !lost.dead {
                records.claim(lost.queued.id, lease).await.unwrap();
            }
        }
    }
}

async fn same_documents(one: &dyn DocumentStore, other: &dyn DocumentStore) {
    let listed = one.list(Listing::page(None, 1_000)).await.unwrap();
    assert_eq!(
        listed,
        other.list(Listing::page(None, 1_000)).await.unwrap()
    );
    for document in listed.documents {
        let key = || document.key.clone();
        let versions = one.versions(key(), None, 100).await.unwrap();
        assert_eq!(versions, other.versions(key(), None, 100).await.unwrap());
        for version in versions {
            let read = one.get(key(), Some(version.version)).await.unwrap();
            let found = other.get(key(), Some(version.version)).await.unwrap();
            assert_eq!(read, found);
        }
    }
}

async fn same_runs(one: &dyn RunStore, other: &dyn RunStore) {
    assert_eq!(one.counts().await.unwrap(), other.counts().await.unwrap());
    let published = one.published().await.unwrap();
    assert_eq!(published, other.published().await.unwrap());
    let filter = || RunFilter {
        since_ms: None,
        until_ms: None,
        flow: None,
        state: None,
        before: None,
        limit: 10_000,
    };
    let runs = one.list(filter()).await.unwrap();
    assert_eq!(runs, other.list(filter()).await.unwrap());
    for run in runs {
        let journal = one.journal(run.id.clone()).await.unwrap();
        assert_eq!(journal, other.journal(run.id.clone()).await.unwrap());
        // A list has no long values.
        let whole = one.get(run.id.clone()).await.unwrap();
        assert_eq!(whole, other.get(run.id).await.unwrap());
    }
}

/// Moves, and is interrupted at random moments; returns how often.
async fn interrupted(folder: &Path, url: &str, random: &mut fastrand::Rng) -> usize {
    let mut interruptions = 0;
    loop {
        let transfer = Transfer::open(folder, url, &options()).await.unwrap();
        let start = Start {
            source: transfer.fingerprint().unwrap(),
            files: String::new(),
            replaces_nul: false,
        };
        match transfer.progress().await.unwrap() {
            Progress::Empty => transfer.begin(&start).await.unwrap(),
            Progress::Begun(found) => assert_eq!(found, start),
            other => panic!("{other:?}"),
        }
        let limit = Duration::from_millis(random.u64(1..40) + 10 * interruptions as u64);
        let run = transfer.run(false, |_, _| {});
        let end = tokio::time::timeout(limit, run).await;
        let refused = PostgresStore::open(url, &options()).await;
        assert!(matches!(refused, Err(Error::Unfinished)));
        match end {
            Ok(done) => done.unwrap(),
            Err(_) => {
                interruptions += 1;
                continue;
            }
        }
        for table in transfer.compare(false).await.unwrap() {
            assert!(table.is_same(), "{table:?}");
        }
        transfer.finish().await.unwrap();
        return interruptions;
    }
}

#[tokio::test]
async fn whatever_there_is_is_the_same_afterwards() {
    let Some(server) = server::shared().await else {
        return;
    };
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let folder = tempfile::tempdir().unwrap();
        let source = SqliteStore::open(folder.path()).unwrap();
        fill(&source, &mut random, 150).await;
        drop(source);
        let url = server.database().await;
        let interruptions = interrupted(folder.path(), &url, &mut random).await;
        eprintln!("seed {seed}: {interruptions} interruptions");
        let source = SqliteStore::open(folder.path()).unwrap();
        let target = PostgresStore::open(&url, &options()).await.unwrap();
        same_documents(&*source.templates(), &*target.templates()).await;
        same_documents(&*source.flows(), &*target.flows()).await;
        same_documents(&*source.assets(), &*target.assets()).await;
        let (old, moved) = (source.keys(), target.keys());
        let keys = old.list().await.unwrap();
        assert_eq!(keys, moved.list().await.unwrap());
        let (old, moved) = (source.runs(), target.runs());
        same_runs(&*old, &*moved).await;
        // Both go on in the same way: numbers, leases, positions of journals.
        for store in [&old, &moved] {
            let mut lost = store.expire_leases(6_000, 2, 1_000).await.unwrap();
            lost.sort_unstable_by_key(|one| one.queued.number);
            store.accept(new("later")).await.unwrap();
            store.wake(i64::MAX as u64 - 1, 1_000).await.unwrap();
        }
        let queued = old.queued(0, 1_000).await.unwrap();
        let found = moved.queued(0, 1_000).await.unwrap();
        let ids = |queued: &[platen_storage::runs::Queued]| -> Vec<String> {
            queued.iter().map(|one| one.id.clone()).collect()
        };
        assert_eq!(ids(&queued), ids(&found));
        for one in queued.into_iter().take(20) {
            for store in [&old, &moved] {
                let lease = Lease {
                    worker: "w".to_owned(),
                    now_ms: 7_000,
                    until_ms: 9_000,
                };
                let claimed = store.claim(one.id.clone(), lease).await.unwrap();
                let write = Write {
                    id: one.id.clone(),
                    epoch: claimed.run.epoch,
                    now_ms: 8_000,
                    records: Some(bytes("last")),
                };
                store.append(write).await.unwrap();
            }
            let journal = old.journal(one.id.clone()).await.unwrap();
            assert_eq!(journal, moved.journal(one.id).await.unwrap());
        }
    }
}

#[tokio::test]
async fn differences_are_found_and_nul_is_named() {
    let Some(server) = server::shared().await else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let source = SqliteStore::open(folder.path()).unwrap();
    let mut random = fastrand::Rng::with_seed(7);
    fill(&source, &mut random, 20).await;
    let version = NewVersion {
        key: "nul".to_owned(),
        name: "a\0b".to_owned(),
        source: b"{}"[..].into(),
        note: None,
    };
    source.templates().create(version).await.unwrap();
    drop(source);
    let plan = Transfer::plan(folder.path()).unwrap();
    assert_eq!(plan.replaceable, [("template_versions.name".to_owned(), 1)]);
    assert_eq!(plan.irreplaceable, []);
    let name = server.database_name().await;
    let url = server.url(&name);
    let transfer = Transfer::open(folder.path(), &url, &options())
        .await
        .unwrap();
    let refused = transfer.run(false, |_, _| {}).await;
    assert!(matches!(refused, Err(Error::Nul)), "{refused:?}");
    transfer.run(true, |_, _| {}).await.unwrap();
    let same = transfer.compare(true).await.unwrap();
    assert!(same.iter().all(|table| table.is_same()), "{same:?}");
    for (table, change) in [
        (
            "templates",
            "UPDATE templates SET last = last + 1 WHERE key = 'nul'",
        ),
        (
            "journal",
            "DELETE FROM journal WHERE ctid = (SELECT min(ctid) FROM journal)",
        ),
        ("kept", "INSERT INTO kept VALUES ('f', 'stray', 'x')"),
    ] {
        server.execute(&name, change).await;
        let found = transfer.compare(true).await.unwrap();
        let found = found.into_iter().find(|it| it.name == table).unwrap();
        assert!(!found.is_same() && found.difference.is_some(), "{found:?}");
    }
    transfer.forget().await.unwrap();
    assert_eq!(transfer.progress().await.unwrap(), Progress::Empty);
}

/// Writes runs by the million into SQLite, and says how long they take to move.
#[tokio::test]
#[ignore = "takes minutes"]
async fn speed() {
    let Some(server) = server::shared().await else {
        return;
    };
    let count: usize = std::env::var("RUNS").map_or(1_000_000, |it| it.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let source = SqliteStore::open(folder.path()).unwrap();
    let runs = source.runs();
    for first in (0..count).step_by(2_000) {
        let lives = (first..count.min(first + 2_000)).map(|number| {
            let trigger = vec![b'x'; 600];
            runs.accept(NewRun {
                trigger: trigger.into(),
                journal: Some(bytes("a journal record of some length")),
                ..new(&format!("r{number}"))
            })
        });
        for life in lives.collect::<Vec<_>>() {
            life.await.unwrap();
        }
    }
    drop((runs, source));
    let url = server.database().await;
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS"))
            .unwrap();
        line.to_owned()
    };
    eprintln!("before: {}", memory());
    let transfer = Transfer::open(folder.path(), &url, &options())
        .await
        .unwrap();
    let begin = std::time::Instant::now();
    transfer.run(false, |_, _| {}).await.unwrap();
    eprintln!("moved {count} in {:?}: {}", begin.elapsed(), memory());
    let begin = std::time::Instant::now();
    let same = transfer.compare(false).await.unwrap();
    assert!(same.iter().all(|table| table.is_same()));
    eprintln!("compared in {:?}: {}", begin.elapsed(), memory());
}

//! Copies of a database that is written meanwhile, and versions of schemas.

use std::{
    fs,
    os::unix::fs::FileExt,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use platen_storage::{Error, Listing, NewVersion, SqliteStore};

fn document(number: u32) -> NewVersion {
    NewVersion {
        key: format!("t{number:06}"),
        name: "Template".to_owned(),
        source: vec![b'x'; 3_000].into(),
        note: None,
    }
}

fn count(store: &SqliteStore) -> u32 {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listed = runtime.block_on(store.templates().list(Listing::page(None, 1_000_000)));
    let listed = listed.unwrap().documents;
    for (number, found) in listed.iter().enumerate() {
        assert_eq!(found.key, document(number as u32).key, "a gap");
    }
    listed.len() as u32
}

#[test]
fn a_copy_is_a_state_that_was_committed_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let templates = store.templates();
            while !stop.load(Ordering::SeqCst) {
                let next = acknowledged.load(Ordering::SeqCst);
                runtime.block_on(templates.create(document(next))).unwrap();
                acknowledged.store(next + 1, Ordering::SeqCst);
            }
        });
        for _ in 0..5 {
            let before = acknowledged.load(Ordering::SeqCst);
            let copies = tempfile::tempdir().unwrap();
            let target = copies.path().join("platen.db");
            let version = SqliteStore::copy(folder.path(), &target).unwrap();
            let after = acknowledged.load(Ordering::SeqCst);
            let versions = SqliteStore::schema_versions(folder.path()).unwrap();
            assert_eq!((version, versions.found), (versions.known, versions.known));
            let copied = count(&SqliteStore::open(copies.path()).unwrap());
            // One more may be committed and not yet acknowledged.
            assert!(
                (before..=after + 1).contains(&copied),
                "{before} {copied} {after}"
            );
            let already = acknowledged.load(Ordering::SeqCst);
            while acknowledged.load(Ordering::SeqCst) < already + 20 {
                std::thread::yield_now();
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
}

#[test]
fn damaged_copies_are_noticed_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for number in 0..50 {
        let created = runtime.block_on(store.templates().create(document(number)));
        created.unwrap();
    }
    let target = folder.path().join("copy.db");
    SqliteStore::copy(folder.path(), &target).unwrap();
    assert!(SqliteStore::copy(folder.path(), &target).is_err());
    assert!(SqliteStore::check_copy(&target).is_ok());
    let file = fs::OpenOptions::new().write(true).open(&target).unwrap();
    let middle = file.metadata().unwrap().len() / 2;
    file.write_all_at(&[0xff; 8_192], middle).unwrap();
    let damaged = SqliteStore::check_copy(&target);
    assert!(
        matches!(damaged, Err(Error::Damaged(_) | Error::Database(_))),
        "{damaged:?}"
    );
    assert!(SqliteStore::copy(&folder.path().join("missing"), &target).is_err());
}

#[test]
fn a_schema_is_required_without_creating_anything() {
    let folder = tempfile::tempdir().unwrap();
    let versions = SqliteStore::schema_versions(folder.path()).unwrap();
    assert_eq!(versions.found, 0);
    let missing = SqliteStore::require_current(folder.path()).unwrap_err();
    assert!(
        missing.to_string().contains("platen migrate apply"),
        "{missing}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(SqliteStore::open(folder.path()).unwrap());
    SqliteStore::require_current(folder.path()).unwrap();
    let pending = SqliteStore::migrations_after(0);
    assert_eq!(pending.len() as u32, versions.known);
    assert!(SqliteStore::migrations_after(versions.known).is_empty());
    assert!(SqliteStore::migrations_after(versions.known + 1).is_empty());
}

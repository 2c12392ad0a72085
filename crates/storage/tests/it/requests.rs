//! The contract of every [`RequestFiles`].

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use platen_storage::blobs::{BlobError, RequestBucket, RequestFiles, RequestFolder, RequestLimits};

use crate::s3::place::place;

const WEEK: Duration = Duration::from_secs(7 * 86_400);
const PATIENCE: Duration = Duration::from_secs(30);

fn limits(max_requests: usize, max_bytes: u64) -> RequestLimits {
    RequestLimits {
        max_requests,
        max_bytes,
        retention: WEEK,
        done_retention: Duration::from_secs(600),
    }
}

fn put(store: &dyn RequestFiles, content: &[u8]) -> Result<String, BlobError> {
    let size_bytes = content.len() as u64;
    store.put(size_bytes, &mut |target| target.write_all(content))
}

fn read(store: &dyn RequestFiles, name: &str) -> Result<Vec<u8>, BlobError> {
    let mut content = Vec::new();
    store.open(name, PATIENCE)?.read_to_end(&mut content)?;
    Ok(content)
}

#[track_caller]
fn gone(store: &dyn RequestFiles, name: &str) {
    let found = read(store, name);
    assert!(
        matches!(found, Err(BlobError::NotFound)),
        "{name}: {found:?}"
    );
}

/// Checks stores of one place. `age` makes all that is there two weeks old.
fn contract(open: &dyn Fn(RequestLimits) -> Box<dyn RequestFiles>, age: &dyn Fn()) {
    let large = limits(1_000, 1 << 30);
    let store = open(large);
    let content = vec![7; 3 << 20];
    for content in [&b""[..], b"body", &content] {
        let name = put(&*store, content).unwrap();
        for has_failed in [true, false, true] {
            // Another service, or this one after a restart.
            assert!(read(&*open(large), &name).unwrap() == content);
            store.end(&name, has_failed);
        }
        assert!(read(&*store, &name).unwrap() == content, "a retry finds it");
    }
    let name = put(&*store, b"removed").unwrap();
    store.remove(&name);
    gone(&*store, &name);
    for bad in ["../other", "", ".", "a", "../../../../../etc/pwd"] {
        gone(&*store, bad);
    }
    // Whoever cannot write it stores nothing.
    let broken = store.put(1, &mut |_| Err(std::io::Error::other("no disk")));
    assert!(matches!(broken, Err(BlobError::Failed(_))), "{broken:?}");

    // However long it has waited, what was executed is kept for a while.
    let late = put(&*store, b"late").unwrap();
    age();
    store.end(&late, false);
    store.sweep();
    assert_eq!(read(&*store, &late).unwrap(), b"late");

    // What was executed makes room as it ages, and what waits does not.
    let names = ["failed", "done", "waiting"].map(|text| put(&*store, text.as_bytes()).unwrap());
    store.end(&names[0], true);
    store.end(&names[1], false);
    store.sweep();
    assert!(names.iter().all(|name| read(&*store, name).is_ok()));
    age();
    store.sweep();
    gone(&*store, &names[0]);
    gone(&*store, &names[1]);
    assert_eq!(read(&*store, &names[2]).unwrap(), b"waiting");

    // Only what has expired and still waits is given up for room.
    let small = open(limits(3, 1 << 30));
    let first = put(&*small, b"one").unwrap();
    let second = put(&*small, b"two").unwrap();
    let third = put(&*open(limits(3, 1 << 30)), b"three").unwrap();
    gone(&*small, &names[2]);
    let is_full = |result| matches!(result, Err(BlobError::Full { .. }));
    let put_new = || put(&*open(limits(3, 1 << 30)), b"four");
    assert!(is_full(put_new()), "by number");
    assert!(is_full(put(&*open(limits(1_000, 12)), b"more")), "by size");
    small.end(&second, true);
    let fourth = put_new().unwrap();
    gone(&*small, &second);
    for (name, content) in [(first, &b"one"[..]), (third, b"three"), (fourth, b"four")] {
        assert_eq!(read(&*small, &name).unwrap(), content);
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => files(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

fn age(folder: &Path) {
    let mut found = Vec::new();
    files(folder, &mut found);
    for path in found {
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - 2 * WEEK).unwrap();
    }
}

#[test]
fn folders_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("deferred");
    contract(
        &|limits| Box::new(RequestFolder::new(place.clone(), limits)),
        &|| age(&place),
    );
}

#[test]
fn buckets_keep_the_contract() {
    let Some(place) = place() else { return };
    contract(
        &|limits| Box::new(RequestBucket::new(place.bucket(), place.cache(), limits)),
        &|| age(&place.folder()),
    );
}

#[test]
fn a_damaged_request_is_not_executed() {
    let Some(place) = place() else { return };
    let store = RequestBucket::new(place.bucket(), place.cache(), limits(10, 1_000));
    let name = put(&store, b"body").unwrap();
    fs::write(place.file("deferred/requests").join(&name), b"bodz").unwrap();
    let found = read(&store, &name);
    assert!(matches!(found, Err(BlobError::Damaged(_))), "{found:?}");
}

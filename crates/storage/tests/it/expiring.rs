//! Expiring blobs in a folder that several stores share, as processes do.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use platen_storage::blobs::{BlobError, ExpiringBlobs, Kept, Usage};

const BLOCK: u64 = 4_096;

fn open(folder: &Path, quota_bytes: u64) -> Arc<ExpiringBlobs> {
    let store = ExpiringBlobs::open(folder, quota_bytes).unwrap();
    store.sweep(SystemTime::now()).unwrap();
    Arc::new(store)
}

fn put(store: &Arc<ExpiringBlobs>, content: &[u8], seconds: u64) -> Result<Kept, BlobError> {
    store.put([content].into_iter(), after(seconds))
}

fn after(seconds: u64) -> SystemTime {
    SystemTime::now() + Duration::from_secs(seconds)
}

fn usage(files: u64, blocks: u64) -> Usage {
    Usage {
        files,
        size_bytes: blocks * BLOCK,
    }
}

fn files(folder: &Path) -> usize {
    // One of the files is the lock.
    fs::read_dir(folder).unwrap().count() - 1
}

#[test]
fn the_same_content_is_there_once_and_ends_at_the_later_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), 100 * BLOCK);
    let first = put(&store, b"content", 100).unwrap();
    assert_eq!(
        first.digest,
        "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    );
    assert!(first.is_new);
    let mut draft = store.begin().unwrap();
    draft.write(b"con").unwrap();
    draft.write(b"tent").unwrap();
    let second = draft.finish(after(200)).unwrap();
    assert_eq!(
        (&second.digest, second.size_bytes, second.is_new),
        (&first.digest, 7, false)
    );
    assert!(!put(&store, b"content", 50).unwrap().is_new);
    assert_eq!((files(folder.path()), store.usage()), (1, usage(1, 1)));
    assert_eq!(store.sweep(after(150)).unwrap(), usage(0, 0));
    assert_eq!(store.size_bytes(&first.digest).unwrap(), 7);
    let file = store.file(&first.digest).unwrap();
    assert_eq!(store.sweep(after(250)).unwrap(), usage(1, 1));
    assert!(matches!(
        store.size_bytes(&first.digest),
        Err(BlobError::NotFound)
    ));
    assert_eq!(std::io::read_to_string(file).unwrap(), "content");
    assert_eq!((files(folder.path()), store.usage()), (0, usage(0, 0)));
    for bad in ["", ".lock", "../a", &first.digest[1..]] {
        assert!(matches!(store.size_bytes(bad), Err(BlobError::NotFound)));
        assert!(store.file(bad).is_err(), "{bad}");
    }
}

#[test]
fn there_is_room_again_once_something_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), 3 * BLOCK);
    put(&store, b"short", 10).unwrap();
    put(&store, &[1; 5_000], 1_000).unwrap();
    let full = |result: Result<Kept, BlobError>| matches!(result, Err(BlobError::Full { .. }));
    assert!(full(put(&store, b"more", 10)));
    assert!(!put(&store, b"short", 10).unwrap().is_new, "it is there");
    let mut draft = store.begin().unwrap();
    assert!(draft.write(b"streamed").is_err());
    drop(draft);
    assert_eq!((files(folder.path()), store.usage()), (2, usage(2, 3)));
    assert_eq!(store.sweep(after(20)).unwrap(), usage(1, 1));
    let mut draft = store.begin().unwrap();
    draft.write(b"streamed").unwrap();
    assert!(full(put(&store, b"more", 10)), "what is unfinished counts");
    drop(draft);
    put(&store, b"more", 10).unwrap();
    assert_eq!((files(folder.path()), store.usage()), (2, usage(2, 3)));
}

#[test]
fn stores_that_share_a_folder_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        open(folder.path(), 4 * BLOCK),
        open(folder.path(), 4 * BLOCK),
    );
    let digest = put(&one, b"one", 100).unwrap().digest;
    assert_eq!(other.size_bytes(&digest).unwrap(), 3);
    assert!(!put(&other, b"one", 200).unwrap().is_new);
    assert_eq!(one.sweep(after(150)).unwrap(), usage(0, 0));
    let mut unfinished = one.begin().unwrap();
    unfinished.write(&[7; 5_000]).unwrap();
    other.sweep(SystemTime::now()).unwrap();
    assert!(put(&other, &[8; 5_000], 100).is_err(), "it counts for all");
    put(&other, b"other", 100).unwrap();
    unfinished.finish(after(100)).unwrap();
    one.sweep(SystemTime::now()).unwrap();
    assert_eq!((files(folder.path()), one.usage()), (3, usage(3, 4)));
}

#[test]
fn what_a_crash_left_goes_and_what_is_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".new-1-0000000000000000-0");
    fs::write(&left, b"left").unwrap();
    fs::write(folder.path().join("notes.txt"), b"somebody's").unwrap();
    let store = open(folder.path(), 100 * BLOCK);
    assert_eq!(store.usage(), usage(0, 1));
    let mut draft = store.begin().unwrap();
    draft.write(b"mine").unwrap();
    assert_eq!(store.sweep(after(4_000)).unwrap(), usage(1, 1));
    assert!(!left.exists());
    let kept = draft.finish(after(5_000)).unwrap();
    assert_eq!(store.size_bytes(&kept.digest).unwrap(), 4);
    assert!(folder.path().join("notes.txt").exists());
    // As a loss of power may leave it.
    fs::write(folder.path().join(&kept.digest), b"m").unwrap();
    put(&store, b"mine", 5_000).unwrap();
    assert_eq!(
        store.size_bytes(&kept.digest).unwrap(),
        4,
        "it is whole again"
    );
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Content that is stored again and again while other stores sweep it never disappears once it was
/// reported as stored.
#[test]
fn a_sweep_never_takes_what_was_just_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        open(folder.path(), 1_000 * BLOCK),
        open(folder.path(), 1_000 * BLOCK),
    );
    let past = SystemTime::now() - Duration::from_secs(10);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                other.sweep(SystemTime::now()).unwrap();
            }
        });
        let _ends_the_thread = SetOnDrop(&done);
        for _ in 0..300 {
            let kept = one.put([&b"content"[..]].into_iter(), past).unwrap();
            put(&one, b"content", 100).unwrap();
            assert_eq!(one.size_bytes(&kept.digest).unwrap(), 7);
            let file = one.file(&kept.digest).unwrap();
            file.set_modified(past).unwrap();
        }
    });
}

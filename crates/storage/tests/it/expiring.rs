//! The contract of every [`ExpiringBlobs`], and what holds in a folder that several stores share, as
//! processes do, or in a bucket.

use std::{
    fs,
    os::unix::fs::FileExt,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use platen_storage::blobs::{
    BlobError, ExpiringBlobs, ExpiringBucket, ExpiringFolder, Found, Kept, Presentation, Usage,
};

use crate::s3::{place::place, server};

const BLOCK: u64 = 4_096;
const HOUR: u64 = 3_600;

fn open(folder: &Path, quota_bytes: u64) -> ExpiringFolder {
    let store = ExpiringFolder::open(folder, quota_bytes).unwrap();
    store.sweep(SystemTime::now()).unwrap();
    store
}

fn put(store: &dyn ExpiringBlobs, content: &[u8], seconds: u64) -> Result<Kept, BlobError> {
    store.put(&[content], after(seconds))
}

fn content_of(found: &Found) -> Vec<u8> {
    let mut bytes = vec![0; found.size_bytes as usize];
    found.file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

fn size_bytes(store: &dyn ExpiringBlobs, digest: &str) -> Result<u64, BlobError> {
    store.open(digest, after(0)).map(|found| found.size_bytes)
}

/// Checks stores at one place, each with a quota and without anything in memory.
fn contract(open: &dyn Fn(u64) -> Box<dyn ExpiringBlobs>) {
    let is_full = |result: Result<Kept, BlobError>| matches!(result, Err(BlobError::Full { .. }));
    let store = open(4 * BLOCK);
    let ends = after(10 * HOUR);
    let first = store.put(&[b"con", b"", b"tent"], ends).unwrap();
    assert_eq!(
        first.digest,
        "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    );
    assert_eq!((first.size_bytes, first.is_new), (7, true));
    let mut draft = store.begin().unwrap();
    draft.write(b"con").unwrap();
    draft.write(b"tent").unwrap();
    let second = draft.finish(ends).unwrap();
    assert_eq!((&second.digest, second.is_new), (&first.digest, false));
    assert_eq!(store.usage(), usage(1, 1));
    for content in [&b""[..], &[1; 5_000]] {
        let kept = store.put(&[content], ends).unwrap();
        assert_eq!(
            content_of(&open(0).open(&kept.digest, ends).unwrap()),
            content
        );
    }
    // Whoever wants it until an earlier or a later time finds it, each until then.
    let large = open(100 * BLOCK);
    large.put(&[b"content"], after(2 * HOUR)).unwrap();
    let late = after(30 * HOUR);
    large.put(&[b"content"], late).unwrap();
    assert_eq!(open(0).sweep(after(HOUR)).unwrap(), usage(0, 0));
    assert_eq!(
        content_of(&open(0).open(&first.digest, after(2 * HOUR)).unwrap()),
        b"content"
    );
    // The store is full; what is there needs no room.
    assert!(is_full(store.put(&[b"more"], ends)));
    assert!(!store.put(&[b"content"], late).unwrap().is_new);
    let mut draft = store.begin().unwrap();
    assert!(matches!(
        draft.write(b"streamed"),
        Err(BlobError::Full { .. })
    ));
    drop(draft);
    // There is room again once something has expired.
    assert!(open(0).has(&first.digest, late).unwrap());
    let reader = open(0).open(&first.digest, late).unwrap();
    open(0).sweep(after(20 * HOUR)).unwrap();
    store.sweep(after(20 * HOUR)).unwrap();
    assert_eq!(store.usage(), usage(1, 1));
    assert_eq!(
        content_of(&open(0).open(&first.digest, late).unwrap()),
        b"content"
    );
    let mut draft = store.begin().unwrap();
    draft.write(&[2; 3 * BLOCK as usize]).unwrap();
    assert!(
        is_full(store.put(&[b"more"], ends)),
        "what is unfinished counts"
    );
    drop(draft);
    store.put(&[b"more"], ends).unwrap();
    store.sweep(after(50 * HOUR)).unwrap();
    assert_eq!(store.usage(), usage(0, 0));
    assert!(matches!(
        open(0).open(&first.digest, late),
        Err(BlobError::NotFound)
    ));
    assert_eq!(content_of(&reader), b"content", "it was open");
    assert!(!store.has(&first.digest, late).unwrap());
    for bad in ["", ".lock", "../a", &first.digest[1..]] {
        assert!(!store.has(bad, late).unwrap());
        let opened = store.open(bad, late);
        assert!(matches!(opened, Err(BlobError::NotFound)), "{bad}");
    }
}

#[test]
fn folders_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    contract(&|quota_bytes| Box::new(open(folder.path(), quota_bytes)));
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn buckets_keep_the_contract() {
    let Some(place) = place() else { return };
    contract(&|quota_bytes| {
        let store = ExpiringBucket::new(place.bucket(), place.cache(), quota_bytes);
        store.sweep(SystemTime::now()).unwrap();
        Box::new(store)
    });
}

#[test]
fn a_link_leads_to_the_bucket() {
    let Some(place) = place() else { return };
    let store = ExpiringBucket::new(place.bucket(), place.cache(), 100 * BLOCK);
    let ends = after(HOUR);
    let kept = store.put(&[b"content"], ends).unwrap();
    let presentation = Presentation {
        media_type: "text/plain; charset=utf-8",
        disposition: "attachment; filename=\"a b.txt\"; filename*=UTF-8''%C3%A4.txt",
    };
    let life = Duration::from_secs(60);
    let link = store.link(&kept.digest, ends, &presentation, life).unwrap();
    let (status, answer) = server::get(&link);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.ends_with("content"), "{answer}");
    let head = answer.to_lowercase();
    assert!(
        head.contains("content-type: text/plain; charset=utf-8"),
        "{answer}"
    );
    assert!(head.contains("filename=\"a b.txt\""), "{answer}");
    let changed = link.replace("a%20b.txt", "other.txt");
    assert_ne!(changed, link);
    assert_eq!(server::get(&changed).0, 403);
}

#[test]
fn damage_in_a_bucket_is_seen() {
    let Some(place) = place() else { return };
    let store = ExpiringBucket::new(place.bucket(), place.cache(), 100 * BLOCK);
    let ends = after(HOUR);
    let kept = store.put(&[b"content"], ends).unwrap();
    let step = fs::read_dir(place.file("results")).unwrap().next().unwrap();
    let file = step.unwrap().path().join(&kept.digest);
    for wrong in [&b"changed"[..], b"cont", b""] {
        fs::write(&file, wrong).unwrap();
        let opened = store.open(&kept.digest, ends);
        assert!(
            matches!(&opened, Err(BlobError::Damaged(it)) if *it == kept.digest),
            "{opened:?}"
        );
    }
}

/// A hundred objects of several pages' worth of time are gone after a sweep, however many services
/// sweep at once, and what is wanted longer stays.
#[test]
fn services_sweep_a_bucket_together() {
    let Some(place) = place() else { return };
    let open = || ExpiringBucket::new(place.bucket(), place.cache(), 1_000 * BLOCK);
    let stores: Vec<_> = (0..3).map(|_| open()).collect();
    let alive = put(&stores[0], b"alive", 100 * HOUR).unwrap();
    std::thread::scope(|scope| {
        for (index, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..40 {
                    let content = format!("{index} {round}");
                    put(store, content.as_bytes(), round * HOUR).unwrap();
                    if round % 10 == 9 {
                        store.sweep(after(50 * HOUR)).unwrap();
                    }
                }
            });
        }
    });
    open().sweep(after(50 * HOUR)).unwrap();
    let store = open();
    store.sweep(SystemTime::now()).unwrap();
    assert_eq!(store.usage(), usage(1, 1));
    assert!(store.open(&alive.digest, after(100 * HOUR)).is_ok());
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
    assert_eq!(size_bytes(&store, &first.digest).unwrap(), 7);
    let found = store.open(&first.digest, after(0)).unwrap();
    assert_eq!(store.sweep(after(250)).unwrap(), usage(1, 1));
    assert!(matches!(
        size_bytes(&store, &first.digest),
        Err(BlobError::NotFound)
    ));
    assert_eq!(content_of(&found), b"content");
    assert_eq!((files(folder.path()), store.usage()), (0, usage(0, 0)));
    for bad in ["", ".lock", "../a", &first.digest[1..]] {
        assert!(matches!(size_bytes(&store, bad), Err(BlobError::NotFound)));
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
    assert_eq!(size_bytes(&other, &digest).unwrap(), 3);
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
    assert_eq!(size_bytes(&store, &kept.digest).unwrap(), 4);
    assert!(folder.path().join("notes.txt").exists());
    // As a loss of power may leave it.
    fs::write(folder.path().join(&kept.digest), b"m").unwrap();
    put(&store, b"mine", 5_000).unwrap();
    assert_eq!(
        size_bytes(&store, &kept.digest).unwrap(),
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
            let kept = one.put(&[b"content"], past).unwrap();
            put(&one, b"content", 100).unwrap();
            assert_eq!(size_bytes(&one, &kept.digest).unwrap(), 7);
            let found = one.open(&kept.digest, past).unwrap();
            found.file.set_modified(past).unwrap();
        }
    });
}

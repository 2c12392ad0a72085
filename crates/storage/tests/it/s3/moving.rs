//! Files of a folder that are moved into a bucket.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use platen_storage::blobs::{
    BlobError, BlobStore, BucketBlobs, ExpiringBlobs, ExpiringBucket, ExpiringFolder, FileKind,
    FolderBlobs, FolderFiles, RequestBucket, RequestFiles, RequestFolder, RequestLimits,
};

use super::place::{Place, place};

const QUOTA: u64 = 1 << 30;
const LIMITS: RequestLimits = RequestLimits {
    max_requests: 100,
    max_bytes: QUOTA,
    retention: Duration::from_secs(3_600),
    done_retention: Duration::from_secs(3_600),
};

fn move_all(place: &Place, folder: &Path, now: SystemTime) -> Vec<String> {
    let bucket = place.bucket();
    let mut damaged = Vec::new();
    for kind in FileKind::ALL {
        let files = FolderFiles::list(folder, kind, now).unwrap();
        damaged.extend(files.send(&bucket, &files.entries).unwrap());
        if kind == FileKind::Results {
            files.send_index(&bucket).unwrap();
        }
        assert!(files.compare(&bucket, &files.entries).unwrap().is_empty());
    }
    damaged
}

#[test]
fn every_link_finds_its_result_whenever_it_ends() {
    let Some(place) = place() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    let after = |hours: u64| now + Duration::from_secs(hours * 3_600);
    let results = ExpiringFolder::open(&folder.path().join("results"), QUOTA).unwrap();
    let mut kept = Vec::new();
    for number in 0..300_usize {
        let content = number.to_string();
        let early = results.put(&[content.as_bytes()], after(2)).unwrap();
        // Two thirds are wanted for longer by somebody else.
        let late = results.put(&[content.as_bytes()], after(2 + number as u64 % 3 * 20));
        assert_eq!(early.digest, late.unwrap().digest);
        kept.push(early.digest);
    }
    let damaged = results.put(&[b"damaged"], after(5)).unwrap().digest;
    fs::write(folder.path().join("results").join(&damaged), "otherwise").unwrap();
    let file = fs::File::options()
        .write(true)
        .open(folder.path().join("results").join(&damaged));
    file.unwrap().set_modified(after(5)).unwrap();
    // Twice: the second finds what the first has sent.
    for _ in 0..2 {
        let left = move_all(&place, folder.path(), now);
        assert_eq!(left, std::slice::from_ref(&damaged));
    }
    // With fewer results, as after an hour: the index is another one.
    fs::remove_file(folder.path().join("results").join(&kept[0])).unwrap();
    move_all(&place, folder.path(), now);
    let (bucket, cache) = (place.bucket(), place.cache());
    let moved = ExpiringBucket::new(bucket, cache, QUOTA);
    let before = kept[1..]
        .iter()
        .filter(|digest| moved.open(digest, after(2)).is_ok());
    assert_eq!(before.count(), 99, "without the index, those that end then");
    moved.find_moved().unwrap();
    for digest in &kept[1..] {
        let found = moved.open(digest, after(2)).unwrap();
        assert!(moved.has(digest, after(2)).unwrap());
        assert!(found.size_bytes > 0 && found.size_bytes < 4);
    }
    let unknown = moved.open(&"ab".repeat(32), after(2));
    assert!(matches!(unknown, Err(BlobError::NotFound)));
    let is_there = || {
        let folder = fs::read_dir(place.folder().join("results-moved"));
        folder.map_or(0, Iterator::count)
    };
    moved.sweep(after(40)).unwrap();
    assert_eq!(is_there(), 1);
    moved.sweep(after(44)).unwrap();
    assert_eq!(is_there(), 0);
}

#[test]
fn custom_actions_and_requests_are_found_by_their_names() {
    let Some(place) = place() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let pieces = FolderBlobs::open(&folder.path().join("blobs"), QUOTA).unwrap();
    let (digest, _) = pieces.put("pieces/a/1.0.0", b"archive").unwrap();
    pieces.put("pieces/a/1.0.1", b"archive").unwrap();
    let requests = RequestFolder::new(folder.path().join("deferred"), LIMITS);
    let names = [None, Some(true), Some(false)].map(|end| {
        let name = requests.put(5, &mut |to| to.write_all(b"asked")).unwrap();
        end.into_iter()
            .for_each(|has_failed| requests.end(&name, has_failed));
        name
    });
    fs::write(folder.path().join("deferred/unfinished.part"), "half").unwrap();
    assert_eq!(place.bucket().first_used().unwrap(), None);
    assert!(move_all(&place, folder.path(), SystemTime::now()).is_empty());
    assert!(place.bucket().first_used().unwrap().is_some());
    let moved = BucketBlobs::new(place.bucket(), place.cache(), QUOTA);
    assert_eq!(
        moved.names("pieces/").unwrap(),
        pieces.names("pieces/").unwrap()
    );
    assert_eq!(moved.get(&digest).unwrap(), b"archive");
    let found = RequestBucket::new(place.bucket(), place.cache(), LIMITS);
    for name in &names {
        let file = found.open(name, Duration::from_secs(5)).unwrap();
        assert_eq!(std::io::read_to_string(file).unwrap(), "asked");
    }
    for (end, name) in [("failed", &names[1]), ("done", &names[2])] {
        assert!(place.file(&format!("deferred/{end}/{name}")).exists());
    }
    // Another content under the same name is not replaced.
    fs::write(place.file("blobs/pieces/a/1.0.0"), "otherwise").unwrap();
    let files = FolderFiles::list(folder.path(), FileKind::Pieces, SystemTime::now()).unwrap();
    let compared = files.compare(&place.bucket(), &files.entries).unwrap();
    assert_eq!(compared, ["pieces/a/1.0.0"]);
}

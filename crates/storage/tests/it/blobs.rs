//! The contract of every [`BlobStore`].

use platen_storage::blobs::{BlobError, BlobStore, BucketBlobs, FolderBlobs};

use crate::s3::place::place;

/// Checks a store with a quota of 100 bytes, which may or may not share the content of two names.
fn contract(store: &dyn BlobStore) {
    let size_bytes = || store.size_bytes().unwrap();
    let (one, is_new) = store.put("pieces/a/1.0.0", b"one").unwrap();
    assert!(is_new && one.len() == 64);
    assert_eq!(
        store.put("pieces/a/1.0.0", b"one").unwrap(),
        (one.clone(), false)
    );
    assert!(matches!(
        store.put("pieces/a/1.0.0", b"two"),
        Err(BlobError::Taken(taken)) if taken == one
    ));
    assert_eq!(store.get(&one).unwrap(), b"one");
    assert_eq!(store.digest("pieces/a/1.0.0").unwrap(), one);
    let (same, is_new) = store.put("pieces/b/1.0.0", b"one").unwrap();
    assert_eq!((same, is_new), (one.clone(), true));
    store.put("other/a", b"x").unwrap();
    assert!((4..=7).contains(&size_bytes()), "{}", size_bytes());
    let names: Vec<String> = store
        .names("pieces/")
        .unwrap()
        .into_iter()
        .map(|(name, digest)| {
            assert_eq!(digest, one);
            name
        })
        .collect();
    assert_eq!(names, ["pieces/a/1.0.0", "pieces/b/1.0.0"]);
    assert!(matches!(
        store.put("large/a", &[0; 97]),
        Err(BlobError::Full { quota_bytes: 100 })
    ));
    let before = size_bytes();
    store.put("large/a", &[0; 93]).unwrap();
    store.delete("large/a").unwrap();
    assert_eq!(size_bytes(), before, "room is given back");
    store.delete("pieces/a/1.0.0").unwrap();
    assert_eq!(
        store.get(&one).unwrap(),
        b"one",
        "another name stands for it"
    );
    store.delete("pieces/b/1.0.0").unwrap();
    assert!(matches!(store.get(&one), Err(BlobError::NotFound)));
    assert!(matches!(
        store.delete("pieces/b/1.0.0"),
        Err(BlobError::NotFound)
    ));
    assert!(matches!(
        store.digest("pieces/b/1.0.0"),
        Err(BlobError::NotFound)
    ));
    let (two, is_new) = store.put("pieces/b/1.0.0", b"two").unwrap();
    assert!(is_new && two != one, "a name that is free again");
    assert_eq!(store.digest("pieces/b/1.0.0").unwrap(), two);
    for bad in [
        "",
        "/a",
        "a//b",
        "../a",
        "a/..",
        "a b",
        "a\0",
        ".a",
        &"x".repeat(201),
    ] {
        assert!(
            matches!(store.put(bad, b"x"), Err(BlobError::BadName(_))),
            "{bad:?}"
        );
        assert!(matches!(store.digest(bad), Err(BlobError::NotFound)));
    }
    assert!(matches!(
        store.get("../names/other/a"),
        Err(BlobError::NotFound)
    ));
}

#[test]
fn folders_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    contract(&FolderBlobs::open(folder.path(), 100).unwrap());
}

#[test]
fn buckets_keep_the_contract() {
    let Some(place) = place() else { return };
    contract(&BucketBlobs::new(place.bucket(), place.cache(), 100));
}

#[test]
fn services_agree_on_names() {
    let Some(place) = place() else { return };
    let open = || BucketBlobs::new(place.bucket(), place.cache(), 1_000);
    let (one, other) = (open(), open());
    let (digest, _) = one.put("pieces/a/1", b"one").unwrap();
    assert_eq!(other.digest("pieces/a/1").unwrap(), digest);
    assert_eq!(other.get(&digest).unwrap(), b"one");
    assert_eq!(open().get(&digest).unwrap(), b"one", "by its digest alone");
    other.delete("pieces/a/1").unwrap();
    assert!(matches!(
        open().digest("pieces/a/1"),
        Err(BlobError::NotFound)
    ));
    assert!(one.names("").unwrap().is_empty(), "a list is never old");
}

#[test]
fn one_of_several_writers_of_a_name_wins() {
    let Some(place) = place() else { return };
    for round in 0..5 {
        let name = format!("pieces/a/{round}");
        let stores: Vec<_> = (0..6)
            .map(|_| BucketBlobs::new(place.bucket(), place.cache(), 1_000))
            .collect();
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads = stores.iter().enumerate().map(|(index, store)| {
                let content = [b"content ", &[b'0' + index as u8][..]].concat();
                let name = &name;
                scope.spawn(move || store.put(name, &content))
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let winners = results.iter().filter_map(|result| result.as_ref().ok());
        let winners: Vec<_> = winners.collect();
        let [(digest, true)] = winners[..] else {
            panic!("{results:?}");
        };
        let taken = |result: &&Result<_, BlobError>| matches!(result, Err(BlobError::Taken(by)) if by == digest);
        assert_eq!(results.iter().filter(taken).count(), 5, "{results:?}");
    }
}

#[test]
fn blobs_are_there_again_and_damage_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FolderBlobs::open(folder.path(), 1_000).unwrap();
    let (digest, _) = open().put("a/b", b"content").unwrap();
    // What a crash may leave: content without a name, and an incomplete file.
    std::fs::write(folder.path().join("content/orphan"), b"x").unwrap();
    std::fs::write(folder.path().join("names/a/c.new"), b"half").unwrap();
    let again = open();
    assert_eq!(again.get(&digest).unwrap(), b"content");
    assert_eq!(again.size_bytes().unwrap(), 7);
    assert_eq!(again.names("").unwrap().len(), 1);
    std::fs::write(folder.path().join("content").join(&digest), b"changed").unwrap();
    assert!(matches!(again.get(&digest), Err(BlobError::Damaged(_))));
}

#[test]
fn damage_in_a_bucket_is_seen() {
    let Some(place) = place() else { return };
    let open = || BucketBlobs::new(place.bucket(), place.cache(), 1_000);
    let (digest, _) = open().put("a/b", b"content").unwrap();
    for wrong in [&b"changed"[..], b"cont"] {
        std::fs::write(place.file("blobs/a/b"), wrong).unwrap();
        let got = open().get(&digest);
        assert!(matches!(got, Err(BlobError::Damaged(_))), "{got:?}");
    }
}

#[test]
fn a_full_disk_is_an_error_of_its_own() {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    assert!(matches!(BlobError::from(full), BlobError::DiskFull));
}

//! The contract of every [`BlobStore`].

use platen_storage::blobs::{BlobError, BlobStore, FolderBlobs};

/// Checks a store with a quota of 100 bytes.
fn contract(store: &dyn BlobStore) {
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
    let (same, _) = store.put("pieces/b/1.0.0", b"one").unwrap();
    assert_eq!((same, store.size_bytes()), (one.clone(), 3));
    store.put("other/a", b"x").unwrap();
    let names: Vec<String> = store
        .names("pieces/")
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["pieces/a/1.0.0", "pieces/b/1.0.0"]);
    assert!(matches!(
        store.put("large", &[0; 97]),
        Err(BlobError::Full { quota_bytes: 100 })
    ));
    store.put("large", &[0; 96]).unwrap();
    store.delete("large").unwrap();
    assert_eq!(store.size_bytes(), 4, "room is given back");
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
fn blobs_are_there_again_and_damage_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let open = || FolderBlobs::open(folder.path(), 1_000).unwrap();
    let (digest, _) = open().put("a/b", b"content").unwrap();
    // What a crash may leave: content without a name, and an incomplete file.
    std::fs::write(folder.path().join("content/orphan"), b"x").unwrap();
    std::fs::write(folder.path().join("names/a/c.new"), b"half").unwrap();
    let again = open();
    assert_eq!(again.get(&digest).unwrap(), b"content");
    assert_eq!(again.size_bytes(), 7);
    assert_eq!(again.names("").unwrap().len(), 1);
    std::fs::write(folder.path().join("content").join(&digest), b"changed").unwrap();
    assert!(matches!(again.get(&digest), Err(BlobError::Damaged(_))));
}

#[test]
fn a_full_disk_is_an_error_of_its_own() {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    assert!(matches!(BlobError::from(full), BlobError::DiskFull));
}

//! Archives that come back whole, and those that do not come back at all.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use super::*;

/// A data folder with some of everything, and a place for archives.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let case = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        drop(platen_storage::SqliteStore::open(&case.data()).unwrap());
        for (path, text) in [
            ("link.key", "0123"),
            ("blobs/names/pieces/math@1.0.0", "abc"),
            ("blobs/content/abc", "content"),
            ("results/def", "a document"),
            ("deferred/request", "a request"),
            // Drafts and what belongs to running processes.
            ("results/.lock", ""),
            ("results/.new-1-2-3", "half"),
            ("blobs/content/x.new", "half"),
            ("deferred/y.part", "half"),
            ("workers/load", "x"),
            ("platen.lock", ""),
            ("service.id", "service-1"),
        ] {
            let path = case.data().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let expires = SystemTime::now() + Duration::from_secs(86_400);
        let result = File::options()
            .write(true)
            .open(case.data().join("results/def"));
        result.unwrap().set_modified(expires).unwrap();
        case
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("backup.zip")
    }

    fn create(&self) -> Written {
        create(&self.data(), &self.archive(), true).unwrap()
    }

    fn restore(&self, name: &str, force: bool) -> Result<Restored, BackupError> {
        let options = RestoreOptions {
            force,
            has_database_url: false,
        };
        restore(&self.archive(), &self.folder.path().join(name), options)
    }

    /// Names beside the data folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

/// Paths and contents below `folder`, without the database.
fn content(folder: &Path) -> Vec<(String, String)> {
    fn walk(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else if name != DATABASE {
                let content = fs::read(entry.path()).unwrap();
                found.push((name, String::from_utf8_lossy(&content).into_owned()));
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, "", &mut found);
    found.sort();
    found
}

#[test]
fn what_was_backed_up_comes_back() {
    let case = Case::new();
    let written = case.create();
    assert_eq!(written.files, 6);
    let mode = fs::metadata(case.archive()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let restored = case.restore("new/folder", false).unwrap();
    assert_eq!((restored.files, restored.replaced), (6, None));
    let folder = case.folder.path().join("new/folder");
    let expected = [
        ("blobs/content/abc", "content"),
        ("blobs/names/pieces/math@1.0.0", "abc"),
        ("deferred/request", "a request"),
        ("link.key", "0123"),
        ("results/def", "a document"),
    ];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(content(&folder), expected);
    platen_storage::SqliteStore::require_current(&folder).unwrap();
    for (path, mode) in [("", 0o700), ("results", 0o700), ("link.key", 0o600)] {
        let found = fs::metadata(folder.join(path)).unwrap().permissions();
        assert_eq!(found.mode() & 0o777, mode, "{path}");
    }
    let expires = |folder: &Path| {
        let modified = fs::metadata(folder.join("results/def")).unwrap().modified();
        let since = modified.unwrap().duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap().as_millis()
    };
    assert_eq!(expires(&folder), expires(&case.data()));
    assert_eq!(case.names(), ["backup.zip", "data", "new"]);
}

#[test]
fn no_archive_and_no_folder_is_overwritten() {
    let case = Case::new();
    case.create();
    let again = create(&case.data(), &case.archive(), true);
    assert!(matches!(again, Err(BackupError::Exists(_))), "{again:?}");
    let refused = case.restore("data", false);
    assert!(
        matches!(refused, Err(BackupError::NotEmpty(_))),
        "{refused:?}"
    );
    fs::write(case.data().join("later"), "later").unwrap();
    let restored = case.restore("data", true).unwrap();
    let former = restored.replaced.unwrap();
    assert_eq!(fs::read_to_string(former.join("later")).unwrap(), "later");
    assert!(!case.data().join("later").exists());
    assert_eq!(case.names().len(), 3, "{:?}", case.names());
}

#[test]
fn an_empty_folder_is_replaced_and_a_used_one_is_not() {
    let case = Case::new();
    case.create();
    let empty = case.folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let lock = File::create(empty.join(LOCK)).unwrap();
    lock.lock().unwrap();
    for force in [false, true] {
        let refused = case.restore("empty", force);
        assert!(matches!(refused, Err(BackupError::InUse(_))), "{refused:?}");
    }
    drop(lock);
    assert_eq!(case.restore("empty", false).unwrap().replaced, None);
    assert_eq!(content(&empty).len(), 5);
    assert_eq!(case.names(), ["backup.zip", "data", "empty"]);
}

#[test]
fn a_request_that_is_executed_meanwhile_is_in_the_backup() {
    let case = Case::new();
    let file = File::create(case.archive()).unwrap();
    let mut archive = super::write::Archive::new(&file, 0);
    // What was listed under the name of a waiting request.
    for (path, now) in [
        ("deferred/a", Some("deferred/a.done")),
        ("deferred/b", Some("deferred/b.failed")),
        ("deferred/gone", None),
        ("results/gone", Some("results/gone.done")),
    ] {
        if let Some(now) = now {
            fs::write(case.data().join(now), now).unwrap();
        }
        archive.add(path, &case.data().join(path)).unwrap();
    }
    assert_eq!(archive.finish().unwrap().0, 2);
    let options = RestoreOptions {
        force: false,
        has_database_url: true,
    };
    let folder = case.folder.path().join("new");
    restore(&case.archive(), &folder, options).unwrap();
    let expected = [
        ("deferred/a", "deferred/a.done"),
        ("deferred/b", "deferred/b.failed"),
    ];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(content(&folder), expected);
}

#[test]
fn records_are_restored_where_they_are_used() {
    let case = Case::new();
    case.create();
    let options = RestoreOptions {
        force: false,
        has_database_url: true,
    };
    let folder = case.folder.path().join("new");
    let refused = restore(&case.archive(), &folder, options);
    assert!(matches!(refused, Err(BackupError::OtherDatabase(_))));
    fs::remove_file(case.archive()).unwrap();
    let written = create(&case.data(), &case.archive(), false).unwrap();
    assert_eq!((written.files, written.schema_version), (5, None));
    let refused = case.restore("new", false);
    assert!(matches!(refused, Err(BackupError::OtherDatabase(_))));
    restore(&case.archive(), &folder, options).unwrap();
    assert!(!folder.join(DATABASE).exists());
    fs::remove_file(case.data().join(DATABASE)).unwrap();
    let missing = create(&case.data(), &case.folder.path().join("b"), true);
    assert!(matches!(missing, Err(BackupError::NoDatabase(_))));
}

/// The archive with one file changed or left out, or one more; the manifest is as it was.
fn forged(source: &Path, name: &str, change: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut archive = ZipArchive::new(File::open(source).unwrap()).unwrap();
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let (own, mut bytes) = (file.name().unwrap().into_owned(), Vec::new());
        file.read_to_end(&mut bytes).unwrap();
        let bytes = match own == name {
            true => change(bytes),
            false => Some(bytes),
        };
        if let Some(bytes) = bytes {
            writer
                .start_file(own, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(&bytes).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn damaged_archives_change_nothing() {
    let case = Case::new();
    case.create();
    let whole = fs::read(case.archive()).unwrap();
    let source = case.folder.path().join("whole.zip");
    fs::write(&source, &whole).unwrap();
    let mut damaged: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("cut off", whole[..whole.len() / 2].to_vec()),
        ("no archive", b"text".to_vec()),
    ];
    let changed = |bytes: Vec<u8>| Some(bytes.iter().map(|byte| byte ^ 1).collect());
    let longer = |bytes: Vec<u8>| Some([&bytes[..], b"x"].concat());
    let shorter = |bytes: Vec<u8>| Some(bytes[1..].to_vec());
    damaged.push(("changed", forged(&source, "results/def", changed)));
    damaged.push(("longer", forged(&source, "results/def", longer)));
    damaged.push(("shorter", forged(&source, "link.key", shorter)));
    damaged.push(("missing", forged(&source, "blobs/content/abc", |_| None)));
    damaged.push(("no manifest", forged(&source, MANIFEST, |_| None)));
    damaged.push(("database", forged(&source, DATABASE, changed)));
    let escaping = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        Some(text.replace("\"link.key\"", "\"../link.key\"").into_bytes())
    };
    damaged.push(("a path that leads out", forged(&source, MANIFEST, escaping)));
    for (what, bytes) in damaged {
        fs::write(case.archive(), bytes).unwrap();
        let before = content(&case.data());
        let refused = case.restore("data", true);
        let is_refused = matches!(
            refused,
            Err(BackupError::Damaged(_) | BackupError::Archive(_))
        );
        assert!(is_refused, "{what}: {refused:?}");
        assert_eq!(content(&case.data()), before, "{what}");
        assert!(case.restore("new", false).is_err(), "{what}");
        assert_eq!(case.names(), ["backup.zip", "data", "whole.zip"], "{what}");
    }
}

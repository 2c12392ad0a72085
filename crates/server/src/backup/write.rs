//! Writing an archive.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use platen_storage::{SqliteStore, blobs::RequestFolder};
use sha2::{Digest, Sha256};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{
    BackupError, CHUNK_BYTES, DATABASE, LIVE, MANIFEST, at,
    manifest::{FileEntry, Manifest},
};

/// Folder of the sockets of several processes.
const PROCESSES: &str = "workers";
/// Folder of the requests that wait to be executed.
const REQUESTS: &str = "deferred/";
/// Most files; a data folder has far fewer.
const MAX_FILES: usize = 5_000_000;

/// An archive that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Number of files, including the database.
    pub files: usize,
    /// Size of these files, in bytes.
    pub content_bytes: u64,
    /// Size of the archive, in bytes.
    pub archive_bytes: u64,
    /// Version of the schema of the database; `None` without a database.
    pub schema_version: Option<u32>,
}

/// Writes the data folder `folder` to the new archive `target`, while a service may use the folder.
/// The archive is readable by this user only. Blocks.
///
/// # Errors
/// See [`BackupError`]; there is no archive then.
pub fn create(folder: &Path, target: &Path, with_database: bool) -> Result<Written, BackupError> {
    if with_database && !folder.join(DATABASE).is_file() {
        return Err(BackupError::NoDatabase(folder.to_owned()));
    }
    at(folder, fs::read_dir(folder))?;
    if target.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(target.to_owned()));
    }
    let beside = parent(target);
    // Removed with everything in it, whatever happens.
    let drafts = tempfile::Builder::new()
        .prefix(".platen-backup-")
        .tempdir_in(&beside);
    let drafts = at(&beside, drafts)?;
    let draft = at(
        drafts.path(),
        tempfile::NamedTempFile::new_in(drafts.path()),
    )?;
    let created = SystemTime::now().duration_since(UNIX_EPOCH);
    let created = created.map_or(0, |since| since.as_millis() as u64);
    let mut archive = Archive::new(draft.as_file(), created);
    if with_database {
        let copy = drafts.path().join(DATABASE);
        let version = SqliteStore::copy(folder, &copy).map_err(BackupError::Database)?;
        archive.manifest.schema_version = Some(version);
        archive.add(DATABASE, &copy)?;
        at(&copy, fs::remove_file(&copy))?;
    }
    for path in files_of(folder)? {
        archive.add(&path, &folder.join(&path))?;
    }
    let (files, content_bytes, schema_version) = archive.finish()?;
    at(target, draft.as_file().sync_all())?;
    let archive_bytes = at(target, draft.as_file().metadata())?.len();
    draft
        .persist_noclobber(target)
        .map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Exists(target.to_owned()),
            _ => BackupError::File {
                path: target.to_owned(),
                source: error.error,
            },
        })?;
    // Without this, a loss of power could forget the name.
    at(&beside, File::open(&beside).and_then(|it| it.sync_all()))?;
    Ok(Written {
        files,
        content_bytes,
        archive_bytes,
        schema_version,
    })
}

/// The folder that contains `path`.
pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// An archive that is being written.
pub(super) struct Archive<'f> {
    writer: ZipWriter<&'f File>,
    manifest: Manifest,
}

impl<'f> Archive<'f> {
    /// An archive in `file`, begun `created_unix_ms` after 1970.
    pub(super) fn new(file: &'f File, created_unix_ms: u64) -> Self {
        Self {
            writer: ZipWriter::new(file),
            manifest: Manifest::new(created_unix_ms),
        }
    }

    /// Adds a file under the name `path`. One that has gone meanwhile, as results expire, is left
    /// out.
    pub(super) fn add(&mut self, path: &str, source: &Path) -> Result<(), BackupError> {
        let mut file = match open(path, source) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => at(source, opened)?,
        };
        let modified = at(source, file.metadata().and_then(|found| found.modified()))?;
        let modified = modified.duration_since(UNIX_EPOCH);
        self.writer.start_file(path, options())?;
        let (mut hasher, mut size_bytes) = (Sha256::new(), 0);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let count = at(source, file.read(&mut chunk))?;
            if count == 0 {
                break;
            }
            hasher.update(&chunk[..count]);
            size_bytes += count as u64;
            at(Path::new(path), self.writer.write_all(&chunk[..count]))?;
        }
        self.manifest.files.push(FileEntry {
            path: path.to_owned(),
            size_bytes,
            sha256: hex(&hasher.finalize()),
            modified_unix_ms: modified.map_or(0, |since| since.as_millis() as u64),
        });
        Ok(())
    }

    /// Ends the archive. Returns the number of its files, their bytes, and the version of the schema.
    pub(super) fn finish(mut self) -> Result<(usize, u64, Option<u32>), BackupError> {
        let files = &self.manifest.files;
        let content_bytes = files.iter().map(|file| file.size_bytes).sum();
        let found = (files.len(), content_bytes, self.manifest.schema_version);
        self.writer.start_file(MANIFEST, options())?;
        serde_json::to_writer(&mut self.writer, &self.manifest)
            .map_err(|error| BackupError::Archive(io::Error::from(error).into()))?;
        self.writer.finish()?;
        Ok(found)
    }
}

/// Opens a file to be added under the name `path`. A waiting request may have been executed and
/// renamed meanwhile: in the database of the backup its run is open, and needs it.
fn open(path: &str, source: &Path) -> io::Result<File> {
    let mut opened = File::open(source);
    if path.starts_with(REQUESTS) {
        for end in RequestFolder::ENDS {
            if matches!(&opened, Err(error) if error.kind() == io::ErrorKind::NotFound) {
                opened = File::open(source.with_extension(end));
            }
        }
    }
    opened
}

/// Fast compression: most of the files are documents, which are compressed already.
fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(1))
        .large_file(true)
        .unix_permissions(0o600)
}

pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files of a data folder apart from the database, in an order in which what refers to others
/// comes before them: names before contents.
fn files_of(folder: &Path) -> Result<Vec<String>, BackupError> {
    let mut found = Vec::new();
    collect(folder, "", &mut found)?;
    // The requests come first of all: they are removed some minutes after they were executed.
    found.sort_by_key(|path| {
        let is_later = [REQUESTS, "blobs/names/"].map(|folder| !path.starts_with(folder));
        (is_later, path.clone())
    });
    Ok(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) -> Result<(), BackupError> {
    let place = folder.join(prefix);
    let entries = match fs::read_dir(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => at(&place, entries)?,
    };
    for entry in entries {
        let entry = at(&place, entry)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let is_live = prefix.is_empty() && (LIVE.contains(&&*name) || name == PROCESSES);
        if is_live || is_draft(&name) {
            continue;
        }
        let kind = at(&entry.path(), entry.file_type())?;
        let path = format!("{prefix}{name}");
        // Sockets and symbolic links are not data of the service.
        if kind.is_dir() {
            collect(folder, &format!("{path}/"), found)?;
        } else if kind.is_file() {
            found.push(path);
        }
        if found.len() > MAX_FILES {
            let source = io::Error::other(format!("more than {MAX_FILES} files"));
            return at(folder, Err(source));
        }
    }
    Ok(())
}

/// Whether a file is unfinished, or a lock between processes.
fn is_draft(name: &str) -> bool {
    name == ".lock"
        || name.starts_with(".new-")
        || name.ends_with(".new")
        || name.ends_with(".part")
        || name.starts_with("link.key.")
}

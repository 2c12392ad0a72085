//! Reading an archive back.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use platen_storage::{SqliteStore, create_folder};
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::{
    BackupError, CHUNK_BYTES, DATABASE, LOCK, MANIFEST, at,
    manifest::{FileEntry, Manifest},
    write::{hex, parent},
};

/// Largest manifest, in bytes: about a million files.
const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// How to restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Replaces a data folder that is not empty; the old one gets another name.
    pub force: bool,
    /// Whether the service has its records in PostgreSQL.
    pub has_database_url: bool,
}

/// A data folder that was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Number of files.
    pub files: usize,
    /// Size of these files, in bytes.
    pub content_bytes: u64,
    /// When the archive was written. Milliseconds since 1970.
    pub created_unix_ms: u64,
    /// Version of Platen that wrote the archive.
    pub platen_version: String,
    /// Where the former data folder is now, if it was replaced.
    pub replaced: Option<PathBuf>,
}

/// Replaces the data folder `folder` by the content of the archive `source`. Blocks.
///
/// # Errors
/// See [`BackupError`]; the folder is as before then.
pub fn restore(
    source: &Path,
    folder: &Path,
    options: RestoreOptions,
) -> Result<Restored, BackupError> {
    let file = at(source, File::open(source))?;
    let mut archive = ZipArchive::new(file)?;
    let manifest = read_manifest(&mut archive)?;
    match (manifest.schema_version, options.has_database_url) {
        (Some(_), true) => {
            let reason = "the archive has a SQLite database, but DATABASE_URL names another one";
            return Err(BackupError::OtherDatabase(reason));
        }
        (None, false) => {
            let reason = "the archive has no database, and DATABASE_URL names none";
            return Err(BackupError::OtherDatabase(reason));
        }
        _ => {}
    }
    // What a symbolic link leads to is replaced, not the link.
    let folder = &fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let place = Place::look(folder, options.force)?;
    let beside = parent(folder);
    at(&beside, create_folder(&beside))?;
    let draft = tempfile::Builder::new()
        .prefix(".platen-restore-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(&beside);
    let draft = at(&beside, draft)?;
    for entry in &manifest.files {
        extract(&mut archive, entry, draft.path())?;
    }
    if manifest.schema_version.is_some() {
        check_database(&draft.path().join(DATABASE))?;
    }
    at(draft.path(), sync_folders(draft.path()))?;
    let replaced = place.replace_by(draft, folder)?;
    at(&beside, File::open(&beside).and_then(|it| it.sync_all()))?;
    Ok(Restored {
        files: manifest.files.len(),
        content_bytes: manifest.files.iter().map(|file| file.size_bytes).sum(),
        created_unix_ms: manifest.created_unix_ms,
        platen_version: manifest.platen_version,
        replaced,
    })
}

fn read_manifest(archive: &mut ZipArchive<File>) -> Result<Manifest, BackupError> {
    let missing = |_| BackupError::Damaged(format!("it has no {MANIFEST}"));
    let mut bytes = Vec::new();
    let entry = archive.by_name(MANIFEST).map_err(missing)?;
    let read = entry.take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| BackupError::Damaged(format!("{MANIFEST}: {error}")))?;
    if bytes.len() as u64 > MAX_MANIFEST_BYTES {
        return Err(BackupError::Damaged(format!("its {MANIFEST} is too large")));
    }
    Manifest::parse(&bytes)
}

/// Writes one file of the archive below `folder`, and checks its size and digest.
fn extract(
    archive: &mut ZipArchive<File>,
    entry: &FileEntry,
    folder: &Path,
) -> Result<(), BackupError> {
    let damaged = |reason: &str| BackupError::Damaged(format!("`{}` {reason}", entry.path));
    let target = folder.join(&entry.path);
    let within = parent(&target);
    at(&within, create_folder(&within))?;
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&target);
    let mut file = at(&target, file)?;
    let source = archive.by_name(&entry.path);
    let source = source.map_err(|_| damaged("is missing"))?;
    // No more than the manifest says, whatever the archive unpacks to.
    let mut source = source.take(entry.size_bytes.saturating_add(1));
    let (mut hasher, mut size_bytes) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = source.read(&mut chunk);
        let count = count.map_err(|error| damaged(&format!("cannot be unpacked: {error}")))?;
        if count == 0 {
            break;
        }
        hasher.update(&chunk[..count]);
        size_bytes += count as u64;
        at(&target, file.write_all(&chunk[..count]))?;
    }
    if size_bytes != entry.size_bytes || hex(&hasher.finalize()) != entry.sha256 {
        return Err(damaged("is not what was written"));
    }
    let modified = Duration::from_millis(entry.modified_unix_ms);
    let modified = UNIX_EPOCH.checked_add(modified).unwrap_or(UNIX_EPOCH);
    at(&target, file.set_modified(modified))?;
    at(&target, file.sync_all())
}

fn check_database(path: &Path) -> Result<(), BackupError> {
    let found = SqliteStore::check_copy(path).map_err(BackupError::Database)?;
    let known = SqliteStore::migrations_after(0).len() as u32;
    match found > known {
        true => Err(BackupError::Database(platen_storage::Error::TooNew {
            found,
            known,
        })),
        false => Ok(()),
    }
}

fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Exchanges the names of two folders in three steps; undoes them if one fails.
fn exchange(draft: &Path, folder: &Path) -> Result<(), BackupError> {
    let aside = draft.with_extension("former");
    at(folder, fs::rename(folder, &aside))?;
    if let Err(error) = fs::rename(draft, folder) {
        at(folder, fs::rename(&aside, folder))?;
        return at(folder, Err(error));
    }
    at(&aside, fs::rename(&aside, draft))
}

/// What is where the data folder goes.
enum Place {
    /// Nothing.
    Free,
    /// A folder, whose lock keeps services away meanwhile.
    Folder { is_empty: bool, _lock: Option<File> },
}

impl Place {
    fn look(folder: &Path, force: bool) -> Result<Self, BackupError> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Free),
            entries => at(folder, entries)?,
        };
        let lock = match File::open(folder.join(LOCK)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            lock => Some(at(folder, lock)?),
        };
        if lock.as_ref().is_some_and(|lock| lock.try_lock().is_err()) {
            return Err(BackupError::InUse(folder.to_owned()));
        }
        let mut names = entries.flatten().map(|entry| entry.file_name());
        let is_empty = names.all(|name| name == LOCK);
        if !is_empty && !force {
            return Err(BackupError::NotEmpty(folder.to_owned()));
        }
        let device = |path: &Path| at(path, fs::metadata(path)).map(|found| found.dev());
        if device(folder)? != device(&parent(folder))? {
            return Err(BackupError::MountPoint(folder.to_owned()));
        }
        Ok(Self::Folder {
            is_empty,
            _lock: lock,
        })
    }

    /// Puts `draft` in the place of `folder`, at once. Returns where the former folder is.
    fn replace_by(
        self,
        draft: tempfile::TempDir,
        folder: &Path,
    ) -> Result<Option<PathBuf>, BackupError> {
        let is_empty = match &self {
            Self::Free => {
                at(folder, fs::rename(draft.path(), folder))?;
                // There is nothing left to remove.
                let _ = draft.keep();
                return Ok(None);
            }
            Self::Folder { is_empty, .. } => *is_empty,
        };
        match renameat_with(CWD, draft.path(), CWD, folder, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::BUSY | Errno::XDEV) => {
                return Err(BackupError::MountPoint(folder.to_owned()));
            }
            // Not every file system can exchange names.
            Err(Errno::INVAL | Errno::NOSYS) => exchange(draft.path(), folder)?,
            Err(error) => return at(folder, Err(error.into())),
        }
        if is_empty {
            // Dropping the draft removes the empty folder, which has its name now.
            return Ok(None);
        }
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = seconds.map_or(0, |since| since.as_secs());
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let kept = folder.with_file_name(format!("{name}.before-restore-{seconds}"));
        let former = draft.keep();
        // If it cannot be renamed, it stays under the name that it has.
        match fs::rename(&former, &kept) {
            Ok(()) => Ok(Some(kept)),
            Err(_) => Ok(Some(former)),
        }
    }
}

//! Expiring blobs in a folder that several processes share. Each blob is a file named after the
//! digest of its content; its modification time is when it expires. A process keeps only a count of
//! bytes in memory, which every sweep renews from the folder.
//!
//! Files are written under a temporary name and then renamed. They are not synced to disk: a loss
//! of power may take the latest ones.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use super::{
    Draft, ExpiringBlobs, Found, Kept, Presentation, Usage,
    quota::{Quota, in_blocks},
};
use crate::{
    blobs::{
        BlobDigest, BlobError,
        digest::{Sum, is_digest},
    },
    create_folder,
};

/// An unfinished file of another process that was not written to for this long was left by a crash.
const LEFT_AFTER: Duration = Duration::from_secs(3_600);
/// Prefix of the names of unfinished files.
const UNFINISHED: &str = ".new-";
/// Lock file, held while a file is renamed, extended or removed.
const LOCK: &str = ".lock";
/// Number of files removed while the lock is held once.
const BATCH: usize = 64;

/// Expiring blobs in a folder that processes share.
#[derive(Debug)]
pub struct ExpiringFolder(Arc<Folder>);

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    quota: Quota,
    lock: Mutex<File>,
    /// Prefix of the names of this process's unfinished files.
    own: String,
    serial: AtomicU64,
}

impl ExpiringFolder {
    /// Opens a folder and creates it if necessary. Existing blobs are counted by
    /// [`ExpiringBlobs::sweep`].
    ///
    /// # Errors
    /// The folder cannot be created or written to.
    pub fn open(folder: &Path, quota_bytes: u64) -> Result<Self, BlobError> {
        create_folder(folder)?;
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options.open(folder.join(LOCK))?;
        let nonce = RandomState::new().hash_one(SystemTime::now());
        Ok(Self(Arc::new(Folder {
            path: folder.to_owned(),
            quota: Quota::new(quota_bytes),
            lock: Mutex::new(lock),
            own: format!("{UNFINISHED}{}-{nonce:016x}-", std::process::id()),
            serial: AtomicU64::new(0),
        })))
    }

    fn draft(&self) -> Result<FolderDraft, BlobError> {
        let folder = &self.0;
        let serial = folder.serial.fetch_add(1, Ordering::Relaxed);
        let path = folder.path.join(format!("{}{serial}", folder.own));
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        Ok(FolderDraft {
            file: file?,
            folder: Arc::clone(folder),
            path,
            hasher: Sha256::new(),
            size_bytes: 0,
            charged_bytes: 0,
            is_placed: false,
        })
    }
}

impl ExpiringBlobs for ExpiringFolder {
    fn begin(&self) -> Result<Box<dyn Draft>, BlobError> {
        Ok(Box::new(self.draft()?))
    }

    fn put(&self, pieces: &[&[u8]], ends: SystemTime) -> Result<Kept, BlobError> {
        let (mut hasher, mut size_bytes) = (Sha256::new(), 0);
        for piece in pieces {
            hasher.update(piece);
            size_bytes += piece.len() as u64;
        }
        let digest = Sum::finish(&mut hasher).to_hex();
        let folder = &self.0;
        if folder.locked(|| folder.extend(&digest, size_bytes, ends))? {
            return Ok(Kept {
                digest,
                size_bytes,
                is_new: false,
            });
        }
        let mut draft = self.draft()?;
        for piece in pieces {
            draft.append(piece)?;
        }
        draft.place(digest, ends)
    }

    fn open(&self, digest: &str, _ends: SystemTime) -> Result<Found, BlobError> {
        if !is_digest(digest) {
            return Err(BlobError::NotFound);
        }
        let file = File::open(self.0.path.join(digest))?;
        Ok(Found {
            size_bytes: file.metadata()?.len(),
            file: Arc::new(file),
        })
    }

    fn has(&self, digest: &str, _ends: SystemTime) -> Result<bool, BlobError> {
        Ok(is_digest(digest) && self.0.path.join(digest).exists())
    }

    fn link(
        &self,
        _digest: &str,
        _ends: SystemTime,
        _presentation: &Presentation<'_>,
        _life: Duration,
    ) -> Option<String> {
        None
    }

    fn usage(&self) -> Usage {
        self.0.quota.usage()
    }

    fn sweep(&self, now: SystemTime) -> Result<Usage, BlobError> {
        self.0.sweep(now)
    }
}

impl Folder {
    fn sweep(&self, now: SystemTime) -> Result<Usage, BlobError> {
        self.quota.begin_count();
        let (mut found, mut ended) = (Usage::default(), Vec::new());
        let mut swept = Usage::default();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let (is_blob, is_others) = (is_digest(&name), self.is_of_others(&name));
            if !is_blob && !is_others {
                continue;
            }
            // Another process may have renamed or removed the file.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let size_bytes = in_blocks(metadata.len());
            let modified = metadata.modified()?;
            if is_others && modified + LEFT_AFTER <= now {
                fs::remove_file(entry.path()).or_else(allow_missing)?;
                swept.add(size_bytes);
            } else if is_blob && modified <= now {
                ended.push(entry.path());
            } else if is_blob {
                found.add(size_bytes);
            } else {
                found.size_bytes += size_bytes;
            }
        }
        for batch in ended.chunks(BATCH) {
            self.locked(|| take_away(batch, now, &mut swept, &mut found))?;
        }
        self.quota.end_count(found);
        Ok(swept)
    }

    fn is_of_others(&self, name: &str) -> bool {
        name.starts_with(UNFINISHED) && !name.starts_with(&self.own)
    }

    /// Runs `work` under a lock that excludes other threads and other processes.
    fn locked<T>(&self, work: impl FnOnce() -> Result<T, BlobError>) -> Result<T, BlobError> {
        let file = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        file.lock()?;
        let result = work();
        file.unlock()?;
        result
    }

    /// Extends the life of an existing blob; false if it does not exist or its size differs.
    fn extend(&self, digest: &str, size_bytes: u64, ends: SystemTime) -> Result<bool, BlobError> {
        let file = match File::open(self.path.join(digest)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        if metadata.len() != size_bytes {
            return Ok(false);
        }
        if metadata.modified()? < ends {
            file.set_modified(ends)?;
        }
        Ok(true)
    }
}

/// A blob that is being written. Dropping it before the end removes its file.
struct FolderDraft {
    folder: Arc<Folder>,
    file: File,
    path: PathBuf,
    hasher: Sha256,
    size_bytes: u64,
    charged_bytes: u64,
    is_placed: bool,
}

impl Draft for FolderDraft {
    fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.hasher.update(bytes);
        self.append(bytes)
    }

    fn finish(mut self: Box<Self>, ends: SystemTime) -> Result<Kept, BlobError> {
        let digest = Sum::finish(&mut self.hasher).to_hex();
        self.place(digest, ends)
    }
}

impl FolderDraft {
    fn append(&mut self, piece: &[u8]) -> Result<(), BlobError> {
        let size_bytes = self.size_bytes + piece.len() as u64;
        let wanted_bytes = in_blocks(size_bytes);
        if wanted_bytes > self.charged_bytes {
            self.folder
                .quota
                .charge(wanted_bytes - self.charged_bytes)?;
            self.charged_bytes = wanted_bytes;
        }
        self.file.write_all(piece)?;
        self.size_bytes = size_bytes;
        Ok(())
    }

    fn place(mut self, digest: BlobDigest, ends: SystemTime) -> Result<Kept, BlobError> {
        let folder = Arc::clone(&self.folder);
        let size_bytes = self.size_bytes;
        let is_new = folder.locked(|| {
            if folder.extend(&digest, size_bytes, ends)? {
                return Ok(false);
            }
            self.file.set_modified(ends)?;
            fs::rename(&self.path, folder.path.join(&digest))?;
            self.is_placed = true;
            folder.quota.add(self.charged_bytes);
            Ok(true)
        })?;
        Ok(Kept {
            digest,
            size_bytes,
            is_new,
        })
    }
}

impl Drop for FolderDraft {
    fn drop(&mut self) {
        if !self.is_placed {
            // A file that cannot be removed now is swept later.
            let _ = fs::remove_file(&self.path);
        }
        self.folder.quota.release(self.charged_bytes);
    }
}

fn take_away(
    places: &[PathBuf],
    now: SystemTime,
    swept: &mut Usage,
    found: &mut Usage,
) -> Result<(), BlobError> {
    for place in places {
        let Ok(metadata) = fs::metadata(place) else {
            continue;
        };
        let size_bytes = in_blocks(metadata.len());
        if metadata.modified()? > now {
            // The blob was stored again after the sweep had looked at it.
            found.add(size_bytes);
        } else {
            fs::remove_file(place)?;
            swept.add(size_bytes);
        }
    }
    Ok(())
}

fn allow_missing(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

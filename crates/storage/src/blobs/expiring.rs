//! Expiring blobs in a folder that several processes share. Each blob is a file named after the
//! digest of its content; its modification time is when it expires. A process keeps only a count of
//! bytes in memory, which every sweep renews from the folder.
//!
//! Files are written under a temporary name and then renamed. They are not synced to disk: a loss
//! of power may take the latest ones.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use super::{BlobDigest, BlobError, hex};

/// Files count in whole blocks of this size, in bytes.
const BLOCK_BYTES: u64 = 4_096;
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
pub struct ExpiringBlobs {
    folder: PathBuf,
    quota_bytes: u64,
    lock: Mutex<File>,
    counts: Mutex<Counts>,
    /// Prefix of the names of this process's unfinished files.
    own: String,
    serial: AtomicU64,
}

/// Usage in whole blocks.
#[derive(Debug, Default)]
struct Counts {
    /// Usage found by the last sweep.
    found: Usage,
    /// Usage added by this process since that sweep began.
    since: Usage,
    /// Size of this process's unfinished files.
    under_way_bytes: u64,
}

/// Number of files and the space that they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of files.
    pub files: u64,
    /// Space in bytes, in blocks of 4 KiB.
    pub size_bytes: u64,
}

impl Usage {
    fn add(&mut self, size_bytes: u64) {
        self.files += 1;
        self.size_bytes += size_bytes;
    }
}

/// A stored blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// SHA-256, in hexadecimal.
    pub digest: BlobDigest,
    /// Size of the content, in bytes.
    pub size_bytes: u64,
    /// Whether the content was not stored before.
    pub is_new: bool,
}

impl ExpiringBlobs {
    /// Opens a folder and creates it if necessary. Existing blobs are counted by
    /// [`ExpiringBlobs::sweep`].
    ///
    /// # Errors
    /// The folder cannot be created or written to.
    pub fn open(folder: &Path, quota_bytes: u64) -> Result<Self, BlobError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options.open(folder.join(LOCK))?;
        let nonce = RandomState::new().hash_one(SystemTime::now());
        Ok(Self {
            folder: folder.to_owned(),
            quota_bytes,
            lock: Mutex::new(lock),
            counts: Mutex::default(),
            own: format!("{UNFINISHED}{}-{nonce:016x}-", std::process::id()),
            serial: AtomicU64::new(0),
        })
    }

    /// Begins a blob whose content arrives in chunks.
    ///
    /// # Errors
    /// Its file cannot be created.
    pub fn begin(self: &Arc<Self>) -> Result<Draft, BlobError> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{}{serial}", self.own));
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        Ok(Draft {
            file: file?,
            store: Arc::clone(self),
            path,
            hasher: Sha256::new(),
            size_bytes: 0,
            charged_bytes: 0,
            is_placed: false,
        })
    }

    /// Stores content that is in memory; it expires at `ends`. Existing content is not written
    /// again and expires at the later of both times.
    ///
    /// # Errors
    /// [`BlobError::Full`] above the quota, [`BlobError::DiskFull`].
    pub fn put<'p>(
        self: &Arc<Self>,
        pieces: impl Iterator<Item = &'p [u8]> + Clone,
        ends: SystemTime,
    ) -> Result<Kept, BlobError> {
        let (mut hasher, mut size_bytes) = (Sha256::new(), 0);
        for piece in pieces.clone() {
            hasher.update(piece);
            size_bytes += piece.len() as u64;
        }
        let digest = hex(&hasher.finalize());
        if self.locked(|| self.extend(&digest, size_bytes, ends))? {
            return Ok(Kept {
                digest,
                size_bytes,
                is_new: false,
            });
        }
        let mut draft = self.begin()?;
        for piece in pieces {
            draft.append(piece)?;
        }
        draft.place(digest, ends)
    }

    /// Size of a blob, in bytes.
    ///
    /// # Errors
    /// [`BlobError::NotFound`] if there is no such blob or `digest` is not a digest.
    pub fn size_bytes(&self, digest: &str) -> Result<u64, BlobError> {
        if !is_digest(digest) {
            return Err(BlobError::NotFound);
        }
        Ok(fs::metadata(self.folder.join(digest))?.len())
    }

    /// Opens a blob. The file can be read to its end even if the blob expires in the meantime.
    ///
    /// # Errors
    /// There is no such blob.
    pub fn file(&self, digest: &str) -> io::Result<File> {
        if !is_digest(digest) {
            return Err(io::ErrorKind::NotFound.into());
        }
        File::open(self.folder.join(digest))
    }

    /// Usage as far as this process knows: blobs that other processes have added count from the
    /// next sweep.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let counts = self.counts();
        Usage {
            files: counts.found.files + counts.since.files,
            size_bytes: counts.found.size_bytes + counts.since.size_bytes,
        }
    }

    /// Removes blobs that have expired at `now` and files left by crashes, and counts the rest.
    /// Returns what was removed.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn sweep(&self, now: SystemTime) -> Result<Usage, BlobError> {
        {
            let mut counts = self.counts();
            let since = std::mem::take(&mut counts.since);
            counts.found.files += since.files;
            counts.found.size_bytes += since.size_bytes;
        }
        let (mut found, mut ended) = (Usage::default(), Vec::new());
        let mut swept = Usage::default();
        for entry in fs::read_dir(&self.folder)? {
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
        self.counts().found = found;
        Ok(swept)
    }

    fn is_of_others(&self, name: &str) -> bool {
        name.starts_with(UNFINISHED) && !name.starts_with(&self.own)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
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
        let file = match File::open(self.folder.join(digest)) {
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

    /// Charges `size_bytes` for an unfinished file.
    fn charge(&self, size_bytes: u64) -> Result<(), BlobError> {
        let mut counts = self.counts();
        let used = counts.found.size_bytes + counts.since.size_bytes + counts.under_way_bytes;
        if used.saturating_add(size_bytes) > self.quota_bytes {
            return Err(BlobError::Full {
                quota_bytes: self.quota_bytes,
            });
        }
        counts.under_way_bytes += size_bytes;
        Ok(())
    }
}

/// A blob that is being written. Dropping it before the end removes its file.
#[derive(Debug)]
pub struct Draft {
    store: Arc<ExpiringBlobs>,
    file: File,
    path: PathBuf,
    hasher: Sha256,
    size_bytes: u64,
    charged_bytes: u64,
    is_placed: bool,
}

impl Draft {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`BlobError::Full`] above the quota, [`BlobError::DiskFull`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.hasher.update(bytes);
        self.append(bytes)
    }

    /// Stores what was written; it expires at `ends`. Existing content expires at the later of both
    /// times.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn finish(mut self, ends: SystemTime) -> Result<Kept, BlobError> {
        let digest = hex(&self.hasher.finalize_reset());
        self.place(digest, ends)
    }

    fn append(&mut self, piece: &[u8]) -> Result<(), BlobError> {
        let size_bytes = self.size_bytes + piece.len() as u64;
        let wanted_bytes = in_blocks(size_bytes);
        if wanted_bytes > self.charged_bytes {
            self.store.charge(wanted_bytes - self.charged_bytes)?;
            self.charged_bytes = wanted_bytes;
        }
        self.file.write_all(piece)?;
        self.size_bytes = size_bytes;
        Ok(())
    }

    fn place(mut self, digest: BlobDigest, ends: SystemTime) -> Result<Kept, BlobError> {
        let store = Arc::clone(&self.store);
        let size_bytes = self.size_bytes;
        let is_new = store.locked(|| {
            if store.extend(&digest, size_bytes, ends)? {
                return Ok(false);
            }
            self.file.set_modified(ends)?;
            fs::rename(&self.path, store.folder.join(&digest))?;
            self.is_placed = true;
            store.counts().since.add(self.charged_bytes);
            Ok(true)
        })?;
        Ok(Kept {
            digest,
            size_bytes,
            is_new,
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_placed {
            // A file that cannot be removed now is swept later.
            let _ = fs::remove_file(&self.path);
        }
        self.store.counts().under_way_bytes -= self.charged_bytes;
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

/// An empty file counts as one block too: it is not free either.
fn in_blocks(size_bytes: u64) -> u64 {
    size_bytes.max(1).next_multiple_of(BLOCK_BYTES)
}

fn is_digest(name: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 64 && name.bytes().all(is_digit)
}

//! Moves the files of a data folder into a bucket, and compares both. The folder is only read.
//!
//! A file that is in the bucket already is not sent again, and one with other content is never
//! replaced; so a move that was interrupted can be repeated.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use sha2::{Digest as _, Sha256};

use super::{
    BlobDigest, BlobError, Bucket,
    digest::{Sum, is_digest},
    expiring::{bucket as results, moved},
    named::bucket as pieces,
    requests::{
        bucket as requests,
        folder::{end_of, file_name},
        is_name,
    },
    s3::{Content, Put},
};

/// Files that are sent or read at once.
const THREADS: usize = 4;
/// Size of a read, in bytes.
const CHUNK_BYTES: usize = 256 << 10;

/// What files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Archives of custom actions.
    Pieces,
    /// Requests that wait, and those that were executed lately.
    Requests,
    /// Stored results.
    Results,
}

impl FileKind {
    /// All kinds, in the order in which they are moved.
    pub const ALL: [Self; 3] = [Self::Pieces, Self::Requests, Self::Results];

    /// A name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pieces => "custom actions",
            Self::Requests => "waiting requests",
            Self::Results => "stored results",
        }
    }
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name among those of its kind.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    detail: Detail,
}

/// What a file has beside its content.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Detail {
    /// The digest that the name of a custom action stands for.
    Digest(BlobDigest),
    /// Whether the execution of a request failed; `None` if it waits.
    End(Option<bool>),
    /// When a result expires.
    Ends(SystemTime),
}

/// Files of one kind in a data folder.
#[derive(Debug)]
pub struct FolderFiles {
    folder: PathBuf,
    kind: FileKind,
    /// In the order of their names.
    pub entries: Vec<FileEntry>,
}

impl FolderFiles {
    /// Lists the files in the data folder `folder`, without results that have expired at `now`.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(folder: &Path, kind: FileKind, now: SystemTime) -> Result<Self, BlobError> {
        let mut entries = Vec::new();
        match kind {
            FileKind::Pieces => list_pieces(folder, "", &mut entries)?,
            FileKind::Requests => {
                each_file(&folder.join("deferred"), |name, found| {
                    let (own, end) = end_of(name);
                    if is_name(own) {
                        entries.push(entry(own, found.len(), Detail::End(end)));
                    }
                    Ok(())
                })?;
            }
            FileKind::Results => each_file(&folder.join("results"), |name, found| {
                let ends = found.modified()?;
                if is_digest(name) && ends > now {
                    entries.push(entry(name, found.len(), Detail::Ends(ends)));
                }
                Ok(())
            })?,
        }
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(Self {
            folder: folder.to_owned(),
            kind,
            entries,
        })
    }

    /// Sends files to the bucket. Returns the names of those that are damaged, which stay behind.
    ///
    /// # Errors
    /// A file cannot be read, the bucket fails, or has other content under its name.
    pub fn send(&self, bucket: &Bucket, entries: &[FileEntry]) -> Result<Vec<String>, BlobError> {
        self.each(entries, |entry| self.send_one(bucket, entry))
    }

    /// Reads files back from the bucket and compares their SHA-256 with the folder. Returns the
    /// names of those that are not the same.
    ///
    /// # Errors
    /// A file cannot be read, or the bucket fails.
    pub fn compare(
        &self,
        bucket: &Bucket,
        entries: &[FileEntry],
    ) -> Result<Vec<String>, BlobError> {
        self.each(entries, |entry| self.compare_one(bucket, entry))
    }

    /// Stores where results are, for links that end before the last one of the same content. A
    /// folder has one file for all of them, and a bucket finds a result by the end of its link.
    ///
    /// # Errors
    /// The bucket fails.
    pub fn send_index(&self, bucket: &Bucket) -> Result<(), BlobError> {
        let steps = self.entries.iter().filter_map(|entry| match entry.detail {
            Detail::Ends(ends) => Some((&*entry.name, results::step_end(ends))),
            _ => None,
        });
        moved::store(bucket, steps)
    }

    /// Calls `work` for all files on a few threads; collects the names for which it returns false.
    fn each(
        &self,
        entries: &[FileEntry],
        work: impl Fn(&FileEntry) -> Result<bool, BlobError> + Sync,
    ) -> Result<Vec<String>, BlobError> {
        let next = Mutex::new(entries.iter());
        let turn = || {
            let mut refused = Vec::new();
            loop {
                let entry = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(entry) = entry else {
                    return Ok(refused);
                };
                if !work(entry)? {
                    refused.push(entry.name.clone());
                }
            }
        };
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(turn)).collect();
            let ends = threads.into_iter().map(|thread| match thread.join() {
                Ok(end) => end,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ends.collect::<Result<Vec<Vec<String>>, BlobError>>()
        });
        Ok(all?.concat())
    }

    fn send_one(&self, bucket: &Bucket, entry: &FileEntry) -> Result<bool, BlobError> {
        let Some((file, sum)) = self.read(entry)? else {
            return Ok(false);
        };
        let key = self.key_of(entry);
        let content = Content::File(&file, file.metadata()?.len());
        if bucket.put_new(&key, content, sum)? == Put::Existed {
            match bucket.head(&key)? {
                Some((digest, _)) if digest == sum.to_hex() => {}
                Some((digest, _)) => return Err(BlobError::Taken(digest)),
                None => return Err(BlobError::NotFound),
            }
        }
        if let Detail::End(Some(has_failed)) = entry.detail {
            requests::note_end(bucket, &entry.name, has_failed)?;
        }
        Ok(true)
    }

    fn compare_one(&self, bucket: &Bucket, entry: &FileEntry) -> Result<bool, BlobError> {
        // What is damaged was left behind.
        let Some((_, sum)) = self.read(entry)? else {
            return Ok(true);
        };
        let mut file = tempfile::tempfile()?;
        let key = self.key_of(entry);
        match bucket.fetch(&key, &mut file, Some(&sum.to_hex()), bucket.timeout()) {
            Ok(_) => Ok(true),
            Err(BlobError::NotFound | BlobError::Damaged(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The file and its digest; `None` if it does not have the digest that it should.
    fn read(&self, entry: &FileEntry) -> Result<Option<(File, Sum)>, BlobError> {
        let path = match &entry.detail {
            Detail::Digest(digest) => self.folder.join("blobs/content").join(digest),
            Detail::End(end) => self
                .folder
                .join("deferred")
                .join(file_name(&entry.name, *end)),
            Detail::Ends(_) => self.folder.join("results").join(&entry.name),
        };
        let mut file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let (mut hasher, mut chunk) = (Sha256::new(), vec![0; CHUNK_BYTES]);
        loop {
            let count = file.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            hasher.update(&chunk[..count]);
        }
        let sum = Sum::finish(&mut hasher);
        let is_right = match &entry.detail {
            Detail::Digest(digest) => sum.to_hex() == *digest,
            Detail::End(_) => true,
            Detail::Ends(_) => sum.to_hex() == entry.name,
        };
        Ok(is_right.then_some((file, sum)))
    }

    fn key_of(&self, entry: &FileEntry) -> String {
        match (self.kind, &entry.detail) {
            (FileKind::Results, Detail::Ends(ends)) => results::key_of(&entry.name, *ends),
            (FileKind::Requests, _) => requests::key_of(&entry.name),
            _ => pieces::key_of(&entry.name),
        }
    }
}

impl Bucket {
    /// The first place in the bucket where there is something that a move would write, too.
    ///
    /// # Errors
    /// The bucket fails.
    pub fn first_used(&self) -> Result<Option<String>, BlobError> {
        for place in ["blobs/", "deferred/", "results/", moved::PLACE] {
            if let Some(object) = self.list(place, None)?.objects.into_iter().next() {
                return Ok(Some(object.key));
            }
        }
        Ok(None)
    }
}

fn entry(name: &str, size_bytes: u64, detail: Detail) -> FileEntry {
    FileEntry {
        name: name.to_owned(),
        size_bytes,
        detail,
    }
}

/// Calls `found` for the files of a folder, which may be missing.
fn each_file(
    folder: &Path,
    mut found: impl FnMut(&str, &fs::Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if let (true, Ok(name)) = (metadata.is_file(), entry.file_name().into_string()) {
            found(&name, &metadata)?;
        }
    }
    Ok(())
}

fn list_pieces(folder: &Path, prefix: &str, entries: &mut Vec<FileEntry>) -> io::Result<()> {
    let names = folder.join("blobs/names").join(prefix);
    let found = match fs::read_dir(&names) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    for one in found {
        let one = one?;
        let Ok(own) = one.file_name().into_string() else {
            continue;
        };
        if one.file_type()?.is_dir() {
            list_pieces(folder, &format!("{prefix}{own}/"), entries)?;
        // What ends so was not completed.
        } else if !own.ends_with(".new") {
            let digest = fs::read_to_string(one.path())?;
            let content = fs::metadata(folder.join("blobs/content").join(&digest));
            let size_bytes = content.map_or(0, |found| found.len());
            let name = format!("{prefix}{own}");
            entries.push(entry(&name, size_bytes, Detail::Digest(digest)));
        }
    }
    Ok(())
}

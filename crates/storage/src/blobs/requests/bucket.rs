//! Waiting requests in a bucket that several services share: any of them can execute what another
//! accepted. A small object beside a request says that it was executed, and its age since when.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Seek, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sha2::{Digest as _, Sha256};

use super::{Entry, NAME_CHARACTERS, RequestFiles, RequestLimits, State, is_name};
use crate::blobs::{
    BlobError, DiskCache,
    digest::Sum,
    s3::{Bucket, Content, Object},
};

/// Where the requests are in the bucket.
const REQUESTS: &str = "deferred/requests/";
/// Where it says that they were executed.
const ENDS: [(&str, State); 2] = [
    ("deferred/done/", State::Done),
    ("deferred/failed/", State::Failed),
];
/// Larger requests go to the bucket by way of a file. Bytes.
const HELD_BYTES: u64 = 1 << 20;
/// Most objects of a kind that a count looks at.
const MAX_COUNTED: usize = 100_000;
/// How soon a full store may be counted again: others may have made room.
const RECOUNT: Duration = Duration::from_secs(2);
/// An end without a request is removed after this time.
const END_LIFE: Duration = Duration::from_secs(3_600);

/// Waiting requests in a bucket.
#[derive(Debug)]
pub struct RequestBucket {
    bucket: Arc<Bucket>,
    /// Makes the files that requests are read into.
    spool: Arc<DiskCache>,
    limits: RequestLimits,
    counts: Mutex<Counts>,
}

/// What is known of the stored requests.
#[derive(Debug, Default)]
struct Counts {
    /// The last time that they were counted.
    at: Option<Instant>,
    requests: usize,
    bytes: u64,
}

impl RequestBucket {
    /// Requests in `bucket`; `spool` makes temporary files. Nothing is sent yet.
    #[must_use]
    pub fn new(bucket: Arc<Bucket>, spool: Arc<DiskCache>, limits: RequestLimits) -> Self {
        Self {
            bucket,
            spool,
            limits,
            counts: Mutex::default(),
        }
    }

    /// Counts a request that is about to be stored. Counts all again if there is no room: the count
    /// is of the last sweep, and without what others have stored since.
    fn admit(&self, size_bytes: u64) -> Result<(), BlobError> {
        let is_recent = {
            let mut counts = self.counts();
            let is_full = self
                .limits
                .is_full(counts.requests, counts.bytes, size_bytes);
            if counts.at.is_some() && !is_full {
                counts.requests += 1;
                counts.bytes += size_bytes;
                return Ok(());
            }
            counts.at.is_some_and(|at| at.elapsed() < RECOUNT)
        };
        if is_recent {
            return Err(BlobError::Full {
                quota_bytes: self.limits.max_bytes,
            });
        }
        let room = self.make_room(size_bytes);
        let mut counts = self.counts();
        if room.is_ok() {
            counts.requests += 1;
            counts.bytes += size_bytes;
        }
        room
    }

    fn make_room(&self, wanted_bytes: u64) -> Result<(), BlobError> {
        let mut requests: HashMap<String, Entry<String>> = HashMap::new();
        for Object {
            key,
            age,
            size_bytes,
            ..
        } in self.list(REQUESTS)?
        {
            let name = key.trim_start_matches(REQUESTS).to_owned();
            let entry = Entry {
                place: name.clone(),
                state: State::Waits,
                age,
                size_bytes,
            };
            requests.insert(name, entry);
        }
        for (place, state) in ENDS {
            for end in self.list(place)? {
                match requests.get_mut(end.key.trim_start_matches(place)) {
                    // A retry may end otherwise; of two ends in a second, the failure is kept.
                    Some(entry) if entry.state == State::Waits || end.age <= entry.age => {
                        entry.state = state;
                        entry.age = end.age;
                    }
                    Some(_) => {}
                    None if end.age > END_LIFE => self.bucket.delete(&end.key)?,
                    None => {}
                }
            }
        }
        let all = (
            requests.len(),
            requests.values().map(|it| it.size_bytes).sum(),
        );
        let remove = |name: &String| self.delete(name).is_ok();
        let room = self
            .limits
            .make_room(requests.into_values().collect(), wanted_bytes, remove);
        let (count, bytes) = *room.as_ref().unwrap_or(&all);
        *self.counts() = Counts {
            at: Some(Instant::now()),
            requests: count,
            bytes,
        };
        room.map(drop)
    }

    /// Deletes the request first: an end alone does no harm, and a request alone would wait.
    fn delete(&self, name: &str) -> Result<(), BlobError> {
        self.bucket.delete(&format!("{REQUESTS}{name}"))?;
        for (place, _) in ENDS {
            self.bucket.delete(&format!("{place}{name}"))?;
        }
        Ok(())
    }

    fn list(&self, place: &str) -> Result<Vec<Object>, BlobError> {
        let mut objects: Vec<Object> = Vec::new();
        loop {
            let after = objects.last().map(|object| object.key.clone());
            let page = self.bucket.list(place, after.as_deref())?;
            let is_last = !page.is_cut || page.objects.is_empty();
            objects.extend(page.objects);
            if is_last || objects.len() >= MAX_COUNTED {
                return Ok(objects);
            }
        }
    }

    fn store(
        &self,
        size_bytes: u64,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, BlobError> {
        let name: String = (0..NAME_CHARACTERS)
            .map(|_| fastrand::alphanumeric())
            .collect();
        let key = key_of(&name);
        // The name is new, so an object of it is this one, stored by an attempt whose answer was
        // lost.
        if size_bytes <= HELD_BYTES {
            let mut held = Vec::new();
            write(&mut held)?;
            let pieces: &[&[u8]] = &[&held];
            let sum = Sum::of(&held);
            self.bucket.put_new(&key, Content::Slices(pieces), sum)?;
        } else {
            let mut writer = Hashing {
                file: self.spool.file()?,
                hasher: Sha256::new(),
            };
            write(&mut writer)?;
            let Hashing { file, mut hasher } = writer;
            let content = Content::File(&file, file.metadata()?.len());
            let sum = Sum::finish(&mut hasher);
            self.bucket.put_new(&key, content, sum)?;
        }
        Ok(name)
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestFiles for RequestBucket {
    fn put(
        &self,
        size_bytes: u64,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, BlobError> {
        self.admit(size_bytes)?;
        self.store(size_bytes, write)
    }

    fn open(&self, name: &str, patience: Duration) -> Result<File, BlobError> {
        if !is_name(name) {
            return Err(BlobError::NotFound);
        }
        let mut file = self.spool.file()?;
        let key = key_of(name);
        self.bucket.fetch(&key, &mut file, None, patience)?;
        file.rewind()?;
        Ok(file)
    }

    fn remove(&self, name: &str) {
        // What remains is removed once it has expired and there is no room.
        let _ = self.bucket.delete(&format!("{REQUESTS}{name}"));
    }

    fn end(&self, name: &str, has_failed: bool) {
        // Without it, the request waits until it has expired and there is no room.
        let _ = note_end(&self.bucket, name, has_failed);
    }

    fn sweep(&self) {
        // No new request wants room; what fails is done by the next sweep.
        let _ = self.make_room(0);
    }
}

/// Where a request is in the bucket.
pub(in crate::blobs) fn key_of(name: &str) -> String {
    format!("{REQUESTS}{name}")
}

/// Notes that a request was executed.
pub(in crate::blobs) fn note_end(
    bucket: &Bucket,
    name: &str,
    has_failed: bool,
) -> Result<(), BlobError> {
    let (place, _) = ENDS[usize::from(has_failed)];
    bucket.put_over(&format!("{place}{name}"), b"ended")
}

/// A file whose content is summed up as it is written.
struct Hashing {
    file: File,
    hasher: Sha256,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

//! Expiring blobs in a bucket that several services share.
//!
//! An object is never extended: its key is the hour after which nobody wants it, and its digest.
//! Content that two writers want until different hours is there twice. So a sweep deletes hours that
//! have passed, and no writer can want what it deletes; any number of services may sweep at once.

use std::{
    fs::File,
    io::Write,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sha2::{Digest as _, Sha256};

use super::{
    Draft, ExpiringBlobs, Found, Kept, Presentation, Usage,
    moved::Moved,
    quota::{Quota, in_blocks},
};
use crate::blobs::{
    BlobError, DiskCache,
    digest::{Sum, is_digest},
    s3::{Bucket, Content, Object, Put},
};

/// Where the blobs are in the bucket.
const PLACE: &str = "results/";
/// Objects expire in steps of this many seconds.
const STEP_SECONDS: u64 = 3_600;
/// How long after its hour an object is deleted: clocks differ, and readers may be late.
const GRACE_SECONDS: u64 = 900;
/// Most objects that one sweep deletes; the next one goes on.
const MAX_DELETED: usize = 10_000;
/// Most pages that one sweep counts; the next one goes on.
const MAX_COUNTED_PAGES: usize = 10;
/// Threads that delete.
const DELETERS: usize = 4;

/// Expiring blobs in a bucket.
#[derive(Debug)]
pub struct ExpiringBucket(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bucket: Arc<Bucket>,
    cache: Arc<DiskCache>,
    quota: Quota,
    count: Mutex<Count>,
    /// The results of a folder that was moved here.
    moved: OnceLock<Moved>,
}

/// A count that several sweeps may take.
#[derive(Debug, Default)]
struct Count {
    found: Usage,
    /// The last key that was counted.
    after: Option<String>,
}

impl ExpiringBucket {
    /// Blobs in `bucket`, which `cache` keeps copies of. Existing blobs are counted by
    /// [`ExpiringBlobs::sweep`]. Nothing is sent yet.
    #[must_use]
    pub fn new(bucket: Arc<Bucket>, cache: Arc<DiskCache>, quota_bytes: u64) -> Self {
        Self(Arc::new(Shared {
            bucket,
            cache,
            quota: Quota::new(quota_bytes),
            count: Mutex::default(),
            moved: OnceLock::new(),
        }))
    }

    /// Looks for results of a folder that was moved into the bucket, which are found by [`open`]
    /// from now on. Services call it when they start.
    ///
    /// # Errors
    /// The bucket fails.
    ///
    /// [`open`]: ExpiringBlobs::open
    pub fn find_moved(&self) -> Result<(), BlobError> {
        let Shared { bucket, cache, .. } = &*self.0;
        if let Some(moved) = Moved::load(bucket, cache)? {
            self.0.moved.get_or_init(|| moved);
        }
        Ok(())
    }
}

impl ExpiringBlobs for ExpiringBucket {
    fn begin(&self) -> Result<Box<dyn Draft>, BlobError> {
        Ok(Box::new(BucketDraft {
            file: Some(self.0.cache.file()?),
            shared: Arc::clone(&self.0),
            hasher: Sha256::new(),
            size_bytes: 0,
            charged_bytes: 0,
        }))
    }

    fn put(&self, pieces: &[&[u8]], ends: SystemTime) -> Result<Kept, BlobError> {
        let shared = &self.0;
        let mut hasher = Sha256::new();
        pieces.iter().for_each(|piece| hasher.update(piece));
        let sum = Sum::finish(&mut hasher);
        let size_bytes = pieces.iter().map(|piece| piece.len() as u64).sum();
        let charged_bytes = in_blocks(size_bytes);
        if let Err(full) = shared.quota.charge(charged_bytes) {
            let digest = sum.to_hex();
            return match shared.bucket.head(&key_of(&digest, ends))? {
                Some(_) => Ok(Kept {
                    digest,
                    size_bytes,
                    is_new: false,
                }),
                None => Err(full),
            };
        }
        let stored = shared.store(Content::Slices(pieces), sum, size_bytes, ends);
        shared.quota.release(charged_bytes);
        stored
    }

    fn open(&self, digest: &str, ends: SystemTime) -> Result<Found, BlobError> {
        if !is_digest(digest) {
            return Err(BlobError::NotFound);
        }
        let Shared { bucket, cache, .. } = &*self.0;
        if let Some(found) = cache.get(digest) {
            return Ok(found);
        }
        let mut file = cache.file()?;
        let (key, patience) = (self.0.place_of(digest, ends), bucket.timeout());
        match bucket.fetch(&key, &mut file, Some(digest), patience) {
            Ok(size_bytes) => Ok(cache.keep(digest, file, size_bytes)),
            Err(BlobError::Damaged(_)) => Err(BlobError::Damaged(digest.to_owned())),
            Err(error) => Err(error),
        }
    }

    fn has(&self, digest: &str, ends: SystemTime) -> Result<bool, BlobError> {
        Ok(is_digest(digest)
            && self
                .0
                .bucket
                .head(&self.0.place_of(digest, ends))?
                .is_some())
    }

    fn link(
        &self,
        digest: &str,
        ends: SystemTime,
        presentation: &Presentation<'_>,
        life: Duration,
    ) -> Option<String> {
        let query = [
            ("response-content-disposition", presentation.disposition),
            ("response-content-type", presentation.media_type),
        ];
        let key = || self.0.place_of(digest, ends);
        is_digest(digest).then(|| self.0.bucket.link(&key(), &query, life))
    }

    fn usage(&self) -> Usage {
        self.0.quota.usage()
    }

    fn sweep(&self, now: SystemTime) -> Result<Usage, BlobError> {
        let swept = self.0.delete_ended(now)?;
        self.0.quota.forget(swept);
        if let Some(moved) = self.0.moved.get() {
            moved.sweep(&self.0.bucket, now)?;
        }
        self.0.count()?;
        Ok(swept)
    }
}

impl Shared {
    /// Where a result is that a link with this end leads to.
    fn place_of(&self, digest: &str, ends: SystemTime) -> String {
        let own = step_end(ends);
        let moved = self.moved.get().and_then(|moved| moved.end_of(digest));
        place(digest, moved.unwrap_or_default().max(own))
    }

    fn store(
        &self,
        content: Content<'_>,
        sum: Sum,
        size_bytes: u64,
        ends: SystemTime,
    ) -> Result<Kept, BlobError> {
        let digest = sum.to_hex();
        let put = self.bucket.put_new(&key_of(&digest, ends), content, sum)?;
        let is_new = put == Put::Stored;
        if is_new {
            self.quota.add(in_blocks(size_bytes));
        }
        Ok(Kept {
            digest,
            size_bytes,
            is_new,
        })
    }

    /// Deletes from the earliest hour on.
    fn delete_ended(&self, now: SystemTime) -> Result<Usage, BlobError> {
        let (mut swept, mut after) = (Usage::default(), None);
        loop {
            let page = self.bucket.list(PLACE, after.as_deref())?;
            after = page.objects.last().map(|object| object.key.clone());
            let is_last = !page.is_cut || after.is_none();
            let ours = page.objects.into_iter().filter(|it| end_of(it).is_some());
            let (ended, alive): (Vec<_>, Vec<_>) = ours.partition(|it| has_ended(it, now));
            self.delete_all(&ended)?;
            for object in &ended {
                swept.add(in_blocks(object.size_bytes));
            }
            if is_last || !alive.is_empty() || swept.files >= MAX_DELETED as u64 {
                return Ok(swept);
            }
        }
    }

    fn delete_all(&self, objects: &[Object]) -> Result<(), BlobError> {
        let delete = |part: &[Object]| {
            let mut keys = part.iter().map(|object| &object.key);
            keys.try_for_each(|key| self.bucket.delete(key))
        };
        let share = objects.len().div_ceil(DELETERS).max(1);
        std::thread::scope(|scope| {
            let parts = objects.chunks(share);
            let threads: Vec<_> = parts.map(|part| scope.spawn(|| delete(part))).collect();
            let ends = threads.into_iter().map(|thread| match thread.join() {
                Ok(deleted) => deleted,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            ends.collect()
        })
    }

    /// Goes on with the count.
    fn count(&self) -> Result<(), BlobError> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..MAX_COUNTED_PAGES {
            let after = count.after.clone();
            if after.is_none() {
                count.found = Usage::default();
                self.quota.begin_count();
            }
            let page = self.bucket.list(PLACE, after.as_deref())?;
            for object in &page.objects {
                count.found.add(in_blocks(object.size_bytes));
            }
            let last = page.objects.last().map(|object| object.key.clone());
            count.after = last.filter(|_| page.is_cut);
            if count.after.is_none() {
                self.quota.end_count(count.found);
                break;
            }
        }
        Ok(())
    }
}

/// A blob that is being written to a file without a name.
struct BucketDraft {
    shared: Arc<Shared>,
    /// Absent at the end.
    file: Option<File>,
    hasher: Sha256,
    size_bytes: u64,
    charged_bytes: u64,
}

impl Draft for BucketDraft {
    fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        let size_bytes = self.size_bytes + bytes.len() as u64;
        let wanted_bytes = in_blocks(size_bytes);
        if wanted_bytes > self.charged_bytes {
            let quota = &self.shared.quota;
            quota.charge(wanted_bytes - self.charged_bytes)?;
            self.charged_bytes = wanted_bytes;
        }
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.hasher.update(bytes);
        self.size_bytes = size_bytes;
        Ok(())
    }

    fn finish(mut self: Box<Self>, ends: SystemTime) -> Result<Kept, BlobError> {
        let Some(file) = self.file.take() else {
            return Err(BlobError::NotFound);
        };
        let sum = Sum::finish(&mut self.hasher);
        let (shared, size_bytes) = (&self.shared, self.size_bytes);
        let kept = shared.store(Content::File(&file, size_bytes), sum, size_bytes, ends)?;
        // Whoever stores a document often reads it, or redirects somebody to this service.
        shared.cache.keep(&kept.digest, file, size_bytes);
        Ok(kept)
    }
}

impl Drop for BucketDraft {
    fn drop(&mut self) {
        self.shared.quota.release(self.charged_bytes);
    }
}

/// The end of the step in which a blob expires, in seconds since 1970.
pub(in crate::blobs) fn step_end(ends: SystemTime) -> u64 {
    let seconds = ends.duration_since(UNIX_EPOCH).unwrap_or_default();
    // A fraction of a second belongs to the step, too.
    (seconds.as_secs() + 1).next_multiple_of(STEP_SECONDS)
}

/// Ten digits order until the year 2286.
pub(in crate::blobs) fn key_of(digest: &str, ends: SystemTime) -> String {
    place(digest, step_end(ends))
}

fn place(digest: &str, step: u64) -> String {
    format!("{PLACE}{step:010}/{digest}")
}

/// The end of an object's step; `None` for what is not ours.
fn end_of(object: &Object) -> Option<u64> {
    let (step, digest) = object.key.strip_prefix(PLACE)?.split_once('/')?;
    step.parse().ok().filter(|_| is_digest(digest))
}

fn has_ended(object: &Object, now: SystemTime) -> bool {
    end_of(object).is_some_and(|end| is_over(end, now))
}

/// Whether nobody wants what ended at `end` any more.
pub(super) fn is_over(end: u64, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    end + GRACE_SECONDS <= now.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_may_want_what_a_sweep_deletes() {
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        let object = |key: String| Object {
            key,
            size_bytes: 1,
            tag: String::new(),
            age: Duration::ZERO,
        };
        for ends in [7_199, 7_200, 7_201, 10_799] {
            let object = object(key_of(&"ab".repeat(32), at(ends)));
            assert!(!has_ended(&object, at(ends + GRACE_SECONDS)), "{ends}");
            assert!(has_ended(&object, at(ends + GRACE_SECONDS + STEP_SECONDS)));
        }
        assert_eq!(key_of("ab", at(7_199)), "results/0000007200/ab");
        assert_eq!(key_of("ab", at(7_200)), "results/0000010800/ab");
        let strange = object("results/notes.txt".to_owned());
        assert!(!has_ended(&strange, at(u64::MAX >> 2)));
    }
}

//! Where the results of a folder are that was moved into a bucket.
//!
//! A folder keeps one file for all links to the same content, until the last of them ends; in a
//! bucket, a result is found by the end of its link. So a move stores the end of each file in an
//! index, which services read when they start: lines of one length, in the order of the digests.

use std::{fs::File, io::Write, os::unix::fs::FileExt, time::SystemTime};

use sha2::{Digest as _, Sha256};

use crate::blobs::{
    BlobError, Bucket, DiskCache,
    digest::Sum,
    s3::{Content, Put},
};

/// Where the index is in the bucket, under the last end in it.
pub(in crate::blobs) const PLACE: &str = "results-moved/";
/// Length of a line: a digest, a space, ten digits, a line feed.
const LINE_BYTES: u64 = 64 + 1 + 10 + 1;

/// The index.
#[derive(Debug)]
pub(super) struct Moved {
    file: File,
    lines: u64,
    key: String,
    /// The last end in it. Seconds since 1970.
    last: u64,
}

/// Stores an index of digests and ends, which come in the order of the digests.
pub(in crate::blobs) fn store<'d>(
    bucket: &Bucket,
    steps: impl Iterator<Item = (&'d str, u64)>,
) -> Result<(), BlobError> {
    let mut writer = std::io::BufWriter::new(tempfile::tempfile()?);
    let (mut hasher, mut last) = (Sha256::new(), None);
    for (digest, end) in steps {
        let line = format!("{digest} {end:010}\n");
        hasher.update(&line);
        writer.write_all(line.as_bytes())?;
        last = last.max(Some(end));
    }
    let Some(last) = last else {
        return Ok(());
    };
    let file = writer
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    let (sum, size_bytes) = (Sum::finish(&mut hasher), file.metadata()?.len());
    let key = format!("{PLACE}{last:010}");
    let put = || bucket.put_new(&key, Content::File(&file, size_bytes), sum);
    let is_same = |found: Option<(String, u64)>| found.is_some_and(|it| it.0 == sum.to_hex());
    if put()? == Put::Existed && !is_same(bucket.head(&key)?) {
        // That of an attempt before, when more results had not expired.
        bucket.delete(&key)?;
        put()?;
    }
    Ok(())
}

impl Moved {
    /// Reads the index of a bucket, if there is one.
    pub(super) fn load(bucket: &Bucket, cache: &DiskCache) -> Result<Option<Self>, BlobError> {
        let Some(object) = bucket.list(PLACE, None)?.objects.pop() else {
            return Ok(None);
        };
        let last = object.key.trim_start_matches(PLACE).parse();
        let last = last.map_err(|_| BlobError::Damaged(object.key.clone()))?;
        let mut file = cache.file()?;
        let size_bytes = bucket.fetch(&object.key, &mut file, None, bucket.timeout())?;
        Ok(Some(Self {
            file,
            lines: size_bytes / LINE_BYTES,
            key: object.key,
            last,
        }))
    }

    /// The end of a result that was moved.
    pub(super) fn end_of(&self, digest: &str) -> Option<u64> {
        let (mut low, mut high) = (0, self.lines);
        while low < high {
            let middle = low.midpoint(high);
            let mut line = [0; LINE_BYTES as usize];
            self.file
                .read_exact_at(&mut line, middle * LINE_BYTES)
                .ok()?;
            let (found, end) = line.split_at(64);
            match found.cmp(digest.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return std::str::from_utf8(end).ok()?.trim().parse().ok();
                }
            }
        }
        None
    }

    /// Deletes the index once nobody wants anything that is in it.
    pub(super) fn sweep(&self, bucket: &Bucket, now: SystemTime) -> Result<(), BlobError> {
        match super::bucket::is_over(self.last, now) {
            true => bucket.delete(&self.key),
            false => Ok(()),
        }
    }
}

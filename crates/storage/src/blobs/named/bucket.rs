//! Blobs in a bucket that several services share: each name is an object with its content, which a
//! write creates only if there is none. So there is no content without a name, nothing to sweep, and
//! no race between a writer and whoever deletes.

use std::{
    collections::HashMap,
    os::unix::fs::FileExt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{BlobStore, check_name};
use crate::blobs::{
    BlobDigest, BlobError, DiskCache, Found,
    digest::{Sum, is_digest},
    s3::{Bucket, Content, Object, Put},
};

/// Where the blobs are in the bucket.
const PLACE: &str = "blobs/";
/// How long a name is known: as late another service's deletion of it may be noticed.
const NAME_LIFE: Duration = Duration::from_secs(10);
/// Most names.
const MAX_NAMES: usize = 100_000;

/// Blobs in a bucket.
#[derive(Debug)]
pub struct BucketBlobs {
    bucket: Arc<Bucket>,
    cache: Arc<DiskCache>,
    quota_bytes: u64,
    names: Mutex<HashMap<String, Name>>,
}

/// What a name stands for. It changes only if the name is deleted in between.
#[derive(Clone, Debug)]
struct Name {
    digest: BlobDigest,
    /// The server's tag of the object, once it was listed.
    tag: Option<String>,
    seen: Instant,
}

impl BucketBlobs {
    /// Blobs in `bucket`, which `cache` keeps copies of. Nothing is sent yet.
    #[must_use]
    pub fn new(bucket: Arc<Bucket>, cache: Arc<DiskCache>, quota_bytes: u64) -> Self {
        Self {
            bucket,
            cache,
            quota_bytes,
            names: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Name>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, name: &str, digest: &str, tag: Option<String>) {
        let entry = Name {
            digest: digest.to_owned(),
            tag,
            seen: Instant::now(),
        };
        let mut known = self.known();
        if known.len() < MAX_NAMES || known.contains_key(name) {
            known.insert(name.to_owned(), entry);
        }
    }

    /// The digest that the server has for a name now.
    fn ask(&self, name: &str) -> Result<BlobDigest, BlobError> {
        match self.bucket.head(&key_of(name))? {
            Some((digest, _)) => {
                self.remember(name, &digest, None);
                Ok(digest)
            }
            None => {
                self.known().remove(name);
                Err(BlobError::NotFound)
            }
        }
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, BlobError> {
        let mut objects: Vec<Object> = Vec::new();
        let place = key_of(prefix);
        loop {
            let after = objects.last().map(|object| object.key.clone());
            let page = self.bucket.list(&place, after.as_deref())?;
            let is_last = !page.is_cut || page.objects.is_empty();
            objects.extend(page.objects);
            if is_last || objects.len() >= MAX_NAMES {
                return Ok(objects);
            }
        }
    }

    /// A name that stands for `digest`.
    fn name_of(&self, digest: &str) -> Result<String, BlobError> {
        let find = |is_fresh: bool| {
            let known = self.known();
            let mut names = known.iter().filter(|(_, name)| name.digest == digest);
            let found = names.find(|(_, name)| !is_fresh || name.seen.elapsed() < NAME_LIFE);
            found.map(|(name, _)| name.clone())
        };
        if let Some(name) = find(true) {
            return Ok(name);
        }
        let refreshed = self.names("");
        let is_refreshed = refreshed.is_ok();
        match (find(is_refreshed), refreshed) {
            (Some(name), _) => Ok(name),
            (None, Err(error)) => Err(error),
            (None, Ok(_)) => Err(BlobError::NotFound),
        }
    }

    fn full(&self) -> BlobError {
        BlobError::Full {
            quota_bytes: self.quota_bytes,
        }
    }
}

impl BlobStore for BucketBlobs {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(BlobDigest, bool), BlobError> {
        check_name(name)?;
        let sum = Sum::of(bytes);
        let digest = sum.to_hex();
        let among = |found: BlobDigest| match found == digest {
            true => Ok((found, false)),
            false => Err(BlobError::Taken(found)),
        };
        match self.ask(name) {
            Err(BlobError::NotFound) => {}
            found => return found.and_then(among),
        }
        let objects = self.list("")?;
        let used: u64 = objects.iter().map(|object| object.size_bytes).sum();
        let is_full = used.saturating_add(bytes.len() as u64) > self.quota_bytes;
        if is_full || objects.len() >= MAX_NAMES {
            return Err(self.full());
        }
        let pieces: &[&[u8]] = &[bytes];
        match self
            .bucket
            .put_new(&key_of(name), Content::Slices(pieces), sum)?
        {
            Put::Stored => {
                self.remember(name, &digest, None);
                Ok((digest, true))
            }
            // Another service was first, or this write was, whose answer was lost.
            Put::Existed => self.ask(name).and_then(among),
        }
    }

    fn digest(&self, name: &str) -> Result<BlobDigest, BlobError> {
        check_name(name).map_err(|_| BlobError::NotFound)?;
        let known = self.known().get(name).cloned();
        match known {
            Some(known) if known.seen.elapsed() < NAME_LIFE => Ok(known.digest),
            // While the server fails, what was known goes on.
            Some(known) => match self.ask(name) {
                Err(error) if error.is_of_server() => Ok(known.digest),
                asked => asked,
            },
            None => self.ask(name),
        }
    }

    fn get(&self, digest: &str) -> Result<Vec<u8>, BlobError> {
        if !is_digest(digest) {
            return Err(BlobError::NotFound);
        }
        let name = self.name_of(digest)?;
        let found = match self.cache.get(digest) {
            Some(found) => found,
            None => {
                let mut file = self.cache.file()?;
                let (key, patience) = (key_of(&name), self.bucket.timeout());
                let fetched = self.bucket.fetch(&key, &mut file, Some(digest), patience);
                let size_bytes = fetched.map_err(|error| named(error, digest))?;
                self.cache.keep(digest, file, size_bytes)
            }
        };
        let bytes = read(&found)?;
        match Sum::of(&bytes).to_hex() == digest {
            true => Ok(bytes),
            false => Err(BlobError::Damaged(digest.to_owned())),
        }
    }

    fn link(&self, digest: &str, life: Duration) -> Result<Option<String>, BlobError> {
        let name = self.name_of(digest)?;
        Ok(Some(self.bucket.link(&key_of(&name), &[], life)))
    }

    fn delete(&self, name: &str) -> Result<(), BlobError> {
        check_name(name).map_err(|_| BlobError::NotFound)?;
        self.ask(name)?;
        self.bucket.delete(&key_of(name))?;
        self.known().remove(name);
        Ok(())
    }

    fn names(&self, prefix: &str) -> Result<Vec<(String, BlobDigest)>, BlobError> {
        let mut names = Vec::new();
        for Object { key, tag, .. } in self.list(prefix)? {
            let Some(name) = key.strip_prefix(PLACE) else {
                continue;
            };
            let known = self.known().get(name).cloned();
            let same = known.filter(|known| known.tag.as_ref() == Some(&tag));
            let digest = match same {
                Some(known) => known.digest,
                None => match self.ask(name) {
                    // Deleted since.
                    Err(BlobError::NotFound) => continue,
                    asked => asked?,
                },
            };
            self.remember(name, &digest, Some(tag));
            names.push((name.to_owned(), digest));
        }
        Ok(names)
    }

    fn size_bytes(&self) -> Result<u64, BlobError> {
        let objects = self.list("")?;
        Ok(objects.iter().map(|object| object.size_bytes).sum())
    }
}

/// Where a name is in the bucket.
pub(in crate::blobs) fn key_of(name: &str) -> String {
    format!("{PLACE}{name}")
}

fn read(found: &Found) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(found.size_bytes).map_err(std::io::Error::other)?];
    found.file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Puts the digest into the error of a damaged blob.
fn named(error: BlobError, digest: &str) -> BlobError {
    match error {
        BlobError::Damaged(_) => BlobError::Damaged(digest.to_owned()),
        other => other,
    }
}

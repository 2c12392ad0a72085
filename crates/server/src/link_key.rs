//! The signing key of links. It is a file in the data folder, so that links survive a restart and are
//! valid in every process of that folder; or an object in a bucket, so that they are valid at every
//! service that shares it; or made from a secret of the settings.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use platen_signing::LinkKey;
use platen_storage::blobs::{BlobError, Bucket};
use sha2::{Digest, Sha256};

/// File name of the key.
pub(crate) const NAME: &str = "link.key";
/// The key in a bucket.
const OBJECT: &str = "keys/link.key";

/// The key that a secret stands for.
pub(crate) fn of_secret(secret: &str) -> LinkKey {
    LinkKey::new(Sha256::digest(format!("platen link key\n{secret}")).into())
}

/// Reads the key in a bucket, or creates it. Concurrent services agree on one key.
///
/// # Errors
/// If the bucket fails, or the object is not a key.
pub(crate) fn in_bucket(bucket: &Bucket) -> Result<LinkKey, BlobError> {
    let new = random().map_err(BlobError::Failed)?;
    let found = bucket.once(OBJECT, &new, new.len() as u64)?;
    let key = <[u8; 32]>::try_from(found);
    key.map(LinkKey::new)
        .map_err(|_| BlobError::Damaged(OBJECT.to_owned()))
}

/// Copies the key in `folder`, if there is one, to a bucket without a key; false if the bucket has
/// another one.
///
/// # Errors
/// If the bucket or the file fails.
pub(crate) fn copy(bucket: &Bucket, folder: &Path) -> Result<bool, BlobError> {
    let Some(key) = existing(folder)? else {
        return Ok(true);
    };
    Ok(bucket.once(OBJECT, &key, key.len() as u64)? == key)
}

/// Whether a bucket has a key, and another one than `folder`.
///
/// # Errors
/// If the bucket or the file fails.
pub(crate) fn is_other(bucket: &Bucket, folder: &Path) -> Result<bool, BlobError> {
    let (own, found) = (existing(folder)?, bucket.existing(OBJECT, 32));
    match found {
        Err(BlobError::NotFound) => Ok(false),
        found => {
            let found = found?;
            Ok(own.is_some_and(|own| found != own))
        }
    }
}

/// The key in `folder`.
fn existing(folder: &Path) -> Result<Option<[u8; 32]>, BlobError> {
    match read(&folder.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Reads the key in `folder`, or creates it. Concurrent processes agree on one key.
///
/// # Errors
/// If the file cannot be read or written, or does not contain a key.
pub(crate) fn open(folder: &Path) -> io::Result<LinkKey> {
    let place = folder.join(NAME);
    match read(&place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&place)?,
        other => return other.map(LinkKey::new),
    }
    read(&place).map(LinkKey::new)
}

fn read(place: &Path) -> io::Result<[u8; 32]> {
    let bytes = fs::read(place)?;
    <[u8; 32]>::try_from(bytes).map_err(|bytes| {
        let text = format!("`{}` has {} bytes, not 32", place.display(), bytes.len());
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// Random bytes of the system.
///
/// # Errors
/// The system has none.
pub(crate) fn random() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

/// Writes the key to a temporary file and hard-links it into place: atomic, and the first writer
/// wins.
fn make(place: &Path) -> io::Result<()> {
    let key = random()?;
    let nonce = RandomState::new().hash_one(std::process::id());
    let beside = place.with_extension(format!("key.{nonce:016x}"));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    let made = file
        .write_all(&key)
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::hard_link(&beside, place));
    fs::remove_file(&beside)?;
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn all_who_come_at_once_have_the_same_key() {
        let folder = tempfile::tempdir().unwrap();
        let signatures: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| open(folder.path()).unwrap().sign("a", 1)))
                .collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(signatures.iter().all(|one| *one == signatures[0]));
        let place = folder.path().join(NAME);
        let mode = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(&place, b"short").unwrap();
        assert!(open(folder.path()).is_err());
    }
}

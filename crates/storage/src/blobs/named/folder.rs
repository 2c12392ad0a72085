//! Blobs in a folder: `content/` has the content by digest, `names/` the digest of each name.
//!
//! Files are written under a temporary name, synced and then renamed, so a crash leaves either the
//! old state or the new one. Content without a name is removed when the folder is opened.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{BlobStore, check_name};
use crate::blobs::{BlobDigest, BlobError, digest::Sum};

/// Maximum number of names.
const MAX_NAMES: usize = 100_000;

/// Blobs in a folder that only this process uses.
#[derive(Debug)]
pub struct FolderBlobs {
    content: PathBuf,
    names: PathBuf,
    quota_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<String, BlobDigest>,
    sizes: HashMap<BlobDigest, u64>,
}

impl State {
    fn size_bytes(&self) -> u64 {
        self.sizes.values().sum()
    }
}

impl FolderBlobs {
    /// Opens a folder and creates it if necessary.
    ///
    /// # Errors
    /// The folder cannot be read or created.
    pub fn open(folder: &Path, quota_bytes: u64) -> Result<Self, BlobError> {
        let (content, names) = (folder.join("content"), folder.join("names"));
        fs::create_dir_all(&content)?;
        fs::create_dir_all(&names)?;
        let mut state = State::default();
        read_names(&names, "", &mut state.names)?;
        for entry in fs::read_dir(&content)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if state.names.values().any(|digest| *digest == name) {
                state.sizes.insert(name, entry.metadata()?.len());
            } else {
                // A crash came between writing the content and writing its name.
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self {
            content,
            names,
            quota_bytes,
            state: Mutex::new(state),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlobStore for FolderBlobs {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(BlobDigest, bool), BlobError> {
        check_name(name)?;
        let digest = digest_of(bytes);
        let mut state = self.state();
        match state.names.get(name) {
            Some(known) if *known == digest => return Ok((digest, false)),
            Some(known) => return Err(BlobError::Taken(known.clone())),
            None if state.names.len() >= MAX_NAMES => return Err(self.full()),
            None => {}
        }
        let size = bytes.len() as u64;
        if !state.sizes.contains_key(&digest) {
            if state.size_bytes().saturating_add(size) > self.quota_bytes {
                return Err(self.full());
            }
            write(&self.content.join(&digest), bytes)?;
            state.sizes.insert(digest.clone(), size);
        }
        let place = self.names.join(name);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        write(&place, digest.as_bytes())?;
        state.names.insert(name.to_owned(), digest.clone());
        Ok((digest, true))
    }

    fn digest(&self, name: &str) -> Result<BlobDigest, BlobError> {
        let found = self.state().names.get(name).cloned();
        found.ok_or(BlobError::NotFound)
    }

    fn get(&self, digest: &str) -> Result<Vec<u8>, BlobError> {
        if !self.state().sizes.contains_key(digest) {
            return Err(BlobError::NotFound);
        }
        let bytes = fs::read(self.content.join(digest))?;
        if digest_of(&bytes) != digest {
            return Err(BlobError::Damaged(digest.to_owned()));
        }
        Ok(bytes)
    }

    fn delete(&self, name: &str) -> Result<(), BlobError> {
        let mut state = self.state();
        let digest = state.names.get(name).cloned().ok_or(BlobError::NotFound)?;
        let place = self.names.join(name);
        fs::remove_file(&place)?;
        sync_parent(&place)?;
        state.names.remove(name);
        if !state.names.values().any(|other| *other == digest) {
            state.sizes.remove(&digest);
            fs::remove_file(self.content.join(&digest))?;
        }
        Ok(())
    }

    fn names(&self, prefix: &str) -> Result<Vec<(String, BlobDigest)>, BlobError> {
        let state = self.state();
        let from = state.names.range(prefix.to_owned()..);
        Ok(from
            .take_while(|(name, _)| name.starts_with(prefix))
            .map(|(name, digest)| (name.clone(), digest.clone()))
            .collect())
    }

    fn size_bytes(&self) -> Result<u64, BlobError> {
        Ok(self.state().size_bytes())
    }
}

impl FolderBlobs {
    fn full(&self) -> BlobError {
        BlobError::Full {
            quota_bytes: self.quota_bytes,
        }
    }
}

fn digest_of(bytes: &[u8]) -> BlobDigest {
    Sum::of(bytes).to_hex()
}

/// Writes a file durably, and completely or not at all.
fn write(place: &Path, bytes: &[u8]) -> Result<(), BlobError> {
    let mut beside = place.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(error) = written {
        let _ = fs::remove_file(&beside);
        return Err(error.into());
    }
    fs::rename(&beside, place)?;
    Ok(sync_parent(place)?)
}

fn sync_parent(place: &Path) -> std::io::Result<()> {
    match place.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

fn read_names(
    folder: &Path,
    prefix: &str,
    names: &mut BTreeMap<String, BlobDigest>,
) -> Result<(), BlobError> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let own = entry.file_name().to_string_lossy().into_owned();
        if own.ends_with(".new") {
            // A crash came before the file was complete.
            fs::remove_file(entry.path())?;
        } else if entry.file_type()?.is_dir() {
            read_names(&entry.path(), &format!("{prefix}{own}/"), names)?;
        } else {
            names.insert(format!("{prefix}{own}"), fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

//! Waiting requests in a folder. A request's state is the extension of its file; its file is
//! written under a temporary name, synced and then renamed.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use super::{Entry, NAME_CHARACTERS, RequestFiles, RequestLimits, State, is_name};
use crate::{blobs::BlobError, create_folder};

/// Extension of a request that failed, and is kept for a retry.
const FAILED: &str = "failed";
/// Extension of a request that was executed.
const DONE: &str = "done";
/// Extension of a file that is being written.
const PART: &str = "part";

/// Waiting requests in a folder that only this process writes.
#[derive(Debug)]
pub struct RequestFolder {
    folder: PathBuf,
    limits: RequestLimits,
    /// Serializes the check of the limits with the file that it admits.
    admission: Mutex<()>,
}

impl RequestFolder {
    /// Extensions of the files of requests that were executed.
    pub const ENDS: [&str; 2] = [FAILED, DONE];

    /// The requests in `folder`, which is created with the first one.
    #[must_use]
    pub fn new(folder: PathBuf, limits: RequestLimits) -> Self {
        Self {
            folder,
            limits,
            admission: Mutex::default(),
        }
    }

    fn write(
        &self,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, BlobError> {
        // Readable by this user only, as tempfile makes it.
        let mut draft = tempfile::Builder::new()
            .prefix("")
            .rand_bytes(NAME_CHARACTERS)
            .suffix(&format!(".{PART}"))
            .tempfile_in(&self.folder)?;
        write(draft.as_file_mut())?;
        draft.as_file().sync_all()?;
        let name = draft.path().file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        draft
            .persist(self.folder.join(&name))
            .map_err(|error| error.error)?;
        // Without this, a loss of power could forget the name.
        File::open(&self.folder)?.sync_all()?;
        Ok(name)
    }

    fn make_room(&self, wanted_bytes: u64) -> Result<(), BlobError> {
        let remove = |path: &PathBuf| std::fs::remove_file(path).is_ok();
        let room = self
            .limits
            .make_room(list(&self.folder), wanted_bytes, remove);
        room.map(drop)
    }

    /// Where the request can be.
    fn paths(&self, name: &str) -> [PathBuf; 3] {
        let with = |extension| self.folder.join(format!("{name}.{extension}"));
        [self.folder.join(name), with(FAILED), with(DONE)]
    }
}

impl RequestFiles for RequestFolder {
    fn put(
        &self,
        size_bytes: u64,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, BlobError> {
        create_folder(&self.folder)?;
        // The lock holds no data that a panic could leave inconsistent.
        let _admission = self
            .admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.make_room(size_bytes)?;
        self.write(write)
    }

    fn open(&self, name: &str, _patience: Duration) -> Result<File, BlobError> {
        if !is_name(name) {
            return Err(BlobError::NotFound);
        }
        let files = self.paths(name).into_iter().map(File::open);
        Ok(files
            .reduce(Result::or)
            .unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))?)
    }

    fn remove(&self, name: &str) {
        // What remains is removed once it has expired and there is no room.
        let _ = std::fs::remove_file(self.folder.join(name));
    }

    fn end(&self, name: &str, has_failed: bool) {
        let extension = if has_failed { FAILED } else { DONE };
        let new = self.folder.join(format!("{name}.{extension}"));
        for path in self.paths(name) {
            let Ok(file) = File::options().write(true).open(&path) else {
                continue;
            };
            // How long it is kept counts from now.
            let _ = file.set_modified(SystemTime::now());
            // If this fails, the request keeps its name, under which it is found too.
            if path == new || std::fs::rename(path, &new).is_ok() {
                return;
            }
        }
    }

    fn sweep(&self) {
        let _admission = self
            .admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // No new request wants room, so it does not matter that there may be none.
        let _ = self.make_room(0);
    }
}

/// The name of the request in a file, and what became of it: executed with a failure, or without;
/// `None` if it waits.
pub(in crate::blobs) fn end_of(file_name: &str) -> (&str, Option<bool>) {
    match file_name.split_once('.') {
        Some((name, FAILED)) => (name, Some(true)),
        Some((name, DONE)) => (name, Some(false)),
        _ => (file_name, None),
    }
}

/// The name of the file of a request.
pub(in crate::blobs) fn file_name(name: &str, end: Option<bool>) -> String {
    match end {
        Some(true) => format!("{name}.{FAILED}"),
        Some(false) => format!("{name}.{DONE}"),
        None => name.to_owned(),
    }
}

fn list(folder: &Path) -> Vec<Entry<PathBuf>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok()?;
        let path = entry.path();
        let state = match path.extension().and_then(|it| it.to_str()) {
            Some(DONE) => State::Done,
            Some(FAILED) => State::Failed,
            _ => State::Waits,
        };
        Some(Entry {
            state,
            place: path,
            age: metadata.modified().ok()?.elapsed().unwrap_or_default(),
            size_bytes: metadata.len(),
        })
    });
    files.collect()
}

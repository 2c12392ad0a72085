//! Staging: writes the document into the folder of its job, with unsafe parts removed.

use std::{
    fs::File,
    io::{self, Seek, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::io::AsyncRead;

use crate::{changes::Patch, job::Source, job_folder::JobFolder};

/// File name for a document without one.
pub(crate) const NAMELESS: &str = "document";

/// Larger documents are written on a blocking thread. In bytes.
const INLINE_BYTES: u64 = 256 << 10;

/// Larger documents are sent from a file instead of memory. In bytes.
const MAX_SENT_BYTES: u64 = 16 << 20;

/// A new file in a folder that only this process uses; it has no name and is freed when it is closed.
pub(crate) fn spool(folder: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let place = folder.join(format!("spool-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    let mut options = File::options();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&place)?;
    std::fs::remove_file(place)?;
    Ok(file)
}

/// A document, and the change to make before LibreOffice reads it.
#[derive(Clone)]
pub(crate) struct StagedInput {
    pub(crate) source: Source,
    pub(crate) patch: Option<Arc<Patch>>,
    /// Whether LibreOffice can see files outside its own folder.
    pub(crate) is_seen: bool,
}

impl StagedInput {
    /// Stages the document and returns its path. There is always a path: LibreOffice trusts a
    /// document without one and loads whatever it links to.
    pub(crate) async fn place(self, folder: &JobFolder, name: Option<&str>) -> io::Result<PathBuf> {
        let place = folder.path().join(name.unwrap_or(NAMELESS));
        if let (Source::Path(path), None, true) = (&self.source, &self.patch, self.is_seen) {
            if name.is_none() {
                return Ok(path.clone());
            }
            tokio::fs::symlink(path, &place).await?;
            return Ok(place);
        }
        let mut file = folder.create_file(name.unwrap_or(NAMELESS))?;
        // Writing a small document costs less than a thread switch.
        if self.size_bytes() <= INLINE_BYTES {
            self.write_to(&mut file)?;
            return Ok(place);
        }
        let written = tokio::task::spawn_blocking(move || self.write_to(&mut file)).await;
        written.map_err(io::Error::other)??;
        Ok(place)
    }

    /// The document, to be sent over a connection. A large one goes through a file in `folder`.
    pub(crate) async fn send(self, folder: &Path) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
        let size = self.size_bytes();
        if size <= INLINE_BYTES {
            return self.in_memory();
        }
        let folder = folder.to_owned();
        let sent = tokio::task::spawn_blocking(move || {
            if size <= MAX_SENT_BYTES {
                return self.in_memory();
            }
            let mut file = spool(&folder)?;
            self.write_to(&mut file)?;
            file.rewind()?;
            Ok(Box::new(tokio::fs::File::from_std(file)) as Box<dyn AsyncRead + Send + Unpin>)
        });
        sent.await.map_err(io::Error::other)?
    }

    fn in_memory(&self) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(Box::new(io::Cursor::new(bytes)))
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        match &self.source {
            Source::Content(content) => content.size_bytes(),
            Source::Path(path) => path.metadata().map_or(u64::MAX, |it| it.len()),
        }
    }

    fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        match (&self.source, self.patch.as_deref()) {
            (Source::Content(content), None) => content.write_to(to),
            (Source::Content(content), Some(patch)) => patch.apply(content.reader(), to),
            (Source::Path(path), patch) => copy(&File::open(path)?, patch, to),
        }
    }
}

fn copy(mut from: &File, patch: Option<&Patch>, to: &mut impl Write) -> io::Result<()> {
    match patch {
        Some(patch) => patch.apply(from, to),
        // Copied in the kernel if possible.
        None => io::copy(&mut from, to).map(drop),
    }
}

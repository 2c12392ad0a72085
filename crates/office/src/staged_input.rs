//! Staging: writes the document into the folder of its job, with unsafe parts removed.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{changes::Patch, job::Source};

/// File name for a document without one.
pub(crate) const NAMELESS: &str = "document";

/// Larger documents are written on a blocking thread. In bytes.
const INLINE_BYTES: u64 = 256 << 10;

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
    pub(crate) async fn place(self, folder: &Path, name: Option<&str>) -> io::Result<PathBuf> {
        let place = folder.join(name.unwrap_or(NAMELESS));
        match (&self.source, &self.patch) {
            (Source::Path(path), None) if self.is_seen => match name {
                None => return Ok(path.clone()),
                Some(_) => tokio::fs::symlink(path, &place).await?,
            },
            // Writing a small document costs less than a thread switch.
            _ if self.size_bytes() <= INLINE_BYTES => self.write(&place)?,
            _ => {
                let place = place.clone();
                let written = tokio::task::spawn_blocking(move || self.write(&place)).await;
                written.map_err(io::Error::other)??;
            }
        }
        Ok(place)
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        match &self.source {
            Source::Content(content) => content.size_bytes(),
            Source::Path(path) => path.metadata().map_or(u64::MAX, |it| it.len()),
        }
    }

    fn write(&self, place: &Path) -> io::Result<()> {
        let mut to = File::create_new(place)?;
        match (&self.source, self.patch.as_deref()) {
            (Source::Content(content), None) => content.write_to(&mut to)?,
            (Source::Content(content), Some(patch)) => patch.apply(content.reader(), &mut to)?,
            (Source::Path(path), patch) => copy(&File::open(path)?, patch, &mut to)?,
        }
        Ok(())
    }
}

fn copy(mut from: &File, patch: Option<&Patch>, to: &mut File) -> io::Result<()> {
    match patch {
        Some(patch) => patch.apply(from, to),
        // Copied in the kernel if possible.
        None => io::copy(&mut from, to).map(drop),
    }
}

//! A document on its way to LibreOffice: a file in the folder of its job, without its links.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{job::Source, links::Patch, reading::Reading};

/// Name of a document that has none.
pub(crate) const NAMELESS: &str = "document";

/// Bytes that are copied at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Larger documents are written off the threads of the runtime.
const INLINE_BYTES: u64 = 256 << 10;

/// A document, and what is done to it before.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) source: Source,
    /// Takes its links out.
    pub(crate) patch: Option<Arc<Patch>>,
    /// Whether LibreOffice sees files outside its own folder.
    pub(crate) is_seen: bool,
}

impl Given {
    /// Puts the document where LibreOffice reads it, and says where that is. It always has a place: one without is
    /// taken for trusted, and what it links to is loaded.
    pub(crate) async fn place(self, folder: &Path, stem: Option<&str>) -> io::Result<PathBuf> {
        let place = folder.join(stem.unwrap_or(NAMELESS));
        match (&self.source, &self.patch) {
            (Source::Path(path), None) if self.is_seen => match stem {
                None => return Ok(path.clone()),
                Some(_) => tokio::fs::symlink(path, &place).await?,
            },
            // A small one is written sooner than a thread is found for it.
            _ if self.size_bytes() <= INLINE_BYTES => self.write(&place)?,
            _ => {
                let place = place.clone();
                let written = tokio::task::spawn_blocking(move || self.write(&place)).await;
                written.map_err(io::Error::other)??;
            }
        }
        Ok(place)
    }

    fn size_bytes(&self) -> u64 {
        match &self.source {
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Path(path) => path.metadata().map_or(u64::MAX, |it| it.len()),
            Source::File(file) => file.metadata().map_or(u64::MAX, |it| it.len()),
        }
    }

    fn write(&self, place: &Path) -> io::Result<()> {
        let keep = self.patch.as_ref().map(|patch| patch.keep_bytes);
        let mut to = File::create_new(place)?;
        match &self.source {
            Source::Bytes(bytes) => {
                let keep = keep.and_then(|keep| usize::try_from(keep).ok());
                let kept = keep.map_or(bytes.len(), |keep| keep.min(bytes.len()));
                to.write_all(&bytes[..kept])?;
            }
            Source::Path(path) => copy(&File::open(path)?, keep, &mut to)?,
            Source::File(file) => copy_shared(file, keep, &mut to)?,
        }
        match &self.patch {
            Some(patch) => to.write_all(&patch.tail),
            None => Ok(()),
        }
    }
}

/// Copies in the kernel, where it can.
fn copy(mut from: &File, keep: Option<u64>, to: &mut File) -> io::Result<()> {
    match keep {
        Some(keep) => io::copy(&mut from.take(keep), to)?,
        None => io::copy(&mut from, to)?,
    };
    Ok(())
}

/// Copies a file that others may read at the same time; the kernel would move their place in it.
fn copy_shared(from: &File, keep: Option<u64>, to: &mut File) -> io::Result<()> {
    let mut from = Reading::new(from).take(keep.unwrap_or(u64::MAX));
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(()),
            count => to.write_all(&piece[..count])?,
        }
    }
}

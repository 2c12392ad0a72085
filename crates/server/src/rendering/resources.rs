//! Files that a request supplies for its page; Chromium loads each on demand.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use platen_browser::{File, Files, Key, Output};
use platen_engine::key_of;
use sha2::{Digest, Sha256};

use crate::{
    intake::content::{Content, full},
    problem::Problem,
};

/// A file.
#[derive(Clone, Debug)]
pub struct SpooledFile {
    /// Media type for Chromium.
    pub media_type: String,
    /// Its bytes.
    pub content: Content,
}

/// The files by name.
#[derive(Debug)]
pub struct PageResources(pub BTreeMap<String, SpooledFile>);

impl Files for PageResources {
    fn file(&self, name: &str) -> Option<File> {
        let file = self.0.get(name)?;
        Some(File {
            media_type: file.media_type.clone(),
            bytes: file.content.read().ok()?,
        })
    }
}

impl PageResources {
    /// Cache key of a page with these files.
    pub async fn key(self: &Arc<Self>, html: &str, output: &Output) -> Result<Key, Problem> {
        let files = Arc::clone(self);
        let is_spooled = |file: &SpooledFile| matches!(file.content, Content::Spooled(_));
        let digests = match files.0.values().any(is_spooled) {
            true => tokio::task::spawn_blocking(move || files.digests()).await,
            false => Ok(self.digests()),
        };
        let digests = digests.map_err(std::io::Error::other).flatten();
        let digests = digests.map_err(|error| full(&error))?;
        let named = digests
            .iter()
            .map(|(name, bytes)| (name.as_str(), &bytes[..]));
        Ok(key_of(html, named, output))
    }

    /// Contents, or digests of the contents that are in files.
    fn digests(&self) -> std::io::Result<Vec<(String, Bytes)>> {
        let one = |(name, file): (&String, &SpooledFile)| {
            let bytes = file.content.read()?;
            let bytes = match &file.content {
                Content::Held(_) => bytes,
                Content::Spooled(_) => Bytes::copy_from_slice(&Sha256::digest(&bytes)),
            };
            Ok((name.clone(), bytes))
        };
        self.0.iter().map(one).collect()
    }
}

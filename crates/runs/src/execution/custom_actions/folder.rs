//! Pieces in a folder: `NAME/VERSION` or `NAME`, each with `piece.json` and its bundle.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use parking_lot::Mutex;

use super::{
    Piece, Pieces,
    manifest::{is_name, is_version},
};

/// Pieces that are kept ready.
pub(super) const MAX_READY: usize = 200;

/// Pieces of a folder. They are read once.
#[derive(Debug)]
pub struct FolderPieces {
    folder: PathBuf,
    ready: Mutex<HashMap<String, Arc<Piece>>>,
}

impl FolderPieces {
    /// The pieces in `folder`.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            ready: Mutex::default(),
        }
    }
}

impl Pieces for FolderPieces {
    fn load(&self, name: &str, version: &str) -> Result<Arc<Piece>, String> {
        if !is_name(name) || !is_version(version) {
            return Err(format!("`{name}@{version}` is not a valid name of a piece"));
        }
        let key = format!("{name}@{version}");
        let mut ready = self.ready.lock();
        if let Some(piece) = ready.get(&key) {
            return Ok(Arc::clone(piece));
        }
        let own = self.folder.join(name);
        let folder = [own.join(version), own]
            .into_iter()
            .find(|folder| folder.join("piece.json").is_file())
            .ok_or_else(|| format!("no piece `{key}`"))?;
        let piece = Piece::of_folder(&folder).map_err(|error| format!("`{key}`: {error}"))?;
        let said = piece.manifest();
        if said.name != name || said.version != version {
            let found = format!("{}@{}", said.name, said.version);
            return Err(format!("no piece `{key}`; its folder holds `{found}`"));
        }
        if ready.len() >= MAX_READY {
            ready.clear();
        }
        let piece = Arc::new(piece);
        ready.insert(key, Arc::clone(&piece));
        Ok(piece)
    }
}

//! Pieces that users make: a manifest and a bundle that runs in the sandbox, in an archive.

mod folder;
mod link;
mod linked;
mod manifest;

pub use self::{
    folder::FolderPieces,
    link::{Link, PATH as PIECE_ARCHIVES_PATH},
    linked::LinkedPieces,
    manifest::{MAX_ARCHIVE_BYTES, Manifest, Piece, PieceError, pack},
};

use std::sync::Arc;

pub(in crate::execution) use self::linked::agent;

/// Finds pieces. Called from the threads of runs.
pub trait Pieces: Send + Sync {
    /// The piece of a name and a version.
    ///
    /// # Errors
    /// A sentence where there is none, or it cannot be had.
    fn load(&self, name: &str, version: &str) -> Result<Arc<Piece>, String>;
}

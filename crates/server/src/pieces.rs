//! Custom actions ("pieces" in the API): archives in the blob store, compiled for the runs of this
//! process, and available to remote workers by signed links.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use platen_fault::{Code, Resource, What};
use platen_render::chain;
use platen_runs::execution::{Link, Piece, PieceError, Pieces};
use platen_script::Preparer;
use platen_signing::LinkKey;
use platen_storage::blobs::{BlobError, BlobStore};

use crate::problem::Problem;

/// Prefix of actions in the blob store.
const PREFIX: &str = "pieces/";
/// Most actions kept compiled.
const MAX_READY: usize = 200;
/// Lifetime of a link.
const LINK_LIFE: Duration = Duration::from_secs(300);

/// What a signed link leads to.
pub(crate) enum Archive {
    /// The archive.
    Here(Vec<u8>),
    /// Its address in the bucket.
    Elsewhere(String),
}

/// Store of custom actions.
pub(crate) struct PieceStore {
    blobs: Box<dyn BlobStore>,
    key: Arc<LinkKey>,
    /// Whether links lead on to the bucket.
    is_redirected: bool,
    /// Compiled actions by digest.
    ready: Mutex<HashMap<String, Arc<Piece>>>,
}

impl PieceStore {
    /// The actions in `blobs`; `key` signs links, which lead on to the bucket if there is one and
    /// `is_redirected`.
    pub(crate) fn new(blobs: Box<dyn BlobStore>, key: Arc<LinkKey>, is_redirected: bool) -> Self {
        Self {
            blobs,
            key,
            is_redirected,
            ready: Mutex::default(),
        }
    }

    /// Stores an archive with the `name` and `version` of its manifest; true if it is new. Blocks.
    pub(crate) fn put(
        &self,
        name: &str,
        version: &str,
        archive: &[u8],
        preparer: &Preparer,
    ) -> Result<(Arc<Piece>, bool), Problem> {
        let piece = Piece::read_with(archive, preparer).map_err(refused)?;
        let said = piece.manifest();
        if said.name != name || said.version != version {
            let detail = format!(
                "the archive holds `{}@{}`, which cannot be stored as `{name}@{version}`",
                said.name, said.version
            );
            return Err(Problem::new(Code::InvalidPiece, detail));
        }
        let (digest, is_new) = self.blobs.put(&place(name, version), archive)?;
        Ok((self.keep_ready(digest, piece), is_new))
    }

    /// Caches the action of `digest`. Prefers an existing entry: it may be compiled already.
    fn keep_ready(&self, digest: String, piece: Piece) -> Arc<Piece> {
        let mut ready = self.ready.lock();
        if ready.len() >= MAX_READY {
            ready.clear();
        }
        Arc::clone(ready.entry(digest).or_insert_with(|| Arc::new(piece)))
    }

    /// The archive of an action and its digest. Blocks.
    pub(crate) fn get(&self, name: &str, version: &str) -> Result<(Vec<u8>, String), Problem> {
        let digest = self.blobs.digest(&place(name, version))?;
        Ok((self.blobs.get(&digest)?, digest))
    }

    /// Deletes an action. Runs that use it continue. Blocks.
    pub(crate) fn delete(&self, name: &str, version: &str) -> Result<(), Problem> {
        Ok(self.blobs.delete(&place(name, version))?)
    }

    /// Lists names, versions and digests. Blocks.
    pub(crate) fn list(&self) -> Result<Vec<(String, String, String)>, Problem> {
        let names = self.blobs.names(PREFIX)?;
        let split = |(name, digest): (String, String)| {
            let (name, version) = name.strip_prefix(PREFIX)?.split_once('/')?;
            Some((name.to_owned(), version.to_owned(), digest))
        };
        Ok(names.into_iter().filter_map(split).collect())
    }

    /// A signed link to the archive of an action, for a worker.
    pub(crate) fn link(&self, name: &str, version: &str) -> Result<Link, Problem> {
        let digest = self.blobs.digest(&place(name, version))?;
        Ok(Link::new(&self.key, &digest, now() + LINK_LIFE.as_secs()))
    }

    /// The archive that a signed link refers to, or where it is. Blocks.
    pub(crate) fn follow(
        &self,
        digest: &str,
        expires: u64,
        signature: &str,
    ) -> Result<Archive, Problem> {
        if !self.key.allows(digest, expires, signature, now()) {
            let detail = "the signature of the link is invalid, or the link has expired";
            return Err(Problem::new(Code::LinkInvalid, detail));
        }
        if self.is_redirected
            && let Some(url) = self.blobs.link(digest, LINK_LIFE)?
        {
            return Ok(Archive::Elsewhere(url));
        }
        Ok(Archive::Here(self.blobs.get(digest)?))
    }
}

impl Pieces for PieceStore {
    fn load(&self, name: &str, version: &str) -> Result<Arc<Piece>, String> {
        let said = |error: BlobError| missing(name, version, &error);
        let digest = self.blobs.digest(&place(name, version)).map_err(said)?;
        let ready = || self.ready.lock();
        if let Some(piece) = ready().get(&digest) {
            return Ok(Arc::clone(piece));
        }
        let archive = self.blobs.get(&digest).map_err(said)?;
        let piece = Piece::read(&archive).map_err(|error| error.to_string())?;
        Ok(self.keep_ready(digest, piece))
    }
}

fn place(name: &str, version: &str) -> String {
    format!("{PREFIX}{name}/{version}")
}

fn missing(name: &str, version: &str, error: &BlobError) -> String {
    match error {
        BlobError::NotFound | BlobError::BadName(_) => {
            format!("there is no custom action `{name}@{version}`")
        }
        other => chain(other),
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn refused(error: PieceError) -> Problem {
    let text = error.to_string();
    match error {
        PieceError::TooLarge { limit_bytes, .. } => {
            Problem::new(Code::TooLarge(What::Piece, limit_bytes), text)
        }
        PieceError::Mistakes(diagnostics) => Problem {
            diagnostics,
            ..Problem::new(Code::InvalidPiece, "the custom action has errors")
        },
        PieceError::Archive(_) => Problem::new(Code::InvalidPiece, text),
    }
}

impl From<BlobError> for Problem {
    fn from(error: BlobError) -> Self {
        let problem = Self::of_error(error.code(Resource::Piece, What::Pieces), &error);
        let detail = match error {
            BlobError::NotFound | BlobError::BadName(_) => "there is no such custom action",
            BlobError::Taken(_) => {
                "this version is already stored with different content; raise the version"
            }
            _ => return problem,
        };
        Self {
            detail: detail.to_owned(),
            ..problem
        }
    }
}

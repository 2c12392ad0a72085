//! Drafts: what editors keep beside the versions of templates, at most one of a kind each. A draft
//! may be unfinished, so its content is any JSON.

use std::sync::Arc;

use super::StoreFuture;
use crate::Error;

/// What a draft is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DraftKind {
    /// Unpublished content of a template.
    Template,
    /// Data to show a template with.
    Sample,
    /// Editors that have a template open.
    Editors,
}

impl DraftKind {
    /// How the databases write it.
    pub(super) fn number(self) -> i16 {
        match self {
            Self::Template => 0,
            Self::Sample => 1,
            Self::Editors => 2,
        }
    }
}

/// A store of drafts.
pub trait DraftStore: Send + Sync {
    /// Drafts of a kind in the order of their keys, those after `after`, at most `limit`.
    fn list(
        &self,
        kind: DraftKind,
        after: Option<String>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<DraftInfo>>;

    /// A draft.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    fn get(&self, kind: DraftKind, key: String) -> StoreFuture<'_, StoredDraft>;

    /// Stores a draft if `expected` is its current revision, or if there is none and `expected` is
    /// `None`.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::NotFound`],
    /// [`Error::Stale`].
    fn put(
        &self,
        kind: DraftKind,
        draft: NewDraft,
        expected: Option<u32>,
    ) -> StoreFuture<'_, DraftInfo>;

    /// Deletes a draft if `expected` is its current revision.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Stale`].
    fn delete(&self, kind: DraftKind, key: String, expected: u32) -> StoreFuture<'_, ()>;
}

/// A draft to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDraft {
    /// Key of the template.
    pub key: String,
    /// Display name.
    pub name: String,
    /// The version that the draft changes; `None` if the template is new.
    pub base: Option<u32>,
    /// The content as JSON.
    pub source: Arc<[u8]>,
}

/// Metadata of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftInfo {
    /// Key of the template.
    pub key: String,
    /// Display name.
    pub name: String,
    /// Changes with each write. A draft that was deleted and made anew does not get the revisions
    /// of the former one.
    pub revision: u32,
    /// The version that the draft changes.
    pub base: Option<u32>,
    /// When it was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub updated_unix_ms: i64,
    /// Size of the content, in bytes.
    pub size_bytes: u64,
}

/// A stored draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDraft {
    /// Its metadata.
    pub info: DraftInfo,
    /// The content as JSON.
    pub source: Arc<[u8]>,
}

/// Revisions start below this, so that none overflows.
const LAST_START: u32 = 1 << 30;

/// The revision that a write gives a draft whose revision is `current`, if the writer `expected`
/// that one. A new draft starts anywhere, so that a write to one that was deleted and made anew does
/// not meet a former revision.
pub(super) fn next_revision(current: Option<u32>, expected: Option<u32>) -> Result<u32, Error> {
    match (current, expected) {
        (None, None) => Ok(fastrand::u32(1..LAST_START)),
        (Some(current), Some(expected)) if current == expected => Ok(current + 1),
        (Some(current), None) => Err(Error::Exists(current)),
        (Some(current), Some(_)) => Err(Error::Stale(current)),
        (None, Some(_)) => Err(Error::NotFound),
    }
}

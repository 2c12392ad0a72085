//! What authors write, with its versions: templates and flows. Versions are immutable and never
//! numbered twice, not even after a document was deleted and made again.

use std::sync::Arc;

use serde::Serialize;

use super::StoreFuture;

/// Where documents of a kind are kept.
pub trait DocumentStore: Send + Sync {
    /// Documents in order of their keys, after `after`, at most `limit`.
    fn list(&self, after: Option<String>, limit: u32) -> StoreFuture<'_, DocumentPage>;

    /// A version of a document, the current one where `version` is `None`.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound). Past versions of a deleted document are not found.
    fn get(&self, key: String, version: Option<u32>) -> StoreFuture<'_, StoredDocument>;

    /// Number of the current version, without its content.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn current_version(&self, key: String) -> StoreFuture<'_, u32>;

    /// Makes a document that does not exist.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists).
    fn create(&self, new: NewVersion) -> StoreFuture<'_, VersionInfo>;

    /// Adds a version where `expected` is the current one.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), [`Error::Stale`](crate::Error::Stale).
    fn update(&self, new: NewVersion, expected: u32) -> StoreFuture<'_, VersionInfo>;

    /// Adds a version with the content of a former one, where `expected` is the current one.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), [`Error::Stale`](crate::Error::Stale).
    fn restore(
        &self,
        key: String,
        version: u32,
        expected: u32,
        note: Option<String>,
    ) -> StoreFuture<'_, VersionInfo>;

    /// Deletes a document where `expected` is the current version.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), [`Error::Stale`](crate::Error::Stale).
    fn delete(&self, key: String, expected: u32) -> StoreFuture<'_, ()>;

    /// Versions of a document, newest first, below `before`, at most `limit`.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn versions(
        &self,
        key: String,
        before: Option<u32>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<VersionInfo>>;

    /// Proves that the store answers.
    fn check(&self) -> StoreFuture<'_, ()>;
}

/// A version to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// Key of the document.
    pub key: String,
    /// Name for people.
    pub name: String,
    /// The document, JSON.
    pub source: Arc<[u8]>,
    /// What changed.
    pub note: Option<String>,
}

/// A stored version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// What is known of it besides its content.
    pub info: VersionInfo,
    /// The document, JSON.
    pub source: Arc<[u8]>,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSummary {
    /// Key.
    pub key: String,
    /// Name for people.
    pub name: String,
    /// Current version.
    pub version: u32,
    /// When the current version was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub updated_unix_ms: i64,
}

/// Part of a list of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentPage {
    /// The documents.
    pub documents: Vec<DocumentSummary>,
    /// More follow after the last one.
    pub more: bool,
}

/// What is known of a version besides its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionInfo {
    /// Key of the document.
    pub key: String,
    /// Number, from 1.
    pub version: u32,
    /// Name for people.
    pub name: String,
    /// What changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The version whose content this restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<u32>,
    /// When it was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_unix_ms: i64,
    /// Size of the content in bytes.
    pub size_bytes: u64,
}

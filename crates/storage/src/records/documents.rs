//! Versioned documents: templates, flows and assets. Versions are immutable, and a version number is never
//! used again, not even after a document was deleted and created anew.

use std::sync::Arc;

use serde::Serialize;

use super::StoreFuture;

/// A store of documents of one kind.
pub trait DocumentStore: Send + Sync {
    /// Documents in the order of their keys.
    fn list(&self, wanted: Listing) -> StoreFuture<'_, DocumentPage>;

    /// A version of a document; the current one if `version` is `None`.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), also for versions from before a deletion.
    fn get(&self, key: String, version: Option<u32>) -> StoreFuture<'_, StoredDocument>;

    /// Number of the current version.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn current_version(&self, key: String) -> StoreFuture<'_, u32>;

    /// Creates a document.
    ///
    /// # Errors
    /// [`Error::Exists`](crate::Error::Exists).
    fn create(&self, new: NewVersion) -> StoreFuture<'_, VersionInfo>;

    /// Adds a version if `expected` is the current one.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), [`Error::Stale`](crate::Error::Stale).
    fn update(&self, new: NewVersion, expected: u32) -> StoreFuture<'_, VersionInfo>;

    /// Adds a version with the content of an earlier one, if `expected` is the current version.
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

    /// Deletes a document if `expected` is the current version.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), [`Error::Stale`](crate::Error::Stale).
    fn delete(&self, key: String, expected: u32) -> StoreFuture<'_, ()>;

    /// The labels of a document.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn labels(&self, key: String) -> StoreFuture<'_, Labels>;

    /// Replaces the labels of a document, if `expected` is their revision; any revision if it is
    /// `None`. No label contains a line break.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound), [`Error::Stale`](crate::Error::Stale).
    fn set_labels(
        &self,
        key: String,
        labels: Vec<String>,
        expected: Option<u32>,
    ) -> StoreFuture<'_, Labels>;

    /// Versions of a document, newest first, those below `before`, at most `limit`.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound).
    fn versions(
        &self,
        key: String,
        before: Option<u32>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<VersionInfo>>;

    /// Checks that the store answers.
    fn check(&self) -> StoreFuture<'_, ()>;
}

/// Which documents a list has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Those whose key comes after this one.
    pub after: Option<String>,
    /// At most so many.
    pub limit: u32,
    /// Those with this label.
    pub label: Option<String>,
}

impl Listing {
    /// The first `limit` documents behind `after`.
    #[must_use]
    pub fn page(after: Option<String>, limit: u32) -> Self {
        Self {
            after,
            limit,
            label: None,
        }
    }
}

/// The labels of a document. They belong to all its versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The labels, in the order in which they were given.
    pub labels: Vec<String>,
    /// Changes with each write; 0 before the first.
    pub revision: u32,
}

impl Labels {
    /// How the databases write labels: each on a line, with a break before the first, so that a
    /// search for a label between two breaks finds it whole.
    pub(super) fn written(labels: &[String]) -> String {
        match labels {
            [] => String::new(),
            _ => format!("\n{}\n", labels.join("\n")),
        }
    }

    /// The labels that [`Labels::written`] wrote.
    pub(super) fn read(text: &str) -> Vec<String> {
        text.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// What the text of a document's labels contains if it has `label`; of all, if there is none.
    pub(super) fn sought(label: Option<&str>) -> String {
        label.map_or_else(String::new, |label| format!("\n{label}\n"))
    }
}

/// A new version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// Key of the document.
    pub key: String,
    /// Display name; the media type of an asset.
    pub name: String,
    /// The document as JSON; the bytes of an asset.
    pub source: Arc<[u8]>,
    /// Description of the change; what an asset contains.
    pub note: Option<String>,
}

/// A stored version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its metadata.
    pub info: VersionInfo,
    /// The document as JSON; the bytes of an asset.
    pub source: Arc<[u8]>,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSummary {
    /// Key of the document.
    pub key: String,
    /// Display name.
    pub name: String,
    /// Number of the current version.
    pub version: u32,
    /// When the current version was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub updated_unix_ms: i64,
    /// Description of the last change.
    pub note: Option<String>,
    /// Size of the current version, in bytes.
    pub size_bytes: u64,
    /// Its labels.
    pub labels: Vec<String>,
}

/// A page of a list of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentPage {
    /// The documents.
    pub documents: Vec<DocumentSummary>,
    /// Whether more documents follow.
    pub more: bool,
}

/// Metadata of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionInfo {
    /// Key of the document.
    pub key: String,
    /// Number of the version, from 1.
    pub version: u32,
    /// Display name.
    pub name: String,
    /// Description of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The version whose content was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<u32>,
    /// When the version was written, in milliseconds since 1970-01-01T00:00:00Z.
    pub created_unix_ms: i64,
    /// Size of the content, in bytes.
    pub size_bytes: u64,
}

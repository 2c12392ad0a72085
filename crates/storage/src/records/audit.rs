//! The audit log: who changed what. Entries are appended and read, never changed.

use super::StoreFuture;

/// Number of entries that are kept; older ones are deleted.
pub const MAX_ENTRIES: u64 = 1_000_000;

/// The store of the audit log.
pub trait AuditStore: Send + Sync {
    /// Appends an entry.
    fn append(&self, entry: NewAuditEntry) -> StoreFuture<'_, ()>;

    /// Entries with numbers above `after`, oldest first, at most `limit`.
    fn list(&self, after: u64, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>>;

    /// Entries with numbers below `before`, newest first, at most `limit`.
    fn recent(&self, before: Option<u64>, limit: u32) -> StoreFuture<'_, Vec<AuditEntry>>;
}

/// An entry to append.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewAuditEntry {
    /// Who: the key or the session.
    pub actor: String,
    /// What was done: the operation.
    pub action: String,
    /// What it was done to: the path of the request.
    pub subject: String,
    /// The version that came of it, if there is one.
    pub version: Option<u32>,
    /// ID of the request, as in the log.
    pub request_id: String,
    /// Address of the client.
    pub address: String,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Position in the log, ascending; numbers may be missing.
    pub number: u64,
    /// When, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_unix_ms: i64,
    /// Who: the key or the session.
    pub actor: String,
    /// What was done: the operation.
    pub action: String,
    /// What it was done to: the path of the request.
    pub subject: String,
    /// The version that came of it, if there is one.
    pub version: Option<u32>,
    /// ID of the request, as in the log.
    pub request_id: String,
    /// Address of the client.
    pub address: String,
}

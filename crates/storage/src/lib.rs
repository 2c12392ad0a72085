//! What Platen remembers, behind traits: one contract suite runs on every implementation.
//!
//! Templates, flows and their runs, in SQLite. A write is acknowledged once it would survive a loss
//! of power; see [`SqliteStore`].

mod error;
pub mod records;

pub use self::{
    error::Error,
    records::{
        StoreFuture,
        documents::{
            DocumentPage, DocumentStore, DocumentSummary, NewVersion, StoredDocument, VersionInfo,
        },
        runs::{self, RunState, RunStore},
        sqlite::SqliteStore,
    },
};

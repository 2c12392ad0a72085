//! Storage behind traits: one contract suite runs on every implementation.
//!
//! Files are in [`blobs`]. Templates, flows and their runs, in SQLite. A write is acknowledged once it would survive a loss
//! of power; see [`SqliteStore`].

pub mod blobs;
mod error;
mod private;
pub mod records;

pub use self::private::create_folder;
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

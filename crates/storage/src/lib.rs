//! Storage behind traits: one contract suite runs against every implementation.
//!
//! [`blobs`] stores files; [`records`] stores templates, flows, assets and runs in SQLite or PostgreSQL.
//! A write is acknowledged once it would survive a loss of power; see [`SqliteStore`] and
//! [`PostgresStore`].

pub mod blobs;
mod error;
mod private;
pub mod records;

pub use self::private::create_folder;
pub use self::{
    error::Error,
    records::{
        StoreFuture,
        audit::{AuditEntry, AuditStore, NewAuditEntry},
        documents::{
            DocumentPage, DocumentStore, DocumentSummary, Labels, Listing, NewVersion,
            StoredDocument, VersionInfo,
        },
        drafts::{DraftInfo, DraftKind, DraftStore, NewDraft, StoredDraft},
        keys::{KeyStore, KeysMark, MAX_KEYS, NewKey, StoredKey},
        peers::{Peers, Signal},
        postgres::{
            PostgresOptions, PostgresStore, SchemaVersions, ServiceLock, Share, Transport, transfer,
        },
        runs::{self, RunState, RunStore},
        signals::redis::{Redis, RedisError},
        sqlite::SqliteStore,
    },
};

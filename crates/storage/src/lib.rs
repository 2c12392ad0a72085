//! What Platen remembers, behind traits: one contract suite runs on every implementation.
//!
//! The only records so far are templates, in SQLite. A write is acknowledged once it would survive
//! a loss of power; see [`SqliteStore`].

mod error;
pub mod records;

pub use self::{
    error::Error,
    records::{
        NewVersion, StoredTemplate, TemplatePage, TemplateStore, TemplateSummary, VersionInfo,
        sqlite::SqliteStore,
    },
};

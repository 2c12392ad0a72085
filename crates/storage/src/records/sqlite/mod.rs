//! All records in one SQLite database.

mod audit;
mod copy;
mod database;
mod documents;
mod drafts;
mod key_value;
mod keys;
mod place;
mod run_accept;
mod run_journal;
mod run_row;
mod runs;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use self::{
    audit::Audit,
    database::{Database, MIGRATIONS},
    documents::{Documents, Tables},
    drafts::Drafts,
    keys::Keys,
    runs::Runs,
};
use crate::{AuditStore, DocumentStore, DraftStore, Error, KeyStore, RunStore, SchemaVersions};

/// A SQLite database.
#[derive(Clone)]
pub struct SqliteStore {
    database: Arc<Database>,
}

impl SqliteStore {
    /// Opens the database `platen.db` in `folder`; creates both if necessary.
    ///
    /// # Errors
    /// The folder cannot be created, or the database is damaged or too new.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let database = Arc::new(Database::open(folder)?);
        Ok(Self { database })
    }

    /// Opens a database that another process writes, for reading. Writes fail with
    /// [`Error::Closed`].
    ///
    /// # Errors
    /// There is no database, or its schema version is another one.
    pub fn open_reader(folder: &Path) -> Result<Self, Error> {
        let database = Arc::new(Database::open_reader(folder)?);
        Ok(Self { database })
    }

    /// Writes a consistent copy of the database in `folder` to the new file `target`, while a
    /// service may use it; returns the version of its schema. Blocks.
    ///
    /// # Errors
    /// There is no database, it is damaged, or `target` exists or cannot be written.
    pub fn copy(folder: &Path, target: &Path) -> Result<u32, Error> {
        copy::copy(folder, target)
    }

    /// Checks that the file at `path` is an intact database, and returns the version of its schema.
    /// Blocks.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Database`].
    pub fn check_copy(path: &Path) -> Result<u32, Error> {
        copy::check(path)
    }

    /// Reads the version of the schema in `folder`, and changes nothing. Blocks.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn schema_versions(folder: &Path) -> Result<SchemaVersions, Error> {
        copy::versions(folder)
    }

    /// Checks that the database in `folder` is at the newest version that this program knows.
    /// Blocks.
    ///
    /// # Errors
    /// [`Error::TooOld`], [`Error::TooNew`].
    pub fn require_current(folder: &Path) -> Result<(), Error> {
        Self::schema_versions(folder)?.require_current()
    }

    /// The statements that bring a schema of version `found` to the newest version, in order.
    #[must_use]
    pub fn migrations_after(found: u32) -> &'static [&'static str] {
        MIGRATIONS.get(found as usize..).unwrap_or_default()
    }

    /// A connection that reads the database in `folder`, and the path of the database.
    pub(in crate::records) fn read_only(
        folder: &Path,
    ) -> Result<(rusqlite::Connection, PathBuf), Error> {
        let path = folder.join(database::FILE);
        Ok((copy::open(&path)?, path))
    }

    /// Templates.
    #[must_use]
    pub fn templates(&self) -> Arc<dyn DocumentStore> {
        self.documents(Tables {
            all: "templates",
            versions: "template_versions",
        })
    }

    /// Flows.
    #[must_use]
    pub fn flows(&self) -> Arc<dyn DocumentStore> {
        self.documents(Tables {
            all: "flows",
            versions: "flow_versions",
        })
    }

    /// Pictures and fonts that templates use by name.
    #[must_use]
    pub fn assets(&self) -> Arc<dyn DocumentStore> {
        self.documents(Tables {
            all: "assets",
            versions: "asset_versions",
        })
    }

    /// The audit log.
    #[must_use]
    pub fn audit(&self) -> Arc<dyn AuditStore> {
        Arc::new(Audit {
            database: Arc::clone(&self.database),
        })
    }

    /// Drafts and sample data of templates.
    #[must_use]
    pub fn drafts(&self) -> Arc<dyn DraftStore> {
        Arc::new(Drafts {
            database: Arc::clone(&self.database),
        })
    }

    /// API keys that were made while the service runs.
    #[must_use]
    pub fn keys(&self) -> Arc<dyn KeyStore> {
        Arc::new(Keys {
            database: Arc::clone(&self.database),
        })
    }

    /// Runs of flows.
    #[must_use]
    pub fn runs(&self) -> Arc<dyn RunStore> {
        Arc::new(Runs {
            database: Arc::clone(&self.database),
        })
    }

    fn documents(&self, tables: Tables) -> Arc<dyn DocumentStore> {
        Arc::new(Documents {
            database: Arc::clone(&self.database),
            tables,
        })
    }
}

//! All records in one SQLite database.

mod database;
mod documents;
mod key_value;
mod place;
mod run_accept;
mod run_row;
mod runs;
mod writer;

use std::{path::Path, sync::Arc};

use self::{
    database::Database,
    documents::{Documents, Tables},
    runs::Runs,
};
use crate::{DocumentStore, Error, RunStore};

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

//! The schema of the database, for operators who migrate it themselves.

use std::time::Duration;

use futures_core::future::BoxFuture;
use platen_storage::{PostgresOptions, PostgresStore, SchemaVersions, SqliteStore};

use crate::{
    config::Config,
    opening::{lock, store_failure},
    start_error::Error,
};

/// How long a statement of a migration may take: it may rewrite a large table.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(6 * 3_600);

/// The schema of the database that a configuration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaStatus {
    /// The kind of the database: `PostgreSQL` or `SQLite`.
    pub database: &'static str,
    /// Version of its schema; 0 if it is empty or does not exist yet.
    pub found: u32,
    /// The newest version that this program knows.
    pub known: u32,
    /// The statements of each version that is missing, in order.
    pub pending: &'static [&'static str],
}

impl SchemaStatus {
    fn new(database: &'static str, versions: SchemaVersions) -> Self {
        let SchemaVersions { found, known } = versions;
        let pending = match database {
            POSTGRESQL => PostgresStore::migrations_after(found),
            _ => SqliteStore::migrations_after(found),
        };
        Self {
            database,
            found,
            known,
            pending,
        }
    }
}

const POSTGRESQL: &str = "PostgreSQL";
const SQLITE: &str = "SQLite";

/// Reads the version of the schema, and changes nothing.
///
/// # Errors
/// The database cannot be read.
pub fn status(config: &Config) -> BoxFuture<'_, Result<SchemaStatus, Error>> {
    Box::pin(async move {
        let failed = |source| store_failure(config, source);
        let Some(url) = &config.database.url else {
            let versions = SqliteStore::schema_versions(config.database_folder());
            return Ok(SchemaStatus::new(SQLITE, versions.map_err(failed)?));
        };
        let versions = PostgresStore::schema_versions(url, &options(config)).await;
        Ok(SchemaStatus::new(POSTGRESQL, versions.map_err(failed)?))
    })
}

/// Brings the schema to the newest version; returns what it was before.
///
/// # Errors
/// The database cannot be migrated, and is as before; a service uses the SQLite database.
pub fn apply(config: &Config) -> BoxFuture<'_, Result<SchemaStatus, Error>> {
    Box::pin(async move {
        let failed = |source| store_failure(config, source);
        let Some(url) = &config.database.url else {
            let _lock = lock(config, None)?;
            let before = status(config).await?;
            drop(SqliteStore::open(config.database_folder()).map_err(failed)?);
            return Ok(before);
        };
        let before = status(config).await?;
        let migrated = PostgresStore::migrate(url, &options(config)).await;
        migrated.map_err(failed)?;
        Ok(before)
    })
}

fn options(config: &Config) -> PostgresOptions {
    PostgresOptions {
        ca_file: config.database.ca_file.clone(),
        statement_timeout: STATEMENT_TIMEOUT,
        ..PostgresOptions::default()
    }
}

//! All records in one PostgreSQL database, which several processes may share.
//!
//! Writes go through a few lanes, each with a connection: what waits in a lane is written in one
//! transaction. Times are those of the clock of the database, which all processes share; see
//! [`RunStore::now_ms`].

mod address;
mod audit;
mod batch;
mod clock;
mod connection;
mod database;
mod documents;
mod drafts;
mod job;
mod key_value;
mod keys;
mod lane;
mod maintenance;
mod peers;
mod run_row;
mod runs;
mod schema;
mod service_lock;
mod shard;
mod signals;
mod tls;
mod transaction;
pub mod transfer;
mod transport;
mod trouble;
mod writer;

use std::{path::PathBuf, sync::Arc, time::Duration};

use self::{
    address::Address,
    audit::Audit,
    connection::{Connection, Connector, Role},
    database::Database,
    documents::{Documents, Tables},
    drafts::Drafts,
    keys::Keys,
    runs::Runs,
    tls::Tls,
};
pub use self::{
    schema::SchemaVersions,
    service_lock::{ServiceLock, Share},
    transport::Transport,
};
use crate::{AuditStore, DocumentStore, DraftStore, Error, KeyStore, Peers, Redis, RunStore};

/// How a [`PostgresStore`] uses its server.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Number of connections that write runs and documents; one more serves maintenance.
    pub writers: usize,
    /// Number of connections that read.
    pub readers: usize,
    /// Certificates that are trusted instead of the system's, PEM; `sslrootcert` of the address
    /// comes first.
    pub ca_file: Option<PathBuf>,
    /// How long a call tries to connect before it fails with [`Error::Unavailable`].
    pub connect_within: Duration,
    /// How long the server may take for a statement.
    pub statement_timeout: Duration,
    /// Whether opening the store migrates the database.
    pub migrate: bool,
    /// Carries the signals between services instead of the database.
    pub redis: Option<Redis>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            writers: 2,
            readers: 4,
            ca_file: None,
            connect_within: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            migrate: true,
            redis: None,
        }
    }
}

/// A PostgreSQL database, version 12 or newer.
#[derive(Clone)]
pub struct PostgresStore {
    database: Arc<Database>,
}

impl PostgresStore {
    /// Opens the database at `url`, `postgres://user:password@host:port/database`; creates its
    /// tables, or brings them to the newest version, unless the options say not to. Needs a Tokio runtime, which executes the
    /// connections as long as the store is used.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Server`], [`Error::Unavailable`], [`Error::TooNew`],
    /// [`Error::TooOld`], [`Error::Unfinished`].
    pub async fn open(url: &str, options: &PostgresOptions) -> Result<Self, Error> {
        let (connector, connection) = connect(url, options).await?;
        if options.migrate {
            schema::migrate(&connection, &connector.address).await?;
        } else {
            let versions = schema::versions(&connection, &connector.address).await?;
            versions.require_current()?;
        }
        schema::require_finished(&connection, &connector.address).await?;
        drop(connection);
        let database = Database::start(
            connector,
            options.writers,
            options.readers,
            options.redis.clone(),
        )
        .await?;
        Ok(Self {
            database: Arc::new(database),
        })
    }

    /// Reads the version of the schema of the database at `url`, and changes nothing.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Server`], [`Error::Unavailable`].
    pub async fn schema_versions(
        url: &str,
        options: &PostgresOptions,
    ) -> Result<SchemaVersions, Error> {
        let (connector, connection) = connect(url, options).await?;
        schema::versions(&connection, &connector.address).await
    }

    /// Brings the database at `url` to the newest version. Of several processes, one does it.
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Server`], [`Error::Unavailable`], [`Error::TooNew`]; the
    /// database is as before then.
    pub async fn migrate(url: &str, options: &PostgresOptions) -> Result<(), Error> {
        let (connector, connection) = connect(url, options).await?;
        schema::migrate(&connection, &connector.address).await
    }

    /// The statements that bring a schema of version `found` to the newest version, in order.
    #[must_use]
    pub fn migrations_after(found: u32) -> &'static [&'static str] {
        schema::after(found)
    }

    /// The other services on the database.
    #[must_use]
    pub fn peers(&self) -> Arc<dyn Peers> {
        Arc::new(Runs {
            database: Arc::clone(&self.database),
        })
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

async fn connect(
    url: &str,
    options: &PostgresOptions,
) -> Result<(Arc<Connector>, Connection), Error> {
    let address = Address::parse(url)?;
    let ca_file = address.ca_file.as_deref().or(options.ca_file.as_deref());
    let tls = Tls::new(address.verification, ca_file)?;
    let (within, limit) = (options.connect_within, options.statement_timeout);
    let connector = Arc::new(Connector::new(address, tls, within, limit));
    let connection = connector
        .connect(Role::Migrate, connector.deadline())
        .await?;
    Ok((connector, connection))
}

//! The database of the service: SQLite in the data folder, or PostgreSQL.

use std::{sync::Arc, time::Duration};

use platen_runs::Fleet;
use platen_storage::{
    AuditStore, DocumentStore, DraftStore, Error, KeyStore, PostgresOptions, PostgresStore, Redis,
    RedisError, RunStore, ServiceLock, Share, SqliteStore,
};
use tokio::runtime::Handle;

use tracing::warn;

use crate::{config::Config, instance, start_error::Error as StartError};

/// How long a statement may take. The statements are short; a server that is silent for longer is
/// not there.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the server may take to notice that a killed predecessor is gone, which frees its lock.
const NOTICE: Duration = Duration::from_secs(5);

/// The records of the service.
pub(crate) enum Stores {
    Sqlite(SqliteStore),
    /// PostgreSQL, and the name of this service among those that use it, if there may be others.
    Postgres(PostgresStore, Option<String>),
}

/// How this process uses the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is the service, or its leader. It waits this long for a predecessor.
    Owner(Duration),
    /// It reads what the leader writes.
    Follower,
}

impl Stores {
    /// Opens the database, and takes the lock of a PostgreSQL database as its owner. Blocks.
    ///
    /// # Errors
    /// The database is damaged, too new, not reachable, or another service uses it.
    pub(crate) fn open(
        config: &Config,
        how: Use,
        redis: Option<Redis>,
    ) -> Result<(Self, Option<ServiceLock>), Error> {
        let Some(url) = &config.database.url else {
            let folder = config.database_folder();
            if !config.database.migrate {
                SqliteStore::require_current(folder)?;
            }
            let store = match how {
                Use::Owner(_) => SqliteStore::open(folder)?,
                Use::Follower => SqliteStore::open_reader(folder)?,
            };
            return Ok((Self::Sqlite(store), None));
        };
        let options = PostgresOptions {
            ca_file: config.database.ca_file.clone(),
            statement_timeout: STATEMENT_TIMEOUT,
            migrate: config.database.migrate,
            redis,
            ..PostgresOptions::default()
        };
        // Where files are not shared, a service would not find those of another.
        let (share, name) = match config.shares_files() {
            true => {
                let name = match how {
                    Use::Owner(_) => instance::name(config.database_folder())?,
                    // Followers hold no runs.
                    Use::Follower => String::new(),
                };
                (Share::Fleet(name.clone()), Some(name))
            }
            false => (Share::Exclusive, None),
        };
        Handle::current().block_on(async {
            let lock = match how {
                Use::Owner(patience) => {
                    let patience = patience.max(NOTICE);
                    Some(ServiceLock::acquire(url, &options, share, patience).await?)
                }
                Use::Follower => None,
            };
            let store = PostgresStore::open(url, &options).await?;
            Ok((Self::Postgres(store, name), lock))
        })
    }

    /// This service among others on the database; `None` if it has the records alone.
    pub(crate) fn peers(&self) -> Option<Fleet> {
        match self {
            Self::Postgres(store, Some(name)) => Some(Fleet {
                peers: store.peers(),
                name: name.clone(),
            }),
            _ => None,
        }
    }

    pub(crate) fn templates(&self) -> Arc<dyn DocumentStore> {
        match self {
            Self::Sqlite(store) => store.templates(),
            Self::Postgres(store, _) => store.templates(),
        }
    }

    pub(crate) fn flows(&self) -> Arc<dyn DocumentStore> {
        match self {
            Self::Sqlite(store) => store.flows(),
            Self::Postgres(store, _) => store.flows(),
        }
    }

    pub(crate) fn assets(&self) -> Arc<dyn DocumentStore> {
        match self {
            Self::Sqlite(store) => store.assets(),
            Self::Postgres(store, _) => store.assets(),
        }
    }

    pub(crate) fn audit(&self) -> Arc<dyn AuditStore> {
        match self {
            Self::Sqlite(store) => store.audit(),
            Self::Postgres(store, _) => store.audit(),
        }
    }

    pub(crate) fn keys(&self) -> Arc<dyn KeyStore> {
        match self {
            Self::Sqlite(store) => store.keys(),
            Self::Postgres(store, _) => store.keys(),
        }
    }

    pub(crate) fn drafts(&self) -> Arc<dyn DraftStore> {
        match self {
            Self::Sqlite(store) => store.drafts(),
            Self::Postgres(store, _) => store.drafts(),
        }
    }

    pub(crate) fn runs(&self) -> Arc<dyn RunStore> {
        match self {
            Self::Sqlite(store) => store.runs(),
            Self::Postgres(store, _) => store.runs(),
        }
    }
}

/// The Redis server of the configuration, if several services may use the database. Blocks.
///
/// # Errors
/// Its address is wrong, or it refuses this service. One that is away may come back: signals only
/// spare waiting.
pub(crate) fn redis(config: &Config) -> Result<Option<Redis>, StartError> {
    let settings = &config.database.redis;
    let Some(url) = &settings.url else {
        return Ok(None);
    };
    let redis = Redis::new(url, settings.ca_file.as_deref()).map_err(StartError::Redis)?;
    if config.database.url.is_none() || !config.shares_files() {
        warn!("REDIS_URL has no effect: several services need DATABASE_URL and S3_BUCKET, too");
        return Ok(None);
    }
    match Handle::current().block_on(redis.check()) {
        Ok(()) => {}
        Err(RedisError::Unavailable(cause)) => {
            warn!(
                cause,
                "Redis does not answer; until it does, services wait for each other up to three seconds"
            );
        }
        Err(error) => return Err(StartError::Redis(error)),
    }
    Ok(Some(redis))
}

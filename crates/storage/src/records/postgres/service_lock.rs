//! One service per database: its caches would not notice the writes of another.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{
    PostgresOptions, connect,
    connection::{Connection, Connector, Role, within},
};
use crate::Error;

/// The lock that a service holds: "service" in ASCII.
const LOCK: i64 = 0x73_65_72_76_69_63_65;
/// How often the connection that holds the lock is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause between two attempts to get the lock of a predecessor.
const PAUSE: Duration = Duration::from_millis(50);

/// The right to be the service of a database, held by a connection of its own.
pub struct ServiceLock {
    connector: Arc<Connector>,
    connection: Connection,
}

impl ServiceLock {
    /// Takes the lock of the database at `url`; waits up to `patience` for a predecessor.
    ///
    /// # Errors
    /// [`Error::InUse`], and the errors of [`super::PostgresStore::open`].
    pub async fn acquire(
        url: &str,
        options: &PostgresOptions,
        patience: Duration,
    ) -> Result<Self, Error> {
        let (connector, connection) = connect(url, options).await?;
        let end = Instant::now() + patience;
        while !lock(&connector, &connection).await? {
            if Instant::now() >= end {
                return Err(Error::InUse);
            }
            sleep(PAUSE).await;
        }
        Ok(Self {
            connector,
            connection,
        })
    }

    /// Completes once another service has the lock. A connection that is lost takes the lock with
    /// it; it is taken again as soon as the server answers.
    pub async fn lost(mut self) {
        loop {
            sleep(CHECK_INTERVAL).await;
            let check = self.connection.execute("SELECT 1");
            if let Some(Ok(_)) = within(self.connector.exchange(), check).await {
                continue;
            }
            let deadline = self.connector.deadline();
            let Ok(connection) = self.connector.connect(Role::Read, deadline).await else {
                continue;
            };
            match lock(&self.connector, &connection).await {
                Ok(true) => self.connection = connection,
                Ok(false) => return,
                Err(_) => {}
            }
        }
    }
}

/// Tries to take the lock for the session of `connection`.
async fn lock(connector: &Connector, connection: &Connection) -> Result<bool, Error> {
    let query = connection.query("SELECT pg_try_advisory_lock($1)", &[&LOCK]);
    let Some(answer) = within(connector.exchange(), query).await else {
        return Err(Error::Unavailable("it does not answer in time".to_owned()));
    };
    let rows = answer.map_err(Error::Statement)?;
    let is_taken = rows.first().map(|row| row.try_get(0)).transpose();
    Ok(is_taken.map_err(Error::Statement)?.unwrap_or(false))
}

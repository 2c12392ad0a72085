//! Who may use a database: one service alone, or several that share their files too.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{
    PostgresOptions, connect,
    connection::{Connection, Connector, Parameters, Role, within},
};
use crate::Error;

/// The lock that a service holds: "service" in ASCII.
const LOCK: i64 = 0x73_65_72_76_69_63_65;
/// What the locks of services of a fleet begin with, each of which is by the service's name: "plat"
/// in ASCII.
pub(super) const NAMES: i32 = 0x70_6c_61_74;
/// How often the connection that holds the lock is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How often it is looked at whether that connection is closed: others take a service for dead that
/// does not hold its lock.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// Pause between two attempts to get the lock of a predecessor.
const PAUSE: Duration = Duration::from_millis(50);

/// With whom a service uses a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// Alone.
    Exclusive,
    /// With others that say the same, under this name.
    Fleet(String),
}

/// The right to be a service of a database, held by a connection of its own.
pub struct ServiceLock {
    share: Share,
    connector: Arc<Connector>,
    connection: Connection,
}

impl ServiceLock {
    /// Takes the lock of the database at `url`; waits up to `patience` for services that do not
    /// share it, or have the same name.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::NameInUse`], and the errors of [`super::PostgresStore::open`].
    pub async fn acquire(
        url: &str,
        options: &PostgresOptions,
        share: Share,
        patience: Duration,
    ) -> Result<Self, Error> {
        let (connector, connection) = connect(url, options).await?;
        let end = Instant::now() + patience;
        while let Err(other) = lock(&connector, &connection, &share).await? {
            if Instant::now() >= end {
                return Err(match other {
                    Other::Service => Error::InUse,
                    Other::OfThatName(name) => Error::NameInUse(name),
                });
            }
            sleep(PAUSE).await;
        }
        Ok(Self {
            share,
            connector,
            connection,
        })
    }

    /// Completes once a service that does not share it has the lock. A connection that is lost takes the lock with
    /// it; it is taken again as soon as the server answers.
    pub async fn lost(mut self) {
        loop {
            let look_until = Instant::now() + CHECK_INTERVAL;
            while Instant::now() < look_until && !self.connection.is_closed() {
                sleep(LOOK_INTERVAL).await;
            }
            let check = self.connection.execute("SELECT 1");
            if let Some(Ok(_)) = within(self.connector.exchange(), check).await {
                continue;
            }
            let deadline = self.connector.deadline();
            let Ok(connection) = self.connector.connect(Role::Read, deadline).await else {
                sleep(LOOK_INTERVAL).await;
                continue;
            };
            match lock(&self.connector, &connection, &self.share).await {
                Ok(Ok(())) => self.connection = connection,
                Ok(Err(_)) => match self.end_own_session(&connection).await {
                    // The next round takes the lock that the session held.
                    Ok(true) | Err(_) => {}
                    Ok(false) => return,
                },
                Err(_) => {}
            }
        }
    }
}

impl ServiceLock {
    /// Ends the session of the connection that is lost, if it lives on at the server: then it is
    /// the one that holds the lock. False if there is no such session.
    async fn end_own_session(&self, connection: &Connection) -> Result<bool, Error> {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE pid = $1 AND backend_start::text = $2";
        let own = &self.connection.session;
        let parameters: Parameters<'_> = &[&own.process, &own.started];
        let query = connection.query(end, parameters);
        let Some(answer) = within(self.connector.exchange(), query).await else {
            return Err(Error::Unavailable("it does not answer in time".to_owned()));
        };
        Ok(!answer.map_err(Error::Statement)?.is_empty())
    }
}

/// Who has the lock.
enum Other {
    /// A service that does not share it.
    Service,
    /// A service of this name.
    OfThatName(String),
}

/// Tries to take the lock for the session of `connection`, and that of the name with it.
async fn lock(
    connector: &Connector,
    connection: &Connection,
    share: &Share,
) -> Result<Result<(), Other>, Error> {
    let ask = async |lock: &str, parameters: Parameters<'_>| {
        let query = connection.query(lock, parameters);
        let Some(answer) = within(connector.exchange(), query).await else {
            return Err(Error::Unavailable("it does not answer in time".to_owned()));
        };
        let rows = answer.map_err(Error::Statement)?;
        let is_taken = rows.first().map(|row| row.try_get(0)).transpose();
        Ok(is_taken.map_err(Error::Statement)?.unwrap_or(false))
    };
    match share {
        Share::Exclusive => {
            let lock = "SELECT pg_try_advisory_lock($1)";
            let is_taken = ask(lock, &[&LOCK]).await?;
            Ok(is_taken.then_some(()).ok_or(Other::Service))
        }
        Share::Fleet(name) => {
            // A session that has the lock gets it again.
            let lock = "SELECT pg_try_advisory_lock_shared($1)";
            if !ask(lock, &[&LOCK]).await? {
                return Ok(Err(Other::Service));
            }
            let lock = "SELECT pg_try_advisory_lock($1, hashtext(current_schema() || '/' || $2))";
            let is_taken = ask(lock, &[&NAMES, name]).await?;
            Ok(is_taken
                .then_some(())
                .ok_or_else(|| Other::OfThatName(name.clone())))
        }
    }
}

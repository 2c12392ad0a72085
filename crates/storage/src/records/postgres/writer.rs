//! A connection that writes, and what it says about the last transaction of the one before.
//!
//! Each writer has a row in the table `writers`. The first statement of every transaction puts the
//! number of the transaction there, on condition of an epoch. After a connection was lost, the next
//! one raises the epoch, which waits for the row: so the transaction of the lost connection has
//! ended by then, or will fail, and the row tells which.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::Error as PgError;

use super::{
    connection::{Connection, Connector, Role, Session},
    trouble::{Trouble, is_lost, no_connection},
};

/// Fails if another connection has taken the row over, or if it is gone.
pub(super) const STAMP: &str = "
    WITH stamped AS (
        UPDATE writers SET batch = $3, seen = now() WHERE id = $1 AND epoch = $2 RETURNING 1
    )
    SELECT 1 / count(*) FROM stamped";

const REGISTER: &str = "
    WITH old AS (DELETE FROM writers WHERE seen < now() - interval '30 days')
    INSERT INTO writers DEFAULT VALUES RETURNING id, epoch, batch";

const TAKE_OVER: &str =
    "UPDATE writers SET epoch = epoch + 1, seen = now() WHERE id = $1 RETURNING id, epoch, batch";

/// The server may not have noticed that the client of this session has gone.
const END_SESSION: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = $1 AND backend_start::text = $2";

/// A writer across its connections.
pub(super) struct Writer {
    connector: Arc<Connector>,
    connection: Option<Connection>,
    /// The session of the last connection.
    session: Session,
    /// Number of the row, 0 before there is one, and its epoch.
    pub row: i64,
    pub epoch: i64,
    /// Number of the last transaction that was begun.
    pub batch: i64,
}

impl Writer {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self {
            connector,
            connection: None,
            session: Session::default(),
            row: 0,
            epoch: 0,
            batch: 0,
        }
    }

    /// Closes the connection, which ends its transaction sooner or later.
    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// Forgets the row, which is gone.
    pub(super) fn forget(&mut self) {
        self.disconnect();
        self.row = 0;
    }

    /// The connection, if there is one.
    pub(super) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Connects if there is no connection. Returns the number of the last transaction that was
    /// committed if the connection is a new one.
    ///
    /// # Errors
    /// Why there is still no connection at `deadline`.
    pub(super) async fn connect(&mut self, deadline: Instant) -> Result<Option<i64>, Trouble> {
        if self.connection.as_ref().is_some_and(|it| !it.is_closed()) {
            return Ok(None);
        }
        self.connection = None;
        loop {
            let connection = self.connector.connect(Role::Write, deadline).await?;
            let entered = timeout_at(deadline, self.enter(&connection)).await;
            match entered {
                Ok(Ok(last)) => {
                    self.session = connection.session.clone();
                    self.connection = Some(connection);
                    return Ok(Some(last));
                }
                Ok(Err(error)) if is_lost(&error) && Instant::now() < deadline => {}
                Ok(Err(error)) => return Err(no_connection(&error, &self.connector.address)),
                Err(_) => {
                    let cause = "the transaction of a lost connection has not ended yet";
                    return Err(Trouble::Unavailable(cause.to_owned()));
                }
            }
        }
    }

    async fn enter(&mut self, connection: &Connection) -> Result<i64, PgError> {
        let mut rows = Vec::new();
        if self.row > 0 {
            let Session { process, started } = &self.session;
            let ended = connection.query(END_SESSION, &[process, started]).await;
            match ended {
                // Without the right to do this, its own timeout ends the transaction.
                Err(error) if is_lost(&error) => return Err(error),
                _ => {}
            }
            rows = connection.query(TAKE_OVER, &[&self.row]).await?;
        }
        if rows.is_empty() {
            // The row of a transaction that was just committed is never gone.
            rows = connection.query(REGISTER, &[]).await?;
        }
        let mut last = 0;
        if let Some(row) = rows.first() {
            (self.row, self.epoch) = (row.try_get(0)?, row.try_get(1)?);
            last = row.try_get(2)?;
        }
        Ok(last)
    }

    /// Removes the row when there is nothing more to write.
    pub(super) async fn leave(&mut self) {
        if let Some(connection) = &self.connection {
            let remove = "DELETE FROM writers WHERE id = $1 AND epoch = $2";
            let _ = connection.query(remove, &[&self.row, &self.epoch]).await;
        }
        self.disconnect();
    }
}

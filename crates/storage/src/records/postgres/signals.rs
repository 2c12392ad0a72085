//! Signals between services, by `LISTEN` and `NOTIFY` on a connection of their own: a `NOTIFY`
//! inside the transactions that write would make their commits wait for each other.

use std::sync::Arc;

use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};
use tokio_postgres::{Error as PgError, Notification};

use super::{
    connection::{Connection, Connector, Parameters, within},
    database::Readers,
};
use crate::{
    Error,
    records::{
        peers::Signal,
        signals::{CHECK_INTERVAL, COLLECT, PAUSE, Signals, payloads, read},
    },
};

/// Notifications that may wait to be read from the connection.
const MAX_NOTICES: usize = 1_024;
/// Length in bytes of a notification; the server allows 8,000.
const MAX_PAYLOAD: usize = 7_900;

/// Sends and receives until the store is dropped. Signals from a time without a connection are
/// sent by the next one; those of others from that time are lost.
pub(super) async fn exchange(connector: Arc<Connector>, signals: Arc<Signals>) {
    loop {
        let (notices, arriving) = mpsc::channel(MAX_NOTICES);
        let deadline = connector.deadline();
        if let Ok(connection) = connector.connect_to_listen(notices, deadline).await {
            // Returns how the connection failed; the next one may do better.
            let _ = converse(&connector, &connection, arriving, &signals).await;
        }
        sleep(PAUSE).await;
    }
}

async fn converse(
    connector: &Connector,
    connection: &Connection,
    mut arriving: mpsc::Receiver<Option<Notification>>,
    signals: &Signals,
) -> Result<(), PgError> {
    let limit = connector.exchange();
    let Some(channel) = within(limit, listen(connection)).await.transpose()? else {
        return Ok(());
    };
    signals.receive(Signal::Missed);
    let mut check_at = Instant::now() + CHECK_INTERVAL;
    loop {
        tokio::select! {
            notice = arriving.recv() => match notice {
                Some(Some(notice)) if notice.process_id() != connection.session.process => {
                    for signal in notice.payload().lines().filter_map(read) {
                        signals.receive(signal);
                    }
                }
                Some(Some(_)) => {}
                Some(None) => signals.receive(Signal::Missed),
                None => return Ok(()),
            },
            () = signals.has_unsent.notified() => {
                sleep(COLLECT).await;
                let unsent = signals.take_unsent();
                for payload in payloads(&unsent, MAX_PAYLOAD) {
                    let parameters: Parameters<'_> = &[&channel, &payload];
                    let notify = connection.query("SELECT pg_notify($1, $2)", parameters);
                    if within(limit, notify).await.transpose()?.is_none() {
                        return Ok(());
                    }
                }
            }
            () = sleep_until(check_at) => {
                if within(limit, connection.execute("SELECT 1")).await.transpose()?.is_none() {
                    return Ok(());
                }
                check_at = Instant::now() + CHECK_INTERVAL;
            }
        }
    }
}

/// Listens to the channel of this schema, and returns its name. Notifications reach all schemas of
/// a database.
async fn listen(connection: &Connection) -> Result<String, PgError> {
    let find = "SELECT left('platen_' || current_schema(), 63),
                quote_ident(left('platen_' || current_schema(), 63))";
    let rows = connection.query(find, &[]).await?;
    let Some(row) = rows.first() else {
        return Ok(String::new());
    };
    let quoted: String = row.try_get(1)?;
    connection.execute(&format!("LISTEN {quoted}")).await?;
    row.try_get(0)
}

/// The name of the channel of this database and schema at a Redis server, which databases share.
pub(super) async fn channel_of(readers: &Readers) -> String {
    // The number of a server is not for everybody to read.
    let exact = "SELECT 'platen:' || (pg_control_system()).system_identifier || ':'
                 || current_database() || ':' || current_schema()";
    let rough = "SELECT 'platen:' || current_database() || ':' || current_schema()";
    loop {
        for statement in [exact, rough] {
            let name = readers.read(|connection| {
                Box::pin(async move {
                    let rows = connection.query(statement, &[]).await?;
                    let row = rows.first().ok_or(Error::NotFound)?;
                    Ok(row.try_get::<_, String>(0)?)
                })
            });
            match name.await {
                Ok(name) => return name,
                Err(Error::Unavailable(_)) => break,
                Err(_) => {}
            }
        }
        sleep(PAUSE).await;
    }
}

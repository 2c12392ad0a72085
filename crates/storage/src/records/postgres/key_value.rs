//! Values that flows keep from one run to the next; readable only under a lease.

use std::sync::Arc;

use super::{
    connection::{BoxFuture, Connection},
    database::Database,
    job::Failure,
    run_row::bytes,
    shard::shard_of,
};
use crate::{
    Error,
    records::{
        StoreFuture,
        runs::{Hold, Scope, Write},
    },
};

/// Reads under the lease of a run. The claim of that lease may still be in its lane, so if a
/// reader does not find it, the read is repeated there, behind the claim.
pub(super) fn ask<T, F>(database: &Arc<Database>, id: &str, work: F) -> StoreFuture<'static, T>
where
    T: Send + Sync + 'static,
    F: for<'a> Fn(&'a Connection) -> BoxFuture<'a, Result<T, Failure>>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let database = Arc::clone(database);
    let lane = database.lane_of(shard_of(id));
    Box::pin(async move {
        match database.read(work.clone()).await {
            Err(Error::Fenced) => database.write(lane, work).await,
            other => other,
        }
    })
}

/// Key of the flow of a run whose lease is valid.
pub(super) async fn flow_of(connection: &Connection, hold: &Hold) -> Result<String, Failure> {
    let find = "SELECT r.flow FROM runs r JOIN open_runs o ON o.number = r.number
         WHERE r.id = $1 AND o.epoch = $2 AND o.state = 1 AND o.lease_until_ms >= $3";
    let (epoch, now_ms) = (i64::from(hold.epoch), hold.now_ms as i64);
    let rows = connection.query(find, &[&hold.id, &epoch, &now_ms]).await?;
    let row = rows.first().ok_or(Error::Fenced)?;
    Ok(row.try_get(0)?)
}

/// A value of the run's flow, or of all flows.
pub(super) async fn get(
    connection: &Connection,
    hold: &Hold,
    scope: Scope,
    key: &str,
) -> Result<Option<Arc<[u8]>>, Failure> {
    let flow = flow_of(connection, hold).await?;
    let flow = match scope {
        Scope::Flow => flow,
        Scope::Shared => String::new(),
    };
    let find = "SELECT value FROM kept WHERE flow = $1 AND key = $2";
    let rows = connection.query(find, &[&flow, &key]).await?;
    Ok(rows.first().map(|row| bytes(row, 0)).transpose()?.flatten())
}

/// Stores a value for the flow of the run, or for all flows, and appends to the journal; `None`
/// deletes it.
pub(super) async fn put(
    connection: &Connection,
    write: &Write,
    scope: Scope,
    key: &str,
    value: Option<&[u8]>,
) -> Result<(), Failure> {
    // The lock keeps the run with this worker until the commit.
    let hold = "WITH held AS MATERIALIZED (
             SELECT o.number, r.flow FROM runs r JOIN open_runs o ON o.number = r.number
             WHERE r.id = $1 AND o.epoch = $2 AND o.state = 1 AND o.lease_until_ms >= $3
             FOR UPDATE OF o
         ), noted AS (
             INSERT INTO journal (run, epoch, records)
             SELECT number, $2, $4 FROM held WHERE $4::bytea IS NOT NULL
         )
         SELECT flow FROM held";
    let (epoch, now_ms) = (i64::from(write.epoch), write.now_ms as i64);
    let records = write.records.as_deref();
    let rows = connection
        .query(hold, &[&write.id, &epoch, &now_ms, &records])
        .await?;
    let flow: String = rows.first().ok_or(Error::Fenced)?.try_get(0)?;
    let flow = match scope {
        Scope::Flow => flow,
        Scope::Shared => String::new(),
    };
    match value {
        Some(value) => {
            let put = "INSERT INTO kept (flow, key, value) VALUES ($1, $2, $3)
                 ON CONFLICT (flow, key) DO UPDATE SET value = $3";
            connection.query(put, &[&flow, &key, &value]).await?;
        }
        None => {
            let delete = "DELETE FROM kept WHERE flow = $1 AND key = $2";
            connection.query(delete, &[&flow, &key]).await?;
        }
    }
    Ok(())
}
